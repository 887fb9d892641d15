"""Tables as text: the part that csv, tsv and beir share."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, ClassVar

from cranfield.errors import InputError
from cranfield.io.column_names import Role, find_columns, refuse_passages, refuse_searches, wanted
from cranfield.io.formats.format import Plan, Writer
from cranfield.io.formats.words import TextFormat, is_number, words
from cranfield.io.shapes import Layout
from cranfield.io.streams import Stream

if TYPE_CHECKING:
    from cranfield.io.records import Records


class DelimitedFormat(TextFormat):
    ids = "cells"
    separators: ClassVar[tuple[str, ...]]  # those a file may have, the one that is written first

    def fits(self, first: bytes, role: Role) -> bool:
        return self.header(first.decode(errors="replace"), role) is not None

    def layout(self, stream: Stream, first: bytes, role: Role, *, named: bool) -> Layout:
        line = first.decode(errors="replace")
        layout = self.header(line, role) or self.without_header(stream, line, role, named=named)
        refuse_passages(layout.names, role, stream.name)
        refuse_searches(layout.names, role, stream.name)
        return layout

    def header(self, line: str, role: Role) -> Layout | None:
        """The layout that a first line names; columns may also be separated by white space."""
        for separator in (*self.separators, ""):
            names = split(line, separator)
            if places := find_columns(names, role):
                return Layout(
                    f"{(separator or ' ').join(names)}".replace("\t", " <tab> "),
                    *places[:3],
                    least=len(names),
                    most=len(names),
                    separator=separator,
                    value_name=places.value_name,
                    ranks=places.ranks,
                    header=True,
                    groups=places.groups,
                    names=tuple(names),
                )
        return None

    def without_header(self, stream: Stream, line: str, role: Role, *, named: bool) -> Layout:
        """The layout of lines without a known header: if the format was named, three columns have a meaning."""
        separator, value = self.separators[0], "grade" if role == "qrels" else "score"
        fields = split(line, separator)
        if named and len(fields) == 3 and is_number(fields[2]):
            shape = f"query{separator}document{separator}{value}"
            return Layout(shape, 0, 1, 2, 3, 3, separator=separator, value_name=value)
        fact = f"the first line, '{line[:60]}', does not name the columns query, document and {value}."
        raise InputError(stream.name, fact, hint=wanted(role))

    def writer(self, plan: Plan, file: Any) -> _DelimitedWriter:
        return _DelimitedWriter(plan, file, self.separators[0])


def split(line: str, separator: str) -> list[str]:
    if not separator:
        return words(line.encode())
    if line and not any(sign in line for sign in '"\r\n'):
        return line.split(separator)
    import csv

    try:
        return next(csv.reader([line], delimiter=separator))
    except (csv.Error, StopIteration):
        return []


class _DelimitedWriter(Writer):
    def __init__(self, plan: Plan, file: Any, separator: str) -> None:
        super().__init__(plan, file)
        self._separator = separator
        self._rows([plan.format.columns(plan)])

    def write(self, records: Records) -> None:
        self._plan.check(records, self._plan.groups_of(records))
        self._rows(zip(*self._plan.cells(records), strict=True))

    def _rows(self, rows: Any) -> None:
        import csv

        text = io.StringIO()
        csv.writer(text, delimiter=self._separator, lineterminator="\n").writerows(rows)
        self._file.write(text.getvalue().encode())
