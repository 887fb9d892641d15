"""The first documents of rankings, for showing them: kept while a file is read, or read from their place in it.

Which queries are shown turns out when all runs are measured. Of a plain file, the places of its blocks are kept until
then, with their queries; of what cannot be read at a place (a compressed file, a pipe, one whose queries are scattered)
the first ids.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
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


class Place(NamedTuple):
    """Of a block in its file."""

    offset: int
    size: int


class FirstDocuments:
    """The first n documents of the queries of `grades`, as a scan passes their lines."""

    def __init__(self, source: Text, grades: Grades, n: int, policy: Policy, *, by_place: bool) -> None:
        self.n = min(n, policy.depth or n)
        self._source, self._grades, self._policy = source, grades, policy
        self._by_place = by_place
        self._ids: dict[str, list[str]] = {}
        self._places: dict[Place, dict[str, int]] = {}  # queries with their numbers of documents
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
        sizes = zip(queries, retrieved.tolist(), strict=True)
        known = {query: size for name, size in sizes if (query := name.decode()) in self._grades}
        return lambda: self._places.update({Place(block.offset, len(block.data)): known})

    @located()
    def of(self, queries: Collection[str], n: int) -> dict[str, list[str]]:
        """The first n documents, at most as many as were wanted, of the queries that the run has."""
        wanted = {query: self._grades[query] for query in queries if query in self._grades}
        shown = {query: ids[:n] for query in wanted if (ids := self._ids.get(query)) is not None}
        stream, layout = self._source.stream, self._source.layout._replace(header=False)
        for place, sizes in self._places.items():
            grades = {query: wanted[query] for query in sizes if query in wanted}
            if grades:
                block = Block(stream, layout, place.offset, stream.part(*place))
                found = dict(BlockRankings(grades, n, self._policy)(block))
                if any(len(found.get(query, ())) != min(n, self.n, sizes[query]) for query in grades):
                    return first_documents(self._source, wanted, n, self._policy)  # the file was changed
                shown |= found
        return {query: shown[query] for query in queries if query in shown}


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
