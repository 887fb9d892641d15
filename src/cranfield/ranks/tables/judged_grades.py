"""All judged grades of each query, the highest first: the ideal rankings."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from cranfield.ranks.columns import Flags, Integers, Numbers, offsets
from cranfield.ranks.grades import POOLED, reaches
from cranfield.words import count


@dataclass(frozen=True, eq=False, repr=False)
class JudgedGrades:
    """Grades first[q] to first[q + 1] are those of query q, the highest first; `row` are their rows of the judgments.

    Tables of several runs share one, and with it everything that depends only on the judgments.
    """

    grades: Numbers
    first: Integers
    row: Integers
    _known: dict[Hashable, Any] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        return f"<JudgedGrades of {count(len(self), 'query', 'queries')}>"

    def __len__(self) -> int:
        return len(self.first) - 1

    def __getstate__(self) -> dict[str, Any]:
        return {"grades": self.grades, "first": self.first, "row": self.row, "_known": {}}

    @cached_property
    def query(self) -> Integers:
        return np.repeat(np.arange(len(self), dtype=np.int64), np.diff(self.first))

    @cached_property
    def rank(self) -> Integers:
        return np.arange(len(self.grades)) - self.first[self.query] + 1

    @cached_property
    def by_row(self) -> tuple[Integers, Numbers]:
        query = np.zeros(self.row.max(initial=-1) + 1, dtype=np.int64)
        grades = np.zeros(len(query))
        query[self.row], grades[self.row] = self.query, self.grades
        return query, grades

    @cached_property
    def highest(self) -> Numbers:
        """The highest grade of each query; 0 if nothing was judged."""
        return np.append(self.grades, 0.0)[np.where(np.diff(self.first) > 0, self.first[:-1], -1)]

    @cached_property
    def distinct(self) -> list[float]:
        grades: list[float] = np.unique(self.grades).tolist()
        return grades

    def sum(self, values: Flags | Integers | Numbers) -> Numbers:
        return np.bincount(self.query, weights=values, minlength=len(self)).astype(np.float64, copy=False)

    def reaching(self, rel: float) -> Numbers:
        known: Numbers = self.kept(("reaching", rel), lambda: self.sum(reaches(self.grades, rel)))
        return known.copy()  # which may be changed

    def judged(self) -> Numbers:
        """How many grades of each query are judgments; one below 0 was only pooled."""
        known: Numbers = self.kept("judged", lambda: self.sum(self.grades >= 0))
        return known.copy()

    def kept(self, key: Hashable, calculate: Callable[[], Any]) -> Any:
        """A value that is calculated once, when first needed, and shared by all runs."""
        if key not in self._known:
            self._known[key] = calculate()
        return self._known[key]

    def pooled(self, gone: Flags) -> JudgedGrades:
        grades = np.where(gone[self.row], np.minimum(self.grades, POOLED), self.grades)
        order = np.lexsort((-grades, self.query))
        return JudgedGrades(grades[order], self.first, self.row[order])

    def without(self, gone: Flags) -> JudgedGrades:
        left = ~gone[self.row]
        sizes = np.bincount(self.query[left], minlength=len(self))
        return JudgedGrades(self.grades[left], offsets(sizes.tolist()), self.row[left])
