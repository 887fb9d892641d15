"""The shapes of judgments and rankings after reading, whatever the source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

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


class BadQuoting(ValueError):
    """A line whose quotes do not pair up."""


class Layout(NamedTuple):
    """The columns of a line, counted from 0."""

    shape: str  # how to describe a line to people
    query: int
    document: int
    value: int
    least: int  # how many columns a line must have ...
    most: int = 0  # ... and may have; 0: any number
    separator: str = ""  # "": any run of white space, and lines that start with # are comments
    value_name: str = "score"
    rank: int = -1  # a column that must be a whole number in lines with more columns than needed
    ranks: bool = False  # the value is a rank: 1 is best
    counted: bool = False  # ... and must count 1, 2, 3 within each query, because the format was guessed
    header: bool = False  # the first line names the columns
    numbered: bool = False  # every line starts with the number it had in its file
    single: bool = False  # the value is kept in 32 bits, as trec_eval 9.0.7 does
    groups: tuple[int, ...] = ()  # columns of judgments that name a group, and a subgroup of it
    name: int = -1  # a column with the name of the run
    names: tuple[str, ...] = ()  # of all columns, where there is a header

    def with_line_numbers(self) -> Layout:
        return self._replace(
            query=self.query + 1,
            document=self.document + 1,
            value=self.value + 1,
            rank=self.rank + 1 if self.rank >= 0 else -1,
            least=self.least + 1,
            most=self.most and self.most + 1,
            header=False,
            numbered=True,
            groups=tuple(column + 1 for column in self.groups),
            name=self.name + 1 if self.name >= 0 else -1,
        )

    def split(self, line: bytes) -> list[bytes]:
        """The columns of a line; none for a blank line or a comment."""
        if not self.separator:
            fields = line.split()
            return [] if fields and fields[0].startswith(b"#") else fields
        if not line or line.isspace():
            return []
        if b'"' in line:
            import csv

            try:
                cells = next(csv.reader([line.decode()], delimiter=self.separator, strict=True))
            except csv.Error as error:
                raise BadQuoting(str(error)) from None
            return [field.encode().strip() for field in cells]  # of blanks in ASCII, as below
        return [field.strip() for field in line.split(self.separator.encode())]

    def query_of(self, line: bytes) -> bytes | None:
        """The query of a line, or None where it has none."""
        try:
            return self.split(line)[self.query]
        except (IndexError, BadQuoting, UnicodeDecodeError):
            return None


# The lines that trec_eval reads.
TREC_RUN = Layout("query Q0 document rank score name", 0, 2, 4, 6, rank=3, name=5)
TREC_QRELS = Layout("query iteration document grade", 0, 2, 3, 4, 4, value_name="grade", groups=(1,))
