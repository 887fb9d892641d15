"""The rows of a file with all that stands in them and where: for checking and converting it.

Measuring needs less, and has faster ways. Here a bad row is handed to whoever asked, and the reading goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, islice, pairwise
from operator import ne
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cranfield.errors import InputError
from cranfield.read.formats import detect
from cranfield.read.layouts import PREFERENCES, Layout
from cranfield.read.mappings import Row, finite, full_lines, id_text, json_row, read_json, read_rows
from cranfield.read.names import Role, find_columns, wanted
from cranfield.read.streams import Stream
from cranfield.read.text import BadLine, Block, Line, blocks, decoded, header_lines

ROLES: tuple[Role, ...] = ("qrels", "run")
Bad = Callable[[InputError], None]  # what to do with a bad row


class Records(NamedTuple):
    """Rows, column by column."""

    line: Sequence[int]  # of the file, or rows counted from 1; empty where there are none
    query: list[str]
    document: list[str]
    value: npt.NDArray[np.float64]  # scores or grades; where the file has ranks, minus the rank
    text: list[str]  # the value as it stands there
    rank: list[str] | None = None  # a column of ranks beside the scores
    name: list[str] | None = None  # the name of the run, with all that follows it
    group: list[str] | None = None  # of judgments

    def place(self, at: int) -> int | None:
        """The line of a row."""
        return self.line[at] if self.line else None

    def take(self, rows: slice | list[int]) -> Records:
        """Some of the rows."""
        if isinstance(rows, slice):
            return Records(*(column if column is None else column[rows] for column in self))  # type: ignore[arg-type]
        columns = [column if column is None or len(column) == 0 else [column[at] for at in rows] for column in self]
        return Records(*columns)._replace(value=self.value[rows])  # type: ignore[arg-type]

    def miscount(self, name: str) -> InputError | None:
        """The error where ranks do not count 1, 2, 3 in the rows of a query, though they were taken for ranks."""
        wrong = np.flatnonzero(-self.value != np.arange(1, len(self.value) + 1))
        if not len(wrong):
            return None
        at = int(wrong[0])
        return InputError(
            name,
            f"the third column says {self.text[at]} where rank {at + 1} is expected, so it may not be a rank.",
            line=self.place(at),
            hint="give the format: 'msmarco' for query, document, rank; 'tsv' for query, document, score",
        )

    def by_query(self) -> Iterator[Records]:
        """The rows of each query, in order of appearance."""
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


def joined(parts: Sequence[Records]) -> Records:
    """Rows one after the other."""
    if len(parts) == 1:
        return parts[0]
    columns: list[Any] = [
        None if column[0] is None else [each for part in column for each in part] for column in zip(*parts, strict=True)
    ]
    return Records(*columns)._replace(value=np.concatenate([part.value for part in parts]))


@dataclass(frozen=True, slots=True)
class RecordFile:
    """A file whose rows can be read; made by `open_records`."""

    name: str
    stream: Stream
    role: Role
    layout: Layout | None  # of its lines, if it is text
    ranks: bool  # it has ranks and no scores
    left_out: tuple[str, ...]  # columns that are not read
    _content: Any = None

    @property
    def unit(self) -> str:
        """What `Records.line` counts."""
        return "line" if self.layout is not None or self._content is None else "row"

    @property
    def empty_queries(self) -> int:
        """Queries that the file names without a document; only JSON can do that."""
        return sum(not ranking for ranking in self._content.values()) if isinstance(self._content, Mapping) else 0

    def batches(self, bad: Bad) -> Iterator[Records]:
        """All rows, some at a time; bad ones go to `bad`."""
        if self.layout is not None:
            line = 1 + header_lines(self.stream, self.layout)
            for block in blocks(self.stream, self.layout):
                yield block_records(block, line, bad)
                line += bytes(block.data).count(b"\n")
        elif self._content is None:
            for lines in full_lines(self.stream):
                yield self._from_rows(_parsed(lines, self.name, bad), bad)
        elif isinstance(self._content, Mapping):
            for query, ranking in self._content.items():
                yield self._from_ranking(query, ranking, bad)
        elif isinstance(self._content, list):
            yield self._from_rows(enumerate(self._content, 1), bad)
        else:
            yield self._from_frame(self._content)

    def _texts(self, values: Iterable[float]) -> list[str]:
        return [number_text(-value if self.ranks else value) for value in values]

    def _from_rows(self, numbered: Iterable[tuple[int, Any]], bad: Bad) -> Records:
        grouped, items = self.role == "qrels", list(numbered)
        rows: list[tuple[int, Row]] = []
        try:
            found = read_rows(items, self.role, self.name, lines=True, grouped=grouped)
            rows.extend(zip((number for number, _ in items), found, strict=True))
        except InputError:  # one by one, to find all that are bad
            rows.clear()
            for item in items:
                try:
                    row = next(read_rows([item], self.role, self.name, lines=True, grouped=grouped))
                except InputError as error:
                    bad(_on_line(error, item[0]))
                else:
                    rows.append((item[0], row))
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

    def _from_ranking(self, key: Any, ranking: Any, bad: Bad) -> Records:
        documents, values = [], []
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
                pair = id_text(document, self.name, where), finite(value, self.name, where)
            except InputError as error:
                bad(error)
            else:
                documents.append(pair[0])
                values.append(pair[1])
        return Records((), [query] * len(documents), documents, np.array(values, dtype=np.float64), self._texts(values))

    def _from_frame(self, frame: Any) -> Records:
        queries = [frame.queries[number] for number in frame.query.tolist()]
        texts = self._texts(frame.value.tolist())
        return Records(range(1, len(queries) + 1), queries, frame.document.tolist(), frame.value, texts)


def fitting_roles(stream: Stream, format: str | None = None) -> dict[Role, InputError | None]:
    """For judgments and for a run: why a file cannot be that, or None where it can."""
    found: dict[Role, InputError | None] = {}
    for role in ROLES:
        try:
            _open_as(stream, role, format)
        except InputError as error:
            found[role] = error
        else:
            found[role] = None
    return found


def _open_as(stream: Stream, role: Role, format: str | None) -> None:
    # A format of lines that is named is taken at its word; how many columns there are still tells the roles apart.
    kind = detect(stream, role, None if format in ("trec", "msmarco") else format)
    if kind == "jsonl":
        names = list(_first_row(stream))
    elif kind == "parquet":
        from cranfield.read import frames

        names = frames.parquet_names(stream)
    else:
        return
    if find_columns(names, role) is None:
        raise InputError(stream.name, f"its columns are {', '.join(names)}.", hint=wanted(role))


def _first_row(stream: Stream) -> dict[str, Any]:
    lines = next(filter(None, full_lines(stream)), [])
    return next(_parsed(lines[:1], stream.name, lambda error: None), (0, {}))[1]


def open_records(source: Any, role: Role, format: str | None = None) -> RecordFile:
    """Recognise a file: a path, "-" or an open one."""
    stream = source if isinstance(source, Stream) else Stream(source)
    kind = detect(stream, role, format)
    name = stream.name
    if isinstance(kind, Layout):
        if kind == PREFERENCES:
            raise InputError(
                name, "its lines have 5 columns, like preferences, of which only measures know what to do."
            )
        return RecordFile(name, stream, role, kind, kind.ranks, _unused(kind.names, role))
    if kind == "jsonl":
        first = _first_row(stream)
        return RecordFile(name, stream, role, None, _has_ranks(list(first), role), _unused(list(first), role))
    if kind == "parquet":
        from cranfield.read import frames

        names = frames.parquet_names(stream)
        if role == "run":
            content: Any = frames.from_parquet(stream, role)
        else:  # with the groups; there are never so many judgments that it would take long
            content = list(frames.frame_rows(frames.parquet_table(stream, role, grouped=True), name))
        return RecordFile(name, stream, role, None, _has_ranks(names, role), _unused(names, role), content)
    content = read_json(stream)
    if isinstance(content, list):
        first = content[0] if content and isinstance(content[0], dict) else {}
        ranks = _has_ranks(list(first), role)
        return RecordFile(name, stream, role, None, ranks, _unused(list(first), role), content)
    ranks = role == "run" and isinstance(next(iter(content.values()), None), list)
    return RecordFile(name, stream, role, None, ranks, (), content)


def block_records(block: Block, line: int, bad: Bad) -> Records:
    """The rows of a block whose first line has this number."""
    layout, found = block.layout, block.fields_at_once()
    sign = -1 if layout.ranks else 1
    group = layout.groups[0] if layout.groups else -1
    if found is not None:
        fields, values = found
        step = layout.least + 1

        def column(place: int) -> list[str] | None:
            return decoded(fields[place::step]) if place >= 0 else None

        numbers: Sequence[int] = list(map(int, fields[::step])) if layout.numbered else range(line, line + len(values))
    else:
        lines: list[Line] = []
        for each in block.lines():
            if isinstance(each, BadLine):
                bad(each.located(line))
            else:
                lines.append(each)

        def column(place: int) -> list[str] | None:
            if place == layout.name >= 0:
                return [b" ".join(each.fields[place:]).decode() for each in lines]
            return [each.fields[place].decode() for each in lines] if place >= 0 else None

        values = np.array([each.value for each in lines], dtype=np.float64)
        numbers = [each.number if layout.numbered else line + each.number for each in lines]
    query, document, text = column(layout.query), column(layout.document), column(layout.value)
    assert query is not None
    assert document is not None
    assert text is not None
    return Records(
        numbers, query, document, sign * values, text, column(layout.rank), column(layout.name), column(group)
    )


def number_text(value: float) -> str:
    """A number as people write it, from which it can be read again exactly.

    >>> number_text(3.0), number_text(0.1), number_text(1e300), number_text(-0.0)
    ('3', '0.1', '1e+300', '-0.0')
    """
    text = repr(value)
    return text.removesuffix(".0") if abs(value) < 2**53 and text != "-0.0" else text


def _parsed(lines: Iterable[tuple[int, bytes]], name: str, bad: Bad) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in lines:
        try:
            row = json_row(line, number, name)
        except InputError as error:
            bad(error)
        else:
            yield number, row


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


def _on_line(error: InputError, number: int) -> InputError:
    """The error of a row, with its line as that."""
    fact = error.fact.removeprefix(f"{error.source}: ").removeprefix(f"line {number}: ").removeprefix(f"line {number} ")
    return InputError(error.source, fact, line=number, hint=error.hint)


def _has_ranks(names: Sequence[str], role: Role) -> bool:
    found = find_columns(names, role)
    return found is not None and found.ranks


def _unused(names: Sequence[str], role: Role) -> tuple[str, ...]:
    found = find_columns(names, role)
    if found is None:
        return ()
    used = {found.query, found.document, found.value, *(found.groups[:1] if role == "qrels" else ())}
    return tuple(name for at, name in enumerate(names) if at not in used)
