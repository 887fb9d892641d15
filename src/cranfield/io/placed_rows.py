"""Rows of any columns with their places: passages, chunks and documents.

They come from JSON lines, CSV, TSV, Parquet, frames or Python objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from cranfield.errors import InputError
from cranfield.io.column_names import QUERY, plain_name
from cranfield.io.mappings import id_text
from cranfield.io.streams import BYTE_ORDER_MARK, CHUNK, LOOK, Stream, as_stream, end_of_lines

Spellings = Sequence[str]
LONGEST_CELL = 1 << 27  # letters; the usual limit of Python's csv is 131,072, and texts may be longer


class PlacedRow(NamedTuple):
    """One row by the plain names of its columns, and its place: a line of a file, or a row in memory."""

    source: str
    number: int
    in_file: bool
    cells: Mapping[str, Any]
    header: Sequence[str] = ()  # of a table, where some cells may be empty

    @property
    def columns(self) -> set[str]:
        return {*(self.header or self.cells)}

    def find(self, spellings: Spellings) -> Any:
        """The first cell of these names that is not empty; None if there is none."""
        cells = map(self.cells.get, spellings)
        return next((cell for cell in cells if not (cell is None or cell != cell)), None)  # a gap in a frame is NaN

    def _needed(self, spellings: Spellings, what: str) -> Any:
        cell = self.find(spellings)
        if cell is None:
            raise self.error(f"there is no {what}.", hint=f"its column may be called {', '.join(spellings)}")
        return cell

    def id(self, spellings: Spellings, what: str) -> str:
        cell = self._needed(spellings, what)
        try:
            return id_text(cell, self.source, what)
        except InputError as error:
            raise self.error(error.fact.removeprefix(f"{self.source}: "), hint=error.hint) from None

    def text(self, spellings: Spellings, what: str) -> str | None:
        cell = self.find(spellings)
        if cell is not None and not isinstance(cell, str):
            raise self.error(f"the {what} {cell!r:.60} is not text.")
        return cell

    def whole(self, spellings: Spellings, what: str) -> int | None:
        """A whole number from 0, if there is one."""
        cell = self.find(spellings)
        if cell is None:
            return None
        try:
            number = int(cell) if isinstance(cell, str) else cell
            if isinstance(number, float) and number.is_integer():  # as frames with gaps have whole numbers
                number = int(number)
            if isinstance(number, bool) or not hasattr(number, "__index__") or number < 0:
                raise ValueError
        except ValueError:
            raise self.error(f"the {what} {cell!r:.60} is not a whole number from 0.") from None
        return int(number)

    def number_of(self, spellings: Spellings, what: str) -> float:
        import math

        cell = self._needed(spellings, what)
        try:
            number = math.nan if isinstance(cell, bool) else float(cell)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            raise self.error(f"the {what} {cell!r:.60} is not a finite number.")
        return number

    def error(self, fact: str, *, hint: str = "", kind: type[InputError] = InputError) -> InputError:
        if self.in_file:
            return kind(self.source, fact, line=self.number, hint=hint)
        return kind(self.source, f"row {self.number}: {fact}", hint=hint)


def placed_rows(thing: Any, what: str, widths: Mapping[int, Spellings]) -> Iterator[PlacedRow]:
    """The rows of a file, a frame, or a list of tuples, whose columns `widths` names by length, mappings or objects."""
    stream = as_stream(thing)
    if stream is not None:
        head = _head(stream)
        if head.startswith(b"PAR1"):
            yield from _of_parquet(stream)
        else:
            yield from _of_json_lines(stream) if head.startswith(b"{") else _of_delimited(stream)
        return
    from cranfield.io.frames import frame_rows, is_frame

    rows: Any = frame_rows(thing, what) if is_frame(thing) else thing
    if not isinstance(rows, Iterable) or isinstance(rows, bytes | Mapping):
        raise InputError(what, f"cannot be read from {type(thing).__name__} ({thing!r:.60}).")
    for number, row in enumerate(rows, 1):
        yield PlacedRow(what, number, False, _cells(row, what, number, widths))


def _cells(row: Any, what: str, number: int, widths: Mapping[int, Spellings]) -> Mapping[str, Any]:
    if isinstance(row, tuple) and len(row) == 2 and hasattr(row[0], "metadata"):  # LangChain's (document, score)
        row = row[0]
    row = getattr(row, "node", row)  # LlamaIndex's node with a score
    if isinstance(row, Mapping):
        return _named(row)
    if isinstance(row, tuple | list):
        names = getattr(row, "_fields", None) or widths.get(len(row))
        if names is None:
            shapes = " or ".join(f"({', '.join(columns)})" for columns in widths.values())
            raise InputError(what, f"row {number} has {len(row)} columns.", hint=f"a row is: {shapes}")
        return dict(zip(names, row, strict=True))
    if isinstance(getattr(row, "metadata", None), Mapping):  # a document of LangChain, a node of LlamaIndex
        return _Attributes(row)
    raise InputError(what, f"row {number} is {row!r:.60}, not a row.")


def _named(row: Mapping[Any, Any]) -> dict[str, Any]:
    """Cells by plain names; those of the metadata, as retrievers have them, beside the others."""
    cells = {plain_name(str(name)): cell for name, cell in row.items()}
    inside = cells.get("metadata")
    return {**_named(inside), **cells} if isinstance(inside, Mapping) else cells


class _Attributes(Mapping[str, Any]):
    """The attributes of an object, and its metadata where it lacks one."""

    def __init__(self, thing: Any) -> None:
        self._thing, self._metadata = thing, _named(thing.metadata)

    def __getitem__(self, name: str) -> Any:
        value = getattr(self._thing, name, None)
        return self._metadata[name] if value is None or callable(value) else value

    def __iter__(self) -> Iterator[str]:
        return iter(self._metadata)

    def __len__(self) -> int:
        return len(self._metadata)


def _of_json_lines(stream: Stream) -> Iterator[PlacedRow]:
    from cranfield.io.formats.json_lines import json_rows

    for number, row in json_rows(stream):
        yield PlacedRow(stream.name, number, True, _named(row))


def _of_parquet(stream: Stream) -> Iterator[PlacedRow]:
    from cranfield.io.formats.parquet import parquet_rows

    for number, row in enumerate(parquet_rows(stream), 1):
        yield PlacedRow(stream.name, number, False, _named(row))


def _of_delimited(stream: Stream) -> Iterator[PlacedRow]:
    import csv

    lines = _decoded_lines(stream)
    first = next(lines, "")
    marks = "\t" if "\t" in first else ";" if first.count(";") > first.count(",") else ","
    reader = csv.reader(chain((first,), lines), delimiter=marks, strict=True)
    names: list[str] = []
    line = 1

    def next_row() -> list[str] | None:
        limit = csv.field_size_limit(LONGEST_CELL)  # which all readers of the process share
        try:
            return next(reader, None)
        finally:
            csv.field_size_limit(limit)

    try:
        while (fields := next_row()) is not None:
            number, line = line, reader.line_num + 1
            if not any(fields):
                continue
            if not names:
                names = [plain_name(name) for name in fields]
            elif len(fields) != len(names):
                fact = f"{len(fields)} columns where {len(names)} are needed."
                raise InputError(stream.name, fact, line=number, hint=f"the first line names {', '.join(names)}")
            else:
                cells = {name: cell for name, cell in zip(names, fields, strict=True) if cell}
                yield PlacedRow(stream.name, number, True, cells, names)
    except csv.Error as error:
        raise InputError(stream.name, f"invalid quoting ({error}).", line=line) from None


def _decoded_lines(stream: Stream) -> Iterator[str]:
    """The lines with their ends, a piece of the file at a time."""
    import io

    for offset, piece in stream.pieces(CHUNK, end_of_lines):
        try:
            yield from io.StringIO(bytes(piece).decode("utf-8" if offset else "utf-8-sig"), newline="")
        except UnicodeDecodeError as error:
            raise InputError(stream.name, f"byte {offset + error.start + 1} is not UTF-8.") from None


def is_table(stream: Stream, spellings: Iterable[str]) -> bool:
    """Whether a file is JSON lines, or its first line names one of these columns."""
    head = _head(stream)
    return head.startswith(b"{") or not _header(head).isdisjoint(spellings)


def names_passages(stream: Stream) -> bool:
    head = _head(stream)
    if not head.startswith(b"{"):
        return _of_passages(_header(head))
    from cranfield.io.formats.json_lines import json_row

    *lines, rest = head.split(b"\n")
    lines += [rest] if len(head) < LOOK else []  # no more is read: a file may be one long line of JSON
    try:
        return any(_of_passages(set(map(plain_name, json_row(line, 1, stream.name)))) for line in lines if line.strip())
    except InputError:  # the same error comes again when the file is read
        return False


def _of_passages(names: set[str]) -> bool:
    return not names.isdisjoint(QUERY) and ("quote" in names or {"start", "end"} <= names)


def _head(stream: Stream) -> bytes:
    return stream.head(LOOK).removeprefix(BYTE_ORDER_MARK).lstrip()


def _header(head: bytes) -> set[str]:
    first = head.partition(b"\n")[0].decode(errors="replace")
    return {plain_name(name.strip().strip('"')) for name in first.replace("\t", ",").split(",")}
