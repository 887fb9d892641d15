"""A run is opened once, and asked as needed.

`open_run` turns whatever a run comes from into a `Run`. Who wants more of it than the ranks of its judged documents
says so beforehand (`Wants`), and one reading answers everything. Ranks by other judgments of the same documents, and
other orders of ties, are projections of a reading: nothing is read again.

    Run ──read(judgments, policy, wants)──▶ Reading ──▶ ranks, orders of ties, documents as codes, first ids, a hash
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cranfield.errors import CranfieldError
from cranfield.io.facts import facts_of
from cranfield.io.shapes import Source, Text
from cranfield.io.source import is_recorded, open_source, run_name
from cranfield.ranks.columns import Integers
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.policy import Policy
from cranfield.ranks.ranking import rank_scanned, scan_source
from cranfield.ranks.rising import rises
from cranfield.ranks.scan.counting import NOTHING as NO_PLACES
from cranfield.ranks.scan.counting import Places, Scanned
from cranfield.ranks.tables.ranks import JudgedRanks

if TYPE_CHECKING:
    from cranfield.io.made import Made
    from cranfield.io.streams import Stream
    from cranfield.ranks.codes import Codes
    from cranfield.ranks.first_documents import FirstDocuments

EVERYTHING = sys.maxsize
MOST_OPEN = 200  # files that stay open for what is shown later; any further ones are opened again


class Wants(NamedTuple):
    """What a reading must answer besides the ranks of the judged documents.

    codes: how many documents of each ranking are needed as numbers, to find those that two runs share
    first: how many ids of each ranking may be asked for, once it is known which queries are shown
    held: whether these ids are needed of all queries
    """

    codes: int = 0
    first: int = 0
    held: bool = False

    def __or__(self, other: tuple[Any, ...]) -> Wants:
        return Wants(*map(max, self, other))


NOTHING = Wants()


def open_run(thing: Any, format: str | None = None, *, name: str | None = None) -> Run:
    """A run from a path, an open file, a dict, rows, a frame or a recording; an open one stays as it is."""
    if isinstance(thing, Run):
        return thing
    if is_recorded(thing):
        source = open_source(thing, "run", format)
        return Run(source, format, name=name or thing.name, sha256=thing._sha256, made=thing.made)
    return Run(open_source(thing, "run", format), format, name=name)


class Run:
    _kept_open = 0

    def __init__(
        self,
        source: Source,
        format: str | None = None,
        *,
        name: str | None = None,
        sha256: str = "",
        made: Made | None = None,
    ) -> None:
        """sha256: the hash of a file that has just been written from this source; made: how it was recorded"""
        self._source: Source | None = source
        self._format = format
        self.place = source.name  # in errors
        self.name = name or run_name(source.name)
        self.stream: Stream | None = source.stream
        self.sha256 = sha256
        self.made = made or (None if self.stream is None else _made(self.stream))

    @property
    def source(self) -> Source:
        """The rankings in one of three shapes; a file that was read into memory is read again."""
        if self._source is None:
            self._source = open_source(self.stream, "run", self._format)
        return self._source

    def read(self, judgments: Judgments, policy: Policy, wants: Wants = NOTHING) -> Reading:
        source = self.source
        rising = rises(source)  # of a file by its head, which the scan takes
        first = self._first_documents(source, judgments, policy, wants) if wants.first else None
        scanned = scan_source(source, judgments, policy, wants.codes, first)
        reading = Reading(self, judgments, policy, scanned, first, rising=rising)
        if source.stream is not None and not isinstance(source, Text):
            reading.hold(wants.first)
            self._source = None  # the rankings of the whole file, in memory
        return reading

    def _first_documents(
        self, source: Source, judgments: Judgments, policy: Policy, wants: Wants
    ) -> FirstDocuments | None:
        if not isinstance(source, Text):
            return None
        from cranfield.ranks.first_documents import FirstDocuments

        by_place = not wants.held and source.stream.seekable
        if by_place and Run._kept_open < MOST_OPEN:
            Run._kept_open += 1
            source.stream.keep_open = True
        return FirstDocuments(source, judgments.by_query, wants.first, policy, by_place=by_place)

    def scores(self, policy: Policy, queries: Collection[str] | None = None) -> dict[str, dict[str, float]]:
        from cranfield.ranks.whole_rankings import scores_of

        return scores_of(self.source, policy, queries)

    def first(self, n: int, policy: Policy) -> dict[str, list[str]]:
        from cranfield.ranks.first_documents import first_of_all

        return first_of_all(self.source, n, policy)

    def queries(self, n: int) -> list[str]:
        """The first n queries; a file is read again for them."""
        from cranfield.ranks.whole_rankings import queries_of

        return list(islice(queries_of(self.source), n))


def _made(stream: Stream) -> Made | None:
    """How a run in a file was made; None where that is not known."""
    known = facts_of(stream).get("made")
    if known is None:
        return None
    from cranfield.io.made import made_from

    return made_from(known)


class Reading:
    """What one reading of a run has answered. Pickled, it knows its ranks, and nothing of the run."""

    def __init__(
        self,
        run: Run,
        judgments: Judgments,
        policy: Policy,
        scanned: Scanned,
        first: FirstDocuments | None = None,
        *,
        rising: bool = False,
    ) -> None:
        """rising: whether scores rise down the rankings, as they are written"""
        self.rising = rising
        self.run: Run | None = run
        self.judgments, self.policy, self.scanned = judgments, policy, scanned
        self._codes = scanned.codes
        self._first = first
        self._held: dict[str, list[str]] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "run": None, "_first": None, "_codes": None}

    def without_counts(self) -> Reading:
        """The same once all ranks are known; the counts of many runs would otherwise take most of the memory."""
        self.scanned = self.scanned._replace(found=NO_PLACES, codes=None)
        return self

    def ranks(self, judgments: Judgments | None = None) -> JudgedRanks:
        """The ranks of the judged documents; by other judgments, of documents that were looked up when reading."""
        return rank_scanned(*self._projected(judgments), self.policy, self.place)

    def _projected(self, judgments: Judgments | None) -> tuple[Judgments, Scanned]:
        """What a scan by other judgments would have counted: counting is over all documents, judged or not."""
        if judgments is None or judgments is self.judgments:
            return self.judgments, self.scanned
        number = np.array([self.judgments.number.get(query, -1) for query in judgments.query_ids], dtype=np.int64)
        rows = _rows_in(judgments, self.judgments)  # of these judgments by the rows of those
        new = rows[self.scanned.found.row]
        known = np.flatnonzero(new >= 0)
        new = new[known]
        order = np.argsort(judgments.query[new], kind="stable")
        counted = (column[known][order] for column in self.scanned.found[1:])
        retrieved = np.where(number < 0, -1, self.scanned.retrieved[number])
        here = int((self.scanned.retrieved >= 0).sum())
        extra = self.scanned.extra + here - int((retrieved >= 0).sum())
        return judgments, Scanned(retrieved, extra, Places(new[order], *counted))

    def codes(self, judged: JudgedRanks, depth: int = EVERYTHING) -> Codes | None:
        """The first documents of each query as numbers, best first; they are read again where they were not wanted.

        None where that is not possible, or the run is no longer the one that `judged` was made from.
        """
        held = self._codes
        if held is not None and held.depth >= min(depth, int(judged.retrieved.max(initial=0))):
            return held
        if self.run is None:
            return None
        try:
            again = self.run.read(self.judgments, self.policy, Wants(codes=depth))
            ranks = again.ranks()
        except CranfieldError:
            return None
        columns = ("query", "rank", "row", "retrieved")
        same = all(np.array_equal(getattr(ranks, name), getattr(judged, name)) for name in columns)
        return again.scanned.codes if same else None

    def first(self, queries: Collection[str], n: int) -> dict[str, list[str]]:
        """The first n documents of some queries, those that the run has: kept, read from their place, or read again."""
        if self._held is not None:
            return {query: self._held[query][:n] for query in queries if query in self._held}
        if self._first is not None and n <= self._first.n:
            return self._first.of(queries, n)
        if self.run is None:
            return {}
        from cranfield.ranks.first_documents import first_documents

        grades = {query: self.judgments.by_query.get(query, {}) for query in queries}
        return first_documents(self.run.source, grades, n, self.policy)

    def hold(self, n: int) -> None:
        if n:
            self._held = self.first(self.judgments.query_ids, n)

    @property
    def place(self) -> str:
        return self.run.place if self.run else "the run"

    def queries(self, n: int) -> list[str]:
        """Some queries of the run, for errors; a file is read again for them."""
        return self.run.queries(n) if self.run else []

    def documents(self, query: str, n: int) -> list[str]:
        return self.first([query], n).get(query, [])

    @property
    def sha256(self) -> str | Callable[[], str] | None:
        """The hash of a file, or a function that reads it again for that; None for a run in memory."""
        stream = self.run.stream if self.run else None
        if stream is None:
            return (self.run and self.run.sha256) or None
        return stream.sha256 if stream.hashed else stream.hash_again


def _rows_in(judgments: Judgments, others: Judgments) -> Integers:
    """For each row of `others`, the row of the same document in `judgments`; -1 where it has none."""
    rows = np.full(len(others.grades), -1, dtype=np.int64)
    first = judgments.first.tolist()
    for number, query in enumerate(judgments.query_ids):
        other = others.number.get(query)
        if other is None:
            continue
        start = int(others.first[other])
        place = {
            document: start + at
            for at, document in enumerate(others.document_ids[start : int(others.first[other + 1])])
        }
        for row in range(first[number], first[number + 1]):
            at = place.get(judgments.document_ids[row], -1)
            if at < 0:
                raise ValueError(f"document {judgments.document_ids[row]!r} was not looked up")
            rows[at] = row
    return rows
