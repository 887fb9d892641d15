"""Logs of production as columns of texts, some rows at a time: CSV and its kin, lines of text, JSON, UBI.

    log = open_log("ubi_events.jsonl.gz")
    for batch in log.batches(["query_id", "event_attributes.object.object_id"]):
        queries, documents = batch.columns

A log has the names of its columns on its first line; a member of an object within an object has its path as its name.
Every cell is a text, and an empty one where there is none. Memory is a block of the file, however long it is.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from cranfield.errors import InputError, choice_hint, given
from cranfield.io.query_columns import MOST_READ, Column, id_tier, is_header, text_tier
from cranfield.io.streams import LOOK, Stream, as_stream, end_of_lines, mark_length
from cranfield.words import count

BLOCK = 1 << 20
SEPARATORS = {"\t": "TSV", ",": "CSV", ";": "CSV (semicolons)", "|": "CSV (bars)"}
TEXT = "lines of text"
JSON = "JSON"
JSON_LINES = "JSON lines"
LINES_ALONE = "query"  # the column of a file that has one text on each line and no header
_ACTIONS = ({"index"}, {"create"})  # lines between documents in files for the bulk API of Elasticsearch and OpenSearch
_TRIES = 100  # line ends at which a block may end inside of quotes
_MARK = "\0"  # stands for a line's end


class Batch(NamedTuple):
    """Some rows: the line of the file that they begin on, and a list of texts for each column that was asked for."""

    line: int
    columns: list[list[str]]


def open_log(source: Any, *, skip_bad: bool | None = None) -> Log:
    """A log, recognised by its beginning.

    source: a path, "-", an open binary file, or a stream of one; compressed or not
    skip_bad: whether lines that cannot be read are left out and counted, instead of being an error; None if the
        caller cannot choose
    """
    stream = as_stream(source)
    if stream is None:
        raise InputError("the log", f"{source!r:.60} is neither a path nor an open file.")
    head = stream.head(LOOK)
    head = head[mark_length(memoryview(head)) : (end_of_lines(head) or LOOK) if len(head) == LOOK else len(head)]
    if head.startswith((b"\xff\xfe", b"\xfe\xff", b"PAR1", b"PK\x03\x04")):
        hint = "save it as UTF-8 text: CSV, TSV or JSON lines"
        raise InputError(stream.name, "this is not text in UTF-8.", hint=hint)
    text = _unix(head.decode(errors="replace"))
    begin = text.lstrip()[:2]
    if not begin:
        raise InputError(stream.name, "it contains no lines.")
    if b"\r" in head and b"\n" not in head:
        hint = "end lines with line feeds, as Unix and Windows do"
        raise InputError(stream.name, "its lines end with carriage returns alone.", hint=hint)
    if begin[0] == "[":
        return ArrayLog(stream, skip_bad)
    return JsonLog(stream, text, skip_bad) if begin[0] == "{" else TextLog(stream, text, skip_bad)


class Log:
    """A log, of which columns can be read, some rows at a time, again and again.

    name, format: where it comes from, and in words what it is
    above: how many lines are above the first row
    names: those of its columns; of JSON, the paths of all members that its first lines have
    skipped: how many lines could not be read, when it was read last
    """

    format = ""
    names: tuple[str, ...] = ()
    above = 0

    def __init__(self, stream: Stream, skip_bad: bool | None) -> None:
        self.name, self.stream, self.skip_bad, self.skipped = stream.name, stream, skip_bad, 0

    def batches(self, wanted: Sequence[str]) -> Iterator[Batch]:
        """The rows of the columns with these names."""
        for name in wanted:
            if name not in self.names:
                hint = choice_hint("it has", self.names, name)
                raise InputError(self.name, f"there is no column '{name}'.", hint=hint)
        self.skipped = 0
        line = 1
        for offset, piece in self.stream.pieces(BLOCK, self._end_of_rows, hashed=False):
            data = bytes(piece[0 if offset else mark_length(piece) :])
            yield Batch(line, self._columns(self._decoded(data, line), wanted, line))
            line += data.count(b"\n")

    def head(self, wanted: Sequence[str], rows: int = MOST_READ) -> list[list[str]]:
        """The first rows of some columns: how to tell what they hold."""
        columns: list[list[str]] = [[] for _ in wanted]
        for batch in self.batches(wanted):
            columns = [column[:rows] for column in batch.columns]
            break
        return columns

    def _end_of_rows(self, data: bytes) -> int:
        return end_of_lines(data)

    def _columns(self, text: str, wanted: Sequence[str], line: int) -> list[list[str]]:
        raise NotImplementedError

    def _decoded(self, data: bytes, line: int) -> str:
        try:
            return _unix(data.decode())
        except UnicodeDecodeError:
            rows: list[str] = []
        for number, row in enumerate(data.split(b"\n"), line):
            try:
                rows.append(row.decode())
            except UnicodeDecodeError as error:
                self._refuse(number, f"byte 0x{row[error.start]:02x} at column {error.start + 1} is not UTF-8.")
                rows += [""] * (number <= self.above)
        return _unix("\n".join(rows))

    def _refuse(self, line: int, fact: str) -> None:
        if not self.skip_bad:
            hint = "" if self.skip_bad is None else f"{given('skip_bad', True)} leaves such lines out"
            raise InputError(self.name, fact, line=line, hint=hint)
        self.skipped += 1


def _unix(text: str) -> str:
    """Lines end with line feeds; a carriage return within one is a blank."""
    return text.replace("\r\n", "\n").replace("\r", " ") if "\r" in text else text


class TextLog(Log):
    """Lines of cells with a separator, or of one text each."""

    def __init__(self, stream: Stream, head: str, skip_bad: bool | None) -> None:
        super().__init__(stream, skip_bad)
        comments = _comments(head)
        rows = [row for row in head.split("\n")[comments:] if row][:MOST_READ]
        self._separator = _separator(rows)
        cells = [self._cells(row) for row in rows]
        self._width = len(cells[0])
        columns = [Column([row[at] for row in cells[1:] if len(row) == self._width]) for at in range(self._width)]
        named = is_header(cells[0], columns) and (self._width > 1 or rows[0] not in rows[1:])
        self.names = tuple(_distinct(cells[0])) if named else tuple(map(str, range(1, self._width + 1)))
        if self._width == 1 and not named:
            self.names = (LINES_ALONE,)
        self.format = SEPARATORS[self._separator] if self._separator else TEXT
        self.above = comments + named

    def _cells(self, row: str) -> list[str]:
        if not self._separator:
            return [row]
        return next(_reader([row], self._separator), [""])

    def _end_of_rows(self, data: bytes) -> int:
        """The end of the last line that is not within quotes; a single quote somewhere does not hold everything up."""
        last = end = end_of_lines(data)
        if self._separator in ("", "\t") or b'"' not in data:
            return last
        quotes = data.count(b'"', 0, end)
        for _ in range(_TRIES):
            if quotes % 2 == 0 or not end:
                return end or last
            before = data.rfind(b"\n", 0, end - 1) + 1
            quotes -= data.count(b'"', before, end)
            end = before
        return last

    def _columns(self, text: str, wanted: Sequence[str], line: int) -> list[list[str]]:
        above = self.above if line == 1 else 0
        if above:
            text = text.split("\n", above)[above] if text.count("\n") >= above else ""
        text = text.removesuffix("\n")
        places = [self.names.index(name) for name in wanted]
        if not text:
            return [[] for _ in places]
        if not self._separator:
            return [text.split("\n") for _ in places]
        mark, width = self._separator, self._width
        if _MARK not in text and (mark == "\t" or '"' not in text):
            # One split of the whole, with a mark for each line's end, is several times as fast as one of each line.
            cells = text.replace("\n", f"{mark}{_MARK}{mark}").split(mark)
            ends = cells[width :: width + 1]
            if len(ends) == text.count("\n") and (len(cells) + 1) % (width + 1) == 0 and set(ends) <= {_MARK}:
                return [cells[place :: width + 1] for place in places]
        return self._row_by_row(text, places, line + above)

    def _row_by_row(self, text: str, places: Sequence[int], line: int) -> list[list[str]]:
        reader = _reader(io.StringIO(text, newline="\n"), self._separator)
        rows: list[list[str]] = []
        begins = line
        while True:
            try:
                row = next(reader)
            except StopIteration:
                break
            except csv.Error as error:
                self._refuse(begins, f"this line cannot be read ({error}).")
            else:
                if len(row) == self._width:
                    rows.append(row)
                elif row:
                    self._refuse(begins, f"{count(len(row), 'cell')} where the first line has {self._width}.")
            begins = line + reader.line_num
        return [[row[place] for row in rows] for place in places]


def _reader(lines: Iterable[str], separator: str) -> Any:
    """Cells by line; in lines with tabs, quotes belong to the text."""
    quoting: Any = csv.QUOTE_NONE if separator == "\t" else csv.QUOTE_MINIMAL
    return csv.reader(lines, delimiter=separator, quoting=quoting)


def _comments(head: str) -> int:
    """How many lines that begin with # are above a header; exports of web analytics have some."""
    lines = head.split("\n")
    at = next((at for at, line in enumerate(lines) if line.strip() and not line.startswith("#")), 0)
    return at if at and max(map(text_tier, re.split(r"[\t;,|]", lines[at]))) >= 2 else 0


def _separator(rows: Sequence[str]) -> str:
    """What separates cells: what is as often in nearly all of the first lines as in the very first."""
    for mark in SEPARATORS:
        cells = list(_reader(rows, mark))
        alike = sum(len(row) == len(cells[0]) for row in cells) / max(len(cells), 1)
        names = any(text_tier(name) >= 2 or id_tier(name) >= 3 for name in cells[0]) if cells else False
        if cells and len(cells[0]) > 1 and alike >= (0.5 if names else 0.9):
            return mark
    return ""


def _distinct(names: Sequence[str]) -> list[str]:
    """The names of columns without blanks around them; one that appears again gets its place behind it."""
    plain = [name.strip().strip('"') for name in names]
    return [f"{name} {at}" if name in plain[: at - 1] else name for at, name in enumerate(plain, 1)]


class JsonLog(Log):
    """A JSON object on each line: plain rows, documents with `_source`, files for a bulk API."""

    format = JSON_LINES

    def __init__(self, stream: Stream, head: str, skip_bad: bool | None) -> None:
        super().__init__(stream, skip_bad)
        rows: list[dict[str, Any]] = []
        for number, line in enumerate(head.split("\n")[:MOST_READ], 1):
            if line.strip():
                rows += self._objects(line, number)
        self.names = _paths(rows)
        self.skipped = 0

    def _columns(self, text: str, wanted: Sequence[str], line: int) -> list[list[str]]:
        lines = [row for row in text.split("\n") if row and not row.isspace()]
        try:
            rows = _rows(json.loads(f"[{','.join(lines)}]"))
        except (ValueError, RecursionError, TypeError):  # one by one, to find those that are bad
            rows = []
            for number, row in enumerate(text.split("\n"), line):
                if row.strip():
                    rows += self._objects(row, number)
        return [_cells(rows, name) for name in wanted]

    def _objects(self, row: str, number: int) -> list[dict[str, Any]]:
        try:
            return _rows([json.loads(row)])
        except (ValueError, RecursionError, TypeError):
            self._refuse(number, "this line is not a JSON object.")
            return []


class ArrayLog(Log):
    """One JSON array of objects, which is held as a whole."""

    format = JSON

    def __init__(self, stream: Stream, skip_bad: bool | None) -> None:
        super().__init__(stream, skip_bad)
        from cranfield.io.formats.json import parse_json

        content = parse_json(stream.content(), stream.name)
        try:
            self._rows = _rows(content)
        except TypeError:
            raise InputError(stream.name, "an entry of this JSON array is not an object.") from None
        self.names = _paths(self._rows)

    def batches(self, wanted: Sequence[str]) -> Iterator[Batch]:
        yield Batch(1, [_cells(self._rows, name) for name in wanted])


def _rows(items: Sequence[Any]) -> list[dict[str, Any]]:
    """The objects that hold data: those in `_source`, and no lines that only say what to do with the next."""
    rows = []
    for item in items:
        if not isinstance(item, dict):
            raise TypeError
        if item.keys() not in _ACTIONS:
            inner = item.get("_source")
            rows.append(inner if isinstance(inner, dict) else item)
    return rows


def _paths(rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(".".join, dict.fromkeys(chain.from_iterable(map(members, rows))))))


def members(row: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The paths of what an object holds, and the objects within it."""
    for name, value in row.items():
        if isinstance(value, dict):
            yield from members(value, (*above, name))
        else:
            yield (*above, name)


def _cells(rows: Sequence[Mapping[str, Any]], name: str) -> list[str]:
    """A column as texts: of numbers as they are written, of lists and the like as JSON."""
    path = name.split(".")
    values = [_member(row, name, path) for row in rows] if path[1:] else [row.get(name, "") for row in rows]
    return [value if type(value) is str else _as_text(value) for value in values]


def _member(row: Mapping[str, Any], name: str, path: Sequence[str]) -> Any:
    if name in row:  # its keys are paths already
        return row[name]
    value: Any = row
    for key in path:
        if not isinstance(value, dict):
            return ""
        value = value.get(key, "")
    return value


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
