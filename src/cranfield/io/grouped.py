"""Judgments in which a document may have several grades for a query: from any source to rows that also name a group."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from cranfield.io.formats import recognise
from cranfield.io.mappings import read_rows
from cranfield.io.shapes import Grouped, Rankings, Rows
from cranfield.io.source import unreadable
from cranfield.io.streams import Stream

WHAT = "the judgments"


def open_grouped(thing: Any, format: str | None = None, *, strata: bool = False) -> Grouped:
    """Recognise a source of judgments, as `open_source` does, with its columns of groups, or with its strata."""
    if isinstance(thing, Stream | str | os.PathLike) or hasattr(thing, "read"):
        stream = thing if isinstance(thing, Stream) else Stream(thing)
        found = recognise(stream, "qrels", format)
        return (found.open_strata if strata else found.open_grouped)(stream, named=format is not None)
    if isinstance(thing, Mapping):
        return Rankings(WHAT, thing)
    from cranfield.io import frames

    if frames.is_frame(thing):
        return Rows(WHAT, read_rows(frames.frame_rows(thing, WHAT), "qrels", WHAT, grouped=True))
    if isinstance(thing, Iterable) and not isinstance(thing, bytes):
        return Rows(WHAT, read_rows(thing, "qrels", WHAT, grouped=True))
    raise unreadable(thing, WHAT)
