"""Bounds of differences of AP: a mean of precisions at relevant documents, whose sum is quadratic.

With x_i = 1 for a new relevant document and m of them in all,

    difference = ( known + Σ_i c_i x_i + Σ_{i<j} c_ij x_i x_j ) / (R + m),   c_ij = 1 / max(a_i, a_j) - 1 / max(b_i, b_j)

for the ranks a in the first and b in the second run, and c_i what the document adds with those that are judged. To find
the largest value is hard. Where there are few unjudged documents, all completions are tried; otherwise a bound is found:

- that of Gilmore (1962) and Lawler (1963): for every m, each document with the m - 1 others that suit it best;
- where that takes too long, with H(n) relevant documents down to rank n and T(h) = h (h + 1) / 2,

      Σ of the precisions = Σ_n T(H(n)) · (1/n - 1/(n + 1)),

  so that for every m each rank is taken by itself, with the m documents that suit it best. Several m at a time are
  taken together where there are many.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cranfield.comparison.joint.enumeration import Completions
from cranfield.comparison.joint.holes import Pairs, Ranks
from cranfield.comparison.joint.method import Ends, Highest, Method
from cranfield.judge.judgments import Integers, Numbers
from cranfield.judge.ranks import JudgedRanks
from cranfield.measures import Measure
from cranfield.measures.arithmetic import ratio

NUMBERS = 24  # of new relevant documents that are tried one by one; beyond, they are taken together
GROWTH = 1.25  # ... from one number to so many times as many
CELLS = 1 << 22  # numbers worked on at a time


class Precisions(Method):
    """AP by R, or by the smaller of R and the cutoff.

    work: how many numbers may be worked on for each row
    """

    def __init__(
        self, measure: Measure, tables: Sequence[JudgedRanks], scale: tuple[float, ...], work: int = CELLS
    ) -> None:
        super().__init__(measure, tables, scale)
        chosen = {**measure.definition.defaults, **dict(measure.parameters)}
        self._most = self.cutoff if chosen["denominator"] == "min" else None
        self._work = work
        self._completions = Completions(self)
        self._total = tables[0].n_relevant(chosen["rel"])
        self._hits = np.zeros((len(tables), len(tables[0]), self.depth), dtype=np.bool_)
        for run, table in enumerate(tables):
            hit = table.relevant(chosen["rel"]) & table.within(self.depth)
            self._hits[run, table.query[hit], table.rank[hit] - 1] = True

    def ends(self, pairs: Pairs) -> Ends:
        """The bounds of each row, by trying all completions where there are few."""
        return self._completions.narrowed(pairs, super().ends(pairs), self._work)

    def highest(self, pairs: Pairs) -> Highest:
        """The better bound for as many rows as there is time for."""
        unjudged = (np.minimum(pairs.first_rank, pairs.second_rank) <= self.depth).sum(axis=1)
        value = np.empty(len(pairs))
        few = unjudged**2 <= self._work
        order = np.argsort(unjudged, kind="stable")
        for rows in _parts(order[few[order]], unjudged[order[few[order]]] ** 2):
            value[rows] = self._by_document(pairs.only(rows), int(unjudged[rows].max(initial=0)))
        for rows in _parts(np.flatnonzero(~few), np.full((~few).sum(), self.depth * 2 * NUMBERS)):
            value[rows] = self._by_rank(pairs.only(rows))
        return Highest(value, (unjudged == 0) & (pairs.beneath == 0))

    def _by_document(self, pairs: Pairs, width: int) -> Numbers:
        """Gilmore's and Lawler's bound, for rows with no more than `width` documents."""
        there = np.minimum(pairs.first_rank, pairs.second_rank) <= self.depth
        kept = np.argsort(~there, axis=1, kind="stable")[:, :width]
        there = np.take_along_axis(there, kept, axis=1)
        known, single, double = np.zeros(len(pairs)), np.zeros(kept.shape), np.zeros((*kept.shape, width))
        for run, rank, sign in ((pairs.first, pairs.first_rank, 1), (pairs.second, pairs.second_rank, -1)):
            place = np.take_along_axis(rank, kept, axis=1)
            its_known, by_rank = self._with_judged(self._hits[run, pairs.query])
            known += sign * its_known
            single += sign * np.take_along_axis(by_rank, np.minimum(place, self.depth + 1) - 1, axis=1)
            double += sign * self._inverse[np.minimum(np.maximum(place[:, :, None], place[:, None, :]), self.depth + 1)]
        nobody = ~there[:, None, :] | np.eye(width, dtype=np.bool_)
        double = -np.sort(np.where(nobody, np.inf, -double), axis=2)  # those that suit a document best come first
        partners = np.cumsum(double[:, :, : max(width - 1, 0)], axis=2) / 2
        partners = np.concatenate([np.zeros((*kept.shape, 1)), partners], axis=2)[:, :, :width]
        worth = np.where(there[:, :, None], single[:, :, None] + partners, -np.inf)
        some = pairs.beneath > 0  # documents that change no precision may stand for some of the m
        worth[some] = np.maximum.accumulate(worth[some], axis=2)
        chosen = np.cumsum(-np.sort(-worth, axis=1), axis=1)  # by m, of the best documents
        chosen[some] = np.maximum.accumulate(chosen[some], axis=1)
        best = known[:, None] + np.diagonal(chosen, axis1=1, axis2=2)
        most = np.max(best, axis=1, initial=-np.inf)
        several = there.sum(axis=1) + pairs.beneath
        values = [ratio(known, self._denominator(pairs, 0))]
        values += [ratio(best[:, at], self._denominator(pairs, at + 1)) for at in range(width)]
        values.append(np.where(some, ratio(np.maximum(most, known), self._denominator(pairs, several)), -np.inf))
        return np.max(values, axis=0)

    def _with_judged(self, hits: np.ndarray) -> tuple[Numbers, Numbers]:
        """The sum of the precisions of what was judged, and what a relevant document at each rank adds to it."""
        places = np.arange(1.0, self.depth + 1)
        above = np.cumsum(hits, axis=1) - hits
        below = np.cumsum((hits / places)[:, ::-1], axis=1)[:, ::-1] - hits / places
        known = (hits * (above + 1) / places).sum(axis=1)
        return known, np.hstack([(1 + above) / places + below, np.zeros((len(hits), 1))])

    @property
    def _inverse(self) -> Numbers:
        """One over the rank, for ranks from 0; 0 for those deeper than the cutoff."""
        return np.concatenate([[0.0], 1 / np.arange(1.0, self.depth + 1), [0.0]])

    def _denominator(self, pairs: Pairs, new: int | Integers) -> Numbers:
        total = self._total[pairs.query] + new
        return total if self._most is None else np.minimum(total, self._most)

    def _by_rank(self, pairs: Pairs) -> Numbers:
        """Rank by rank, for numbers of new relevant documents from `low` to `high`."""
        both = np.maximum(pairs.first_rank, pairs.second_rank)
        shared, first, second = (self._so_far(rank) for rank in (both, pairs.first_rank, pairs.second_rank))
        alone, against = first - shared, second - shared
        every = first[:, -1] + second[:, -1] - shared[:, -1] + pairs.beneath
        neither = every[:, None] - alone - against - shared
        hits = [np.cumsum(self._hits[run, pairs.query], axis=1) for run in (pairs.first, pairs.second)]
        places = np.arange(1.0, self.depth + 1)
        weights = np.append(1 / places[:-1] - 1 / places[1:], 1 / places[-1:])
        best = np.full(len(pairs), -np.inf)
        for low, high in _numbers(int(every.max(initial=0))):
            few, many = np.minimum(low, every)[:, None], np.minimum(high, every)[:, None]
            gained = np.minimum(many, alone)
            ahead = hits[0] + gained - hits[1]
            left = [np.maximum(number - alone, 0) for number in (few, many)]
            # Ahead, documents that both have help; behind, they do only harm, and stay out while there are others.
            together = np.where(ahead > 0, np.minimum(left[1], shared), np.clip(left[0] - neither, 0, shared))
            forced = np.maximum(left[0] - shared - neither, 0)
            a, b = hits[0] + gained + together, hits[1] + forced + together
            total = ((a * (a + 1) - b * (b + 1)) / 2) @ weights
            number = np.where(total > 0, few[:, 0], many[:, 0])
            best = np.maximum(best, ratio(total, self._denominator(pairs, number)))
        return best

    def _so_far(self, rank: Ranks) -> Integers:
        """For each row and rank, how many documents stand no deeper."""
        width = self.depth + 1
        place = np.minimum(rank, width) - 1 + np.arange(len(rank))[:, None] * width
        counts = np.bincount(place.reshape(-1), minlength=len(rank) * width).reshape(len(rank), width)
        return np.cumsum(counts[:, :-1], axis=1)


def _numbers(most: int) -> list[tuple[int, int]]:
    """Numbers of new relevant documents, from and to."""
    found = [(number, number) for number in range(min(most, NUMBERS) + 1)]
    while found[-1][1] < most:
        low = found[-1][1] + 1
        found.append((low, min(max(int(low * GROWTH), low), most)))
    return found


def _parts(rows: Integers, costs: Integers) -> list[Integers]:
    """Rows in parts that cost about the same."""
    if not len(rows):
        return []
    part = np.cumsum(costs) // CELLS
    return np.split(rows, np.flatnonzero(np.diff(part)) + 1)
