"""How many people look at each rank, estimated from documents that were shown at several ranks.

    clicks of a document at a rank ~ Poisson(impressions · examination(rank) · attraction(query, document))

Both factors are fitted together by alternating maximum likelihood. A document that was always at the same rank says
nothing about examination, whatever its attraction, and drops out. So the rate of a rank over all queries is never
used: it is high at the top because good documents are there, and dividing by it takes that away from them.

Clicks are 0 or 1, and not Poisson; but the estimates only need the mean to be right. Of the two likelihoods, the one of
Poisson is not biased by the many documents with few impressions, each with an attraction of its own (Wooldridge 1999).
The variance does not rely on it either: it is that of sums over queries.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, log
from typing import NamedTuple

import numpy as np

from cranfield.evaluation.t_distribution import exceeded_with
from cranfield.ranks.columns import Flags, Numbers
from cranfield.traffic.impressions import Impressions

WIDEST = 2.0  # the interval of an examination may reach from half of the estimate to twice of it
FEWEST = 5  # queries, as if all told equally much about a rank; with fewer, the variance means little
_STEPS, _CLOSE = 100, 1e-10
_STEP, _LEAST = 3.0, 1e-9  # the longest step of a logarithm, and the smallest share of a rank that was clicked at


class RankExamination(NamedTuple):
    """How many people look at a rank, for each who looks at the topmost: an estimate with its 95% interval."""

    share: float
    low: float
    high: float


class Examination(NamedTuple):
    """The examination of each rank that the log identifies; of none if `by_rank` is empty.

    documents, queries: those from which it is estimated, shown at several ranks and clicked
    """

    by_rank: Mapping[int, RankExamination]
    documents: int
    queries: int


def fit_examination(counts: Impressions) -> Examination:
    """Fit a log. Ranks that it does not identify are left out, and the others are fitted without them."""
    kept = np.ones(len(counts.ranks), np.bool_)
    documents, queries = 0, 0
    while kept.sum() > 1:
        tied = _TiedCells(counts, kept)
        documents, queries = max(documents, tied.documents), max(queries, tied.queries)
        shares = tied.fitted()
        widths = tied.log_widths(shares)
        good = kept & (widths <= log(WIDEST))
        if (good == kept).all():
            top = int(np.flatnonzero(kept)[0])
            widths = tied.log_widths(shares, top)
            by_rank = {
                counts.ranks[at]: _examined(float(shares[at] / shares[top]), exp(float(widths[at])))
                for at in np.flatnonzero(kept).tolist()
            }
            return Examination(by_rank, documents, queries)
        kept = good
    return Examination({}, documents, queries)


def _examined(share: float, factor: float) -> RankExamination:
    return RankExamination(share, share / factor, share * factor)


class _TiedCells:
    """The cells that say something about examination: of documents that were shown at several ranks, and clicked."""

    def __init__(self, counts: Impressions, kept: Flags) -> None:
        self._ranks, pairs = len(counts.ranks), len(counts.pair_query)
        among = kept[counts.rank]
        several = np.bincount(counts.pair[among], minlength=pairs) > 1
        clicks = np.bincount(counts.pair[among], counts.clicked[among], pairs)
        use = among & (several & (clicks > 0))[counts.pair]
        used, self._pair = np.unique(counts.pair[use], return_inverse=True)
        self._rank, self._shown, self._clicked = counts.rank[use], counts.shown[use], counts.clicked[use]
        self._clicks = clicks[used]
        asked, self._query = np.unique(counts.pair_query[used], return_inverse=True)
        self.documents, self.queries = len(used), len(asked)

    def fitted(self) -> Numbers:
        """Attraction by examination, examination by attraction, until neither changes; the highest is 1.

        Where few documents tie ranks together that takes thousands of turns, so Newton's step is taken if it is better.
        """
        clicked = np.bincount(self._rank, self._clicked, self._ranks)
        shares = (clicked > 0).astype(np.float64)
        for _ in range(_STEPS if self.documents else 0):
            part = self._parts(shares)
            expected = np.bincount(self._rank, part * self._clicks[self._pair], self._ranks)
            turn = np.divide(shares * clicked, expected, out=np.zeros(self._ranks), where=expected > 0)
            step = np.linalg.pinv(self._curvature(part)) @ (clicked - expected)
            tried = [self._scaled(new) for new in (turn, shares * np.exp(np.clip(step, -_STEP, _STEP)))]
            new = max(tried, key=self._likelihood)
            close = np.abs(new - shares).max() < _CLOSE
            shares = new
            if close:
                break
        return shares

    def _scaled(self, shares: Numbers) -> Numbers:
        """The highest is 1, and a rank with clicks is never quite out of sight, where nothing ties it to the others."""
        return np.where(shares > 0, np.maximum(shares / shares.max(), _LEAST), 0.0)

    def _parts(self, shares: Numbers) -> Numbers:
        """Of each cell, the part of its document's clicks that is to be expected there."""
        looked = self._shown * shares[self._rank]
        return np.asarray(looked / np.bincount(self._pair, looked, self.documents)[self._pair])

    def _likelihood(self, shares: Numbers) -> float:
        part, clicked = self._parts(shares), self._clicked > 0
        return float(self._clicked[clicked] @ np.log(part[clicked]))

    def _curvature(self, part: Numbers) -> Numbers:
        """Of the likelihood that the clicks of each document fall on its ranks as they did, in the logarithms."""
        together = self._together(part)
        return np.asarray(np.diag(together.sum(axis=1)) - together)

    def _together(self, part: Numbers) -> Numbers:
        from scipy.sparse import csr_array

        place, shape = (self._pair, self._rank), (self.documents, self._ranks)
        weighed = csr_array((part * self._clicks[self._pair], place), shape=shape)
        return np.asarray((weighed.T @ csr_array((part, place), shape=shape)).toarray())

    def log_widths(self, shares: Numbers, beside: int | None = None) -> Numbers:
        """Half the widths of 95% intervals of the logarithms; infinite where a rank is not tied to the others.

        beside: the rank with which others are compared, by default the one with most clicks
        """
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        widths = np.full(self._ranks, np.inf)
        if not self.documents:
            return widths
        part = self._parts(shares)
        together, curvature = self._together(part), self._curvature(part)
        slope = self._clicked - part * self._clicks[self._pair]  # whose sums by query vary as queries do
        by_query = (self._query[self._pair], self._rank)
        slopes = csr_array((slope, by_query), shape=(self.queries, self._ranks))
        spread = (slopes.T @ slopes).toarray()
        # A few queries have most of the traffic: how many count as if all told equally much about a rank.
        told = csr_array((self._clicks[self._pair] * part * (1 - part), by_query), shape=slopes.shape)
        squares: Numbers = np.asarray(told.multiply(told).sum(axis=0)).ravel()
        queries = np.divide(
            np.asarray(told.sum(axis=0)).ravel() ** 2, squares, out=np.zeros(self._ranks), where=squares > 0
        )
        enough = (shares > 0) & (queries >= FEWEST)
        base = int(np.where(enough, np.diag(curvature), -1.0).argmax()) if beside is None else beside
        if not enough[base]:
            return widths
        _, component = connected_components(together > 0, directed=False)
        free = (component == component[base]) & enough
        widths[base], free[base] = 0.0, False
        if free.any():
            some = np.flatnonzero(free)
            inverse = np.linalg.pinv(curvature[np.ix_(some, some)])
            variance = np.diag(inverse @ spread[np.ix_(some, some)] @ inverse) * queries[some] / (queries[some] - 1)
            widths[some] = exceeded_with(0.025, queries[some] - 1) * np.sqrt(variance)
        return widths
