"""Subtopics: which of them each retrieved document covers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cranfield.ranks.columns import Flags, Integers, Numbers
from cranfield.ranks.grades import reaches
from cranfield.ranks.tables.ranks import JudgedRanks

if TYPE_CHECKING:
    from cranfield.ranks.grouped_judgments import GroupedJudgments


@dataclass(frozen=True, eq=False)
class SubtopicRanks:
    """A row for each subtopic that a retrieved document is judged for, sorted by query and rank (from 1)."""

    grouped: GroupedJudgments
    judged: JudgedRanks
    query: Integers
    subtopic: Integers
    rank: Integers
    grade: Numbers

    def __len__(self) -> int:
        return len(self.judged)

    def relevant(self, rel: float) -> Flags:
        return reaches(self.grade, rel)

    def within(self, cutoff: int | None) -> Flags:
        return np.ones(len(self.rank), dtype=np.bool_) if cutoff is None else self.rank <= cutoff

    def sum(self, values: npt.NDArray[Any]) -> Numbers:
        return np.bincount(self.query, weights=values, minlength=len(self)).astype(np.float64, copy=False)

    def earlier(self, hit: Flags) -> Integers:
        """For each row, how many hits its subtopic has had above it."""
        order = np.argsort(self.subtopic, kind="stable")
        before = np.concatenate(([0], np.cumsum(hit[order], dtype=np.int64)))
        start = np.searchsorted(self.subtopic[order], self.subtopic[order])
        count = np.empty(len(order), dtype=np.int64)
        count[order] = before[:-1] - before[start]
        return count

    def n_relevant(self, rel: float) -> Integers:
        """How many relevant documents each subtopic has, retrieved or not."""
        return np.bincount(self.grouped.group[reaches(self.grouped.grades, rel)], minlength=len(self.grouped.group_ids))

    def n_subtopics(self, rel: float) -> Integers:
        return np.bincount(self.grouped.group_query[self.n_relevant(rel) > 0], minlength=len(self))

    @cached_property
    def condensed(self) -> SubtopicRanks:
        return SubtopicRanks.of(self.grouped, self.judged.condensed)

    def ideal(self, rel: float, alpha: float, cutoff: int | None = None) -> SubtopicRanks:
        """The table of rankings that take, at every rank, the document that adds the most to those above it.

        A document adds (1 - alpha)ⁿ for each subtopic it is relevant to, where n documents above it are too. Finding
        the best ranking of all is NP-hard; this one is the usual substitute. Of documents that add the same, the one
        with the larger id comes first.
        """
        grouped = self.grouped
        relevant = np.flatnonzero(reaches(grouped.grades, rel))
        relevant = relevant[np.lexsort((grouped.group[relevant], grouped.row[relevant]))]
        query = grouped.group_query[grouped.group[relevant]]
        taken: list[Integers] = []
        ranks: list[Integers] = []
        for its in np.split(relevant, np.searchsorted(query, np.arange(1, len(self)))):
            _, document = np.unique(grouped.row[its], return_inverse=True)  # in the order of the document ids
            _, subtopic = np.unique(grouped.group[its], return_inverse=True)
            rank = _greedy(document, subtopic, alpha, cutoff)[document]
            order = np.lexsort((subtopic, rank))[np.count_nonzero(rank == 0) :]
            taken.append(its[order])
            ranks.append(rank[order])
        rows = np.concatenate(taken)
        return replace(
            self,
            query=grouped.group_query[grouped.group[rows]],
            subtopic=grouped.group[rows],
            rank=np.concatenate(ranks),
            grade=grouped.grades[rows],
        )

    @classmethod
    def of(cls, grouped: GroupedJudgments, judged: JudgedRanks) -> SubtopicRanks:
        grouped._refuse_subgroups()
        rank = np.zeros(len(grouped.flat.grades), dtype=np.int64)
        rank[judged.row] = judged.rank
        rank = rank[grouped.row]
        query = grouped.group_query[grouped.group]
        rows = np.flatnonzero(rank > 0)
        rows = rows[np.lexsort((grouped.group[rows], rank[rows], query[rows]))]
        return cls(grouped, judged, query[rows], grouped.group[rows], rank[rows], grouped.grades[rows])


def _greedy(document: Integers, subtopic: Integers, alpha: float, cutoff: int | None) -> Integers:
    """The rank of each document in the ideal ranking; 0 below the cutoff."""
    if not len(document):
        return np.zeros(0, dtype=np.int64)
    covers = np.zeros((document.max() + 1, subtopic.max() + 1), dtype=np.bool_)
    covers[document, subtopic] = True
    rank = np.zeros(len(covers), dtype=np.int64)
    worth = np.ones(covers.shape[1])
    for i in range(1, min(len(covers), cutoff or len(covers)) + 1):
        # Documents of equal gain must be equal to the last bit, or the rounding would choose between them.
        gain = np.where(rank == 0, np.round(covers @ worth, 12), -1)
        best = len(gain) - 1 - int(np.argmax(gain[::-1]))
        rank[best] = i
        worth[covers[best]] *= 1 - alpha
    return rank
