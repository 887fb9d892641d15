"""The mean of each run in each segment of the queries, with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from cranfield.evaluation.estimating import Columns, Estimate, estimated, estimates_of
from cranfield.evaluation.result import Evaluation
from cranfield.look import LIGHT
from cranfield.measures import Measure
from cranfield.ranks.columns import Numbers
from cranfield.show.charts import parts
from cranfield.show.charts.chart import Chart
from cranfield.show.charts.parts import BESIDE, Spec, brief_labels, channel, fixed, layer
from cranfield.show.charts.runs import best_of, emphasised, hue_scale, legend, legend_height
from cranfield.words import count

ALPHA = 0.05
ROW, SPACE = 12, 14  # pixels of a run, and between segments
MOST = 8  # runs that are shown, the first ones
DESCRIBED = 12  # means in the description
ALL = "all"


class SegmentMean(NamedTuple):
    queries: int
    estimate: Estimate


def segments_chart(
    measure: str,
    means: Mapping[str, Mapping[str, SegmentMean]],
    *,
    highlight: Sequence[str] = (),
    lower_is_better: bool = False,
) -> Spec:
    """A row for each segment and run, {segment: {run: mean}}: a dot at the mean, and a line over its 95% interval."""
    runs = list(next(iter(means.values())))[:MOST]
    rows: list[dict[str, Any]] = [
        {
            "segment": _named(segment, by_run),
            "run": run,
            "mean": its.estimate.value,
            "low": its.estimate.low,
            "high": its.estimate.high,
        }
        for segment, by_run in means.items()
        for run, its in by_run.items()
        if run in runs
    ]
    order = [_named(segment, by_run) for segment, by_run in means.items()]
    overall = {run: sum(row["mean"] for row in rows if row["run"] == run) for run in runs}
    shown = emphasised(runs, highlight, best_of(overall, lower=lower_is_better))
    ends = parts.domain([end for row in rows for end in (row["low"], row["high"])])
    x = channel(
        "mean:Q", title=[measure, "line: 95% interval of the mean"], axis={"grid": True}, scale=parts.scale(ends)
    )
    labels = {"labelColor": LIGHT["ink"], "grid": False, **brief_labels(order, BESIDE)}
    y = channel("segment:N", title=None, sort=order, axis=labels)
    hues = {"title": None, "sort": runs, "scale": hue_scale(runs, shown)}
    colour, fill = (channel("run:N", **hues, legend=key) for key in (legend(shown), None))
    told = ["segment:N", "run:N", *(channel(f"{name}:Q", format=".3f") for name in ("mean", "low", "high"))]
    shared: dict[str, Any] = {"y": y, "yOffset": channel("run:N", sort=runs), "color": colour, "tooltip": told}
    dot = {"filled": True, "size": 46, "opacity": 1, "strokeWidth": 1}
    layers = [
        layer("rule", {"strokeWidth": 2}, x=channel("low:Q", scale=parts.scale(ends)), x2="high", **shared),
        layer("point", dot, x=x, stroke=fixed(LIGHT["paper"]), fill=fill, **shared),
    ]
    height = (ROW * len(runs) + SPACE) * len(order) + legend_height(shown)
    chart = {**parts.data(rows), "layer": layers, "height": height}
    described = "; ".join(f"{row['segment']}, {row['run']}: {row['mean']:.3f}" for row in rows[:DESCRIBED])
    more = "; …" if len(rows) > DESCRIBED else "."
    description = f"The mean of {measure} in each segment. {described}{more}"
    return parts.specification(chart, f"{measure} by segment", description)


def _named(segment: str, by_run: Mapping[str, SegmentMean]) -> str:
    return f"{segment} ({count(next(iter(by_run.values())).queries, 'query', 'queries')})"


def by_segment(results: Sequence[Evaluation], measure: Measure, *, highlight: Sequence[str] = ()) -> Spec:
    first = results[0]
    segments = first.segments or dict.fromkeys(first.query_ids, ALL)
    names = sorted({segments[query] for query in first.query_ids if query in segments})
    means = {name: {result.run: _mean(result, measure, segments, name) for result in results} for name in names}
    lower = measure.definition.lower_is_better
    return segments_chart(measure.name, means, highlight=highlight, lower_is_better=lower)


def _mean(result: Evaluation, measure: Measure, segments: Mapping[str, str], name: str) -> SegmentMean:
    kept = [at for at, query in enumerate(result.query_ids) if segments.get(query) == name]
    ids = [result.query_ids[at] for at in kept]
    weight: Numbers | None = None if result.weights is None else result.weights.column(ids)
    group = None if result.weights is None else result.weights.group(ids)
    columns = Columns(result.column(measure)[kept][:, None], weight, group)
    [estimate] = estimates_of(estimated(columns), ALPHA, *measure.definition.range)
    return SegmentMean(len(kept), estimate)


CHART = Chart(
    name="segments",
    meaning="the mean of each run in each segment of the queries",
    draw=by_segment,
    options=("highlight",),
)
