"""Evaluations for other programs: JSON, JSON lines, CSV, TSV, with all digits."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator

from cranfield.show.view import Row, View


def as_json(view: View) -> str:
    """One object: {"measures": […], "runs": [{"run", "mean", …}], "counts": {…}, "signature": "…"}."""
    return json.dumps(view.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)


def json_lines(view: View) -> Iterator[str]:
    """One object for each value."""
    for row in view.rows():
        yield json.dumps(row._asdict(), ensure_ascii=False, allow_nan=False)


def separated(view: View, separator: str) -> Iterator[str]:
    """One line for each value, under a head."""
    for row in (Row._fields, *view.rows()):
        line = io.StringIO()
        csv.writer(line, delimiter=separator, lineterminator="").writerow(row)
        yield line.getvalue()
