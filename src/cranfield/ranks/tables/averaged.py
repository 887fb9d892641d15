"""Judged ranks averaged over all orders of ties: measures that add over ranks give exact means on them.

After McSherry & Najork (2008), only the sizes of ties matter, and how many documents of each grade they have. A tie of
n documents, m of which have a grade, becomes n rows of that grade, one for each rank, each of which counts m/n. Sums
over such rows are means over all orders. So are sums of products with a running sum, since that is, too, a mean over
the orders in which a document of this grade has this rank.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from cranfield.native import native
from cranfield.ranks.columns import Flags, Integers, Numbers, offsets
from cranfield.ranks.tables.ranks import JudgedRanks, add_up, steps_of

if TYPE_CHECKING:
    import numpy.typing as npt

AT_ONCE = 1 << 21  # rows of one table


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class AveragedRanks(JudgedRanks):
    """A table of shares. For each row also: its `kind`, which is a grade of a tie, its `share`, and the tie's size."""

    kind: Integers
    share: Numbers
    size: Integers

    @classmethod
    def of(cls, judged: JudgedRanks, queries: Flags, cutoff: int | None) -> AveragedRanks:
        """The rows of some queries; those below the cutoff may be left out."""
        tied = judged.tied_rows
        assert tied is not None
        tied = tied.rows(queries[tied.query])
        alone = np.flatnonzero(queries[judged.query] & (tied.groups.of(judged.query, judged.rank) < 0))
        # Documents of the same tie and grade are one kind; -0.0 differs from 0.
        new = np.ones(len(tied), dtype=np.bool_)
        new[1:] = (
            (np.diff(tied.group) != 0) | (np.diff(tied.grade) != 0) | (np.diff(np.signbit(tied.grade).astype(int)) != 0)
        )
        first = np.flatnonzero(new)
        count = np.diff(np.append(first, len(tied)))
        last = judged.retrieved if cutoff is None else np.minimum(judged.retrieved, cutoff)
        query, above, size = tied.query[first], tied.above[first], tied.size[first]
        length = np.clip(last[query] - above, 0, size)
        kind = np.repeat(np.arange(len(first)), length)
        rank = above[kind] + 1 + np.arange(len(kind)) - offsets(length)[kind]
        columns = {
            "query": (judged.query[alone], query[kind]),
            "rank": (judged.rank[alone], rank),
            "grade": (judged.grade[alone], tied.grade[first][kind]),
            "tied": (np.zeros(len(alone), dtype=np.bool_), np.ones(len(kind), dtype=np.bool_)),
            "row": (judged.row[alone], tied.row[first][kind]),
            "kind": (len(first) + np.arange(len(alone)), kind),
            "share": (np.ones(len(alone)), (count / size)[kind]),
            "size": (np.ones(len(alone), dtype=np.int64), size[kind]),
        }
        joined: dict[str, Any] = {name: np.concatenate(parts) for name, parts in columns.items()}
        order = np.lexsort((joined["kind"], joined["rank"], joined["query"]))
        return cls(
            query_ids=judged.query_ids,
            retrieved=judged.retrieved,
            missing=judged.missing,
            all_judged=judged.all_judged,
            complete=judged.complete,
            **{name: column[order] for name, column in joined.items()},
        )

    @property
    def completed(self) -> JudgedRanks:
        return self

    def rows(self, kept: Flags) -> AveragedRanks:
        at = np.flatnonzero(kept)
        columns = ("query", "rank", "grade", "tied", "row", "kind", "share", "size")
        return replace(self, **{name: getattr(self, name)[at] for name in columns})

    def sum(self, values: npt.NDArray[Any]) -> Numbers:
        return super().sum(values * self.share)

    def _sum_by_rank(self, worth: npt.NDArray[Any], hit: Any) -> Numbers:
        return self.sum(np.where(hit, worth, 0.0) / self.rank)

    def running(self, hit: Flags) -> Any:
        return self.running_sum(hit.astype(np.float64))

    def running_sum(self, values: Numbers) -> Numbers:
        """The mean of the sum so far, over the orders in which a document of this kind has this rank."""
        here = self._here(values * self.share)
        above = _before(here, self._tie_of_rank)
        total: Numbers = np.bincount(self._tie_of_rank, here).astype(np.float64, copy=False)
        by_kind = np.argsort(self.kind, kind="stable")
        own = np.empty(len(self.rank))
        own[by_kind] = _before(values[by_kind], self.kind[by_kind])
        # The other n - 1 documents of the tie are above with equal chances; this one is not.
        others = (self.size * above[self._place] - own) / np.maximum(self.size - 1, 1)
        earlier = _before(total, self._query_of_tie)[self._tie_of_rank][self._place]
        return earlier + np.where(self.size > 1, others, 0.0) + values

    def first_hit(self, hit: Flags) -> Any:
        return self.stops(hit.astype(np.float64))

    def any_hit(self, hit: Flags) -> Numbers:
        return self.sum(self.first_hit(hit))

    def stops(self, chance: Numbers) -> Numbers:
        """The chances are those of kinds: down to the last row that has one, all rows of a kind must have the same."""
        tie, query = self._tie_of_rank, self._query_of_tie
        first = np.flatnonzero(np.diff(tie, prepend=-1))  # ranks, one for each tie
        size = self.size[self._row_of_rank][first]
        # Going on past the first p documents of a tie: a mean over all choices of p, one document after another added.
        kinds = np.flatnonzero(np.isin(self._place, first) & (chance > 0))
        times = np.rint(self.share[kinds] * self.size[kinds]).astype(np.int64)
        its_tie = np.repeat(tie[self._place[kinds]], times)
        goes_on = np.repeat(1 - chance[kinds], times)
        number = np.bincount(its_tie, minlength=len(size))
        start = offsets(number)
        p = np.arange(len(tie)) - first[tie] + 1
        plain = (size - number)[tie]
        still = (p <= plain).astype(np.float64)
        left = np.flatnonzero(number[tie])
        for step in range(int(number.max(initial=0))):
            left = left[number[tie[left]] > step]
            among, at = plain[left] + step + 1, p[left]
            one_less = np.where(at == 1, 1.0, still[left - 1])
            q = goes_on[start[tie[left]] + step]
            still[left] = np.maximum(among - at, 0) / among * still[left] + at / among * q * one_less
        last = np.append(first[1:], len(tie)) - 1
        come = _product_before(still[last], query)[tie] if len(last) else still
        before = np.where(p == 1, 1.0, np.append(0.0, still[:-1]))
        wanted = self._here(chance * self.share)
        stopped = np.divide(come * (before - still), wanted, out=np.zeros(len(wanted)), where=wanted > 0)
        return chance * stopped[self._place]

    def _here(self, values: Numbers) -> Numbers:
        """The sum of the rows of each rank."""
        return np.bincount(self._place, values, minlength=len(self._row_of_rank)).astype(np.float64, copy=False)

    @cached_property
    def _place(self) -> Integers:
        """For each row its rank among those of all queries, as a number from 0."""
        return np.cumsum((np.diff(self.query, prepend=-1) != 0) | (np.diff(self.rank, prepend=-1) != 0)) - 1

    @cached_property
    def _row_of_rank(self) -> Integers:
        return np.flatnonzero(np.diff(self._place, prepend=-1))

    @cached_property
    def _tie_of_rank(self) -> Integers:
        """For each rank the number of its tie; the first of its kinds has the rank just above or below, too."""
        return np.cumsum(np.diff(self.kind[self._row_of_rank], prepend=-1) != 0) - 1

    @cached_property
    def _query_of_tie(self) -> Integers:
        return self.query[self._row_of_rank[np.flatnonzero(np.diff(self._tie_of_rank, prepend=-1))]]


def _before(values: Numbers, owner: Integers) -> Numbers:
    """The sum of the values above each, among those of one owner, which are adjacent."""
    total = np.array(values, dtype=np.float64)
    if native:
        native.add_up(total, owner)
    else:
        add_up(total, steps_of(owner))
    return _moved_down(total, owner, 0.0)


def _product_before(values: Numbers, owner: Integers) -> Numbers:
    total = np.array(values, dtype=np.float64)
    for rows in steps_of(owner)[1:]:
        total[rows] *= total[rows - 1]
    return _moved_down(total, owner, 1.0)


def _moved_down(values: Numbers, owner: Integers, first: float) -> Numbers:
    moved = np.append(first, values[:-1])[: len(values)]
    moved[np.flatnonzero(np.diff(owner, prepend=-1))] = first
    return moved
