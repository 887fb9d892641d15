"""Evaluations for other programs: JSON, JSON lines, CSV, TSV, with all digits."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from typing import Any

from cranfield.evaluation.values import QueryValue
from cranfield.show.escaping import spreadsheet_text
from cranfield.show.view import View

ENDING = "\r\n"  # the csv module puts a cell in quotes that holds one of these


def as_json(view: View) -> str:
    """One object: {"measures": […], "runs": [{"run", "mean", …}], "counts": {…}, "signature": "…"}."""
    return json.dumps(view.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)


def json_lines(view: View) -> Iterator[str]:
    """One object for each value."""
    for row in view.rows():
        yield json.dumps(row._asdict(), ensure_ascii=False, allow_nan=False)


def separated(view: View, separator: str) -> Iterator[str]:
    """One line for each value, under a head."""
    return separated_rows(QueryValue._fields, view.rows(), separator)


def separated_rows(head: Iterable[str], rows: Iterable[Iterable[Any]], separator: str) -> Iterator[str]:
    """A table as lines. A cell with a separator, a quote or the end of a line is in quotes.

    CSV is what people open in spreadsheets, which must not take a name for a formula.
    """
    line = io.StringIO()
    writer = csv.writer(line, delimiter=separator, lineterminator=ENDING)
    named = spreadsheet_text if separator == "," else str
    writer.writerow(head)
    for row in rows:
        yield line.getvalue().removesuffix(ENDING)
        line.seek(0)
        line.truncate()
        writer.writerow([named(cell) if isinstance(cell, str) else cell for cell in row])
    yield line.getvalue().removesuffix(ENDING)
