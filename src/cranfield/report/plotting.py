"""Judgments and runs to a chart: what `cranfield plot` draws."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from cranfield.comparison import stability
from cranfield.errors import ComparisonError, CranfieldError, MeasureError
from cranfield.evaluation.evaluating import evaluate_runs
from cranfield.evaluation.rank_curves import curve_of_grades, rank_curves
from cranfield.measures import Measure, Measures, parse_measures
from cranfield.show.charts import CHARTS
from cranfield.show.charts.chart import Chart
from cranfield.show.charts.drawing import Spec

SHARES = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9)  # of the judgments that are removed


def draw_chart(
    kind: str,
    qrels: Any = None,
    runs: Mapping[str, Any] | Iterable[Any] = (),
    measures: Measures | None = None,
    **options: Any,
) -> Spec:
    """A chart as a Vega-Lite specification; `save_chart` turns it into a picture.

    kind: one of those that `cranfield plot --help` lists, such as "precision-recall" or "difference"; "discount" and
        "gain" need neither judgments nor runs.
    qrels, runs, options: those of `evaluate_runs`; "difference" and "scatter" take two runs, the baseline first.
    measures: one for most charts, by default nDCG@10; "stability" takes several.
    Returns the specification, as a dict.

    "precision-recall-full" has options of its own: `query`, to draw instead of the mean over all, or `grades` and
    `missed` of one ranking, as for `value`, in place of judgments and runs.

    >>> spec = draw_chart("difference", "builtin:qrels", ["builtin:keywords", "builtin:meaning"], "nDCG@10")
    >>> spec["$schema"][:30]
    'https://vega.github.io/schema/'
    """
    if kind not in CHARTS:
        raise CranfieldError(f"there is no chart '{kind}'.", hint=f"charts are {', '.join(CHARTS)}")
    chart = CHARTS[kind]
    own = _own_options(chart, options)
    paths = [runs] if isinstance(runs, str | os.PathLike) else runs
    if "grades" in own:
        if qrels is not None or paths:
            raise CranfieldError("give either grades or judgments and runs, not both.")
        curve = curve_of_grades(own["grades"], own.get("missed", ()))
        return chart.draw({"the ranking": curve}, mean=False)
    if chart.of == "nothing":
        return chart.draw()
    if qrels is None or not paths:
        raise CranfieldError(f"the chart '{kind}' is made of judgments and runs.", hint="give both")
    with np.errstate(over="ignore", invalid="ignore"):  # numbers that are too large to draw are an error of the chart
        if chart.of == "stability":
            return chart.draw(stability(qrels, paths, measures or chart.usual, SHARES, **options))
        measure = _measure(chart, measures)
        needed = [measure] if chart.needed is None else chart.needed(measure)
        results = list(evaluate_runs(qrels, paths, needed, **options).values())
        if chart.runs not in (None, len(results)):
            fact = f"this chart shows two runs, not {len(results)}."
            raise ComparisonError(fact, hint="the baseline, then the other")
        if chart.of == "curves":
            query = own.get("query")
            return chart.draw(rank_curves(results, measure, query), query=query, mean=query is None)
        return chart.draw(results, measure, **own)


def _own_options(chart: Chart, options: dict[str, Any]) -> dict[str, Any]:
    """The options of the chart itself, taken out of all."""
    for other in CHARTS.values():
        for name in other.options:
            if name in options and name not in chart.options:
                raise CranfieldError(f"{name} belongs to the chart '{other.name}', not to '{chart.name}'.")
    return {name: options.pop(name) for name in chart.options if name in options}


def _measure(chart: Chart, measures: Measures | None) -> Measure:
    wanted = parse_measures(measures or chart.usual)
    if len(wanted) != 1:
        raise MeasureError(f"this chart shows one measure, not {len(wanted)}.", hint="draw one chart for each")
    if chart.only not in (None, wanted[0].definition.name):
        fact = f"this chart shows precision and recall, not {wanted[0]}."
        raise MeasureError(fact, hint=f"for instance {chart.usual[0]}")
    return wanted[0]
