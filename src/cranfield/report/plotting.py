"""Charts from judgments and runs, and as files: SVG, PNG, PDF, or the specification itself."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from cranfield.comparison.comparing import compare_evaluations
from cranfield.comparison.frontier import frontier
from cranfield.comparison.stability import stability
from cranfield.comparison.standing import standings
from cranfield.errors import CranfieldError, OutputError
from cranfield.evaluation.evaluating import evaluate_runs
from cranfield.evaluation.query_columns import QueryColumns
from cranfield.evaluation.rank_curves import curve_of_grades
from cranfield.io.target import open_target
from cranfield.measures import Measures
from cranfield.show.charts.evaluated import chart_named, drawn, measure_of, needed_for, own_options, with_weights
from cranfield.show.charts.parts import Spec
from cranfield.show.pictures import FORMATS, darkened, picture, sized
from cranfield.words import joined

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
    qrels, runs, options: those of `evaluate_runs`; "difference", "slopes" and "scatter" take two
        runs, the baseline first.
    measures: one for most charts, by default nDCG@10; "stability" takes several.
    Returns the specification, as a dict.

    Up to eight runs have a colour each; of more, only the best. `highlight`, names of runs, chooses others to show in
    colour beside the best; charts of lines and "distribution" take it.

    "frontier" takes `by`, `values`, `margin` and `alpha`, as `frontier` does. "precision-recall-full" has options of
    its own: `query`, to draw instead of the mean over all, or `grades` and `missed` of one ranking, as for `value`, in
    place of judgments and runs.

    >>> spec = draw_chart("difference", "builtin:ten", ["builtin:keywords", "builtin:meaning"], "nDCG@10")
    >>> spec["$schema"][:30]
    'https://vega.github.io/schema/'
    """
    chart = chart_named(kind)
    own = own_options(chart, options)
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
    with np.errstate(over="ignore", invalid="ignore"):  # the chart reports numbers that are too large to draw
        if chart.of == "stability":
            known, given = QueryColumns.taken(options)
            thinned = stability(qrels, paths, measures or chart.usual, SHARES, query_columns=known, **given)
            return with_weights(chart.draw(thinned), thinned.weights)
        measure = measure_of(chart, measures)
        if chart.of == "frontier":
            worth = frontier(qrels, paths, measure, **own, **options)
            return with_weights(chart.draw(worth), worth.weights)
        results = list(evaluate_runs(qrels, paths, needed_for(chart, measure), **options).values())
        if chart.of == "standings":
            found = standings(compare_evaluations(results, [measure], bounds=False))
            return with_weights(chart.draw(found), results[0].weights)
        return drawn(chart, results, measure, own)


def image_format(name: str) -> str:
    """The format of a picture, by the extension of its file."""
    ending = os.path.splitext(name)[1].lower().removeprefix(".")
    if ending not in FORMATS:
        fact = f"unsupported image format '.{ending}'." if ending else "the file name has no extension."
        raise OutputError(name, fact, hint=f"end it in {joined((f'.{form}' for form in FORMATS), 'or')}")
    return ending


def save_chart(
    spec: Mapping[str, Any],
    path: str | os.PathLike[str],
    *,
    columns: int | None = None,
    title: bool = True,
    dark: bool = False,
) -> None:
    """Write a chart as a picture: SVG, PNG (300 dots an inch), PDF, or JSON for the specification itself.

    spec: what `draw_chart` returns.
    path: the file to write; its extension chooses the format.
    columns: make it as wide as one column of a two-column paper, or as both (2).
    title: False leaves it out, for a figure that has a caption.
    dark: use colours for a dark page or slide.

    >>> import cranfield, os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_chart(cranfield.draw_chart("discount"), f"{folder}/discount.svg", columns=1)
    ...     os.path.getsize(f"{folder}/discount.svg") > 1000
    True
    """
    name = os.fspath(path)
    ending = image_format(name)
    shown = spec if columns is None else sized(spec, columns)
    shown = darkened(shown) if dark else shown
    content = picture(shown if title else {name: part for name, part in shown.items() if name != "title"}, ending)
    with open_target(name, force=True) as target, target.opened() as file:
        file.write(content)
