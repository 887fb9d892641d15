"""The first documents of rankings, for showing them: kept while a file is read, or read from their place in it.

Which queries are shown turns out when all runs are measured. Of a plain file, the places of its queries are kept until
then; of what cannot be read at a place (a compressed file, a pipe, one whose queries are scattered) the first ids.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import NamedTuple

import numpy as np

from cranfield.io.shapes import Source, Text
from cranfield.io.text import Block, blocks, located
from cranfield.native import CORES, native, native_layout
from cranfield.ranks.codes import TIE_ORDERS
from cranfield.ranks.columns import Integers
from cranfield.ranks.judgments import laid_out
from cranfield.ranks.policy import Policy
from cranfield.ranks.scan import text as scan
from cranfield.ranks.scan.parallel import in_parallel
from cranfield.ranks.ties import ordered
from cranfield.ranks.whole_rankings import rankings_of, scores_of, without_duplicates

Grades = Mapping[str, Mapping[str, float]]
SHORTEST = 0.8  # of the length of a query's first line: its other lines are hardly ever shorter on average


class Place(NamedTuple):
    offset: int
    size: int
    documents: int


class FirstDocuments:
    """The first n documents of the queries of `grades`, as a scan passes their lines."""

    def __init__(self, source: Text, grades: Grades, n: int, policy: Policy, *, by_place: bool) -> None:
        self.n = min(n, policy.depth or n)
        self._source, self._grades, self._policy = source, grades, policy
        self._by_place = by_place
        self._ids: dict[str, list[str]] = {}
        self._places: dict[str, Place] = {}
        self._rankings = BlockRankings(grades, self.n, policy)

    def scattered(self) -> None:
        """The lines come again, grouped by query, from other files."""
        self._by_place = False
        self._ids.clear()
        self._places.clear()

    def of_block(self, block: Block, queries: Sequence[bytes], retrieved: Integers) -> Callable[[], None]:
        """What to keep of a block with these queries and numbers of documents; called, the result keeps it."""
        if not self._by_place:
            ids = self._rankings(block)
            return lambda: self._ids.update(ids)
        sizes = retrieved.tolist()
        data, starts = bytes(block.data), [0] * len(queries)
        ends = [len(data)] * len(queries)
        if block.layout.query == 0:
            starts = _starts(data, queries, sizes)
            ends = [*starts[1:], len(data)]
        names = [query.decode() for query in queries]
        places = {
            query: Place(block.offset + start, end - start, size)
            for query, start, end, size in zip(names, starts, ends, sizes, strict=True)
            if query in self._grades
        }
        return lambda: self._places.update(places)

    def of(self, queries: Collection[str], n: int) -> dict[str, list[str]]:
        """The first n documents, at most as many as were wanted, of the queries that the run has."""
        stream, layout = self._source.stream, self._source.layout._replace(header=False)
        shown = {query: ids[:n] for query in queries if (ids := self._ids.get(query)) is not None}
        for names, place in self._together(queries):
            data = stream.part(place.offset, place.size)
            grades = {name: self._grades[name] for name in names}
            everything = dict(
                BlockRankings(grades, sys.maxsize, self._policy)(Block(stream, layout, place.offset, data))
            )
            if any(len(everything.get(name, ())) != self._most(name) for name in names):
                # Lines of other queries are between them, or the file was changed.
                return first_documents(self._source, {query: self._grades[query] for query in queries}, n, self._policy)
            shown.update((name, everything[name][:n]) for name in names)
        return {query: shown[query] for query in queries if query in shown}

    def _most(self, query: str) -> int:
        """How many documents its place must have."""
        documents = self._places[query].documents
        return min(documents, self._policy.depth or documents)

    def _together(self, queries: Iterable[str]) -> Iterator[tuple[list[str], Place]]:
        """The places of queries, of neighbours together, so that many queries do not take as many reads."""
        known = [(place, query) for query in queries if (place := self._places.get(query)) is not None]
        names: list[str] = []
        whole = Place(0, 0, 0)
        for place, query in sorted(known):
            if names and (place.offset > whole.offset + whole.size or whole.size + place.size > scan.BLOCK):
                yield names, whole
                names = []
            if not names:
                whole = Place(place.offset, 0, 0)
            names.append(query)
            whole = whole._replace(size=whole.size + place.size, documents=whole.documents + place.documents)
        if names:
            yield names, whole


def _starts(data: bytes, queries: Sequence[bytes], sizes: Sequence[int]) -> list[int]:
    """Where the lines of each query start, if the lines of a query are adjacent and begin with it."""
    starts: list[int] = []
    at = 0
    for query, size in zip(queries, sizes, strict=True):
        start = _line_of(data, query, at)
        starts.append(start)
        line_end = data.find(b"\n", start)
        far = start + int((line_end - start) * (size - 1) * SHORTEST)
        here = data.find(b"\n", far) + 1
        at = here if far > line_end and data.startswith(query, here) else line_end + 1
    return starts


def _line_of(data: bytes, query: bytes, at: int) -> int:
    """The next line that begins with a query; where none does, the place where the search began."""
    start = at
    while not (data.startswith(query, start) and data[start + len(query) : start + len(query) + 1] in b" \t,;\v\f"):
        start = data.find(b"\n" + query, start) + 1
        if not start:
            return at
    return start


def first_documents(source: Source, grades: Grades, n: int, policy: Policy) -> dict[str, list[str]]:
    """The first n documents of the queries of `grades`, by reading the source; other lines are skipped unread."""
    if isinstance(source, Text):
        documents = _from_text(source, BlockRankings(grades, n, policy))
        if documents is not None:
            return documents
    return {query: ranking[:n] for query, ranking in rankings_of(source, grades, policy).items()}


def first_of_all(source: Source, n: int, policy: Policy) -> dict[str, list[str]]:
    def of_block(block: Block) -> list[tuple[str, list[str]]]:
        names = dict.fromkeys(block.columns().query)
        return BlockRankings({name.decode(): {} for name in names}, n, policy)(block)

    if isinstance(source, Text):
        documents = _from_text(source, of_block)
        if documents is not None:
            return documents
    scores = scores_of(source, policy)
    return {query: ordered(scores[query], query, {}, policy)[: policy.depth][:n] for query in scores}


@located()
def _from_text(source: Text, of_block: Callable[[Block], list[tuple[str, list[str]]]]) -> dict[str, list[str]] | None:
    """None if the lines of a query are in more than one block."""
    rankings: dict[str, list[str]] = {}
    pieces = blocks(source.stream, source.layout, scan.BLOCK, hashed=False)
    with closing(in_parallel(of_block, pieces, CORES)) as parts:
        for part in parts:
            for query, documents in part:
                if query in rankings:
                    return None
                rankings[query] = documents
    return rankings


class BlockRankings:
    def __init__(self, grades: Grades, n: int, policy: Policy) -> None:
        self._grades, self._most, self._policy = grades, min(n, policy.depth or n, sys.maxsize), policy
        self._index: native.Index | None = None
        if native is not None and policy.ties in TIE_ORDERS and policy.duplicates == "error":
            none = np.empty(0, np.uint8), np.zeros(1, np.int64)
            self._index = native.Index(*laid_out(list(grades)), *none, np.zeros(len(grades) + 1, np.int64))

    def __call__(self, block: Block) -> list[tuple[str, list[str]]]:
        if self._index is not None:
            ties, drop = TIE_ORDERS[self._policy.ties], self._policy.same_id == "drop"
            data, layout = np.frombuffer(block.data, np.uint8), native_layout(block.layout)
            answer = native.first_of_text(data, layout, self._index, self._most, ties, drop)
            if answer is not None:
                return answer
        return first_of_block(block, self._grades, self._most, self._policy)


def first_of_block(block: Block, grades: Grades, n: int, policy: Policy) -> list[tuple[str, list[str]]]:
    """The twin of the native `first_of_text`."""
    columns = block.columns()
    sign = -1 if block.layout.ranks else 1
    scored: dict[str, list[tuple[str, float]]] = {}
    for its_query, document, value in zip(columns.query, columns.document, columns.value.tolist(), strict=True):
        query = its_query.decode()
        if query in grades:
            scored.setdefault(query, []).append((document.decode(), sign * value))
    return [
        (query, ordered(without_duplicates(pairs, query, policy, block.stream.name), query, grades[query], policy)[:n])
        for query, pairs in scored.items()
    ]
