"""Runs read a few queries at a time, whatever the order of their queries, so that memory stays small.

A text file is looked through once for where the lines of each query are, and then read by these places. A compressed
file or a pipe is unpacked into a temporary file first. Runs of any other shape, and files in which the lines of a query
are scattered, are in memory.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from itertools import accumulate, chain
from typing import Protocol

import numpy as np

from cranfield.errors import InputError, PolicyError
from cranfield.io.shapes import Layout, Source, Text
from cranfield.io.streams import Stream
from cranfield.io.text import Block, blocks, decoded, located
from cranfield.mixing.lists import Ranked, ranked_ids
from cranfield.native import CORES, native, native_layout
from cranfield.ranks.codes import TIE_ORDERS
from cranfield.ranks.policy import Policy
from cranfield.ranks.run import Run
from cranfield.ranks.scan.parallel import in_parallel
from cranfield.ranks.ties import ordered

BYTES = 3_000_000  # of text to read at a time, of all runs together
LINE = 40  # bytes, as a document in memory counts
_BLOCK = 1 << 20  # fits the cache; memory that is used for the first time costs more than reading
_ORDERS = [ties for ties in TIE_ORDERS if ties != "expected"]  # a mixture of runs has an order

Places = list[tuple[bytes, int, int]]


class Part(Protocol):
    """Some queries of a run, fetched and not yet read."""

    def ranked(self) -> Ranked: ...


class RankingFile(Protocol):
    """The rankings of one run. sizes: how many bytes each query takes, in their order."""

    name: str
    sizes: dict[str, int]

    def part(self, queries: Sequence[str]) -> Part: ...


def open_rankings(runs: Sequence[Run], policy: Policy, stack: ExitStack) -> list[RankingFile]:
    """Runs opened for reading by query; what they need is closed with the stack."""
    if policy.ties not in _ORDERS:
        fact = "leaves open the order, which is needed here." if policy.ties in TIE_ORDERS else "needs judgments."
        raise PolicyError(fact, parameter="ties", value=policy.ties, hint=f"it may be {', '.join(_ORDERS)}")
    _keep_freed_memory()
    sources = [_seekable(run.source, stack) for run in runs]
    found = list(in_parallel(_places, sources, CORES))  # each has a file of its own
    return [
        _opened(run.name, source, places, policy, stack)
        for run, source, places in zip(runs, sources, found, strict=True)
    ]


def _opened(
    name: str, source: Source, places: dict[str, tuple[int, int]] | None, policy: Policy, stack: ExitStack
) -> RankingFile:
    if isinstance(source, Text) and places is not None:
        source.stream.keep_open = True
        stack.callback(source.stream.close)
        return _TextFile(name, source, policy, places)
    from cranfield.ranks.whole_rankings import scores_of

    return _InMemory(name, {q: its for q, its in scores_of(source, policy).items() if its}, policy)


def _keep_freed_memory() -> None:
    """Have malloc keep what is freed for what comes next, as far as it lets itself be told.

    The C library of Linux gives large blocks back to the system until one of their size has been freed once. Fresh
    memory is cleared page by page, and that took a quarter of the time of fusing.
    """
    np.empty(1 << 24, np.uint8)


def chunks(files: Sequence[RankingFile], queries: Sequence[str]) -> Iterator[tuple[list[str], list[Part]]]:
    """The queries in groups that take little memory, each with the parts of all runs."""
    group: list[str] = []
    held = 0
    for query in queries:
        size = sum(file.sizes.get(query, 0) for file in files)
        if group and held + size > BYTES:
            yield group, [file.part(group) for file in files]
            group, held = [], 0
        group.append(query)
        held += size
    if group:
        yield group, [file.part(group) for file in files]


def _seekable(source: Source, stack: ExitStack) -> Source:
    """A text that cannot be read at any place in a temporary file; others as they are."""
    if not isinstance(source, Text) or source.stream.seekable:
        return source
    file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  # the stack closes it
    stack.callback(file.close)
    for chunk in source.stream.chunks():
        file.write(chunk)
    file.seek(0)
    stream = Stream(file)
    stream.name = source.name
    return Text(source.name, stream, source.layout)


@located()
def _places(source: Source) -> dict[str, tuple[int, int]] | None:
    """Where the lines of each query start, and how long they are; None if they are in several places, or no lines."""
    if not isinstance(source, Text):
        return None
    stream, layout = source.stream, source.layout

    def work(block: Block) -> tuple[int, Places]:
        found = None
        if native:
            found = native.places_of_text(np.frombuffer(block.data, np.uint8), native_layout(layout))
        return block.offset, places_of_lines(block.data, layout) if found is None else found

    places: dict[str, tuple[int, int]] = {}
    last = ""
    with closing(in_parallel(work, blocks(stream, layout, _BLOCK, hashed=False), CORES)) as parts:
        for offset, found in parts:
            for name, start, stop in found:
                query = name.decode(errors="surrogateescape")
                if query == last:  # a stretch goes on
                    begun, _ = places[query]
                    places[query] = begun, offset + stop - begun
                    continue
                if query in places:
                    return None
                places[query] = offset + start, stop - start
                last = query
    if not places:
        raise InputError(source.name, "it contains no rankings.")
    return places


def places_of_lines(data: bytes | memoryview, layout: Layout) -> Places:
    """The twin of the native `places_of_text`."""
    text = bytes(data)
    lines = text.splitlines(keepends=True) if b"\r" not in text else [line + b"\n" for line in text.split(b"\n")[:-1]]
    found: Places = []
    for line, stop in zip(lines, accumulate(map(len, lines)), strict=True):
        query = layout.query_of(line)
        if not query:
            continue
        if found and found[-1][0] == query:
            found[-1] = query, found[-1][1], stop
        else:
            found.append((query, stop - len(line), stop))
    return found


class _TextFile:
    def __init__(self, name: str, source: Text, policy: Policy, places: dict[str, tuple[int, int]]) -> None:
        self.name, self._source, self._policy, self._places = name, source, policy, places
        self.sizes = {query: size for query, (_, size) in places.items()}

    def part(self, queries: Sequence[str]) -> Part:
        stream, layout = self._source.stream, self._source.layout._replace(header=False)
        pieces: list[tuple[int, int]] = []  # places that follow one another are read at once
        for query in queries:
            offset, size = self._places.get(query, (0, 0))
            if pieces and sum(pieces[-1]) == offset:
                pieces[-1] = pieces[-1][0], pieces[-1][1] + size
            elif size:
                pieces.append((offset, size))
        found = [Block(stream, layout, offset, _ended(stream.part(offset, size))) for offset, size in pieces]
        return _TextPart(found, [query.encode(errors="surrogateescape") for query in queries], self._policy)


def _ended(data: bytes) -> bytes:
    return data if data.endswith(b"\n") else data + b"\n"


class _TextPart:
    def __init__(self, pieces: list[Block], queries: list[bytes], policy: Policy) -> None:
        self._pieces, self._queries, self._policy = pieces, queries, policy

    def ranked(self) -> Ranked:
        answer, text = None, b"".join(block.data for block in self._pieces)
        if native and self._pieces and self._policy.duplicates == "error":
            ties, drop = TIE_ORDERS[self._policy.ties], self._policy.same_id == "drop"
            layout = native_layout(self._pieces[0].layout)
            depth = self._policy.depth or len(text)
            answer = native.ranked_text(np.frombuffer(text, np.uint8), layout, ties, drop, depth)
        if answer is None:
            return self._by_twin()
        names, count, code, score, start, length = answer
        sizes = dict(zip(names, count.tolist(), strict=True))
        if [query for query in self._queries if query in sizes] != names:
            raise _changed(self._pieces[0])
        in_all = np.array([sizes.get(query, 0) for query in self._queries], dtype=np.int64)
        return Ranked(in_all, code, score, np.frombuffer(text, np.uint8), start, length)

    def _by_twin(self) -> Ranked:
        rankings = dict(chain.from_iterable(ranked_lines(block, self._policy) for block in self._pieces))
        names = [query.decode(errors="surrogateescape") for query in self._queries]
        return _ranked([rankings.get(query, []) for query in names])


def _changed(block: Block) -> InputError:
    return InputError(block.stream.name, "the file was changed while it was read.")


def ranked_lines(block: Block, policy: Policy) -> list[tuple[str, list[tuple[str, float]]]]:
    """The twin of the native `ranked_text`: the documents of each query with their scores, best first."""
    from cranfield.ranks.scan.pure import rankings_of_lines

    return [
        (
            name := query.decode(),
            _in_order(dict(zip(decoded(lines.documents), lines.scores.tolist(), strict=True)), name, policy),
        )
        for query, lines in rankings_of_lines(block, policy).items()
    ]


def _in_order(scores: dict[str, float], query: str, policy: Policy) -> list[tuple[str, float]]:
    return [(document, scores[document]) for document in ordered(scores, query, {}, policy)[: policy.depth]]


def _ranked(rankings: Sequence[Sequence[tuple[str, float]]]) -> Ranked:
    return ranked_ids([[d for d, _ in ranking] for ranking in rankings], [[s for _, s in its] for its in rankings])


class _InMemory:
    def __init__(self, name: str, scores: dict[str, dict[str, float]], policy: Policy) -> None:
        self.name, self._scores, self._policy = name, scores, policy
        self.sizes = {query: LINE * len(its) for query, its in scores.items()}

    def part(self, queries: Sequence[str]) -> Part:
        return _MemoryPart({query: self._scores.get(query, {}) for query in queries}, self._policy)


class _MemoryPart:
    def __init__(self, scores: dict[str, dict[str, float]], policy: Policy) -> None:
        self._scores, self._policy = scores, policy

    def ranked(self) -> Ranked:
        return _ranked([_in_order(scores, query, self._policy) for query, scores in self._scores.items()])
