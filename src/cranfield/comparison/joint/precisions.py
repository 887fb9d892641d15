"""Bounds of differences of AP: a mean of precisions at relevant documents, whose sum is quadratic.

With x_i = 1 for a new relevant document, m of them in all, and the ranks a in the first and b in the second run,

    difference = ( known + Σ_i c_i x_i + Σ_{i<j} c_ij x_i x_j ) / (R + m),   c_ij = 1/max(a_i, a_j) - 1/max(b_i, b_j)

where c_i is what the document adds together with those that are judged. To find the largest value is hard. Where there
are few unjudged documents, all completions are tried. Otherwise the bound of Gilmore (1962) and Lawler (1963) is taken:
for every m, each document with the m - 1 others that suit it best. It is close, but takes u² steps for u documents.
Where these are too many, each run is bounded by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cranfield.comparison.joint.enumeration import Apart, Others
from cranfield.comparison.joint.holes import Holes, RunPairs
from cranfield.comparison.joint.method import Highest, alike, may_be_either
from cranfield.measures import Measure
from cranfield.measures.arithmetic import ratio
from cranfield.measures.completion import Scale
from cranfield.measures.scope import chosen_parameters
from cranfield.ranks.columns import Flags, Integers, Numbers
from cranfield.ranks.tables.ranks import JudgedRanks

CELLS = 1 << 20  # pairs of documents worked on at a time
SINGLY = 24  # numbers of new relevant documents that are tried one by one
GROWTH = 1.05  # beyond, all from one number to so many times as many are tried together


class Precisions(Others):
    """AP by R, or by the smaller of R and the cutoff."""

    def __init__(self, measure: Measure, tables: Sequence[JudgedRanks], scale: Scale, work: int, apart: Apart) -> None:
        super().__init__(measure, tables, scale, work, apart)
        chosen = chosen_parameters(measure)
        self._most = self.cutoff if chosen["denominator"] == "min" else None
        self._total = tables[0].n_relevant(chosen["rel"])
        self._inverse = np.concatenate([1 / np.arange(1.0, self.depth + 1), [0.0]])
        self._hits = np.zeros((len(tables), len(tables[0]), self.depth), dtype=np.bool_)
        for run, table in enumerate(tables):
            hit = table.relevant(chosen["rel"]) & table.within(self.depth)
            self._hits[run, table.query[hit], table.rank[hit] - 1] = True

    @classmethod
    def suits(cls, measure: Measure, scale: Scale, lengths: bool) -> bool:
        """Both runs are divided by the same number, and an unjudged document may be relevant or not."""
        by_relevant = chosen_parameters(measure)["denominator"] in ("R", "min")
        return by_relevant and may_be_either(measure, scale)

    def worth_listing(self, first: Numbers, second: Numbers, holes: Holes) -> Flags:
        """Many documents are also worth it if one ranking may only reorder the other: see `_that_matter`."""
        few: Flags = np.maximum(first, second) ** 2 <= self.work
        reordered: Flags = (first == second) & (holes.shared >= first)
        return super().worth_listing(first, second, holes) | few | reordered

    def highest(self, pairs: RunPairs) -> Highest:
        """Gilmore's and Lawler's bound for the rows for which there is time."""
        value, exact = super().highest(pairs)
        if not self.work or not pairs.listed:
            return Highest(value, exact)
        there, free = self._that_matter(pairs)
        count = there.sum(axis=1)
        rows = np.flatnonzero(~exact & (count**2 <= self.work))
        for part, width in alike(count[rows] ** 2, CELLS):
            its_rows = rows[part]
            kept = np.argsort(~there[its_rows], axis=1, kind="stable")[:, : int(np.sqrt(width))]
            bound = self._bound(pairs.only(its_rows), kept, there[its_rows], free[its_rows])
            value[its_rows] = np.minimum(value[its_rows], bound)
        return Highest(value, exact)

    def _that_matter(self, pairs: RunPairs) -> tuple[Flags, Integers]:
        """Which documents could make a difference, and how many others there are.

        Where the one ranking only reorders the first documents of the other, nothing below makes any.
        """
        there = np.minimum(pairs.first_rank, pairs.second_rank) <= self.depth
        moved = there & (pairs.first_rank != pairs.second_rank)
        hits = self._hits[pairs.first, pairs.query], self._hits[pairs.second, pairs.query]
        judged = np.where(hits[0] != hits[1], np.arange(1, self.depth + 1), 0).max(axis=1, initial=0)
        deepest = np.maximum(np.where(moved, np.maximum(pairs.first_rank, pairs.second_rank), 0).max(axis=1), judged)
        reordered = (deepest <= self.depth) & (hits[0].sum(axis=1) == hits[1].sum(axis=1))
        beneath = there & (pairs.first_rank > deepest[:, None]) & reordered[:, None]
        return there & ~beneath, pairs.beneath + beneath.sum(axis=1)

    def _bound(self, pairs: RunPairs, kept: Integers, there: Flags, free: Integers) -> Numbers:
        """The bound of rows, of which the documents at the places `kept` matter, as far as they are there."""
        there = np.take_along_axis(there, kept, axis=1)
        width = kept.shape[1]
        known, single, double = np.zeros(len(pairs)), np.zeros(kept.shape), np.zeros((*kept.shape, width))
        for run, rank, sign in ((pairs.first, pairs.first_rank, 1), (pairs.second, pairs.second_rank, -1)):
            place = np.minimum(np.take_along_axis(rank, kept, axis=1), self.depth + 1) - 1
            its_known, by_rank = self._with_judged(self._hits[run, pairs.query])
            known += sign * its_known
            single += sign * np.take_along_axis(by_rank, place, axis=1)
            double += sign * self._inverse[np.maximum(place[:, :, None], place[:, None, :])]
        nobody = ~there[:, None, :] | np.eye(width, dtype=np.bool_)
        double = -np.sort(np.where(nobody, np.inf, -double), axis=2)  # those that suit a document best come first
        partners = np.cumsum(np.concatenate([np.zeros((*kept.shape, 1)), double[:, :, :-1] / 2], axis=2), axis=2)
        some = free > 0  # documents that make no difference may be some of the m
        partners[some] = np.maximum.accumulate(partners[some], axis=2)
        values = [ratio(known, self._denominator(pairs, 0))]
        most = known
        for low, high in _numbers(width):
            # Of m documents no more than that are chosen, and no fewer, unless there are some without effect.
            suited = partners[:, :, low - 1 : high].max(axis=2)
            worth = -np.sort(-np.where(there, single + suited, -np.inf), axis=1)
            sums = known[:, None] + np.cumsum(worth[:, :high], axis=1)
            total = sums[:, low - 1 :].max(axis=1)
            most = np.maximum(most, sums.max(axis=1))
            total = np.where(some, most, total)
            number = np.where(total > 0, low, np.minimum(high, there.sum(axis=1) + free))
            values.append(ratio(total, self._denominator(pairs, number)))
        values.append(np.where(some, ratio(most, self._denominator(pairs, there.sum(axis=1) + free)), -np.inf))
        highest: Numbers = np.stack(values).max(axis=0)
        return highest

    def _with_judged(self, hits: npt.NDArray[Any]) -> tuple[Numbers, Numbers]:
        """The sum of the precisions of what was judged, and what a relevant document at each rank adds to it."""
        places = np.arange(1.0, self.depth + 1)
        above = np.cumsum(hits, axis=1) - hits
        below = np.cumsum((hits / places)[:, ::-1], axis=1)[:, ::-1] - hits / places
        known = (hits * (above + 1) / places).sum(axis=1)
        return known, np.hstack([(1 + above) / places + below, np.zeros((len(hits), 1))])

    def _denominator(self, pairs: RunPairs, new: int | Integers) -> Numbers:
        total: Numbers = self._total[pairs.query] + new
        return total if self._most is None else np.minimum(total, self._most)


def _numbers(most: int) -> list[tuple[int, int]]:
    """Numbers of new relevant documents that are tried together, from and to."""
    numbers = [(number, number) for number in range(1, min(most, SINGLY) + 1)]
    while numbers and numbers[-1][1] < most:
        low = numbers[-1][1] + 1
        numbers.append((low, min(max(int(low * GROWTH), low), most)))
    return numbers
