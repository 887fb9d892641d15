"""The table every measure reads: ranks and grades of the judged documents that were retrieved, and a few counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from cranfield.errors import PolicyError, given
from cranfield.native import native
from cranfield.ranks.columns import Flags, Integers, Numbers
from cranfield.ranks.grades import NOT_RELEVANT, POOLED, reaches
from cranfield.ranks.tables.judged_grades import JudgedGrades
from cranfield.ranks.tables.tied_rows import TiedRows

if TYPE_CHECKING:
    import numpy.typing as npt


@dataclass(frozen=True, eq=False, repr=False)
class JudgedRanks:
    """Judged documents that were retrieved, sorted by query and rank.

    For each row: `query` (a number), `rank` (from 1), `grade`, `tied`, whether another document has its score, and
    `row`, which row of the judgments it is.
    For each query: `query_ids`, `retrieved` (documents in its ranking), `missing` (the run lacks it), and all of its
    judged grades: `judged_grades[judged_first[q]:judged_first[q + 1]]`, the highest first; `judged_row` are their rows
    of the judgments. These are columns of `all_judged`, which the tables of other runs share.

    Where the policy leaves the order of ties open, `tied_rows` has the judged documents of ties: values are means over
    all orders, and the rows of the table are in the usual one.

    A negative grade means "pooled, not judged". Rows that carry one stay, since inferred measures need them. Where the
    judgments are `complete`, nothing is unjudged: `completed` has a row for every document.

    The methods that measures use, for one ranking of grades 2, 0, not judged, 1, with another 1 not retrieved:

    >>> judged = JudgedRanks.of_grades([2, 0, None, 1], missed=[1])
    >>> judged.rank.tolist(), judged.grade.tolist(), judged.retrieved.tolist(), len(judged)
    ([1, 2, 4], [2.0, 0.0, 1.0], [4], 1)
    >>> hit = judged.relevant(1) & judged.within(10)
    >>> hit.tolist(), judged.running(hit).tolist(), judged.judged.tolist()
    ([True, False, True], [1, 1, 2], [True, True, True])
    >>> judged.sum(hit * judged.running(hit) / judged.rank) / judged.n_relevant(1)  # average precision
    array([0.5])
    >>> judged.n_judged(), judged.judged_sum(judged.judged_grades), judged.highest_grade, judged.distinct_grades
    (array([4.]), array([4.]), array([2.]), [0.0, 1.0, 2.0])
    >>> judged.running_sum(judged.grade).tolist(), judged.running_product_before(judged.grade).tolist()
    ([2.0, 2.0, 3.0], [1.0, 2.0, 0.0])
    >>> import numpy as np
    >>> from dataclasses import replace
    >>> judged.first_hit(hit).tolist(), judged.any_hit(hit), judged.stops(judged.grade / 4).tolist()
    ([True, False, False], array([1.]), [0.5, 0.0, 0.125])
    >>> running = judged.running_sum(judged.grade)
    >>> judged.last(running), judged.at(running, np.array([0, 0]), np.array([3, 4]))
    (array([3.]), array([2., 3.]))
    >>> judged.ideal.grade.tolist(), judged.ideal_rank.tolist(), judged.in_ideal(judged.ideal.grade).tolist()
    ([2.0, 1.0, 1.0, 0.0], [1, 2, 3, 4], [2.0, 1.0, 0.0])
    >>> judged.condensed.rank.tolist(), judged.cut(2).rank.tolist(), judged.only(0).rank.tolist()
    ([1, 2, 3], [1, 2], [1, 2, 4])
    >>> judged.n_unjudged(), judged.n_unjudged(2), replace(judged, complete=True).completed.rank.tolist()
    (array([1.]), array([0.]), [1, 2, 3, 4])
    >>> judged.rows(hit).rank.tolist(), judged.first.tolist(), judged.judged_query.tolist()
    ([1, 4], [0, 3], [0, 0, 0, 0])
    >>> judged.judged_first.tolist(), judged.judged_row.tolist(), len(judged.all_judged)
    ([0, 4], [0, 2, 3, 1], 1)
    """

    query_ids: tuple[str, ...]
    query: Integers
    rank: Integers
    grade: Numbers
    tied: Flags
    row: Integers
    retrieved: Integers
    missing: Flags
    all_judged: JudgedGrades
    extra: int = field(default=0)  # queries of the run that are not judged
    lengths: tuple[Numbers, ...] | None = None  # of all documents of each ranking, by rank, where they are known
    complete: bool = False  # a document without a judgment is judged, and not relevant
    tied_rows: TiedRows | None = None  # ties whose order is left open: values are means over all orders

    def __repr__(self) -> str:
        return f"<JudgedRanks: {len(self.rank):,} judged documents retrieved for {len(self.query_ids):,} queries>"

    def __len__(self) -> int:
        return len(self.query_ids)

    # The methods that measures use.

    def relevant(self, rel: float) -> Flags:
        """Rows whose grade makes them relevant.

        rel: the lowest grade that counts as relevant.
        Returns a flag for each row.
        """
        return reaches(self.grade, rel)

    @property
    def judged(self) -> Flags:
        """Rows that were judged, not merely pooled."""
        return self.grade >= 0

    def within(self, cutoff: int | None) -> Flags:
        """Rows no deeper than a cutoff.

        cutoff: the deepest rank; None for all rows.
        Returns a flag for each row.
        """
        return np.ones(len(self.rank), dtype=np.bool_) if cutoff is None else self.rank <= cutoff

    def sum(self, values: npt.NDArray[Any]) -> Numbers:
        """The sum of a value over the rows of each query, added in the order of the ranks.

        values: one for each row; flags count 0 and 1.
        Returns a number for each query; 0 where it has no row.
        """
        if values.dtype == np.bool_:  # counted, which is faster than adding
            return np.bincount(self.query[np.flatnonzero(values)], minlength=len(self)).astype(np.float64)
        return np.bincount(self.query, weights=values, minlength=len(self)).astype(np.float64, copy=False)

    def _sum_by_rank(self, worth: npt.NDArray[Any], hit: Flags) -> Numbers:
        """The sum of worth / rank over the hits of each query, without calculating anything for other rows."""
        at = np.flatnonzero(hit)
        weights = worth[at] / self.rank[at]
        return np.bincount(self.query[at], weights=weights, minlength=len(self)).astype(np.float64, copy=False)

    def running(self, hit: Flags) -> Integers:
        """How many hits a query has had so far.

        hit: a flag for each row.
        Returns a count for each row, itself included.
        """
        if native:
            total = hit.astype(np.int64)
            native.add_up(total, self.query)
            return total
        so_far = np.concatenate(([0], np.cumsum(hit, dtype=np.int64)))
        return so_far[1:] - so_far[self.first[:-1]][self.query]

    def running_sum(self, values: Numbers) -> Numbers:
        """The sum of the values of a query so far, added in the order of the ranks.

        values: one for each row.
        Returns a sum for each row, itself included.
        """
        total = np.array(values, dtype=np.float64)
        if native:
            native.add_up(total, self.query)
        else:
            add_up(total, self._steps)
        return total

    def running_product_before(self, values: Numbers) -> Numbers:
        """The product of the values above a row.

        values: one for each row.
        Returns for each row the product over the rows of its query above it; 1 for the first.
        """
        product = np.ones(len(self.rank))
        for rows in self._steps[1:]:
            product[rows] = product[rows - 1] * values[rows - 1]
        return product

    def first_hit(self, hit: Flags) -> Flags:
        """The first hit of each query.

        hit: a flag for each row.
        Returns a flag for each row.
        """
        first: Flags = hit & (self.running(hit) == 1)
        return first

    def any_hit(self, hit: Flags) -> Numbers:
        """Whether a query has a hit.

        hit: a flag for each row.
        Returns 1 or 0 for each query.
        """
        return (self.sum(hit) > 0).astype(np.float64)

    def stops(self, chance: Numbers) -> Numbers:
        """Where a user stops who reads down the ranking.

        chance: for each row, that of stopping there after coming to it.
        Returns for each row the chance of coming to it and stopping there.
        """
        return chance * self.running_product_before(1 - chance)

    def last(self, running: Numbers) -> Numbers:
        """A running value at the end of each query.

        running: a value for each row.
        Returns that of the last row of each query; 0 where it has no row.
        """
        return np.append(0.0, running)[np.where(self.first[1:] > self.first[:-1], self.first[1:], 0)]

    def at(self, running: Numbers, query: Integers, rank: Integers) -> Numbers:
        """A running value of queries at ranks.

        running: a value for each row.
        query, rank: the numbers of the queries, and a rank for each.
        Returns for each the value of the query's last row no deeper than the rank; 0 where there is none.
        """
        deepest = self.rank.max(initial=0) + 1
        rows = np.searchsorted(
            self.query * deepest + self.rank, query * deepest + np.minimum(rank, deepest - 1), "right"
        )
        return np.append(0.0, running)[np.where(rows > self.first[query], rows, 0)]

    def in_ideal(self, running: Numbers) -> Numbers:
        """A running value of the ideal ranking at the ranks of this one.

        running: a value for each row of `ideal`.
        Returns for each row the value at its rank, or at the end of the ideal ranking if that comes first; 0 where the
        ideal ranking is empty.
        """
        return np.append(running, 0.0)[self._row_in_ideal]

    @cached_property
    def _row_in_ideal(self) -> Integers:
        """For each row, the row of the ideal ranking at its rank, or the last one; -1 where it is empty."""
        ideal = self.ideal
        depth = np.minimum(self.rank, ideal.retrieved[self.query])
        return np.where(depth > 0, ideal.first[self.query] + depth - 1, -1)

    def n_judged(self) -> Numbers:
        """How many documents of each query were judged, retrieved or not."""
        return self.all_judged.judged()

    def n_unjudged(self, cutoff: int | None = None) -> Numbers:
        """How many documents of each ranking were not judged.

        cutoff: the deepest rank that counts; None for all.
        Returns a number for each query.
        """
        if self.complete:
            return np.zeros(len(self))
        retrieved = self.retrieved if cutoff is None else np.minimum(self.retrieved, cutoff)
        return retrieved - self.sum(self.judged & self.within(cutoff))

    def n_relevant(self, rel: float) -> Numbers:
        """How many relevant documents each query has, retrieved or not.

        rel: the lowest grade that counts as relevant.
        Returns a number for each query.
        """
        return self.all_judged.reaching(rel)

    def judged_sum(self, values: npt.NDArray[Any]) -> Numbers:
        """The sum of a value over the judged grades of each query, from the highest grade down.

        values: one for each of `judged_grades`; flags count 0 and 1.
        Returns a number for each query.
        """
        return self.all_judged.sum(values)

    @cached_property
    def first(self) -> Integers:
        """Rows first[q] to first[q + 1] belong to query q."""
        return np.concatenate(([0], np.cumsum(np.bincount(self.query, minlength=len(self)))))

    @cached_property
    def _steps(self) -> list[Integers]:
        return steps_of(self.query)

    @property
    def ideal(self) -> JudgedRanks:
        """The table of the ideal rankings: all judged documents, the best first."""
        ideal: JudgedRanks = self.all_judged.kept(("ideal", self.complete), self._ideal)
        return ideal

    def _ideal(self) -> JudgedRanks:
        kept: Any = self.judged_grades >= 0
        if kept.all():
            kept = slice(None)  # and nothing is copied
        query = self.judged_query[kept]
        return JudgedRanks(
            query_ids=self.query_ids,
            query=query,
            rank=self.ideal_rank[kept],
            grade=self.judged_grades[kept],
            tied=np.zeros(len(query), dtype=np.bool_),
            row=self.judged_row[kept],
            retrieved=np.bincount(query, minlength=len(self)),
            missing=np.zeros(len(self), dtype=np.bool_),
            all_judged=JudgedGrades(self.judged_grades, self.judged_first, self.judged_row),  # a new one: no cycle
            complete=self.complete,
        )

    @property
    def judged_grades(self) -> Numbers:
        """All judged grades of the queries, the highest first."""
        return self.all_judged.grades

    @property
    def judged_first(self) -> Integers:
        """Judged grades first[q] to first[q + 1] belong to query q."""
        return self.all_judged.first

    @property
    def judged_row(self) -> Integers:
        """The row of the judgments that each judged grade is from."""
        return self.all_judged.row

    @property
    def judged_query(self) -> Integers:
        """The query of each judged grade."""
        return self.all_judged.query

    @property
    def highest_grade(self) -> Numbers:
        """The highest grade of each query; 0 if nothing was judged."""
        return self.all_judged.highest

    @property
    def distinct_grades(self) -> list[float]:
        """The grades that occur in the judgments, the lowest first."""
        return self.all_judged.distinct

    @property
    def ideal_rank(self) -> Integers:
        """The rank of each judged grade in the ideal ranking."""
        return self.all_judged.rank

    # Other views of the same table.

    @cached_property
    def condensed(self) -> JudgedRanks:
        """The table of the rankings without their unjudged documents."""
        if self.complete:
            fact = "leaves out unjudged documents, and complete judgments have none."
            hint = f"leave out one of them: {given('judged_only', True)} or {given('complete', True, policy=True)}"
            raise PolicyError(fact, parameter="judged_only", value=True, hint=hint)
        kept = self.judged
        table = self.rows(kept)
        return replace(
            table,
            rank=table.running(np.ones(len(table.rank), dtype=np.bool_)),
            retrieved=np.bincount(table.query, minlength=len(self)),
            tied_rows=self.tied_rows and self.tied_rows.condensed(table.query, table.rank, len(self)),
            lengths=self.lengths
            and tuple(
                lengths[table.rank[slice(*table.first[query : query + 2])] - 1]
                for query, lengths in enumerate(self.lengths)
            ),
        )

    @property
    def completed(self) -> JudgedRanks:
        """Where the judgments are complete, the table with a row for every document retrieved; otherwise this one."""
        # A table that refers to itself would stay until the next garbage collection.
        return self._filled if self.complete and len(self.rank) < self.retrieved.sum() else self

    @cached_property
    def _filled(self) -> JudgedRanks:
        from cranfield.ranks.filling import filled_judgments, filled_rankings

        unseen = np.zeros(len(self), dtype=np.int64)
        filled = {**filled_rankings(self, NOT_RELEVANT), **filled_judgments(self, NOT_RELEVANT, unseen)}
        return replace(self, **filled | {"tied_rows": self.tied_rows and self.tied_rows.completed()})

    def cut(self, depth: int | None) -> JudgedRanks:
        """The table of the rankings cut off at a depth.

        depth: the deepest rank that stays; None for all.
        Returns a table; this one if nothing is deeper.
        """
        if depth is None or not (self.retrieved > depth).any():
            return self
        lengths = self.lengths and tuple(lengths[:depth] for lengths in self.lengths)
        return replace(self.rows(self.within(depth)), retrieved=np.minimum(self.retrieved, depth), lengths=lengths)

    def only(self, query: int) -> JudgedRanks:
        """The table of one query.

        query: its number, which is its place in `query_ids`.
        Returns a table in which that query has the number 0.
        """
        return self._between(query, query + 1)

    def _between(self, start: int, stop: int) -> JudgedRanks:
        """The table of some adjacent queries.

        start, stop: the number of the first, and that of the first which is left out.
        Returns a table in which they are numbered from 0.
        """
        queries = slice(start, stop)
        rows = slice(*self.first[[start, stop]].tolist())
        judged = slice(*self.judged_first[[start, stop]].tolist())
        return JudgedRanks(
            query_ids=self.query_ids[queries],
            query=self.query[rows] - start,
            rank=self.rank[rows],
            grade=self.grade[rows],
            row=self.row[rows],
            tied=self.tied[rows],
            retrieved=self.retrieved[queries],
            missing=self.missing[queries],
            all_judged=JudgedGrades(
                self.judged_grades[judged], self.judged_first[start : stop + 1] - judged.start, self.judged_row[judged]
            ),
            lengths=self.lengths and self.lengths[queries],
            complete=self.complete,
            tied_rows=self.tied_rows and self.tied_rows.between(start, stop),
        )

    def rows(self, kept: Flags) -> JudgedRanks:
        """The table with some of its rows; the facts of each query stay.

        kept: a flag for each row.
        Returns a new table.
        """
        at = np.flatnonzero(kept)  # five times as fast as the flags, for as many columns
        return replace(
            self, query=self.query[at], rank=self.rank[at], grade=self.grade[at], tied=self.tied[at], row=self.row[at]
        )

    @classmethod
    def of_grades(cls, grades: Sequence[float | None], missed: Sequence[float] = ()) -> JudgedRanks:
        """The table of one ranking whose grades are known.

        grades: of its documents, in order; None stands for a document that was not judged.
        missed: the grades of judged documents that were not retrieved.
        Returns a table of one query.
        """
        from cranfield.ranks.filling import table_of_grades

        return table_of_grades(grades, missed)


def steps_of(owner: Integers) -> list[Integers]:
    """The first rows of all owners, then the second ones, and so on: running values need not mix owners."""
    if not len(owner):
        return []
    first = np.flatnonzero(np.diff(owner, prepend=owner[0] - 1))
    place = np.arange(len(owner)) - np.repeat(first, np.diff(np.append(first, len(owner))))
    small = place.astype(np.uint16) if place.max() < 1 << 16 else place  # which are sorted faster
    order = np.argsort(small, kind="stable")
    return np.split(order, np.cumsum(np.bincount(place))[:-1])


def add_up(total: Numbers, steps: Sequence[Integers]) -> None:
    """The twin of the native `add_up`: each row gets the sum of its query so far, in the order of the ranks."""
    for rows in steps[1:]:
        total[rows] += total[rows - 1]


def without(tables: Sequence[JudgedRanks], gone: Flags) -> list[JudgedRanks]:
    """Tables as if some rows of the judgments had never been made; those that share their judgments still do."""
    left = {judged: judged.without(gone) for judged in {table.all_judged for table in tables}}
    return [
        replace(
            table.rows(~gone[table.row]),
            all_judged=left[table.all_judged],
            tied_rows=table.tied_rows and table.tied_rows.without(gone),
        )
        for table in tables
    ]


def only_pooled(tables: Sequence[JudgedRanks], gone: Flags) -> list[JudgedRanks]:
    """Tables as if the documents of some rows of the judgments had been pooled, but not judged."""
    left = {judged: judged.pooled(gone) for judged in {table.all_judged for table in tables}}
    return [
        replace(
            table,
            grade=np.where(gone[table.row], np.minimum(table.grade, POOLED), table.grade),
            all_judged=left[table.all_judged],
            tied_rows=table.tied_rows and table.tied_rows.pooled(gone),
        )
        for table in tables
    ]
