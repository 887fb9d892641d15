"""Passages: the chunks of rankings and the judged passages of their queries, as places on one line of characters."""

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
class Stretches:
    """Places from `start` to `end` of some queries, on a line on which every query and document has its own part."""

    query: Integers
    start: Integers
    end: Integers

    def only(self, kept: Flags) -> Stretches:
        return Stretches(self.query[kept], self.start[kept], self.end[kept])

    def __add__(self, other: Stretches) -> Stretches:
        columns = ((self.query, other.query), (self.start, other.start), (self.end, other.end))
        return Stretches(*(np.concatenate(both) for both in columns))

    @cached_property
    def apart(self) -> Stretches:
        order = np.lexsort((self.end, self.start))
        start, end = self.start[order], self.end[order]
        before = np.concatenate(([0], np.maximum.accumulate(end)[:-1])) if len(end) else end
        start = np.maximum(start, before)
        kept = end > start
        return Stretches(self.query[order][kept], start[kept], end[kept])

    def length(self, queries: int) -> Numbers:
        """How many characters they have in each query, each counted once."""
        apart = self.apart
        return np.bincount(apart.query, weights=apart.end - apart.start, minlength=queries).astype(np.float64)

    def inside(self, other: Stretches) -> Integers:
        """How many characters of each of these are also in the other."""
        apart = other.apart
        so_far = np.concatenate(([0], np.cumsum(apart.end - apart.start)))

        def before(place: Integers) -> Integers:
            at = np.searchsorted(apart.start, place, side="right")
            beyond = np.where(at > 0, np.append(apart.end, 0)[at - 1] - place, 0)
            return np.asarray(so_far[at] - np.maximum(beyond, 0), dtype=np.int64)

        return before(self.end) - before(self.start)


@dataclass(frozen=True, eq=False)
class PassageRanks:
    """The chunks that a run retrieved for the judged queries, sorted by query and rank, and all judged passages.

    For each chunk: its place in `chunks`, `rank` (from 1), and its `costs` in each unit that is known.
    For each passage: its place in `passages`, `grade` (below 0: not judged), `whole` (the document is judged as a
    whole) and `unknown` (its end is not known). `ranks` is the table of the chunks' grades, for the measures that read
    ranks; `cover` the share of a passage that must be read.
    """

    ranks: JudgedRanks
    chunks: Stretches
    rank: Integers
    costs: dict[str, Integers]
    passages: Stretches
    grade: Numbers
    whole: Flags
    unknown: Flags
    cover: float

    def __len__(self) -> int:
        return len(self.ranks)

    def sum(self, values: npt.NDArray[Any]) -> Numbers:
        return np.bincount(self.passages.query, weights=values, minlength=len(self)).astype(np.float64, copy=False)

    def relevant(self, rel: float) -> Flags:
        return (self.grade >= 0) & reaches(self.grade, rel)

    def read(
        self, cutoff: int | None, budget: int | None = None, unit: str = "characters", fit: str = "whole"
    ) -> ReadChunks:
        """The chunks down to a cutoff that fit into a budget: before the first that does not fit, or "cut" there."""
        kept = np.ones(len(self.rank), dtype=np.bool_) if cutoff is None else self.rank <= cutoff
        if budget is None:
            return ReadChunks(self.chunks.only(kept), len(self))
        if unit not in self.costs:
            raise MeasureError(f"the number of {unit} in each chunk is not known.", hint=_UNITS.get(unit, ""))
        cost = self.costs[unit]
        total = np.concatenate(([0], np.cumsum(cost)))
        first = np.searchsorted(self.chunks.query, self.chunks.query)
        left = budget - (total[:-1] - total[first])  # before each chunk
        fits = (cost <= left) & kept
        if fit == "whole":
            return ReadChunks(self.chunks.only(fits), len(self))
        if unit != "characters":
            raise MeasureError("only characters can be cut.", hint="leave out fit=cut, or unit")
        end = np.minimum(self.chunks.end, self.chunks.start + np.maximum(left, 0))
        some = kept & (end > self.chunks.start)
        return ReadChunks(Stretches(self.chunks.query, self.chunks.start, end).only(some), len(self))

    def judged_text(self, rel: float) -> Stretches:
        """The passages that were judged relevant; an error if one of them has no end."""
        hit = self.relevant(rel)
        if (hit & self.unknown).any():
            fact = "a document is judged as a whole, but its length is not known."
            raise MeasureError(fact, hint="give the documents' texts")
        return self.passages.only(hit)

    def found(self, read: ReadChunks) -> Flags:
        """Passages of which enough is read; for a document judged as a whole, any part is enough."""
        seen = self.passages.inside(read.chunks)
        share = seen / (self.passages.end - self.passages.start)
        return np.where(self.whole, seen > 0, share >= self.cover)

    @cached_property
    def condensed(self) -> PassageRanks:
        """The table of the rankings without their unjudged chunks, those that touch no judged passage."""
        kept = self.chunks.inside(self.passages.only(self.grade >= 0)) > 0
        query = self.chunks.query[kept]
        return replace(
            self,
            ranks=self.ranks.condensed,
            chunks=self.chunks.only(kept),
            rank=np.arange(1, len(query) + 1) - np.searchsorted(query, query),
            costs={unit: cost[kept] for unit, cost in self.costs.items()},
        )


_UNITS = {
    "words": "give the documents' texts",
    "tokens": "give the chunks a column 'tokens', or count them: Chunks.read(chunks, documents, tokens=function)",
}


@dataclass(frozen=True, eq=False)
class ReadChunks:
    chunks: Stretches
    queries: int

    @property
    def distinct(self) -> Numbers:
        """Characters that are read, each counted once."""
        return self.chunks.length(self.queries)

    @property
    def total(self) -> Numbers:
        """Characters that are read, again each time."""
        lengths = self.chunks.end - self.chunks.start
        return np.bincount(self.chunks.query, weights=lengths, minlength=self.queries).astype(np.float64)

    def shared(self, judged: Stretches) -> Numbers:
        """Distinct characters that are read and in judged passages."""
        both = (judged + self.chunks).length(self.queries)
        return judged.length(self.queries) + self.distinct - both
