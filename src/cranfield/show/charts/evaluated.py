"""Charts of evaluations: what is asked for, the measures that a chart needs, and the chart itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from cranfield.errors import ComparisonError, CranfieldError, MeasureError, choice_hint
from cranfield.evaluation.rank_curves import rank_curves
from cranfield.evaluation.result import Evaluation
from cranfield.evaluation.weighting import Weights
from cranfield.measures import Measure, Measures, parse_measures
from cranfield.show.charts import CHARTS
from cranfield.show.charts.chart import Chart
from cranfield.show.charts.parts import Spec


def chart_named(kind: str) -> Chart:
    if kind not in CHARTS:
        raise CranfieldError(f"there is no chart '{kind}'.", hint=choice_hint("charts are", CHARTS, kind))
    return CHARTS[kind]


def own_options(chart: Chart, options: dict[str, Any]) -> dict[str, Any]:
    for name in options:
        owners = [f"'{other.name}'" for other in CHARTS.values() if name in other.options]
        if owners and name not in chart.options:
            several = "charts" if len(owners) > 1 else "chart"
            raise CranfieldError(f"{name} belongs to the {several} {', '.join(owners)}, not to '{chart.name}'.")
    return {name: options.pop(name) for name in chart.options if name in options}


def measure_of(chart: Chart, measures: Measures | None) -> Measure:
    wanted = parse_measures(measures or chart.usual)
    if len(wanted) != 1:
        raise MeasureError(f"this chart shows one measure, not {len(wanted)}.", hint="draw one chart for each")
    if chart.only not in (None, wanted[0].definition.name):
        fact = f"this chart shows precision and recall, not {wanted[0]}."
        raise MeasureError(fact, hint=f"for instance {chart.usual[0]}")
    return wanted[0]


def needed_for(chart: Chart, measure: Measure) -> Sequence[Measure]:
    return [measure] if chart.needed is None else chart.needed(measure)


class ChartRequest(NamedTuple):
    chart: Chart
    measure: Measure
    needed: Sequence[Measure]
    own: dict[str, Any]


def requested(
    kind: str, results: Sequence[Evaluation], measure: str | Measure | None, options: dict[str, Any]
) -> ChartRequest:
    chart = chart_named(kind)
    if chart.of in ("standings", "frontier", "stability", "nothing"):
        raise CranfieldError(f"the chart '{kind}' is not made of evaluations.", hint=f"use draw_chart('{kind}', …)")
    own = own_options(chart, options)
    if options or "grades" in own:
        raise CranfieldError(f"the chart '{kind}' of evaluations has no option '{next(iter(options), 'grades')}'.")
    first = results[0].measures[0] if chart.only is None and results else None
    wanted = measure_of(chart, measure or first)
    return ChartRequest(chart, wanted, [] if chart.of == "curves" else needed_for(chart, wanted), own)


def drawn(chart: Chart, results: Sequence[Evaluation], measure: Measure, own: dict[str, Any]) -> Spec:
    if chart.runs not in (None, len(results)):
        fact = f"this chart shows two runs, not {len(results)}."
        raise ComparisonError(fact, hint="the baseline, then the other")
    if chart.of == "curves":
        query = own.get("query")
        spec = chart.draw(rank_curves(results, measure, query), mean=query is None, **own)
        return spec if query is not None else with_weights(spec, results[0].weights)
    # Of groups, their values are drawn; segments have groups of their own.
    shown = results if chart.name == "segments" else [result.of_groups() for result in results]
    spec = chart.draw(shown, measure, **own)
    return spec if chart.name == "scatter" else with_weights(spec, results[0].weights)


def with_weights(spec: Spec, weights: Weights | None) -> Spec:
    """The chart, with a line about the weights of queries that its means are by."""
    if weights is None:
        return spec
    said = f"Means {weights.sentence}"
    return Spec(spec, title=[spec["title"], said], description=f"{spec['description']} {said}.")
