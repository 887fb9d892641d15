"""json: documents by query in one object, or an array of rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from cranfield.errors import InputError
from cranfield.io.column_names import Role, find_columns
from cranfield.io.formats.format import Format, Plan, Writer
from cranfield.io.mappings import from_rows, has_contexts, id_text, number_text, read_rows
from cranfield.io.shapes import Rankings, Rows
from cranfield.io.streams import LOOK, Stream

if TYPE_CHECKING:
    from cranfield.io.records import RecordFile, Records

_HINT = 'judgments are {"query": {"document": grade}}; a run is {"query": {"document": score}}'


class Json(Format):
    """{query: {document: value}}, {query: [documents in rank order]}, or an array of rows."""

    name = "json"
    meaning = 'one JSON object: {"query": {"document": value}}'
    held = "the whole file, as text and as Python objects"
    extensions = (".json",)
    ids = "any"
    keeps_ranks_alone = False
    keeps_groups = False

    def begins(self, head: bytes, role: Role) -> bool:
        start = first_marks(head)
        return start in (b"[{", b"[[", b"[]", b"{}") or (start == b'{"' and not is_row(head, role))

    def open(self, stream: Stream, role: Role, *, named: bool) -> Rankings:
        data = read_json(stream)
        by_query = from_rows(data, role, stream.name) if isinstance(data, list) else data
        return Rankings(stream.name, by_query, stream)

    def open_grouped(self, stream: Stream, *, named: bool) -> Rows | Rankings:
        data = read_json(stream)
        if isinstance(data, list):
            return Rows(stream.name, read_rows(data, "qrels", stream.name, grouped=True), stream)
        return Rankings(stream.name, data, stream)

    def open_records(self, stream: Stream, role: Role, *, named: bool) -> RecordFile:
        from cranfield.io.records import RankingRecords, RowRecords

        content = read_json(stream)
        if isinstance(content, dict):
            return RankingRecords(stream, role, content)
        first = content[0] if content and isinstance(content[0], dict) else {}
        return RowRecords(stream, role, list(first), content)

    def by_query(self, role: Role) -> bool:
        return True

    def writer(self, plan: Plan, file: Any) -> _JsonWriter:
        return _JsonWriter(plan, file)


def first_marks(head: bytes) -> bytes:
    """The first two characters that are not blank."""
    text = head.lstrip()
    return text[:1] + text[1:].lstrip()[:1]


def is_row(head: bytes, role: Role) -> bool:
    """Whether the first line is a row; decided by its first member if it is too long to read here."""
    import json

    text = head.lstrip()
    line, end, _ = text.partition(b"\n")
    if len(text) == LOOK and not end:
        return re.match(rb'\{\s*"(\\.|[^"\\])*"\s*:\s*[^{\[\s]', text) is not None
    try:
        first = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return find_columns(list(first), role) is not None or has_contexts(first)


def read_json(stream: Stream) -> dict[Any, Any] | list[Any]:
    text = stream.content()
    data: dict[Any, Any] | list[Any] | Any = parse_json(text, stream.name)
    if not isinstance(data, dict | list):
        raise InputError(stream.name, "this JSON is neither an object nor an array.", hint=_HINT)
    if isinstance(data, dict) and has_halves(text):
        for query, ranking in data.items():
            for name in (query, *(ranking if isinstance(ranking, dict | list) else ())):
                if isinstance(name, str):
                    id_text(name, stream.name, f"query '{query}'")
    return data


def has_halves(text: bytes | bytearray) -> bool:
    """Whether JSON may escape a lone surrogate, the one way in which it can contain text that has no UTF-8 bytes."""
    return re.search(rb"\\u[dD][89a-fA-F]", text) is not None


class _RepeatedKey(Exception):
    """A key that appears twice in one object."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise _RepeatedKey(next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1))
    return members


@cache
def _decoder() -> Any:
    import json

    return json.JSONDecoder(object_pairs_hook=_unique)


def parse_json(text: bytes | bytearray, name: str, *, line: int | None = None, hint: str = _HINT) -> Any:
    """The content of JSON, in which no key may appear twice in an object."""
    from json import JSONDecodeError

    try:
        return _decoder().decode(text.decode("utf-8-sig"))
    except _RepeatedKey as key:
        raise InputError(name, f"the key '{key}' appears twice in one object.", line=line) from None
    except JSONDecodeError as error:
        raise InputError(name, f"this is not JSON ({error.msg}).", line=line or error.lineno, hint=hint) from None
    except RecursionError:
        raise InputError(name, "this JSON is nested too deep.", line=line, hint=hint) from None
    except ValueError as error:
        raise InputError(name, f"this is not JSON ({error}).", line=line, hint=hint) from None


class _JsonWriter(Writer):
    _before = b"{\n"

    def write(self, records: Records) -> None:
        self._plan.check(records)
        if len(set(records.document)) < len(records.document):
            first: dict[str, int] = {}
            at = next(at for at, document in enumerate(records.document) if first.setdefault(document, at) < at)
            twice = f"document '{records.document[at]}' appears twice for query '{records.query[0]}'"
            fact, hint = f"{twice}, which json cannot store.", "'cranfield check' lists all of them"
            raise InputError(self._plan.source, fact, line=records.place(at), hint=hint)
        texts = list(map(number_text, records.value.tolist())) if self._plan.ranks else records.text
        members = zip(map(quoted, records.document), json_numbers(texts), strict=True)
        inner = ", ".join([f"{document}: {value}" for document, value in members])
        self._file.write(self._before + f"{quoted(records.query[0])}: {{{inner}}}".encode())
        self._before = b",\n"

    def close(self) -> None:
        self._file.write(b"\n}\n" if self._before == b",\n" else b"{}\n")


def quoted(text: str) -> str:
    """Text as a JSON string, in which letters of all languages stay as they are."""
    from json.encoder import encode_basestring

    return encode_basestring(text)


def json_numbers(texts: Sequence[str]) -> list[str]:
    spelled = r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?"
    return [text if re.fullmatch(spelled, text) else number_text(float(text)) for text in texts]
