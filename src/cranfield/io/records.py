"""The rows of a file with all columns and line numbers, for checking and converting it.

Measuring needs less, and reads faster. Here a bad row is passed to the caller, and reading continues.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import compress, islice, pairwise
from operator import ne
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from cranfield.errors import InputError
from cranfield.io.column_names import Role, find_columns, unused_columns
from cranfield.io.formats.json_lines import full_lines, json_row
from cranfield.io.frames import Frame
from cranfield.io.mappings import Row, finite, id_text, number_text, read_rows
from cranfield.io.shapes import Layout, Text
from cranfield.io.streams import Stream
from cranfield.io.text import BadLine, Block, Line, Scattered, blocks, decoded, header_lines, partition
from cranfield.native import native, native_layout

if TYPE_CHECKING:
    import numpy.typing as npt


Bad = Callable[[InputError], None]  # what to do with a bad row
PARTS = 64  # a scattered file is divided into this many


class Records(NamedTuple):
    line: Sequence[int]  # of the file, or rows counted from 1; empty where there are none
    query: list[str]
    document: list[str]
    value: npt.NDArray[np.float64]  # scores or grades; where the file has ranks, minus the rank
    text: list[str]  # the value as written
    rank: list[str] | None = None  # a column of ranks beside the scores
    name: list[str] | None = None  # the name of the run, with all that follows it
    group: list[str] | None = None  # of judgments

    def place(self, at: int) -> int | None:
        return self.line[at] if self.line else None

    def take(self, rows: slice | list[int]) -> Records:
        # Iterating loses the types of the columns, but keeps their order.
        if isinstance(rows, slice):
            return Records(*(column if column is None else column[rows] for column in self))  # type: ignore[arg-type]
        columns = [column if column is None or len(column) == 0 else [column[at] for at in rows] for column in self]
        return Records(*columns)._replace(value=self.value[rows])  # type: ignore[arg-type]

    def miscount(self, name: str) -> InputError | None:
        """The error if a column that was read as ranks does not count 1, 2, 3 in the rows of a query."""
        wrong = np.flatnonzero(-self.value != np.arange(1, len(self.value) + 1))
        if not len(wrong):
            return None
        at = int(wrong[0])
        fact = f"the third column says {self.text[at]} where rank {at + 1} is expected, so it may not be a rank."
        hint = "give the format: 'msmarco' for query, document, rank; 'tsv' for query, document, score"
        return InputError(name, fact, line=self.place(at), hint=hint)

    def by_query(self) -> Iterator[Records]:
        if not self.query:
            return
        changes = compress(range(1, len(self.query)), map(ne, self.query, islice(self.query, 1, None)))
        stretches: dict[str, list[slice]] = {}
        for start, stop in pairwise([0, *changes, len(self.query)]):
            stretches.setdefault(self.query[start], []).append(slice(start, stop))
        for parts in stretches.values():
            if len(parts) == 1:
                yield self.take(parts[0])
            else:
                yield self.take([at for part in parts for at in range(part.start, part.stop)])


class Lines(NamedTuple):
    """Lines of a run that are already as they are written."""

    data: bytes
    rows: int


def joined(parts: Sequence[Records]) -> Records:
    if len(parts) == 1:
        return parts[0]
    columns: list[Any] = [
        None if column[0] is None else [cell for part in column for cell in part] for column in zip(*parts, strict=True)
    ]
    return Records(*columns)._replace(value=np.concatenate([part.value for part in parts]))


class RecordFile(Protocol):
    """A file whose rows can be read; made by `open_records` of a format."""

    name: str
    stream: Stream
    role: Role
    ranks: bool  # it has ranks and no scores
    left_out: tuple[str, ...]  # columns that are not read
    unit: str  # what `Records.line` counts
    provenance: str  # of judgments that were chosen from a store
    empty_queries: int  # queries that the file names without a document; only JSON can do that

    @property
    def layout(self) -> Layout | None: ...

    def batches(self, bad: Bad) -> Iterator[Records]:
        """All rows, some at a time; bad ones go to `bad`."""


class LineRecords:
    unit = "line"
    empty_queries = 0
    provenance = ""

    def __init__(self, text: Text, role: Role) -> None:
        self.name, self.stream, self.layout = text
        self.role, self.ranks = role, self.layout.ranks
        self.left_out = unused_columns(self.layout.names, role)

    def batches(self, bad: Bad) -> Iterator[Records]:
        line = 1 + header_lines(self.stream, self.layout)
        for block in blocks(self.stream, self.layout):
            yield block_records(block, line, bad)
            line += bytes(block.data).count(b"\n")


def block_records(block: Block, line: int, bad: Bad) -> Records:
    layout, plain = block.layout, block.fields_at_once()
    group = layout.groups[0] if layout.groups else -1
    if plain is not None:
        fields, values = plain
        step = layout.least + 1

        def column(place: int) -> list[str]:
            return decoded(fields[place::step])

        numbers: Sequence[int] = list(map(int, fields[::step])) if layout.numbered else range(line, line + len(values))
    else:
        lines: list[Line] = []
        for good in block.lines():
            if isinstance(good, BadLine):
                bad(good.located(line))
            else:
                lines.append(good)

        def column(place: int) -> list[str]:
            if place == layout.name:
                return [b" ".join(good.fields[place:]).decode() for good in lines]
            return [good.fields[place].decode() for good in lines]

        values = np.array([good.value for good in lines], dtype=np.float64)
        numbers = [good.number if layout.numbered else line + good.number for good in lines]
    query, document, text = map(column, (layout.query, layout.document, layout.value))
    others = (column(place) if place >= 0 else None for place in (layout.rank, layout.name, group))
    return Records(numbers, query, document, -values if layout.ranks else values, text, *others)


class _RowFile:
    layout = None
    unit = "row"
    empty_queries = 0
    provenance = ""

    def __init__(self, stream: Stream, role: Role, names: Sequence[str], content: Any = None) -> None:
        self.name, self.stream, self.role, self._content = stream.name, stream, role, content
        places = find_columns(names, role)
        self.ranks = places is not None and places.ranks
        self.left_out = unused_columns(names, role)

    def _texts(self, values: Iterable[float]) -> list[str]:
        return [number_text(-value if self.ranks else value) for value in values]

    def _records(self, numbered: Iterable[tuple[int, Any]], bad: Bad) -> Records:
        grouped, items = self.role == "qrels", list(numbered)

        def read(items: list[tuple[int, Any]]) -> list[tuple[int, Row]]:
            rows = read_rows(items, self.role, self.name, lines=True, grouped=grouped)
            return list(zip((number for number, _ in items), rows, strict=True))

        try:
            rows = read(items)
        except InputError:  # one by one, to find all that are bad
            rows = []
            for item in items:
                try:
                    rows += read([item])
                except InputError as error:
                    fact = error.fact.removeprefix(f"{error.source}: ")
                    fact = fact.removeprefix(f"line {item[0]}: ").removeprefix(f"line {item[0]} ")
                    bad(InputError(error.source, fact, line=item[0], hint=error.hint))
        values = [row.value for _, row in rows]
        groups = [row.groups[0] if row.groups else "0" for _, row in rows]
        return Records(
            [number for number, _ in rows],
            [row.query for _, row in rows],
            [row.document for _, row in rows],
            np.array(values, dtype=np.float64),
            self._texts(values),
            group=groups if grouped else None,
        )


class RowRecords(_RowFile):
    def batches(self, bad: Bad) -> Iterator[Records]:
        yield self._records(enumerate(self._content, 1), bad)


class ObjectRecords(_RowFile):
    unit = "line"

    def batches(self, bad: Bad) -> Iterator[Records]:
        for lines in full_lines(self.stream):
            rows = []
            for number, line in lines:
                try:
                    rows.append((number, json_row(line, number, self.name)))
                except InputError as error:
                    bad(error)
            yield self._records(rows, bad)


class RankingRecords(_RowFile):
    def __init__(self, stream: Stream, role: Role, content: Mapping[Any, Any], provenance: str = "") -> None:
        super().__init__(stream, role, (), content)
        self.provenance = provenance
        self.ranks = role == "run" and isinstance(next(iter(content.values()), None), list)
        self.empty_queries = sum(not ranking for ranking in content.values())

    def batches(self, bad: Bad) -> Iterator[Records]:
        for key, ranking in self._content.items():
            kept: list[tuple[str, float]] = []
            query = str(key)
            pairs: Iterable[tuple[Any, Any]] = ()
            try:
                query = id_text(key, self.name, "a query")
                pairs = _pairs(ranking, self.role, f"query '{query}'", self.name)
            except InputError as error:
                bad(error)
            for document, value in pairs:
                where = f"query '{query}', document {document!r}"
                try:
                    kept.append((id_text(document, self.name, where), finite(value, self.name, where)))
                except InputError as error:
                    bad(error)
            documents, values = [document for document, _ in kept], [value for _, value in kept]
            yield Records((), [query] * len(kept), documents, np.array(values, dtype=np.float64), self._texts(values))


class FrameRecords(_RowFile):
    def batches(self, bad: Bad) -> Iterator[Records]:
        frame: Frame = self._content
        queries = [frame.queries[number] for number in frame.query.tolist()]
        texts = self._texts(frame.value.tolist())
        yield Records(range(1, len(queries) + 1), queries, frame.document.tolist(), frame.value, texts)


def _pairs(ranking: Any, role: Role, where: str, name: str) -> Iterable[tuple[Any, Any]]:
    if isinstance(ranking, Mapping):
        return ranking.items()
    if isinstance(ranking, list):
        if role == "qrels":
            return ((document, 1) for document in ranking)  # the relevant documents, without grades
        return ((document, -float(rank)) for rank, document in enumerate(ranking, 1))
    what, value = ("the judgments", "grade") if role == "qrels" else ("a ranking", "score")
    fact = f"{where}: {ranking!r:.60} is not {what} of a query."
    raise InputError(name, fact, hint=f"it should be {{document: {value}}}, or a list of documents")


def rows_by_query(file: RecordFile, bad: Bad, *, scattered: bool = False) -> Iterator[Records]:
    """All rows of every query. Memory is a block and the largest query, and the ids of all queries.

    If the rows of a query are not together, it raises `Scattered`; called again with `scattered`, it groups them first:
    lines of text in temporary files, other rows in memory.
    """
    if not scattered:
        yield from _whole_queries(file.batches(bad))
    elif file.layout is not None:
        for block in regrouped(Text(file.name, file.stream, file.layout)):
            yield from block_records(block, 0, bad).by_query()
    else:
        yield from joined(list(file.batches(bad))).by_query()


def _whole_queries(batches: Iterable[Records]) -> Iterator[Records]:
    seen: set[str] = set()
    held: list[Records] = []  # rows of the last query so far, which may go on
    for batch in batches:
        for records in batch.by_query():
            query = records.query[0]
            if held and held[0].query[0] != query:
                yield joined(held)
                held = []
            if not held and query in seen:
                raise Scattered
            seen.add(query)
            held.append(records)
    if held:
        yield joined(held)


def regrouped(source: Text) -> Iterator[Block]:
    """The lines of a scattered file, grouped by query in temporary files."""
    import tempfile
    from contextlib import ExitStack

    layout = source.layout.with_line_numbers()
    line = 1 + header_lines(source.stream, source.layout)
    with ExitStack() as stack:
        parts = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(PARTS)]
        for block in blocks(source.stream, source.layout):
            shares = None
            if native is not None:
                data = np.frombuffer(block.data, np.uint8)
                shares = native.partition(data, native_layout(block.layout), line, PARTS)
            for file, share in zip(parts, shares or partition(block, line, PARTS), strict=True):
                file.write(share)
            line += bytes(block.data).count(b"\n")
        for file in parts:
            source.stream.check_held(file.tell())
            file.seek(0)
            if lines := file.read():
                yield Block(source.stream, layout, 0, lines)
