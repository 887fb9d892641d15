"""The rows of a file, one query at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from cranfield.io.line_records import block_records
from cranfield.io.records import Bad, RecordFile, Records, joined
from cranfield.io.shapes import Text
from cranfield.io.text import Block, Scattered, blocks, header_lines, partition
from cranfield.native import native, native_layout

PARTS = 64  # a scattered file is divided into this many


def rows_by_query(file: RecordFile, bad: Bad, *, scattered: bool = False) -> Iterator[Records]:
    """All rows of every query. Memory is a block and the largest query, and the ids of all queries.

    If the rows of a query are not together, it raises `Scattered`; called again with `scattered`, it groups them first:
    lines of text in temporary files, other rows in memory.
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


def regrouped(source: Text) -> Iterator[Block]:
    import tempfile
    from contextlib import ExitStack

    layout = source.layout.with_line_numbers()
    line = 1 + header_lines(source.stream, source.layout)
    with ExitStack() as stack:
        parts = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(PARTS)]
        for block in blocks(source.stream, source.layout):
            for file, share in zip(parts, _shared_out(block, line), strict=True):
                file.write(share)
            line += bytes(block.data).count(b"\n")
        for file in parts:
            file.seek(0)
            lines = file.read()
            if lines:
                yield Block(source.stream, layout, 0, lines)


def _shared_out(block: Block, line: int) -> list[bytes]:
    if native is not None:
        data = np.frombuffer(block.data, np.uint8)
        shares = native.partition(data, native_layout(block.layout), line, PARTS)
        if shares is not None:
            return shares
    return partition(block, line, PARTS)
