"""csv: known by its extension, or by a first line that names the columns, with one of the separators between them."""

from __future__ import annotations

from cranfield.io.formats.delimited import DelimitedFormat


class Csv(DelimitedFormat):
    name = "csv"
    meaning = "a table with a header, separated by commas"
    extensions = (".csv",)
    separators = (",", ";", "\t")
