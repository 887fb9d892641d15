"""Charts of runs, by kind, and files of them: SVG, PNG, PDF."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from cranfield.comparison.thinning import USUAL_MEASURES
from cranfield.errors import ComparisonError, CranfieldError, MeasureError, MissingLibrary, OutputError, need
from cranfield.evaluation import evaluate_runs
from cranfield.judge.ranks import JudgedRanks
from cranfield.measures import Measure, Measures, parse_measures
from cranfield.measures.curve import precision_recall_curve
from cranfield.result import Evaluation
from cranfield.show import charts
from cranfield.show.drawing import HEIGHT, Spec

COLUMN_WIDTHS = {1: 240, 2: 504}  # points: a column of a two-column paper, and the whole of its width
FORMATS = ("svg", "png", "pdf", "json")
DOTS = 300  # per inch, of a PNG
CUTOFFS = 20  # how deep a chart by cutoff goes


def draw_chart(
    kind: str,
    qrels: Any = None,
    runs: Mapping[str, Any] | Iterable[Any] = (),
    measures: Measures | None = None,
    **options: Any,
) -> Spec:
    """A chart as a Vega-Lite specification, which `save_chart` makes a picture.

    kind: "precision-recall" (at eleven levels of recall), "precision-recall-full" (rank by rank), "cutoff",
        "distribution", "difference", "scatter", "stability"; "discount" and "gain" need neither judgments nor runs.
    qrels, runs, options: those of `evaluate_runs`; "difference" and "scatter" take two runs, the baseline first.
    measures: one for most charts, by default nDCG@10; "stability" takes several.
    query: of "precision-recall-full", the query to draw instead of the mean over all.
    grades, missed: of "precision-recall-full", one ranking as for `value`, in place of judgments and runs.

    >>> spec = draw_chart("difference", "builtin:qrels", ["builtin:keywords", "builtin:meaning"], "nDCG@10")
    >>> spec["$schema"][:30]
    'https://vega.github.io/schema/'
    """
    if kind not in KINDS:
        raise CranfieldError(f"there is no chart '{kind}'.", hint=f"charts are {', '.join(KINDS)}")
    _check_options(kind, qrels, runs, options)
    if "grades" in options:
        curve = precision_recall_curve(JudgedRanks.of_grades(options["grades"], options.get("missed", ())))
        return charts.rank_by_rank_chart({"the ranking": curve}, mean=False)
    if kind in ("discount", "gain"):
        return charts.discount_chart() if kind == "discount" else charts.gain_chart()
    paths = [runs] if isinstance(runs, str | os.PathLike) else runs
    if qrels is None or not paths:
        raise CranfieldError(f"the chart '{kind}' is made of judgments and runs.", hint="give both")
    with np.errstate(over="ignore", invalid="ignore"):  # numbers that are too large to draw are an error of the chart
        return KINDS[kind](qrels, paths, measures, options)


def _check_options(kind: str, qrels: Any, runs: Any, options: Mapping[str, Any]) -> None:
    for name in ("query", "grades", "missed"):
        if name in options and kind != "precision-recall-full":
            raise CranfieldError(f"{name} belongs to the chart 'precision-recall-full', not to '{kind}'.")
    if "grades" in options and (qrels is not None or runs):
        raise CranfieldError("give either grades or judgments and runs, not both.")


def save_chart(
    spec: Mapping[str, Any], path: str | os.PathLike[str], *, columns: int | None = None, title: bool = True
) -> None:
    """Write a chart as a picture: SVG, PNG (300 dots an inch), PDF, or JSON for the specification itself.

    columns: make it as wide as one column of a two-column paper, or as both (2).
    title: without it, for a figure that has a caption.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_chart(draw_chart("discount"), f"{folder}/discount.svg", columns=1)
    ...     os.path.getsize(f"{folder}/discount.svg") > 1000
    True
    """
    from cranfield.write.target import open_target

    name = os.fspath(path)
    ending = os.path.splitext(name)[1].lower().removeprefix(".")
    if ending not in FORMATS:
        raise OutputError(
            name, "what kind of picture this should be is not clear.", hint="end it in .svg, .png or .pdf"
        )
    shown = spec if columns is None else sized(spec, columns)
    content = picture(shown if title else {name: part for name, part in shown.items() if name != "title"}, ending)
    with open_target(name, force=True) as target, target.opened() as file:
        file.write(content)


def picture(spec: Mapping[str, Any], format: str) -> bytes:
    """A chart as the bytes of a picture."""
    if format == "json":
        return json.dumps(spec, indent=2, ensure_ascii=False, allow_nan=False).encode(errors="backslashreplace")
    converter = need("vl_convert", extra="report", purpose="drawing pictures")
    # Half of a character, as in a file name that is not UTF-8, cannot be drawn.
    text = json.dumps(spec if format != "png" else {**spec, "background": "white"}, ensure_ascii=False)
    drawn = text.encode(errors="replace").decode()
    if format == "svg":
        svg: str = converter.vegalite_to_svg(drawn)
        words = [f"{spec['title']}."] if "title" in spec else []
        told = escape(" ".join([*words, spec.get("description", "")]))  # for those who do not see it
        return svg.replace("<svg ", f'<svg role="img" aria-label="{told}" ', 1).encode(errors="replace")
    if format == "pdf":
        return bytes(converter.vegalite_to_pdf(drawn))
    return bytes(converter.vegalite_to_png(drawn, ppi=DOTS))


def shown_in_notebook(spec: Mapping[str, Any]) -> str | None:
    """A chart as SVG on white, readable on a dark page too; None where the library that draws it is not installed."""
    try:
        return picture({**spec, "background": "white", "padding": 8}, "svg").decode()
    except MissingLibrary:
        return None


def sized(spec: Mapping[str, Any], columns: int) -> Spec:
    """A chart as wide as one or two columns of a paper, with letters that fit it."""
    if columns not in COLUMN_WIDTHS:
        raise OutputError("the chart", f"a paper has no {columns} columns.", hint="columns are 1 or 2")
    width = COLUMN_WIDTHS[columns]
    small = {"labelFontSize": 7, "titleFontSize": 8}
    config = {
        **spec.get("config", {}),
        "axis": {**spec.get("config", {}).get("axis", {}), **small},
        "legend": {**spec.get("config", {}).get("legend", {}), **small, "labelLimit": width // 2 - 20},
        "title": {"anchor": "start", "fontSize": 9, "limit": width},
    }
    height = spec["height"]
    if not isinstance(height, dict):
        height += round(width * (0.75 if columns == 1 else 0.45)) - HEIGHT
    fit = {"type": "fit-x" if isinstance(height, dict) else "fit", "contains": "padding"}
    return Spec(spec, width=width, height=height, padding=2, autosize=fit, config=config)


def cutoffs_of(measure: Measure, deepest: int = CUTOFFS) -> list[Measure]:
    """A measure at each cutoff from 1; an error if it has none."""
    if "cutoff" not in measure.definition.kinds:
        raise MeasureError(f"{measure} has no cutoff.", hint="nDCG@10, P@10 and R@10 have one")
    return [measure.replace(cutoff=k) for k in range(1, deepest + 1)]


def family(measure: Measure) -> str:
    """The name of a measure without its cutoff."""
    return measure.name.rpartition("@")[0] if "cutoff" in dict(measure.parameters) else measure.name


def recall_levels(measure: str | Measure = "IPrec@0") -> tuple[Measure, ...]:
    """Interpolated precision at the eleven levels of recall."""
    return tuple(parse_measures(measure)[0].replace(recall=level) for level in charts.RECALLS)


def precision_recall(results: Iterable[Evaluation], measure: str | Measure = "IPrec@0") -> Spec:
    """The chart, of evaluations whose ranks are known; the measure says what is relevant."""
    levels = recall_levels(measure)
    return charts.precision_recall_chart({each.run: _means(each, levels) for each in results})


def _means(evaluation: Evaluation, measures: Sequence[Measure]) -> list[float]:
    """The means of more measures, whose values are not kept."""
    whole = evaluation.extended(measures)
    return [whole[measure] for measure in measures]


def rank_by_rank(results: Iterable[Evaluation], measure: Measure | None = None, query: str | None = None) -> Spec:
    """The chart, of evaluations whose ranks are known; each line ends with the longest ranking.

    measure: P, with the grade that makes a document relevant; query: the one that is drawn instead of the mean.
    """
    chosen = dict(measure.parameters) if measure else {}
    curves = {}
    for each in results:
        judged = each.extended(()).ranks
        assert judged is not None  # or `extended` would have said so
        if chosen.get("judged_only"):
            judged = judged.condensed
        if query is not None:
            judged = judged.only(_place(each, query))
        counted = None if query is not None else len(each.query_ids)
        curves[each.run] = precision_recall_curve(judged, rel=chosen.get("rel", 1), queries=counted)
    return charts.rank_by_rank_chart(curves, query=query, mean=query is None)


def _place(evaluation: Evaluation, query: str) -> int:
    judged = evaluation.ranks
    if judged is None or query not in judged.query_ids:
        some = ", ".join(evaluation.query_ids[:3]) + ", …" * (len(evaluation.query_ids) > 3)
        raise CranfieldError(f"there is no query '{query}' among the judged ones.", hint=f"there are {some}")
    return judged.query_ids.index(query)


def by_cutoff(results: Iterable[Evaluation], measure: Measure, deepest: int = CUTOFFS) -> Spec:
    """The chart, of evaluations whose ranks are known."""
    at = cutoffs_of(measure, deepest)
    curves = {each.run: dict(enumerate(_means(each, at), start=1)) for each in results}
    return charts.cutoff_chart(family(measure), curves)


def _precision_recall(qrels: Any, runs: Any, measures: Measures | None, options: Any) -> Spec:
    [measure] = _of_kind(measures, "IPrec@0")
    return precision_recall(evaluate_runs(qrels, runs, measure, **options).values(), measure)


def _rank_by_rank(qrels: Any, runs: Any, measures: Measures | None, options: Any) -> Spec:
    query = options.pop("query", None)
    [measure] = _of_kind(measures, "P@1")
    results = evaluate_runs(qrels, runs, measure, **options).values()
    return rank_by_rank(results, measure, None if query is None else str(query))


def _of_kind(measures: Measures | None, usual: str) -> tuple[Measure, ...]:
    """The measure whose parameters a precision-recall curve goes by."""
    wanted, own = parse_measures(measures or usual), parse_measures(usual)[0].definition
    for measure in wanted:
        if measure.definition is not own:
            raise MeasureError(f"this chart shows precision and recall, not {measure}.", hint=f"for instance {usual}")
    return wanted[:1]


def _cutoff(qrels: Any, runs: Any, measures: Measures | None, options: Any) -> Spec:
    measure = _one(measures)
    return by_cutoff(evaluate_runs(qrels, runs, cutoffs_of(measure)[:1], **options).values(), measure)


def _distribution(qrels: Any, runs: Any, measures: Measures | None, options: Any) -> Spec:
    measure = _one(measures)
    results = evaluate_runs(qrels, runs, measure, **options)
    return charts.distribution_chart(
        measure.name, {run: each.column(measure).tolist() for run, each in results.items()}
    )


def _difference(qrels: Any, runs: Any, measures: Measures | None, options: Any) -> Spec:
    measure, one, other, values = _two(qrels, runs, measures, options)
    return charts.difference_chart(measure, one, other, {query: y - x for query, (x, y) in values.items()})


def _scatter(qrels: Any, runs: Any, measures: Measures | None, options: Any) -> Spec:
    return charts.scatter_chart(*_two(qrels, runs, measures, options))


def _stability(qrels: Any, runs: Any, measures: Measures | None, options: Any) -> Spec:
    from cranfield.comparison import stability

    found = stability(qrels, runs, measures or USUAL_MEASURES, (0.0, 0.1, 0.3, 0.5, 0.7, 0.9), **options)
    rows = [(row.measure, row.removed, row.mean, row.spread) for row in found.rows]
    return charts.stability_chart(rows, found.design)


def _one(measures: Measures | None) -> Measure:
    wanted = parse_measures(measures or "nDCG@10")
    if len(wanted) != 1:
        raise MeasureError(f"this chart shows one measure, not {len(wanted)}.", hint="draw one chart for each")
    return wanted[0]


def _two(
    qrels: Any, runs: Any, measures: Measures | None, options: Any
) -> tuple[str, str, str, dict[str, tuple[float, float]]]:
    """The measure, the names of two runs, and the values of the queries that both have."""
    measure = _one(measures)
    results = list(evaluate_runs(qrels, runs, measure, **options).values())
    if len(results) != 2:
        raise ComparisonError(f"this chart shows two runs, not {len(results)}.", hint="the baseline, then the other")
    one, other = (each.by_query(measure) for each in results)
    values = {query: (value, other[query]) for query, value in one.items() if query in other}
    return measure.name, results[0].run, results[1].run, values


KINDS: dict[str, Callable[[Any, Any, Measures | None, Any], Spec]] = {
    "precision-recall": _precision_recall,
    "precision-recall-full": _rank_by_rank,
    "cutoff": _cutoff,
    "distribution": _distribution,
    "difference": _difference,
    "scatter": _scatter,
    "stability": _stability,
    "discount": lambda *_: charts.discount_chart(),
    "gain": lambda *_: charts.gain_chart(),
}
