"""Judgments in which a document may have several grades for a query: any source to rows that also name a group."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from cranfield.read.formats import detect
from cranfield.read.layouts import Layout
from cranfield.read.mappings import Row, json_lines, read_json, read_rows
from cranfield.read.source import Rankings, Text, unreadable
from cranfield.read.streams import Stream

WHAT = "the judgments"


class Rows(NamedTuple):
    """Rows that may name their group."""

    name: str
    rows: Iterator[Row]
    stream: Stream | None = None


def open_grouped(thing: Any, format: str | None = None) -> Text | Rows | Rankings:
    """Recognise a source of judgments, as `open_source` does, with its columns of groups."""
    if isinstance(thing, Stream | str | os.PathLike) or hasattr(thing, "read"):
        return _open_stream(thing if isinstance(thing, Stream) else Stream(thing), format)
    if isinstance(thing, Mapping):
        return Rankings(WHAT, thing)
    from cranfield.read import frames

    if frames.is_frame(thing):
        return Rows(WHAT, _rows(frames.frame_rows(thing, WHAT), WHAT))
    if isinstance(thing, Iterable) and not isinstance(thing, bytes):
        return Rows(WHAT, _rows(thing, WHAT))
    raise unreadable(thing, WHAT)


def _open_stream(stream: Stream, format: str | None) -> Text | Rows | Rankings:
    kind = detect(stream, "qrels", format)
    if isinstance(kind, Layout):
        return Text(stream.name, stream, kind)
    if kind == "parquet":
        from cranfield.read import frames

        table = frames.parquet_table(stream, "qrels", grouped=True)
        return Rows(stream.name, _rows(frames.frame_rows(table, stream.name), stream.name), stream)
    if kind == "jsonl":
        return Rows(stream.name, _rows(json_lines(stream), stream.name, lines=True), stream)
    data = read_json(stream)
    if isinstance(data, list):
        return Rows(stream.name, _rows(data, stream.name), stream)
    return Rankings(stream.name, data, stream)


def _rows(rows: Iterable[Any], source: str, *, lines: bool = False) -> Iterator[Row]:
    return read_rows(rows, "qrels", source, lines=lines, grouped=True)
