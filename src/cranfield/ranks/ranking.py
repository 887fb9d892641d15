"""From a run to the table that measures read: the ranks of its judged documents."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from cranfield.errors import InputError
from cranfield.io.shapes import Source, Table, Text
from cranfield.ranks.columns import Flags, Integers, Numbers, offsets
from cranfield.ranks.grades import graded, lowest_judged
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.policy import Policy
from cranfield.ranks.scan.counting import Places, Scanned
from cranfield.ranks.scan.text import scan_text
from cranfield.ranks.tables.judged_grades import JudgedGrades
from cranfield.ranks.tables.ranks import JudgedRanks
from cranfield.ranks.ties import broken, open_ties

if TYPE_CHECKING:
    from cranfield.ranks.first_documents import FirstDocuments


SMALL = np.iinfo(np.int32).max
BestFirst = dict[float, tuple[Numbers, JudgedGrades]]  # by the lowest grade that is a judgment


class Graded(Protocol):
    """What the table needs from judgments, whatever their source; rows are sorted by query."""

    @property
    def query_ids(self) -> tuple[str, ...]: ...

    @property
    def first(self) -> Integers: ...

    @property
    def query(self) -> Integers: ...

    @property
    def grades(self) -> Numbers: ...


class GradeColumns(NamedTuple):
    """The columns of judgments that the table needs, and what `Judgments` keep for the next run, if they are theirs."""

    query_ids: tuple[str, ...]
    first: Integers
    query: Integers
    grades: Numbers
    best_first: BestFirst

    @classmethod
    def of(cls, judgments: Graded) -> GradeColumns:
        return cls(judgments.query_ids, judgments.first, judgments.query, judgments.grades, _known(judgments))

    def only(self, queries: Integers) -> GradeColumns:
        """The columns of some queries, given by their numbers, which are numbered from 0 again."""
        sizes = np.diff(self.first)[queries]
        first = offsets(sizes)
        query = np.repeat(np.arange(len(queries)), sizes)
        moved = (self.first[queries] - first[:-1])[query]
        rows = np.arange(first[-1]) + moved
        ids = tuple(self.query_ids[number] for number in queries.tolist())
        best_first = {  # in the order in which they are already
            how: (grades[rows], JudgedGrades(known.grades[rows], first, known.row[rows] - moved))
            for how, (grades, known) in self.best_first.items()
        }
        return GradeColumns(ids, first, query, self.grades[rows], best_first)


def rank_run(judgments: Judgments, source: Source, policy: Policy) -> JudgedRanks:
    return rank_scanned(judgments, scan_source(source, judgments, policy), policy, source.name)


def scan_source(
    source: Source, judgments: Judgments, policy: Policy, depth: int = 0, first: FirstDocuments | None = None
) -> Scanned:
    if isinstance(source, Text):
        return scan_text(source, judgments, policy, depth, first)
    from cranfield.ranks.scan.memory import scan_rankings, scan_table  # not needed for most files

    if isinstance(source, Table):
        return scan_table(source, judgments, policy, depth)
    return scan_rankings(source, judgments, policy, depth)


def rank_scanned(judgments: Judgments, scanned: Scanned, policy: Policy, source: str) -> JudgedRanks:
    if not scanned.extra and (scanned.retrieved < 0).all():
        raise InputError(source, "it contains no rankings.")
    return rank_counted(judgments, scanned, policy)


def rank_counted(judgments: Graded, scanned: Scanned, policy: Policy, best_queries: Flags | None = None) -> JudgedRanks:
    """The table of what was counted. best_queries: see `broken`."""
    counted = scanned.found
    grades, all_judged = _best_first(judgments, policy)
    query, grade = judgments.query[counted.row], grades[counted.row]
    rank = broken(counted, query, grade, policy.ties, best_queries)
    order = _order(query, rank)
    table = JudgedRanks(
        query_ids=judgments.query_ids,
        query=query[order],
        rank=rank[order],
        grade=grade[order],
        tied=(counted.tied > 1)[order],
        row=counted.row[order],
        retrieved=np.maximum(scanned.retrieved, 0),
        missing=scanned.retrieved < 0,
        all_judged=all_judged,
        extra=scanned.extra,
        complete=policy.complete,
        tied_rows=open_ties(counted, query, grade, policy.ties),
    )
    return table.cut(policy.depth)


def _best_first(judgments: Graded, policy: Policy) -> tuple[Numbers, JudgedGrades]:
    """The grades of judgments as a policy reads them, and the best first: the same for every run."""
    known = _known(judgments)
    how = lowest_judged(policy)
    if how not in known:
        grades = graded(judgments.grades, policy)
        order = _order(judgments.query, -grades)
        row = np.arange(len(grades)) if isinstance(order, slice) else order
        # One thread at a time: what depends on the judgments alone is computed once and shared by all runs.
        known.setdefault(how, (grades, JudgedGrades(grades[order], judgments.first, row)))
    return known[how]


def _known(judgments: Graded) -> BestFirst:
    """Where the grades of `Judgments` are kept, best first; other judgments keep nothing."""
    if isinstance(judgments, GradeColumns):
        return judgments.best_first
    return judgments._best_first if isinstance(judgments, Judgments) else {}


def _order(query: Integers, key: Integers | Numbers) -> Integers | slice:
    """The order of rows by query and then by a key; rows that are already in order are not copied."""
    after = query[1:] > query[:-1]  # as all are, where no query has two rows
    if after.all() or np.all(after | ((query[1:] == query[:-1]) & (key[1:] >= key[:-1]))):
        return slice(None)
    return np.lexsort((key, query))


class TieOrders:
    """The ranks that a run would have if the documents of each tie were in the worst order, or in the best.

    queries: the numbers of those that have a judged document in a tie; all others have one order only
    scanned: the result of the scan, for these queries only
    """

    def __init__(self, judgments: Graded, scanned: Scanned, policy: Policy) -> None:
        """Keep the part of a scan that other orders need: nothing, if nothing is tied."""
        self._judgments = GradeColumns.of(judgments)
        self._policy = policy
        query, found = self._judgments.query, scanned.found
        concerned = np.zeros(len(scanned.retrieved), dtype=np.bool_)
        concerned[query[found.row[np.flatnonzero(found.tied > 1)]]] = True
        self.queries: Integers = np.flatnonzero(concerned)
        rows = np.flatnonzero(concerned[query[found.row]]) if len(self.queries) else slice(0)
        kept = Places(*(packed(column[rows]) for column in found))
        self.scanned = scanned._replace(retrieved=scanned.retrieved[self.queries], found=kept)

    @property
    def highest(self) -> int:
        """The first rank whose document the order of ties decides."""
        above, tied = self.scanned.found.above, self.scanned.found.tied
        return int(above[tied > 1].min()) + 1

    def table(self) -> JudgedRanks:
        """The ranks with the highest grade of each tie last, and after these queries the same ones again with it first.

        One table for both is measured in half of the time. It is not kept, since it takes much memory.
        """
        half, queries = len(self.queries), _twice(self.queries)
        judgments = self._judgments.only(queries)
        row, *counted = (_twice(column.astype(np.int64, copy=False)) for column in self.scanned.found)
        its_query = np.searchsorted(self.queries, self._judgments.query[row])
        its_query[len(row) // 2 :] += half
        moved = self._judgments.first[queries] - judgments.first[:-1]
        found = Places(row - moved[its_query], *counted)
        scanned = self.scanned._replace(retrieved=_twice(self.scanned.retrieved), found=found)
        return rank_counted(judgments, scanned, replace(self._policy, ties="worst"), np.arange(2 * half) >= half)


def _twice(column: Integers) -> Integers:
    return np.concatenate((column, column))


class PackedRanks:
    """A table kept for later in a quarter of its memory: queries and grades follow from its rows of the judgments."""

    def __init__(self, table: JudgedRanks) -> None:
        self._row, self._rank, self._tied = packed(table.row), packed(table.rank), table.tied
        self.without_rows = table.rows(np.zeros(0, dtype=np.bool_))

    def __len__(self) -> int:
        return len(self._row)

    def table(self, cutoff: int | None = None) -> JudgedRanks:
        """The table again, or its rows down to a cutoff; a new one for each call."""
        kept = slice(None) if cutoff is None else np.flatnonzero(self._rank <= cutoff)
        row: Integers = self._row[kept].astype(np.int64)
        query, grade = self.without_rows.all_judged.by_row
        return replace(
            self.without_rows,
            query=query[row],
            rank=self._rank[kept].astype(np.int64),
            grade=grade[row],
            tied=self._tied[kept],
            row=row,
        )


def packed(column: Integers) -> Any:
    return column.astype(np.int32) if column.max(initial=0) <= SMALL else column
