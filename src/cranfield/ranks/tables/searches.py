"""Searches: which documents each search of a task fetched, in the order in which they were read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from cranfield.errors import MeasureError
from cranfield.ranks.columns import Flags, Integers, Numbers
from cranfield.ranks.grades import reaches
from cranfield.ranks.tables.ranks import JudgedRanks


@dataclass(frozen=True, eq=False)
class SearchRanks:
    """A row for each document that a search fetched, sorted by task, search and rank; one fetched again has a new row.

    For each row: `query` (the number of its task), `call` and `rank` (from 1), `document` (a number, for each task
    another), `grade` (NaN: not judged), and its `costs` in each unit that is known. For each task: `calls`, how many
    searches it has. `judged` are the ranks of the documents of all searches, each where it was first read: it knows
    what was to be found.
    """

    judged: JudgedRanks
    query: Integers
    call: Integers
    rank: Integers
    document: Integers
    grade: Numbers
    costs: dict[str, Integers]
    calls: Integers

    def __len__(self) -> int:
        return len(self.judged)

    def relevant(self, rel: float) -> Flags:
        return reaches(np.nan_to_num(self.grade, nan=-np.inf), rel)

    def within(self, cutoff: int | None, calls: int | None = None) -> Flags:
        """The first documents of each search; of the first searches alone, if `calls` says how many."""
        kept = np.ones(len(self.rank), dtype=np.bool_) if cutoff is None else self.rank <= cutoff
        return kept if calls is None else kept & (self.call <= calls)

    def fitting(self, kept: Flags, budget: int | None, unit: str, *, again: bool) -> Flags:
        """Of some documents, those that are read before the budget of their task is spent.

        again: whether a document that is fetched again costs again
        """
        if budget is None:
            return kept
        if unit not in self.costs:
            raise MeasureError(
                f"the number of {unit} in each document is not known.",
                hint="give a column 'tokens', or count them: read_searches(run, tokens=function)",
            )
        paid = kept if again else self.first(kept)
        spent = np.cumsum(np.where(paid, self.costs[unit], 0))
        before = np.concatenate(([0], spent))[np.searchsorted(self.query, self.query)]
        return kept & (spent - before <= budget)

    def first(self, kept: Flags) -> Flags:
        """Of some documents, each where it is first fetched."""
        rows = np.flatnonzero(kept)
        _, at = np.unique(self.document[rows], return_index=True)
        first = np.zeros(len(self.rank), dtype=np.bool_)
        first[rows[at]] = True
        return first

    def sum(self, values: npt.NDArray[Any]) -> Numbers:
        return np.bincount(self.query, weights=values, minlength=len(self)).astype(np.float64, copy=False)

    def first_call(self, hit: Flags) -> Numbers:
        """The first search of each task that has a hit; infinite where none has."""
        first = np.full(len(self), np.inf)
        np.minimum.at(first, self.query[hit], self.call[hit].astype(np.float64))
        return first

    def calls_with(self, hit: Flags) -> Integers:
        """How many searches of each task have a hit."""
        width = int(self.calls.max(initial=0)) + 1
        return np.bincount(np.unique(self.query[hit] * width + self.call[hit]) // width, minlength=len(self))

    def n_relevant(self, rel: float) -> Integers:
        return np.asarray(self.judged.n_relevant(rel), dtype=np.int64)

    @cached_property
    def condensed(self) -> SearchRanks:
        """The same without documents that were not judged: the others move up in their searches."""
        kept = self.grade >= 0
        query, call = self.query[kept], self.call[kept]
        width = int(self.calls.max(initial=0)) + 1
        search = query * width + call
        return replace(
            self,
            judged=self.judged.condensed,
            query=query,
            call=call,
            rank=np.arange(1, len(query) + 1) - np.searchsorted(search, search),
            document=self.document[kept],
            grade=self.grade[kept],
            costs={unit: cost[kept] for unit, cost in self.costs.items()},
        )
