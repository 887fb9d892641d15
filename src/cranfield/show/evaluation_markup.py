"""Evaluations in Markdown and LaTeX; and for other programs as JSON, JSON lines, CSV and TSV, with all digits."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from typing import Any

from cranfield.evaluation.result import Evaluation
from cranfield.evaluation.values import QueryValue
from cranfield.show import corrected
from cranfield.show.answers_text import answers_sentences
from cranfield.show.escaping import latex_text, markdown_text, markdown_warnings, spreadsheet_text
from cranfield.show.view import View
from cranfield.words import count


def markdown(view: View) -> str:
    if view.evaluations[0].basis is not None:
        return corrected.evaluations_markup(view.evaluations, "markdown")
    head = ["run", *view.heads]
    lines = markdown_warnings(view.warnings(ties=False))
    lines += [_row([markdown_text(name) for name in head]), _row([":--", *["--:"] * len(view.measures)])]
    for label, cells in _rows(view, "**{}**"):
        lines.append(_row([markdown_text(label), *cells]))
    lines += [line for text in view.other_names() for line in ("", f"{markdown_text(text)}.")]
    lines += [line for text in view.weighting() for line in ("", f"{markdown_text(text)}.")]
    told = (*answers_sentences(view.evaluations), *view.tie_warnings())
    lines += [line for text in told for line in ("", markdown_text(text))]
    return "\n".join(lines)


def latex(view: View) -> str:
    """A table of LaTeX, for the package booktabs; warnings are comments."""
    if view.evaluations[0].basis is not None:
        return corrected.evaluations_markup(view.evaluations, "latex")
    lines = [
        *(f"% warning: {' '.join(text.split())}" for text in view.warnings()),
        f"\\begin{{tabular}}{{l{'r' * len(view.measures)}}}",
        "\\toprule",
        " & ".join(["run", *map(latex_text, view.heads)]) + r" \\",
        "\\midrule",
        *(" & ".join([latex_text(label), *cells]) + r" \\" for label, cells in _rows(view, "\\textbf{{{}}}")),
        "\\bottomrule",
        "\\end{tabular}",
        *(
            f"% {latex_text(text)}"
            for text in (*view.other_names(), *view.weighting(), *answers_sentences(view.evaluations))
        ),
    ]
    return "\n".join(lines)


def _rows(view: View, bold: str) -> list[tuple[str, list[str]]]:
    best = {measure: view.best(measure) for measure in view.measures}

    def cell(result: Evaluation, measure: str) -> str:
        text = view.shown(view.mean(result, measure), measure)
        if view.bounds:
            ends = view.mean_bounds(result, measure)
            text += f" [{view.shown(ends.low, measure)}, {view.shown(ends.high, measure)}]"
        return bold.format(text) if result.run in best[measure] else text

    rows = [(result.run, [cell(result, measure) for measure in view.measures]) for result in view.evaluations]
    for segment in view.segment_names:
        for result in view.evaluations:
            means = [view.shown(view.mean(result, name, segment), name) for name in view.measures]
            queries = count(view.segment_queries(result, segment), "query", "queries")
            rows.append((f"{result.run}, {segment} ({queries})", means))
    if view.per_query:
        for result in view.evaluations:
            columns = [result.column(measure).tolist() for measure in result]
            for query, *values in zip(result.query_ids, *columns, strict=True):
                shown = [view.shown(value, name) for name, value in zip(result, values, strict=True)]
                rows.append((f"{result.run}, {query}", shown))
    return rows


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


ENDING = "\r\n"  # the csv module puts a cell in quotes that holds one of these


def as_json(view: View) -> str:
    """One object: {"measures": […], "runs": [{"run", "mean", …}], "counts": {…}, "signature": "…"}."""
    return json.dumps(view.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)


def json_lines(view: View) -> Iterator[str]:
    for row in _value_rows(view):
        yield json.dumps(row, ensure_ascii=False, allow_nan=False)


def separated(view: View, separator: str) -> Iterator[str]:
    fields = corrected.FIELDS if view.evaluations[0].basis is not None else QueryValue._fields
    return separated_rows(fields, (row.values() for row in _value_rows(view)), separator)


def _value_rows(view: View) -> Iterator[dict[str, Any]]:
    if view.evaluations[0].basis is not None:
        return corrected.value_rows(view.evaluations)
    return (row._asdict() for row in view.rows())


def separated_rows(head: Iterable[str], rows: Iterable[Iterable[Any]], separator: str) -> Iterator[str]:
    """A table as lines. A cell with a separator, a quote or the end of a line is in quotes.

    People open CSV in spreadsheets, which must not run a name as a formula.
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
