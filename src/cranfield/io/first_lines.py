"""The columns of a file by its first lines, before it is read.

Every evaluation checks here whether its judgments are of passages, so little is imported.
"""

from __future__ import annotations

from collections.abc import Iterable

from cranfield.errors import InputError
from cranfield.io.column_names import QUERY, plain_name
from cranfield.io.streams import BYTE_ORDER_MARK, LOOK, Stream


def is_json(stream: Stream) -> bool:
    return _head(stream).startswith(b"{")


def is_table(stream: Stream, spellings: Iterable[str]) -> bool:
    """Whether a file is JSON lines, or its first line names one of these columns."""
    return is_json(stream) or not _header(_head(stream)).isdisjoint(spellings)


def names_passages(stream: Stream) -> bool:
    """Whether a file is a table with the columns of passages: start and end, or a quote."""
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
