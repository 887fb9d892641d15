"""Which format a stream has: by its extension, then by its content. A guess that may be wrong is an error."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Sequence

from cranfield.errors import InputError
from cranfield.read.layouts import MSMARCO_RUN, PREFERENCES, TREC_QRELS, TREC_RUN, Layout
from cranfield.read.names import Role, find_columns, wanted
from cranfield.read.streams import BYTE_ORDER_MARK, Stream
from cranfield.read.text import first_line

FORMATS = ("trec", "msmarco", "prefs", "csv", "tsv", "json", "jsonl", "parquet")
_EXTENSIONS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".parq": "parquet",
    ".pq": "parquet",
}
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
_HEAD = 1 << 16


def detect(stream: Stream, role: Role, format: str | None) -> str | Layout:
    """The layout of the lines of a text format, or the name of another format."""
    known = [name for name in FORMATS if role == "qrels" or name != "prefs"]
    if format is not None and format not in known:
        raise InputError(stream.name, f"there is no format '{format}'.", hint=f"formats are {', '.join(known)}")
    head = stream.head(_HEAD).removeprefix(BYTE_ORDER_MARK)
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(
            stream.name, "this is UTF-16 text.", hint="save it as UTF-8, for instance with: iconv -f UTF-16 -t UTF-8"
        )
    if not head:
        raise InputError(stream.name, "this file is empty.")
    kind = format or by_extension(stream.name) or _by_content(head, role)
    if kind in ("json", "jsonl", "parquet"):
        return kind
    first = first_line(stream)
    if not first:
        raise InputError(stream.name, "it holds only blank lines and comments.")
    fields = first.decode(errors="replace")
    if kind == "prefs":
        return PREFERENCES
    if kind == "trec":
        return TREC_QRELS if role == "qrels" else TREC_RUN
    if kind == "msmarco":
        return MSMARCO_RUN if role == "run" else TREC_QRELS
    separators = (",", ";", "\t") if kind == "csv" else ("\t", ",", ";")
    header = _header(fields, (*separators, ""), role)
    if header:
        return header
    if format is not None:
        return _without_header(stream, fields, separators[0], role)
    if kind == "csv":
        raise _no_header(stream, fields, role)
    if kind == "tsv":  # a blank may be part of an id
        return _by_width(stream, _split(fields, "\t"), role)._replace(separator="\t")
    return _by_width(stream, _words(first), role)


def extension_of(name: str) -> str:
    """The extension of a file's name, that of a compression left out.

    >>> extension_of("runs/BM25.RUN.gz"), extension_of("qrels")
    ('.run', '')
    """
    stem, extension = os.path.splitext(name.lower())
    return os.path.splitext(stem)[1] if extension in _COMPRESSED else extension


def by_extension(name: str) -> str | None:
    """The format that a file's name says, whether it is compressed or not."""
    return _EXTENSIONS.get(extension_of(name))


def _by_content(head: bytes, role: Role) -> str | None:
    if head.startswith(b"PAR1") and head[4:5] < b" " and not head[4:5].isspace():  # it may also be a query
        return "parquet"
    text = head.lstrip()
    start = text[:1] + text[1:].lstrip()[:1]
    if start in (b"[{", b"[[", b"[]", b"{}"):
        return "json"
    if start == b'{"':
        return "jsonl" if _is_row(text, role) else "json"
    return None


def _is_row(text: bytes, role: Role) -> bool:
    """Whether the first line is a row; if it is too long to be read here, by what its first member is."""
    import json

    line, end, _ = text.partition(b"\n")
    if len(text) == _HEAD and not end:
        return re.match(rb'\{\s*"(\\.|[^"\\])*"\s*:\s*[^{\[]', text) is not None
    try:
        first = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return find_columns(list(first), role) is not None


def _header(line: str, separators: Sequence[str], role: Role) -> Layout | None:
    for separator in separators:
        names = _split(line, separator)
        found = find_columns(names, role)
        if found:
            return Layout(
                f"{(separator or ' ').join(names)}".replace("\t", " <tab> "),
                found.query,
                found.document,
                found.value,
                least=len(names),
                most=len(names),
                separator=separator,
                value_name=found.value_name,
                ranks=found.ranks,
                header=True,
                groups=found.groups,
                names=tuple(names),
            )
    return None


def _split(line: str, separator: str) -> list[str]:
    if not separator:
        return _words(line.encode())
    try:
        return next(csv.reader([line], delimiter=separator))
    except (csv.Error, StopIteration):
        return []


def _words(line: bytes) -> list[str]:
    """The columns of a line without separators; only white space of ASCII parts them."""
    return [word.decode(errors="replace") for word in line.split()]


def _by_width(stream: Stream, fields: list[str], role: Role) -> Layout:
    """Lines without a header, told apart by how many columns they have."""
    width = len(fields)
    if role == "qrels":
        if width in (4, 5):
            return TREC_QRELS if width == 4 else PREFERENCES
        if width >= 6:
            raise InputError(
                stream.name,
                f"judgments are needed, but its lines have {width} columns like a run's.",
                hint="are the judgments and the run in the wrong order?",
            )
    else:
        if width >= 6:
            return TREC_RUN
        if width == 3 and fields[2] == "1":
            return _GUESSED_RANKS
        if width == 4:
            raise InputError(
                stream.name,
                "a run is needed, but its lines have 4 columns like those of judgments.",
                hint="are the judgments and the run in the wrong order?",
            )
    if width == 3:
        raise InputError(
            stream.name,
            "three columns and no header: what the third one means is not clear.",
            hint=f"add a header line such as 'query_id doc_id {'grade' if role == 'qrels' else 'score'}', or give the "
            f"format: 'tsv' for query, document, {'grade' if role == 'qrels' else 'score; ' + _MSMARCO_HINT}",
        )
    shape = (TREC_QRELS if role == "qrels" else TREC_RUN).shape
    raise InputError(
        stream.name, f"its lines have {width} column{'s' * (width != 1)}.", hint=f"a line is: {shape}; {wanted(role)}"
    )


_MSMARCO_HINT = "'msmarco' for query, document, rank"
_GUESSED_RANKS = Layout("query document rank", 0, 1, 2, 3, 3, value_name="rank", ranks=True, counted=True)


def _without_header(stream: Stream, line: str, separator: str, role: Role) -> Layout:
    """Lines of a named format with no header that we know: three columns have a meaning, others do not."""
    fields = _split(line, separator)
    if len(fields) == 3 and _is_number(fields[2]):
        name = "grade" if role == "qrels" else "score"
        return Layout(f"query{separator}document{separator}{name}", 0, 1, 2, 3, 3, separator=separator, value_name=name)
    raise _no_header(stream, line, role)


def _no_header(stream: Stream, line: str, role: Role) -> InputError:
    value = "grade" if role == "qrels" else "score"
    fact = f"the first line, '{line[:60]}', does not name the columns query, document and {value}."
    return InputError(stream.name, fact, hint=wanted(role))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
