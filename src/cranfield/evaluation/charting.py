"""Evaluations to charts: this measures what a chart needs; `show` draws it."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from cranfield.errors import ComparisonError
from cranfield.evaluation.rank_curves import rank_curves
from cranfield.measures import Measure

if TYPE_CHECKING:
    from cranfield.evaluation.result import Evaluation
    from cranfield.show.charts.chart import Chart
    from cranfield.show.charts.drawing import Spec


def drawn(chart: Chart, results: Sequence[Evaluation], measure: Measure, own: dict[str, Any]) -> Spec:
    """A chart of evaluations that have what it needs."""
    if chart.runs not in (None, len(results)):
        fact = f"this chart shows two runs, not {len(results)}."
        raise ComparisonError(fact, hint="the baseline, then the other")
    if chart.of == "curves":
        query = own.get("query")
        return chart.draw(rank_curves(results, measure, query), mean=query is None, **own)
    return chart.draw(results, measure, **own)


def plotted(kind: str, results: Sequence[Evaluation], measure: str | Measure | None, **options: Any) -> Spec:
    """A chart of evaluations; what they lack is measured if they know the ranks.

    Charts belong to a room that knows all results, so they are imported by name when needed.
    """
    request = import_module("cranfield.show.charts.evaluated").requested(kind, results, measure, options)
    needed = set(request.needed)
    full = [each if needed <= set(each.measures) else each.extended(request.needed) for each in results]
    return drawn(request.chart, full, request.measure, request.own)
