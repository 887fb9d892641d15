"""jsonl: a JSON object, one row, on every line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from cranfield.errors import InputError
from cranfield.io.column_names import Role, needed_columns, refuse_passages, refuse_searches
from cranfield.io.formats.format import Format, Plan, Writer
from cranfield.io.formats.json import first_marks, is_row, json_numbers, parse_json, quoted
from cranfield.io.mappings import from_rows, read_rows
from cranfield.io.shapes import Rankings, Rows
from cranfield.io.streams import CHUNK, LONGEST_LINE, Stream, end_of_lines, mark_length

if TYPE_CHECKING:
    from cranfield.io.records import RecordFile, Records


class JsonLines(Format):
    name = "jsonl"
    meaning = "JSON lines: an object with query_id, doc_id and score or grade on each"
    held = "all rows, as Python objects"
    refused = f"a line of more than {LONGEST_LINE >> 20} MB; lines of {Format.refused}"
    extensions = (".jsonl", ".ndjson")

    def begins(self, head: bytes, role: Role) -> bool:
        return first_marks(head) == b'{"' and is_row(head, role)

    def open(self, stream: Stream, role: Role, *, named: bool) -> Rankings:
        return Rankings(stream.name, from_rows(json_rows(stream), role, stream.name, lines=True), stream)

    def open_grouped(self, stream: Stream, *, named: bool) -> Rows:
        return Rows(stream.name, read_rows(json_rows(stream), "qrels", stream.name, lines=True, grouped=True), stream)

    def open_records(self, stream: Stream, role: Role, *, named: bool) -> RecordFile:
        from cranfield.io.records import ObjectRecords

        return ObjectRecords(stream, role, _names(stream))

    def check_role(self, stream: Stream, role: Role, *, named: bool) -> None:
        names = _names(stream)
        needed_columns(names, role, stream.name)
        refuse_passages(names, role, stream.name)
        refuse_searches(names, role, stream.name)

    def writer(self, plan: Plan, file: Any) -> _JsonLinesWriter:
        return _JsonLinesWriter(plan, file)


def json_rows(stream: Stream) -> Iterator[tuple[int, dict[str, Any]]]:
    for lines in full_lines(stream):
        for number, line in lines:
            yield number, json_row(line, number, stream.name)


def _names(stream: Stream) -> list[str]:
    """The columns that the first row has; none where it cannot be read."""
    number, line = next(filter(None, full_lines(stream)), [(0, b"{}")])[0]
    try:
        return list(json_row(line, number, stream.name))
    except InputError:
        return []


def full_lines(stream: Stream) -> Iterator[list[tuple[int, bytes]]]:
    """The lines that are not blank, each with its number, in pieces of about a chunk. All may be held."""
    first, held = 1, 0
    for offset, piece in stream.pieces(CHUNK, end_of_lines):
        data = bytes(piece[0 if offset else mark_length(piece) :])
        lines = [(at, line) for at, line in enumerate(data.split(b"\n"), first) if line and not line.isspace()]
        held += sum(len(line) for _, line in lines)
        stream.check_held(held)
        yield lines
        first += data.count(b"\n")


def json_row(line: bytes, number: int, name: str) -> dict[str, Any]:
    row = parse_json(line, name, line=number, hint="each line is a JSON object of its own")
    if not isinstance(row, dict):
        raise InputError(name, "this line is not a JSON object.", line=number)
    return row


class _JsonLinesWriter(Writer):
    def write(self, records: Records) -> None:
        self._plan.check(records, self._plan.groups_of(records))
        line = "{{" + ", ".join(f"{quoted(name)}: {{}}" for name in self._plan.format.columns(self._plan)) + "}}\n"
        *ids, texts = self._plan.cells(records)
        cells = [map(quoted, column) for column in ids]
        self._file.write("".join(map(line.format, *cells, json_numbers(texts))).encode())
