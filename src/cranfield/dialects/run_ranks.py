"""The judged ranks of one run under any conventions: read as often as a convention asks for, and kept."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from cranfield.dialects.conventions import Conventions
from cranfield.io.shapes import Rankings, Source, Text
from cranfield.ranks.columns import Flags, Integers, Numbers
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.ranking import GradeColumns, rank_counted, scan_source
from cranfield.ranks.run import Run
from cranfield.ranks.scan.counting import Scanned
from cranfield.ranks.tables.ranks import JudgedRanks, without
from cranfield.ranks.whole_rankings import pairs_of, scores_alone, without_duplicates

# The settings that change the table of ranks, in the order of the keys under which tables are kept.
_OF_TABLES = (
    *("ties", "duplicates", "depth", "same_id", "negative", "complete"),
    *("scores", "order", "top", "tied_rank", "low_score", "missed", "threshold"),
)


class RunRanks:
    """A run and its judgments, asked for ranks under different conventions.

    A file is read again for each way to read it; what cannot be read twice is kept in memory.
    """

    def __init__(self, run: Run, judgments: Judgments) -> None:
        self.judgments = judgments
        self.run = run
        self._pairs: dict[str, list[tuple[str, float]]] | None = None
        self._scans: dict[tuple[Any, ...], Scanned] = {}
        self._tables: dict[tuple[Any, ...], JudgedRanks] = {}
        self.calculated: dict[tuple[Any, ...], Numbers] = {}  # values of measures, for whoever calculates them
        source = run.source
        self._again = isinstance(source, Text) and source.stream.again
        if not self._again:
            self._pairs = pairs_of(source)

    @cached_property
    def scores(self) -> dict[str, Numbers]:
        """The scores of every query, as they were written."""
        if self._pairs is not None:
            return {query: np.array([score for _, score in pairs]) for query, pairs in self._pairs.items()}
        source = self.run.source
        assert isinstance(source, Text)
        return scores_alone(source)

    @cached_property
    def repeats(self) -> bool:
        """Whether a document appears twice in a ranking; of files, this is not asked."""
        pairs = self._pairs or {}
        return any(len({document for document, _ in its}) < len(its) for its in pairs.values())

    def key(self, conventions: Conventions) -> tuple[Any, ...]:
        """Conventions with the same key have the same table."""
        return tuple(getattr(conventions, name) for name in _OF_TABLES)

    def table(self, conventions: Conventions) -> JudgedRanks:
        key = self.key(conventions)
        if key not in self._tables:
            self._tables[key] = self._table(conventions)
        return self._tables[key]

    def _table(self, conventions: Conventions) -> JudgedRanks:
        scanned = self.scanned(conventions)
        if conventions.tied_rank == "last":
            found = scanned.found
            scanned = scanned._replace(
                found=found._replace(above=found.above + found.tied - 1, before=found.before * 0)
            )
            conventions = replace(conventions, ties="doc_id")
        judgments = self.judgments if conventions.threshold == "grade" else self._of_own_threshold
        table = rank_counted(judgments, scanned, replace(conventions, depth=None))
        if conventions.order == "rising":
            table = _reordered(table, table.retrieved[table.query] + 1 - table.rank)
        if conventions.top == "dropped":
            table = replace(table.rows(table.rank > 1), tied_rows=None)
            table = replace(table, rank=table.rank - 1, retrieved=np.maximum(table.retrieved - 1, 0))
        table = table.cut(conventions.depth)
        if conventions.missed == "ignored":
            gone = np.ones(len(self.judgments.grades), dtype=np.bool_)
            gone[table.row] = False
            [table] = without([table], gone)
        if conventions.low_score == "ignored":  # they still count among those that could be found
            table = table.rows(table.rank <= self._above_zero[table.query])
        return table

    @cached_property
    def _of_own_threshold(self) -> GradeColumns:
        """The judgments with the highest grade of all for what reaches its query's threshold, and none for others."""
        its = GradeColumns.of(self.judgments)
        size = np.diff(its.first)
        ordered = its.grades[np.lexsort((its.grades, its.query))]
        last = its.first[1:] - 1
        tenth = np.maximum(last - size + np.ceil(0.9 * size).astype(np.int64), 0)  # the 90th percentile is its grade
        threshold = np.maximum(ordered[tenth], ordered[last] / 2)[its.query]
        relevant = (its.grades >= threshold) & (its.grades > 0)
        grades = np.where(relevant, its.grades.max(initial=1), np.minimum(its.grades, 0))
        return its._replace(grades=grades, best_first={})

    @cached_property
    def _above_zero(self) -> Integers:
        """For each judged query, how many documents have a score above 0; all, where only their order is known."""
        found = np.zeros(len(self.judgments), dtype=np.int64)
        for query, number in self.judgments.number.items():
            scores = self.scores.get(query, np.empty(0))
            ordered = len(scores) > 0 and scores[0] in (0, -1) and (np.diff(scores) == -1).all()
            found[number] = len(scores) if ordered else np.count_nonzero(scores > 0)
        return found

    def scanned(self, conventions: Conventions) -> Scanned:
        """The counts above every judged document."""
        in_file = conventions.ties == "file"
        key = (conventions.scores, conventions.same_id, conventions.duplicates, in_file)
        if key not in self._scans:
            policy = replace(conventions.policy, ties="file" if in_file else "doc_id", depth=None)
            self._scans[key] = scan_source(self._source(conventions), self.judgments, policy)
        return self._scans[key]

    def _source(self, conventions: Conventions) -> Source:
        single = conventions.scores == "32"
        if self._again:
            source = self.run.source
            assert isinstance(source, Text)
            return source._replace(layout=source.layout._replace(single=True)) if single else source
        by_query: dict[str, Any] = {}
        for query, pairs in (self._pairs or {}).items():
            kept = pairs
            if single:
                most = float(np.finfo(np.float32).max)  # where what is too large for 32 bits is tied
                wide = np.clip(np.array([score for _, score in pairs], dtype=np.float64), -most, most)
                scores = wide.astype(np.float32).tolist()
                kept = [(document, score) for (document, _), score in zip(pairs, scores, strict=True)]
            by_query[query] = without_duplicates(kept, query, conventions, self.run.place)
        return Rankings(self.run.place, by_query)

    def taken_in(self, conventions: Conventions, cutoff: int) -> Integers:
        """For each judged query, how many documents score at least as much as the one at a rank."""
        taken = np.zeros(len(self.judgments), dtype=np.int64)
        for query, number in self.judgments.number.items():
            scores = self.scores.get(query, np.empty(0))
            if len(scores):
                last = np.sort(scores)[::-1][min(cutoff, len(scores)) - 1]
                taken[number] = int((scores >= last).sum())
        return taken

    def above(self, conventions: Conventions, table: JudgedRanks) -> Integers:
        """For each row of a table, how many documents have a higher score."""
        found = self.scanned(conventions).found
        by_row = np.zeros(len(self.judgments.grades), dtype=np.int64)
        by_row[found.row] = found.above
        return by_row[table.row]


def _reordered(table: JudgedRanks, rank: Integers) -> JudgedRanks:
    order = np.lexsort((rank, table.query))
    moved = replace(table, rank=rank, tied_rows=None)
    return replace(
        moved,
        query=table.query[order],
        rank=rank[order],
        grade=table.grade[order],
        tied=table.tied[order],
        row=table.row[order],
    )


def together(table: JudgedRanks, hit: Flags) -> Numbers:
    """How many hits a query has had down to the end of each row's tie, where tied rows share a rank."""
    running = table.running(hit).astype(np.float64)
    if not len(running):
        return running
    new = np.append((np.diff(table.query) != 0) | (np.diff(table.rank) != 0), True)
    ends = np.flatnonzero(new)
    return running[ends][np.searchsorted(ends, np.arange(len(running)))]
