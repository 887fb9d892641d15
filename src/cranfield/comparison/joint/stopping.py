"""Bounds of differences of ERR: a user who stops at the document that satisfies.

With P_i the chance to go on past rank i, and δ_i = 1/i - 1/(i + 1), and 1/k for the last rank,

    ERR(first) - ERR(second) = Σ δ_i · ( P_i(second) - P_i(first) )

P_i is a product over documents. Those that both runs have down to rank i are factors of both; so they can be set aside,
and each term is bounded by their product, times the rest of the one less the rest of the other. The difference is
affine in each document's chance to satisfy, so that only the worst and the best grade need trying: a document that only
the first run has is the best, one that only the second has the worst. Branch and bound finds what the others are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cranfield.comparison.joint.holes import Ranks, RunPairs
from cranfield.comparison.joint.method import Highest, Method
from cranfield.measures import Measure
from cranfield.measures.completion import Scale
from cranfield.ranks.columns import Flags, Integers, Numbers
from cranfield.ranks.filling import single_documents
from cranfield.ranks.tables.ranks import JudgedRanks

NEAR = 1e-12  # what a branch must promise beyond what was found
NEVER = -690.0  # the logarithm of the smallest chance there is
CELLS = 1 << 20  # documents worked on at a time
COST = 16  # ... and how much more work one of them is than elsewhere
LEAST = 1000  # documents of branches that are looked at in any case


class Stopping(Method):
    """ERR with a fixed highest grade."""

    def __init__(self, measure: Measure, tables: Sequence[JudgedRanks], scale: Scale, work: int) -> None:
        super().__init__(measure, tables, scale, work)
        self._best, self._worst = (self._going_on(grade) for grade in (self.grades[0], self.grades[-1]))
        places = np.arange(1.0, self.depth + 1)
        self._weights = np.append(1 / places[:-1] - 1 / places[1:], 1 / places[-1:])
        self._known = np.stack([self._judged(table) for table in tables])

    @classmethod
    def suits(cls, measure: Measure, scale: Scale, lengths: bool) -> bool:
        """The highest grade does not depend on what unjudged documents turn out to be."""
        return dict(measure.parameters).get("max_grade") != "query"

    def _going_on(self, grade: float) -> float:
        """The logarithm of the chance that a document does not satisfy."""
        satisfied = self.measure(single_documents(1, grade))[0]
        return float(np.log1p(-satisfied)) if satisfied < 1 else NEVER

    def _judged(self, table: JudgedRanks) -> Numbers:
        """For each query and rank the logarithm of the chance to go on past all judged documents down to it."""
        grades, place = np.unique(table.grade, return_inverse=True)
        chance = np.array([self._going_on(max(grade, 0.0)) for grade in grades.tolist()])[place]
        within = (table.rank <= self.depth) & table.judged
        known = np.zeros((len(table), self.depth))
        known[table.query[within], table.rank[within] - 1] = chance[within]
        return np.cumsum(known, axis=1)

    def highest(self, pairs: RunPairs) -> Highest:
        """Branches of many rows are followed together."""
        size = max(CELLS // max(pairs.first_rank.shape[1], 1), 1)
        starts = range(0, len(pairs), size)
        parts = [self._followed(pairs.only(np.arange(at, min(at + size, len(pairs))))) for at in starts]
        return Highest(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))

    def _followed(self, pairs: RunPairs) -> Highest:
        in_first, in_second = pairs.first_rank <= self.depth, pairs.second_rank <= self.depth
        # of each document: the logarithm of the chance to go on past it, at least and at most
        least = np.where(in_first, self._best, self._worst)
        most = np.where(in_second | ~in_first, self._worst, self._best)
        row = np.arange(len(pairs))
        attained, promised = np.full((2, len(pairs)), -np.inf)
        looked_at = np.zeros(len(pairs))
        while len(row):
            bound = self._value(pairs, row, least, most)
            for chosen in (least, most):
                np.maximum.at(attained, row, self._value(pairs, row, chosen, chosen))
            looked_at += least.shape[1] * np.bincount(row, minlength=len(pairs))
            alive = bound > attained[row] + NEAR
            late = alive & (looked_at > max(self.work // COST, LEAST))[row]
            np.maximum.at(promised, row[late], bound[late])
            row, least, most = _branched(pairs, row[alive & ~late], least[alive & ~late], most[alive & ~late])
        return Highest(np.maximum(attained, promised), promised <= attained + NEAR)

    def _value(self, pairs: RunPairs, row: Integers, least: Numbers, most: Numbers) -> Numbers:
        """A bound of each branch; the value itself where `least` and `most` are the same."""
        first_rank, second_rank = pairs.first_rank[row], pairs.second_rank[row]
        both = np.maximum(first_rank, second_rank)
        in_first = self._so_far(first_rank, least) - self._so_far(both, least)
        in_second = self._so_far(second_rank, most) - self._so_far(both, most)
        query = pairs.query[row]
        rest = np.exp(self._known[pairs.second[row], query] + in_second)
        rest -= np.exp(self._known[pairs.first[row], query] + in_first)
        shared = np.exp(np.where(rest > 0, self._so_far(both, most), self._so_far(both, least)))
        return (rest * shared) @ self._weights

    def _so_far(self, rank: Ranks, chance: Numbers) -> Numbers:
        """For each row and rank the sum of the logarithms of all documents down to it."""
        width = self.depth + 1
        place = np.minimum(rank, width) - 1 + np.arange(len(rank))[:, None] * width
        added = np.bincount(place.reshape(-1), chance.reshape(-1), minlength=len(rank) * width)
        return np.cumsum(added.reshape(len(rank), width)[:, :-1], axis=1)


def _branched(pairs: RunPairs, row: Integers, least: Numbers, most: Numbers) -> tuple[Integers, Numbers, Numbers]:
    """Two branches for each: with the highest undecided document, in either run, at its best and worst."""
    undecided: Flags = least < most
    kept = undecided.any(axis=1)
    row, least, most, undecided = row[kept], least[kept], most[kept], undecided[kept]
    top = np.minimum(pairs.first_rank[row], pairs.second_rank[row])
    at = np.argmin(np.where(undecided, top, np.iinfo(np.int32).max), axis=1)
    rows = np.arange(len(row))
    good, bad = most.copy(), least.copy()
    good[rows, at], bad[rows, at] = least[rows, at], most[rows, at]
    return np.concatenate([row, row]), np.vstack([least, bad]), np.vstack([good, most])
