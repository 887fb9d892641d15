"""Rank the judged documents of a run of any shape. Text is scanned in blocks, on all cores."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from contextlib import closing

import numpy as np

from cranfield.ranks.judgments import Judgments
from cranfield.ranks.policy import Policy
from cranfield.ranks.scan.ahead import scanned_ahead
from cranfield.ranks.scan.counting import Part, Places, Scanned, join
from cranfield.ranks.scan.native import CORES, native, native_layout
from cranfield.ranks.scan.parallel import in_parallel
from cranfield.read.line_layout import Layout
from cranfield.read.shapes import Text
from cranfield.read.text import Block, blocks, header_lines, located, partition

BLOCK = 1 << 20 if native else 1 << 18  # fits the cache with everything derived from it
MANY = 100
PARTS = 64  # a scattered file is divided into this many


class Scattered(Exception):
    """The lines of a query are in more than one block."""


@located()
def scan_text(source: Text, judgments: Judgments, policy: Policy) -> Scanned:
    """Scan a run file. Memory stays a few blocks and the largest query."""
    ahead = scanned_ahead(source, judgments, policy)
    if ahead is not None:
        return ahead
    try:
        return _scan_blocks(blocks(source.stream, source.layout, BLOCK), source.layout, judgments, policy)
    except Scattered:
        return _scan_blocks(regrouped(source), source.layout.with_line_numbers(), judgments, policy)


def _scan_blocks(pieces: Iterable[Block], layout: Layout, judgments: Judgments, policy: Policy) -> Scanned:
    sizes = [-1] * len(judgments)
    extra: set[bytes] = set()
    found = []
    with closing(_natively(pieces, layout, judgments, policy)) as answers:
        for answer in answers:
            # Not a plain block, or no native scan: the twin reads it or reports what is wrong.
            part = _read_by_twin(answer, judgments, policy) if isinstance(answer, Block) else answer
            for query, size in zip(part.queries, part.retrieved.tolist(), strict=True):
                number = judgments._number_of_bytes.get(query)
                if query in extra if number is None else sizes[number] >= 0:
                    raise Scattered
                if number is None:
                    extra.add(query)
                else:
                    sizes[number] = size
            found.append(part.found)
            if len(found) == MANY:  # one long array takes less memory than many short ones
                found = [join(found)]
    return Scanned(np.array(sizes, dtype=np.int64), len(extra), join(found))


def _read_by_twin(block: Block, judgments: Judgments, policy: Policy) -> Part:
    from cranfield.ranks.scan.pure import scan

    return scan(block, judgments, policy)


def _natively(pieces: Iterable[Block], layout: Layout, judgments: Judgments, policy: Policy) -> Generator[Part | Block]:
    """The results of the native scan for every block, in order; the block itself if it is not plain."""
    if native is None:
        yield from pieces
        return
    scan, its_layout, index = native.scan_text, native_layout(layout), judgments._index
    in_order, drop = policy.ties == "file", policy.same_id == "drop"

    def work(block: Block) -> Part | Block:
        data = np.frombuffer(block.data, np.uint8)
        answer = scan(data, its_layout, index, in_order, drop)
        if answer is None:
            return block
        queries, sizes, columns = answer
        return Part(queries, sizes, Places(*columns))

    yield from in_parallel(work, pieces, CORES)


def regrouped(source: Text) -> Iterator[Block]:
    """The lines of a scattered file, grouped by query in temporary files."""
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
