"""Results as notebooks show them: a table, and below it a chart where the libraries that draw one are installed."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from html import escape

from cranfield.comparison.conclusions import Comparison
from cranfield.comparison.differences import decisive_p, signed, span_text
from cranfield.comparison.means import means_table
from cranfield.errors import MissingLibrary
from cranfield.evaluation.result import Evaluation
from cranfield.show.charts.difference import difference_chart
from cranfield.show.charts.distribution import distribution_chart
from cranfield.show.charts.drawing import Spec
from cranfield.show.comparison_words import interval_text, verdict
from cranfield.show.pictures import on_paper

LISTED = 10  # differences in the table of a comparison


def spread_html(evaluation: Evaluation) -> str:
    """How the first measure is spread over the queries; nothing for a single query."""
    name = next(iter(evaluation))
    columns = {evaluation.run: evaluation.column(name).tolist()}
    return _chart(lambda: distribution_chart(name, columns)) if len(evaluation.query_ids) > 1 else ""


def evaluations_html(evaluations: Sequence[Evaluation]) -> str:
    """The means of several runs, and how the first measure is spread over the queries of each."""
    if not evaluations:
        return "<p>no run</p>"
    measures = list(evaluations[0])
    rows = [[each.run, *(each.shown(name) for name in measures)] for each in evaluations]
    columns = {each.run: each.column(measures[0]).tolist() for each in evaluations}
    return _table(["run", *measures], rows) + _chart(lambda: distribution_chart(measures[0], columns))


def comparison_html(comparison: Comparison) -> str:
    """The means with their marks, the differences, and a chart: query by query of two runs, the spread of several."""
    table = means_table(comparison)
    means = [[row.run, *(f"{cell.value:.4f} {cell.mark}".rstrip() for cell in row.cells)] for row in table.rows]
    head = ["measure", "run", "against", "difference", "interval", "p", "verdict"]
    found = [
        [
            each.measure + ("" if each.primary else " (secondary)"),
            each.run,
            each.baseline,
            signed(each.estimate),
            span_text(each),
            decisive_p(each).removeprefix("= "),
            each.verdict,
        ]
        for each in comparison.differences[:LISTED]
    ]
    notes = [*table.notes, interval_text(comparison)]
    if len(comparison.differences) > LISTED:
        notes.append(f"{len(comparison.differences) - LISTED} more differences are in .differences")
    measure = comparison.measures[0]
    values = comparison._paired.columns[measure]
    one, other, *more = comparison.runs

    def chart() -> Spec:
        if more:
            columns = dict(zip(comparison.runs, values.T.tolist(), strict=True))
            return distribution_chart(measure.name, columns)
        gaps = dict(zip(comparison._paired.query_ids, (values[:, 1] - values[:, 0]).tolist(), strict=True))
        return difference_chart(measure.name, one, other, gaps)

    told = "<br>".join(map(escape, notes))
    said = f"<p><strong>{escape(verdict(comparison))}</strong></p>"
    return f"{said}{_table(['run', *table.measures], means)}{_table(head, found)}<small>{told}</small>{_chart(chart)}"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    heads = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"


def _chart(drawn: Callable[[], Spec]) -> str:
    """A picture in its own element, so that nothing in it meets the rest of the notebook; nothing without libraries."""
    try:
        spec = drawn()
    except MissingLibrary:
        return ""
    svg = on_paper(spec)
    if svg is None:
        return ""
    told = escape(f"{spec['title']}. {spec['description']}")
    return f'<p><img alt="{told}" src="data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}"></p>'
