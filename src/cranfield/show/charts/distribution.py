"""How a measure is spread over the queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cranfield.evaluation.result import Evaluation
from cranfield.look import LIGHT
from cranfield.measures import Measure
from cranfield.show.charts import parts
from cranfield.show.charts.chart import Chart
from cranfield.show.charts.parts import COLOURS, NOTE, ChartPart, ChartRows, Spec, channel, fixed, layer
from cranfield.show.charts.runs import LONG, best_of, emphasised, hue_scale
from cranfield.words import columns, count

FEW = 500  # queries whose values are also drawn one by one ...
ALL = 2000  # ... as long as all runs together have no more values
WHISKERS = (5, 95)  # percent of the queries
SIDE = 0.36  # of the width: what a mean or a median needs beside its mark
ROW, NAME_LINE, THIN, THINNEST = 56, 14, 20, 13  # how high a row is, a name above it, a row of many, and of very many
VERY_MANY = 30  # runs
BOX, FULL = 0.3, 0.6  # of the height of a row, with and without more in it


def distribution_chart(
    measure: str,
    values: Mapping[str, Sequence[float]],
    *,
    means: Mapping[str, float] | None = None,
    highlight: Sequence[str] = (),
    lower_is_better: bool = False,
) -> Spec:
    """How the values of queries are spread, a row for each run: a box from quartile to quartile, whiskers from the 5th
    to the 95th percentile, the median as a tick and the mean as a diamond; each query as a faint tick while they are
    few. Many runs are sorted by their means.

    means: where queries have weights, which boxes, whiskers and medians do not show
    """
    rows: list[dict[str, Any]] = [{"run": run, **_summary(column)} for run, column in values.items()]
    if means is not None:
        rows = [{**row, "mean": means[row["run"]]} for row in rows]
    means = {row["run"]: row["mean"] for row in rows}
    many = len(values) > len(COLOURS)
    order = sorted(values, key=lambda run: means[run] if lower_is_better else -means[run]) if many else list(values)
    shown = emphasised(list(values), highlight, best_of(means, lower=lower_is_better))
    sizes = list(map(len, values.values()))
    singly = not many and max(sizes, default=0) <= FEW and sum(sizes) <= ALL
    long = not many and max(map(columns, values), default=0) > LONG
    drawn = values.values() if singly else [(row["low"], row["mean"], row["high"]) for row in rows]
    ends = _ends([value for column in drawn for value in column])
    ticks = {"tickCount": parts.TICKS, "grid": True}
    x = channel("low:Q", title=_words(measure, sizes, many), axis=ticks, scale=parts.scale(ends))
    labels = {"labels": not long, "grid": False, "labelColor": LIGHT["ink"], **parts.brief_labels(order, parts.BESIDE)}
    y = channel("run:N", title=None, sort=order, axis=labels)
    colour = channel("run:N", scale=hue_scale(order, shown), legend=None)
    layers = _boxes(x, y, colour, box=FULL if many else BOX)
    if not many:
        layers += _numbers(rows, y, ends)
    if long:
        names = {"style": NOTE, "align": "left", "baseline": "middle", "fontWeight": "bold", "yOffset": _of_row(-0.46)}
        named = [{"run": run, "name": parts.brief(run, parts.IN_TITLE)} for run in order]
        layers.append(layer("text", names, rows=named, x=fixed(0), y=y, text="name:N", color=fixed(LIGHT["ink"])))
    if singly:
        single = [{"run": run, "value": float(value)} for run, column in values.items() for value in column]
        marks = {"size": 7, "opacity": 0.45, "thickness": 1.2, "yOffset": _of_row(0.33)}
        layers.append(layer("tick", marks, rows=single, x="value:Q", y=y, color=colour))
    description = "; ".join(f"{row['run']}: median {row['median']:.3f}, mean {row['mean']:.3f}" for row in rows)
    row_height = ROW + NAME_LINE * long if not many else THIN if len(values) <= VERY_MANY else THINNEST
    description = f"How {measure} is spread over the queries. {description}."
    chart = {**parts.data(rows), "layer": layers, "height": {"step": row_height}}
    return parts.specification(chart, f"{measure} of the queries", description)


def _summary(column: Sequence[float]) -> dict[str, float]:
    if not len(column):
        return dict.fromkeys(("low", "q1", "median", "q3", "high", "mean"), 0.0)
    low, q1, median, q3, high = np.percentile(column, [WHISKERS[0], 25, 50, 75, WHISKERS[1]]).tolist()
    return {"low": low, "q1": q1, "median": median, "q3": q3, "high": high, "mean": float(np.mean(column))}


def _ends(values: Sequence[float]) -> list[float]:
    highest = max(values, default=1.0)
    return parts.domain([0.0, 1.0 if 0.5 <= highest <= 1 else highest, *([min(values)] if values else [])])


def _words(measure: str, sizes: Sequence[int], many: bool) -> list[str]:
    n = f"n = {count(max(sizes, default=0), 'query', 'queries')}"
    marks = f"box: middle half, whiskers: {WHISKERS[0]}–{WHISKERS[1]}%"
    return [f"{measure}, {n}", marks, *(["line: median, ◊: mean"] if many else [])]


def _of_row(share: float) -> ChartPart:
    return {"expr": f"bandwidth('y') * {share}"}


def _boxes(x: ChartPart, y: ChartPart, colour: ChartPart, box: float) -> list[ChartPart]:
    shown = [channel(f"{name}:Q", format=".3f") for name in ("low", "q1", "median", "q3", "high", "mean")]
    shared: dict[str, Any] = {"y": y, "tooltip": ["run:N", *shown]}
    ink, faint, paper = (fixed(LIGHT[name]) for name in ("ink", "faint", "paper"))
    diamond = {"shape": "diamond", "size": 34 if box == BOX else 14, "filled": True, "opacity": 1, "strokeWidth": 1.2}
    return [
        layer("rule", {"strokeWidth": 1}, x=x, x2="high", color=faint, **shared),
        layer("bar", {"height": {"band": box}, "opacity": 0.55}, x="q1:Q", x2="q3", color=colour, **shared),
        layer("tick", {"size": _of_row(box), "thickness": 2, "opacity": 1}, x="median:Q", color=ink, **shared),
        layer("point", diamond, x="mean:Q", fill=paper, stroke=ink, **shared),
    ]


def _numbers(rows: ChartRows, y: ChartPart, ends: Sequence[float]) -> list[ChartPart]:
    """Mean and median by name and number, on either side of their marks; both on one side near an end of the axis."""
    texts = []
    for row in rows:
        mean, median = f"mean {row['mean']:.3f}", f"median {row['median']:.3f}"
        (low, left), (high, right) = sorted(((row["mean"], mean), (row["median"], median)))
        room = [(low - ends[0]) / (ends[1] - ends[0]), (ends[1] - high) / (ends[1] - ends[0])]
        if min(room) >= SIDE:
            texts += [(row["run"], low, "right", left), (row["run"], high, "left", right)]
        elif room[0] < room[1]:
            texts.append((row["run"], low, "left", f"{left}, {right}"))
        else:
            texts.append((row["run"], high, "right", f"{left}, {right}"))
    layers = []
    for align, shift in (("right", -3), ("left", 3)):
        told = [{"run": run, "at": at, "told": words} for run, at, side, words in texts if side == align]
        if told:
            look = {"style": NOTE, "align": align, "baseline": "middle", "dx": shift, "yOffset": _of_row(-0.28)}
            layers.append(layer("text", look, rows=told, x="at:Q", y=y, text="told:N", color=fixed(LIGHT["soft"])))
    return layers


def weighted_means(results: Sequence[Evaluation], measure: str | Measure) -> dict[str, float] | None:
    """The means of runs whose queries have weights."""
    return {result.run: result[measure] for result in results} if results and results[0].weights else None


CHART = Chart(
    name="distribution",
    meaning="how a measure is spread over the queries",
    options=("highlight",),
    draw=lambda results, measure, **options: distribution_chart(
        measure.name,
        {result.run: result.column(measure).tolist() for result in results},
        means=weighted_means(results, measure),
        lower_is_better=measure.definition.lower_is_better,
        **options,
    ),
)
