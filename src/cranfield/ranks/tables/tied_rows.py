"""The judged documents of ties whose order is left open, for means over all orders."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from cranfield.ranks.columns import Flags, Integers, Numbers, offsets
from cranfield.ranks.grades import NOT_RELEVANT, POOLED


class Groups(NamedTuple):
    """Ties: the query, how many documents are above, and how many are tied; sorted by query and place."""

    query: Integers
    above: Integers
    size: Integers

    def of(self, query: Integers, rank: Integers) -> Integers:
        """The group that each rank lies in; -1 for none."""
        if not len(self.query):
            return np.full(len(rank), -1)
        deepest = 1 + int(max(rank.max(initial=0), (self.above + self.size).max()))
        place = np.searchsorted(self.query * deepest + self.above, query * deepest + rank) - 1
        its = np.maximum(place, 0)
        inside = (place >= 0) & (self.query[its] == query) & (rank <= self.above[its] + self.size[its])
        return np.where(inside, place, -1)


class TiedRows:
    """Judged documents with equal scores, by query, tie and grade. Policies that average over orders keep them.

    For each row: `query`, how many documents are `above` its tie, the `size` of the tie, `grade`, and `row`, which row
    of the judgments it is. Documents without a judgment only count in the sizes.
    """

    def __init__(self, query: Integers, above: Integers, size: Integers, grade: Numbers, row: Integers) -> None:
        order = np.lexsort((np.signbit(grade), -grade, above, query))
        self.query, self.above, self.size = query[order], above[order], size[order]
        self.grade, self.row = grade[order], row[order]

    def __len__(self) -> int:
        return len(self.query)

    @cached_property
    def group(self) -> Integers:
        """The number of each row's tie."""
        return np.cumsum(self._begins) - 1

    @cached_property
    def groups(self) -> Groups:
        first = np.flatnonzero(self._begins)
        return Groups(self.query[first], self.above[first], self.size[first])

    @cached_property
    def _begins(self) -> Flags:
        new = np.ones(len(self), dtype=np.bool_)
        new[1:] = (np.diff(self.query) != 0) | (np.diff(self.above) != 0)
        return new

    def rows(self, kept: Flags) -> TiedRows:
        return TiedRows(self.query[kept], self.above[kept], self.size[kept], self.grade[kept], self.row[kept])

    def without(self, gone: Flags) -> TiedRows:
        return self.rows(~gone[self.row])

    def pooled(self, gone: Flags) -> TiedRows:
        grade = np.where(gone[self.row], np.minimum(self.grade, POOLED), self.grade)
        return TiedRows(self.query, self.above, self.size, grade, self.row)

    def between(self, start: int, stop: int) -> TiedRows:
        """Those of some adjacent queries, which are numbered from 0."""
        some = self.rows((self.query >= start) & (self.query < stop))
        return TiedRows(some.query - start, some.above, some.size, some.grade, some.row)

    def completed(self) -> TiedRows:
        """With a row for each document of a tie; those that were not judged are not relevant."""
        known = self.rows(self.grade >= 0)
        groups = self.groups
        holes = groups.size - np.bincount(self.group[self.grade >= 0], minlength=len(groups.size))
        return TiedRows(
            np.concatenate((known.query, np.repeat(groups.query, holes))),
            np.concatenate((known.above, np.repeat(groups.above, holes))),
            np.concatenate((known.size, np.repeat(groups.size, holes))),
            np.concatenate((known.grade, np.full(holes.sum(), NOT_RELEVANT))),
            np.concatenate((known.row, np.zeros(holes.sum(), dtype=np.int64))),
        )

    def condensed(self, query: Integers, rank: Integers, queries: int) -> TiedRows:
        """Ties among the judged documents alone; query, rank: of all judged documents, in order."""
        known = self.rows(self.grade >= 0)
        groups = known.groups
        deepest = 1 + int(max(rank.max(initial=0), groups.above.max(initial=0)))
        first = offsets(np.bincount(query, minlength=queries))
        above = np.searchsorted(query * deepest + rank, groups.query * deepest + groups.above, "right")
        size = np.bincount(known.group, minlength=len(groups.size))
        group = known.group
        return TiedRows(known.query, (above - first[groups.query])[group], size[group], known.grade, known.row)
