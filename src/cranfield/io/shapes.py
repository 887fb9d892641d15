"""The shapes of judgments and rankings after reading, whatever the source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from cranfield.io.line_layout import Layout
from cranfield.io.streams import Stream

if TYPE_CHECKING:
    from cranfield.io.frames import Frame, FrameColumns
    from cranfield.io.mappings import Row


class Text(NamedTuple):
    name: str
    stream: Stream
    layout: Layout


class Table(NamedTuple):
    name: str
    columns: FrameColumns
    stream: Stream | None = None

    @property
    def frame(self) -> Frame:
        return self.columns.frame


class Rankings(NamedTuple):
    """Documents by query: a mapping of document to value, or the documents in rank order."""

    name: str
    by_query: Mapping[Any, Any]
    stream: Stream | None = None
    provenance: str = ""  # of judgments that were chosen from a store


class Rows(NamedTuple):
    """Rows that may name their group, which judgments of groups and subtopics need."""

    name: str
    rows: Iterator[Row]
    stream: Stream | None = None


Source = Text | Table | Rankings
Grouped = Text | Rows | Rankings
