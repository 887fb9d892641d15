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
_STEPS, _CLOSE = 20_000, 1e-9


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
        """Attraction by examination, examination by attraction, until neither changes; the highest is 1."""
        clicked = np.bincount(self._rank, self._clicked, self._ranks)
        shares = (clicked > 0).astype(np.float64)
        for _ in range(_STEPS):
            attraction = self._clicks / np.bincount(self._pair, self._shown * shares[self._rank], self.documents)
            looked_for = np.bincount(self._rank, self._shown * attraction[self._pair], self._ranks)
            new = np.divide(clicked, looked_for, out=np.zeros(self._ranks), where=looked_for > 0)
            new /= max(float(new.max()), 1e-300)
            close = np.abs(new - shares).max() < _CLOSE
            shares = new
            if close:
                break
        return shares

    def log_widths(self, shares: Numbers, beside: int | None = None) -> Numbers:
        """Half the widths of 95% intervals of the logarithms; infinite where a rank is not tied to the others.

        beside: the rank with which others are compared, by default the one with most clicks
        """
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        widths = np.full(self._ranks, np.inf)
        if not self.documents:
            return widths
        looked = self._shown * shares[self._rank]
        part = looked / np.bincount(self._pair, looked, self.documents)[self._pair]
        place = (self._pair, self._rank)
        parts = csr_array((part, place), shape=(self.documents, self._ranks))
        weighed = csr_array((part * self._clicks[self._pair], place), shape=parts.shape)
        # The clicks of a document are drawn among its ranks: the curvature of that likelihood, and the sums by query of
        # its slopes.
        together = (weighed.T @ parts).toarray()
        curvature = np.diag(together.sum(axis=1)) - together
        slope = self._clicked - part * self._clicks[self._pair]
        by_query = (self._query[self._pair], self._rank)
        slopes = csr_array((slope, by_query), shape=(self.queries, self._ranks))
        spread = (slopes.T @ slopes).toarray()
        # A few queries have most of the traffic: how many count as if all told equally much about a rank.
        told = csr_array((self._clicks[self._pair] * part * (1 - part), by_query), shape=slopes.shape)
        squares = np.asarray(told.multiply(told).sum(axis=0)).ravel()
        queries = np.divide(
            np.asarray(told.sum(axis=0)).ravel() ** 2, squares, out=np.zeros(self._ranks), where=squares > 0
        )
        base = int(np.diag(curvature).argmax()) if beside is None else beside
        _, component = connected_components(together > 0, directed=False)
        free = (component == component[base]) & (shares > 0) & (queries >= FEWEST)
        widths[base] = 0.0 if free[base] else np.inf
        free[base] = False
        if np.isfinite(widths[base]) and free.any():
            some = np.flatnonzero(free)
            inverse = np.linalg.pinv(curvature[np.ix_(some, some)])
            variance = np.diag(inverse @ spread[np.ix_(some, some)] @ inverse) * queries[some] / (queries[some] - 1)
            widths[some] = exceeded_with(0.025, queries[some] - 1) * np.sqrt(variance)
        return widths
