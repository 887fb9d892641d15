"""Lines without a header, separated by white space: the part that trec, msmarco, strata and prefs share."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from cranfield.errors import InputError
from cranfield.io.column_names import Role
from cranfield.io.formats.format import Format, Plan, Writer
from cranfield.io.shapes import Layout, Text
from cranfield.io.streams import LONGEST_LINE, LOOK, Stream
from cranfield.io.text import first_line

if TYPE_CHECKING:
    from cranfield.io.records import RecordFile, Records


class TextFormat(Format):
    held = "a few pieces and the largest query of a run; all judgments"
    refused = f"a line of more than {LONGEST_LINE >> 20} MB; a query or judgments of {Format.refused}"

    def layout(self, stream: Stream, first: bytes, role: Role, *, named: bool) -> Layout:
        """The columns of a line, by the first line with data."""
        raise NotImplementedError

    def fits(self, first: bytes, role: Role) -> bool:
        raise NotImplementedError

    def open(self, stream: Stream, role: Role, *, named: bool) -> Text:
        return Text(stream.name, stream, self.layout(stream, data_line(stream), role, named=named))

    def open_grouped(self, stream: Stream, *, named: bool) -> Text:
        return self.open(stream, "qrels", named=named)

    def open_records(self, stream: Stream, role: Role, *, named: bool) -> RecordFile:
        from cranfield.io.records import LineRecords

        return LineRecords(self.open(stream, role, named=named), role)

    def check_role(self, stream: Stream, role: Role, *, named: bool) -> None:
        self.open(stream, role, named=named)


class WordFormat(TextFormat):
    ids = "words"
    layouts: ClassVar[Mapping[Role, Layout]]  # of the lines of judgments and of a run

    def by_width(self, fields: Sequence[str], role: Role) -> Layout | None:
        """The layout of lines like this one, if their number of columns fits this format."""
        raise NotImplementedError

    def fits(self, first: bytes, role: Role) -> bool:
        return self.by_width(words(first), role) is not None

    def layout(self, stream: Stream, first: bytes, role: Role, *, named: bool) -> Layout:
        return (None if named else self.by_width(words(first), role)) or self.layouts[role]

    def check_role(self, stream: Stream, role: Role, *, named: bool) -> None:
        # A named format is trusted; the number of columns still distinguishes judgments from a run.
        fields, layout = words(data_line(stream)), self.layouts[role]
        if not layout.least <= len(fields) <= (layout.most or len(fields)):
            raise unknown_width(stream, fields, role)

    def by_query(self, role: Role) -> bool:
        return role == "run"

    def writer(self, plan: Plan, file: Any) -> Writer:
        return _LineWriter(self, plan, file)

    def judgment_line(self, query: str, group: str, document: str, grade: str) -> str:
        raise NotImplementedError

    def run_lines(self, query: str, records: Records, ranks: Sequence[str], plan: Plan) -> list[str]:
        raise NotImplementedError


def data_line(stream: Stream) -> bytes:
    line = first_line(stream)
    if not line:
        raise InputError(stream.name, "contains only blank lines and comments.")
    return line


def words(line: bytes) -> list[str]:
    """The columns of a line; only white space of ASCII separates them."""
    return [word.decode(errors="replace") for word in line.split()]


def layout_by_width(stream: Stream, fields: Sequence[str], role: Role) -> Layout:
    formats = [format for format in _word_formats() if role in format.reads]
    for format in formats:
        if format.begins(stream.head(LOOK), role):
            return format.layouts[role]
    for format in formats:
        if format.by_width(fields, role):
            return format.layout(stream, data_line(stream), role, named=False)
    raise unknown_width(stream, fields, role)


def unknown_width(stream: Stream, fields: Sequence[str], role: Role) -> InputError:
    width = len(fields)
    other: Role = "run" if role == "qrels" else "qrels"
    if width != 3 and any(format.by_width(fields, other) for format in _word_formats() if other in format.reads):
        needed = "judgments are" if role == "qrels" else "a run is"
        like = "a run's" if role == "qrels" else "those of judgments"
        fact = f"{needed} needed, but its lines have {width} columns like {like}."
        return InputError(stream.name, fact, hint="are the judgments and the run in the wrong order?")
    value = "grade" if role == "qrels" else "score"
    if width == 3:
        ranks = "" if role == "qrels" else "; 'msmarco' for query, document, rank"
        return InputError(
            stream.name,
            "three columns and no header: the meaning of the third is ambiguous.",
            hint=f"add a header line such as 'query_id doc_id {value}', or give the format: "
            f"'tsv' for query, document, {value}{ranks}",
        )
    from cranfield.io.column_names import wanted
    from cranfield.io.formats import FORMATS

    usual = FORMATS["trec"]
    assert isinstance(usual, WordFormat)
    fact = f"unknown format: its lines have {width} column{'s' * (width != 1)}."
    return InputError(stream.name, fact, hint=f"a line is: {usual.layouts[role].shape}; {wanted(role)}")


def _word_formats() -> list[WordFormat]:
    from cranfield.io.formats import FORMATS

    return [format for format in FORMATS.values() if isinstance(format, WordFormat)]


class _LineWriter(Writer):
    """Lines without a header, of which the first must show the format; those of a run are in rank order.

    moved, renumbered: queries that had another order, or other ranks
    """

    def __init__(self, format: WordFormat, plan: Plan, file: Any) -> None:
        super().__init__(plan, file)
        self._format, self._started = format, False
        self.moved = self.renumbered = 0

    def write(self, records: Records) -> None:
        plan = self._plan
        if plan.role == "qrels":
            groups = records.group or ["0"] * len(records.query)
            plan.check(records, groups)
            rows = zip(records.query, groups, records.document, records.text, strict=True)
            lines = [self._format.judgment_line(*row) for row in rows]
        else:
            plan.check(records)
            order = None if plan.ranked else rank_order(records)
            if order is not None:
                self.moved += 1
                records = records.take(order)
            ranks = [str(rank) for rank in range(1, len(records.query) + 1)]
            self.renumbered += records.rank is not None and records.rank != ranks
            lines = self._format.run_lines(records.query[0], records, ranks, plan)
        if lines:
            self._begin(lines[0].encode(), records.place(0))
        self._file.write("".join(lines).encode())

    def write_lines(self, data: bytes) -> None:
        if data:
            self._begin(data[: data.index(b"\n") + 1], None)
        self._file.write(data)

    def _begin(self, line: bytes, place: int | None) -> None:
        if not self._started:
            self._started = True
            _check_first_line(line, self._plan, self._format.layouts[self._plan.role], place)


def is_number(text: str | bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def rank_order(records: Records) -> list[int] | None:
    """The rows of a query by score, ties by document id, the larger first; None if they are in this order."""
    scores = records.value
    if bool((scores[1:] < scores[:-1]).all()):
        return None
    keys = list(zip(scores.tolist(), records.document, strict=True))
    order = sorted(range(len(keys)), key=keys.__getitem__, reverse=True)
    return None if order == list(range(len(keys))) else order


def _check_first_line(line: bytes, plan: Plan, meant: Layout, place: int | None) -> None:
    """Raise an error if a file without a header that begins like this would be read as another format."""
    from cranfield.io.formats import recognise
    from cranfield.io.writing import short

    stream = Stream(io.BytesIO(line))
    try:
        format = recognise(stream, plan.role)
        if isinstance(format, TextFormat):
            layout = format.layout(stream, line.rstrip(b"\n"), plan.role, named=False)
            if layout.shape == meant.shape and not layout.header:
                return
    except InputError:
        pass
    shown, name = short(line.decode().rstrip()), plan.format.name
    fact = f"the first line, {shown}, looks like another format, so {name} cannot store its ids."
    raise InputError(plan.source, fact, line=place, hint="write jsonl, json or parquet, or change the ids")
