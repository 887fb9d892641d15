"""Candidates: the first documents of all runs as columns, with the grades that are known."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from cranfield.errors import InputError
from cranfield.judging.pool.order import ReturnedByRuns
from cranfield.measures.registry import Measure
from cranfield.ranks.columns import Flags, Integers, Numbers, offsets
from cranfield.ranks.first_documents import Grades
from cranfield.ranks.grades import NOT_RELEVANT
from cranfield.ranks.tables.judged_grades import JudgedGrades
from cranfield.ranks.tables.ranks import JudgedRanks

TOGETHER = 150_000  # grades of completions that are measured at once: more would not fit into the processor's cache
MANY_STEPS = 20  # fewer are compared one by one, which is faster than searching
NO_GRADE = "give None for a document that cannot be judged"

Places = np.ndarray[Any, np.dtype[np.int32]]  # of grades in a scale: small, because a decision holds millions of them


@dataclass(frozen=True, eq=False)
class Candidates:
    """The documents that any run returns down to a depth, sorted by query, and all judged documents of their queries.

    For each document: `query` (a number), `doc_ids`, `grade` (NaN if it is not judged), and in `rank`, which has
    a line for each run, its rank, 0 where the run does not return it that early. Documents that are judged and not
    returned by any run have the rank 0 everywhere: measures look at them, and nothing about them has to be estimated.
    For each query: `query_ids`, and in `retrieved`, which has a line for each run, how many documents are ranked.
    """

    runs: tuple[str, ...]
    query_ids: tuple[str, ...]
    doc_ids: tuple[str, ...] = field(repr=False)
    query: Integers
    rank: Integers
    retrieved: Integers
    grade: Numbers
    passed: Flags  # seen, but it could not be judged: it counts as not relevant, as everywhere
    scale: tuple[float, ...]

    @classmethod
    def of(cls, returned: ReturnedByRuns, grades: Grades, scale: Sequence[float]) -> Candidates:
        runs, queries = returned.runs, tuple(returned.by_query)
        ranks: list[Mapping[str, int]] = []
        doc_ids: list[str] = []
        known: list[float] = []
        lengths = []
        for query in queries:
            by_document = returned.by_query[query]  # a negative grade means that a document is not judged
            judged = {document: float(grade) for document, grade in grades.get(query, {}).items() if grade >= 0}
            everything = [*by_document, *(document for document in judged if document not in by_document)]
            doc_ids += everything
            ranks += [by_document.get(document, {}) for document in everything]
            known += [judged.get(document, np.nan) for document in everything]
            lengths.append(len(everything))
        rank = np.array([[by_run.get(name, 0) for by_run in ranks] for name in runs], dtype=np.int64)
        whose = np.repeat(np.arange(len(queries), dtype=np.int64), lengths)
        rank = rank.reshape(len(runs), len(doc_ids))
        return cls(
            runs=runs,
            query_ids=queries,
            doc_ids=tuple(doc_ids),
            query=whose,
            rank=rank,
            retrieved=np.array([np.bincount(whose[line > 0], minlength=len(queries)) for line in rank]),
            grade=np.array(known, dtype=np.float64),
            passed=np.zeros(len(known), dtype=np.bool_),
            scale=tuple(sorted(scale)),
        )

    def with_grades(self, grades: Mapping[str, Mapping[str, float | None]]) -> Candidates:
        """A document that is not among the candidates is an error."""
        changed, passed = self.grade.copy(), self.passed.copy()
        for query, judged in grades.items():
            for document, grade in judged.items():
                place = self._place(query, document)
                if grade is not None and not math.isfinite(grade):
                    raise InputError("the grades", f"{grade!r} of document '{document}' is not a grade.", hint=NO_GRADE)
                passed[place] = grade is None or grade < 0
                changed[place] = NOT_RELEVANT if passed[place] else grade
        known = replace(self, grade=changed, passed=passed)
        known.__dict__.update({name: self.__dict__[name] for name in ("_places", "returned") if name in self.__dict__})
        return known

    def _place(self, query: str, document: str) -> int:
        try:
            return self._places[query, document]
        except KeyError:
            fact = f"document '{document}' of query '{query}' is not among the first documents of the runs."
            raise InputError("the grades", fact, hint="give grades of what next() returns") from None

    @cached_property
    def _places(self) -> dict[tuple[str, str], int]:
        return {pair: place for place, pair in enumerate(map(self.names_of, range(len(self.doc_ids))))}

    def names_of(self, place: int) -> tuple[str, str]:
        return self.query_ids[self.query[place]], self.doc_ids[place]

    @cached_property
    def judged(self) -> Flags:
        return ~np.isnan(self.grade)

    @cached_property
    def observed(self) -> Flags:
        return np.asarray(self.judged & self.returned & ~self.passed)

    @property
    def judged_share(self) -> float:
        """Of the documents that some run returns."""
        return float(self.observed.sum() / max(self.returned.sum(), 1))

    @cached_property
    def returned(self) -> Flags:
        return np.asarray((self.rank > 0).any(axis=0))

    def differing(self, one: int, other: int) -> Flags:
        """Whether two runs rank any document of a query differently: otherwise no grade of the query can matter."""
        unlike = self.rank[one] != self.rank[other]
        return np.asarray(np.bincount(self.query[unlike], minlength=len(self.query_ids)) > 0)

    @cached_property
    def levels(self) -> Numbers:
        """The grades of the scale, and all others that were given, from the lowest to the highest."""
        return np.unique(np.concatenate([self.scale, self.grade[self.judged]]))

    @cached_property
    def steps(self) -> Numbers:
        """The grades of the scale that somebody gave, and its ends: a grade that nobody gives has no place between."""
        scale = np.array(self.scale)
        if not self.observed.any():
            return scale
        nearest = steps_below((scale[1:] + scale[:-1]) / 2, self.grade[self.observed])
        return np.asarray(scale[np.unique(np.concatenate([[0, len(scale) - 1], nearest]))])

    @cached_property
    def level(self) -> Integers:
        """The grade of each judged document as the number of the nearest of these steps; 0 for the others."""
        ends = (self.steps[1:] + self.steps[:-1]) / 2
        return steps_below(ends, np.where(self.judged, self.grade, self.steps[0]))

    def completed(self, steps: Places) -> Places:
        """Numbers of steps as numbers of `levels`, a line for each completion; judged documents keep their grade."""
        completions = np.searchsorted(self.levels, self.steps).astype(np.int32).take(steps)
        judged = np.flatnonzero(self.judged)
        completions[:, judged] = np.searchsorted(self.levels, self.grade[judged])
        return completions

    def values(self, measure: Measure, runs: Sequence[int], completions: Places) -> list[Numbers]:
        """A line for each completion, a column for each query: as if completions were queries of their own."""
        rows = {run: self._order(run) for run in runs}
        values: dict[int, list[Numbers]] = {run: [] for run in runs}
        tables: dict[int, JudgedRanks] = {}
        lines = max(1, TOGETHER // max(len(self.query), 1))
        for start in range(0, len(completions), lines):
            some = completions[start : start + lines]
            if start == 0 or len(some) < lines:  # all else is the same in all completions
                nothing = self._nothing_judged(len(some))
                tables = {run: self._ungraded(run, rows[run], nothing) for run in runs}
            all_judged = replace(nothing, grades=self.falling(some), _known={})
            all_judged.__dict__.update(query=nothing.query, rank=nothing.rank)
            for run, table in tables.items():
                grade = self.levels.take(some.take(rows[run], axis=1)).reshape(-1)
                column = measure(replace(table, grade=grade, all_judged=all_judged))
                values[run].append(column.reshape(len(some), len(self.query_ids)))
        return [np.concatenate(values[run]) for run in runs]

    def _nothing_judged(self, count: int) -> JudgedGrades:
        """All documents in so many completions, without grades."""
        first = offsets(np.bincount(self.query, minlength=len(self.query_ids)).tolist() * count)
        everything = np.arange(count * len(self.query))
        return JudgedGrades(np.zeros(len(everything)), first, everything)

    def _ungraded(self, run: int, rows: Integers, all_judged: JudgedGrades) -> JudgedRanks:
        """The ranking of a run in as many completions, without grades."""
        count = len(all_judged) // len(self.query_ids)
        line = np.arange(count)[:, None]
        return JudgedRanks(
            query_ids=self.query_ids * count,
            query=(self.query[rows] + len(self.query_ids) * line).reshape(-1),
            rank=np.tile(self.rank[run][rows], count),
            grade=np.zeros(count * len(rows)),
            tied=np.zeros(count * len(rows), dtype=np.bool_),
            row=(rows + len(self.doc_ids) * line).reshape(-1),
            retrieved=np.tile(self.retrieved[run], count),
            missing=np.tile(self.retrieved[run] == 0, count),
            all_judged=all_judged,
        )

    def _order(self, run: int) -> Integers:
        rows = np.flatnonzero(self.rank[run] > 0)
        return rows[np.argsort(self.query[rows] * (self.rank[run].max(initial=0) + 1) + self.rank[run][rows])]

    def falling(self, completions: Places) -> Numbers:
        """The grades of each query of each completion, the highest first, one after the other."""
        count, cells = len(completions), len(self.query_ids) * len(self.levels)
        place = self.level_cells(completions) + cells * np.arange(count)[:, None]
        counts = np.bincount(place.reshape(-1), minlength=count * cells)
        return np.repeat(np.tile(self.levels[::-1], count * len(self.query_ids)), counts)

    def level_cells(self, completions: Places) -> Integers:
        """The query and the grade of each document as one number: it grows with the query and falls with the grade."""
        return np.asarray(self._lowest_cell - completions)

    @cached_property
    def _lowest_cell(self) -> Integers:
        return (self.query + 1) * len(self.levels) - 1


def steps_below(steps: Numbers, values: Numbers) -> Integers:
    if len(steps) > MANY_STEPS:
        return np.searchsorted(steps, values)
    below = np.zeros(values.shape, dtype=np.int64)
    for step in steps:
        below += values > step
    return below
