"""Rank the judged documents of a run, whatever shape it has. Text is scanned in blocks, on all cores."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from itertools import chain, islice
from typing import Any, NamedTuple, TypeVar

import numpy as np

from cranfield.errors import InputError
from cranfield.judge import pure
from cranfield.judge.counting import Found, join
from cranfield.judge.judgments import Integers, Judgments
from cranfield.judge.native import CORES, native
from cranfield.judge.policy import Policy
from cranfield.read import Text
from cranfield.read.text import BadLine, Block, Layout, blocks, header_lines, partition

BLOCK = 1 << 20 if native else 1 << 18  # what fits the cache with all that is made of it
PARTS = 64  # a scattered file is shared out into this many

Result = TypeVar("Result")


class Scanned(NamedTuple):
    """What a run says about the judged queries."""

    retrieved: Integers  # documents by judged query; -1 where the run lacks it
    extra: int  # queries in the run that nobody judged
    found: Found


class _Scattered(Exception):
    """The lines of a query stand in more than one block."""


def scan_text(source: Text, judgments: Judgments, policy: Policy) -> Scanned:
    """Scan a run file. Memory stays a few blocks and the largest query."""
    try:
        try:
            pieces = blocks(source.stream, source.layout, BLOCK)
            scanned = _scan_blocks(pieces, source.layout, judgments, policy)
        except _Scattered:
            pieces = _regrouped(source)
            scanned = _scan_blocks(pieces, source.layout.with_line_numbers(), judgments, policy)
    except BadLine as bad:
        raise bad.located() from None
    if not scanned.extra and (scanned.retrieved < 0).all():
        raise InputError(source.name, "there is not one ranking in it.")
    return scanned


def _scan_blocks(pieces: Iterable[Block], layout: Layout, judgments: Judgments, policy: Policy) -> Scanned:
    seen: set[bytes] = set()
    retrieved = np.full(len(judgments), -1, dtype=np.int64)
    found = []
    with closing(_natively(pieces, layout, judgments, policy)) as answers:
        for block, answer in answers:
            # Not a plain block, or no native scan: the twin reads it, or says what is wrong with it.
            part = answer or pure.scan(block, judgments, policy)
            if not seen.isdisjoint(part.queries):
                raise _Scattered
            seen.update(part.queries)
            for query, size in zip(part.queries, part.retrieved.tolist(), strict=True):
                number = judgments.number_of_bytes.get(query)
                if number is not None:
                    retrieved[number] = size
            found.append(part.found)
    return Scanned(retrieved, len(seen) - int((retrieved >= 0).sum()), join(found))


def _natively(
    pieces: Iterable[Block], layout: Layout, judgments: Judgments, policy: Policy
) -> Generator[tuple[Block, pure.Part | None]]:
    """Every block in order with what the native scan found in it: None where it is not plain."""
    if native is None:
        yield from ((block, None) for block in pieces)
        return
    scan, its_layout, index = native.scan_text, _native_layout(layout), judgments.index
    in_order, drop = policy.ties == "file", policy.same_id == "drop"

    def work(block: Block) -> tuple[Block, pure.Part | None]:
        data = np.frombuffer(block.data, np.uint8)
        answer = scan(data, its_layout, index, in_order, drop)
        if answer is None:
            return block, None
        queries, sizes, columns = answer
        return block, pure.Part(queries, sizes, Found(*columns))

    yield from _in_parallel(work, pieces)


def _native_layout(layout: Layout) -> Any:
    assert native is not None
    return native.Layout(
        layout.query,
        layout.document,
        layout.value,
        layout.least,
        layout.most,
        layout.separator,
        layout.ranks,
        layout.counted,
    )


def _in_parallel(work: Callable[[Block], Result], pieces: Iterable[Block]) -> Iterator[Result]:
    """The results in order. A single block is not worth a thread.

    Each thread fetches its own next block, under a lock, so that one reads and hashes while another scans.
    """
    rest = iter(pieces)
    started = list(islice(rest, 2))
    rest = chain(started, rest)
    if len(started) < 2 or CORES == 1:
        yield from map(work, rest)
        return
    import threading
    from queue import SimpleQueue

    numbered = enumerate(rest)
    reading = threading.Lock()
    results: SimpleQueue[tuple[int, Result | None, BaseException | None]] = SimpleQueue()
    stop = False

    def worker() -> None:
        number = -1
        try:
            while not stop:
                with reading:
                    number, block = next(numbered, (-1, None))
                if block is None:
                    break
                results.put((number, work(block), None))
            results.put((-1, None, None))
        except BaseException as error:
            results.put((-1, None, error))

    threads = [threading.Thread(target=worker, daemon=True) for _ in range(CORES)]
    for thread in threads:
        thread.start()
    try:
        early: dict[int, Result] = {}
        awaited, busy = 0, len(threads)
        while busy or early:
            number, result, error = results.get()
            if error is not None:
                raise error
            if number < 0:
                busy -= 1
            else:
                early[number] = result  # type: ignore[assignment]
            while awaited in early:
                yield early.pop(awaited)
                awaited += 1
    finally:
        stop = True
        for thread in threads:
            thread.join()


def _regrouped(source: Text) -> Iterator[Block]:
    """The lines of a scattered file, brought together by query in temporary files."""
    import tempfile
    from contextlib import ExitStack

    layout = source.layout.with_line_numbers()
    line = 1 + header_lines(source.stream, source.layout)
    with ExitStack() as stack:
        parts = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(PARTS)]
        for block in blocks(source.stream, source.layout):
            if native is None:
                shares = partition(block, line, PARTS)
            else:
                data = np.frombuffer(block.data, np.uint8)
                shares = native.partition(data, _native_layout(source.layout), line, PARTS)
            line += bytes(block.data).count(b"\n")
            for file, share in zip(parts, shares, strict=True):
                file.write(share)
        for file in parts:
            file.seek(0)
            lines = file.read()
            if lines:
                yield Block(source.stream, layout, 0, lines)
