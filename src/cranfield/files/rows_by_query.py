"""The rows of a file, one query at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cranfield.ranks.scan.text import Scattered, regrouped
from cranfield.read.line_records import block_records
from cranfield.read.records import Bad, RecordFile, Records, joined
from cranfield.read.shapes import Text


def together(file: RecordFile, bad: Bad, *, scattered: bool = False) -> Iterator[Records]:
    """All rows of every query. Memory is a block and the largest query, and the ids of all queries.

    Where the rows of a query do not stand together, it raises `Scattered`; asked again with `scattered`, it brings
    them together first: lines of text in temporary files, other rows in memory.
    """
    if not scattered:
        yield from _in_order(_whole_queries(file.batches(bad)))
    elif file.layout is not None:
        for block in regrouped(Text(file.name, file.stream, file.layout)):
            yield from block_records(block, 0, bad).by_query()
    else:
        yield from joined(list(file.batches(bad))).by_query()


def _whole_queries(batches: Iterable[Records]) -> Iterator[Records]:
    held: list[Records] = []  # rows of the last query so far, which may go on
    for batch in batches:
        for records in batch.by_query():
            if held and held[0].query[0] != records.query[0]:
                yield joined(held)
                held = []
            held.append(records)
    if held:
        yield joined(held)


def _in_order(queries: Iterable[Records]) -> Iterator[Records]:
    seen: set[str] = set()
    for records in queries:
        query = records.query[0]
        if query in seen:
            raise Scattered
        seen.add(query)
        yield records
