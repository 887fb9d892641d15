"""tsv: columns separated by tabs, with or without a header."""

from __future__ import annotations

from cranfield.io.column_names import Role
from cranfield.io.formats.delimited import DelimitedFormat, split
from cranfield.io.formats.words import layout_by_width
from cranfield.io.shapes import Layout
from cranfield.io.streams import Stream


class Tsv(DelimitedFormat):
    name = "tsv"
    meaning = "a table with a header, separated by tabs"
    extensions = (".tsv",)
    separators = ("\t", ",", ";")

    def without_header(self, stream: Stream, line: str, role: Role, *, named: bool) -> Layout:
        if named:
            return super().without_header(stream, line, role, named=named)
        # Only tabs separate the columns: a blank may belong to an id.
        return layout_by_width(stream, split(line, "\t"), role)._replace(separator="\t")
