"""csv: columns separated by commas or semicolons, with a header."""

from __future__ import annotations

from cranfield.read.formats.delimited import DelimitedFormat


class Csv(DelimitedFormat):
    """A header, and columns separated by commas."""

    name = "csv"
    meaning = "a table with a header, separated by commas"
    extensions = (".csv",)
    separators = (",", ";", "\t")
