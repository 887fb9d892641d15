"""Strata: pooled documents of which a random sample was judged, at a different rate in each stratum."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cranfield.errors import InputError
from cranfield.ranks.columns import Flags, Integers, Numbers
from cranfield.ranks.grades import reaches
from cranfield.ranks.tables.ranks import JudgedRanks

if TYPE_CHECKING:
    from cranfield.ranks.grouped_judgments import GroupedJudgments


@dataclass(frozen=True, eq=False)
class StratumRanks:
    """A row for each pooled document that a run retrieved, judged or not, sorted by query and rank.

    For each row: `query` and `stratum` (numbers), `rank` (from 1), `grade` (below 0: pooled, not judged).
    For each pooled document, retrieved or not, in the order of `grouped`: `grades`.
    """

    grouped: GroupedJudgments
    ranks: JudgedRanks
    grades: Numbers
    query: Integers
    stratum: Integers
    rank: Integers
    grade: Numbers

    def __len__(self) -> int:
        return len(self.ranks)

    @property
    def judged(self) -> Flags:
        return self.grade >= 0

    def relevant(self, rel: float) -> Flags:
        return self.judged & reaches(self.grade, rel)

    def sum(self, values: npt.NDArray[Any]) -> Numbers:
        return np.bincount(self.query, weights=values, minlength=len(self)).astype(np.float64, copy=False)

    def count(self, hit: Flags) -> Integers:
        return np.bincount(self.stratum[hit], minlength=len(self.grouped.group_ids))

    def above(self, hit: Flags) -> Integers:
        """For each row, how many hits its query has above it."""
        before = np.concatenate(([0], np.cumsum(hit, dtype=np.int64)))
        first = np.searchsorted(self.query, np.arange(len(self)))
        return before[:-1] - before[first[self.query]]

    def by_stratum(self) -> Iterator[tuple[Flags, Numbers]]:
        """For the first stratum of every query, then the second, …: its rows, and its weight beside all rows."""
        first = np.searchsorted(self.grouped.group_query, np.arange(len(self) + 1))
        for place in range(int(np.diff(first).max(initial=0))):
            number = first[:-1] + place
            weight = np.where(
                number < first[1:], np.append(self.weight, 0.0)[np.minimum(number, len(self.weight))], 0.0
            )
            yield self.stratum == number[self.query], weight[self.query]

    @cached_property
    def pooled(self) -> Integers:
        return np.bincount(self.grouped.group, minlength=len(self.grouped.group_ids))

    @cached_property
    def sampled(self) -> Integers:
        return np.bincount(self.grouped.group[self.grades >= 0], minlength=len(self.grouped.group_ids))

    @cached_property
    def weight(self) -> Numbers:
        """How many documents of its stratum a judged one represents, itself included; 0 if none was judged."""
        return np.divide(self.pooled, self.sampled, out=np.zeros(len(self.pooled)), where=self.sampled > 0)

    def n_relevant(self, rel: float) -> Numbers:
        """How many documents of each query are relevant, estimated without bias from those that were judged."""
        return self._estimated((self.grades >= 0) & reaches(self.grades, rel))

    def n_with_grade(self, grade: float) -> Numbers:
        return self._estimated(self.grades == grade)

    def _estimated(self, hit: Flags) -> Numbers:
        stratum = self.grouped.group[hit]
        # Counted before multiplying, so that whole numbers stay whole where possible.
        count = np.bincount(stratum, minlength=len(self.pooled)) * self.pooled
        by_stratum = np.divide(count, self.sampled, out=np.zeros(len(self.pooled)), where=self.sampled > 0)
        return np.bincount(self.grouped.group_query, weights=by_stratum, minlength=len(self)).astype(np.float64)

    @cached_property
    def positive_grades(self) -> list[float]:
        grades: list[float] = np.unique(self.grades[self.grades > 0]).tolist()
        return grades[::-1]

    @cached_property
    def condensed(self) -> StratumRanks:
        return StratumRanks._of(self.grouped, self.ranks.condensed, self.grades)

    def regraded(self, grades: Numbers) -> StratumRanks:
        """The same ranks and strata, with other grades of the pooled documents."""
        return StratumRanks._of(self.grouped, self.ranks, grades)

    @classmethod
    def of(cls, grouped: GroupedJudgments, judged: JudgedRanks) -> StratumRanks:
        _refuse_other_groups(grouped)
        return cls._of(grouped, judged, judged.all_judged.by_row[1][grouped.row])

    @classmethod
    def _of(cls, grouped: GroupedJudgments, judged: JudgedRanks, grades: Numbers) -> StratumRanks:
        place = np.zeros(len(grouped.flat.grades), dtype=np.int64)  # of each pooled document, which has one stratum
        place[grouped.row] = np.arange(len(grouped.row))
        rows = place[judged.row]
        return cls(grouped, judged, grades, judged.query, grouped.group[rows], judged.rank, grades[rows])


def _refuse_other_groups(grouped: GroupedJudgments) -> None:
    """Refuse groups that cannot be strata: subgroups, or a document in two, whose chance to be drawn is unknown."""
    if grouped.subgroup.any():
        fact = "these judgments have subgroups, like preferences, so their groups are not strata."
        raise InputError(grouped.name, fact, hint="a line with a stratum is: query iteration document stratum grade")
    several = np.flatnonzero(np.bincount(grouped.row, minlength=len(grouped.flat.grades)) > 1)
    if len(several):
        row = int(several[0])
        names = [f"'{grouped.group_ids[group]}'" for group in grouped.group[grouped.row == row].tolist()]
        fact = f"{grouped._named(row)} is in {len(names)} strata: {', '.join(names)}."
        hint = "in a sampled pool, each document is in one stratum, and some of each stratum are judged"
        raise InputError(grouped.name, fact, hint=hint)
