"""Two runs, a line for each query from one to the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cranfield.evaluation.estimating import SAME
from cranfield.evaluation.result import Evaluation
from cranfield.look import LIGHT
from cranfield.measures import Measure
from cranfield.show.charts import parts
from cranfield.show.charts.chart import Chart, counts, shared_values
from cranfield.show.charts.parts import IN_TITLE, NOTE, TICKS, ChartPart, Spec, brief, brief_labels, channel, layer
from cranfield.show.charts.runs import GAP, apart
from cranfield.words import count

MANY = 100  # queries whose lines are thin and faint, so that where they lie close shows
NAMED = 5  # queries with the largest changes, whose names are written
ID, RUN = 12, 24  # columns of the name of a query, and of a run
COLOURS = {"better": LIGHT["better"], "worse": LIGHT["worse"], "same": LIGHT["faint"], "mean": LIGHT["ink"]}


def slopes_chart(
    measure: str,
    one: str,
    other: str,
    values: Mapping[str, tuple[float, float]],
    *,
    means: tuple[float, float] | None = None,
    lower_is_better: bool = False,
) -> Spec:
    """A line for each query from its value in one run to that in the other, {query: (one, other)}; the largest changes
    are named.

    means: drawn as a thick line
    """
    sign = -1 if lower_is_better else 1
    order = sorted(values, key=lambda query: abs(values[query][1] - values[query][0]))  # the largest lie on top
    ways = {query: _way(sign * (after - before)) for query, (before, after) in values.items()}
    rows = [
        {"query": query, "run": run, "value": value, "way": ways[query]}
        for query in order
        for run, value in zip((one, other), values[query], strict=True)
    ]
    ends = parts.domain(value for both in values.values() for value in both)
    axis = {"domain": False, "ticks": False, "labelColor": LIGHT["ink"], "labelAngle": 0}
    x = channel(
        "run:N",
        title=f"n = {count(len(values), 'query', 'queries')}",
        sort=[one, other],
        axis={**axis, "labelLimit": 0, **brief_labels((one, other), RUN)},
        scale={"type": "point", "padding": 0.5},
    )
    y = channel("value:Q", title=measure, axis={"tickCount": TICKS}, scale=parts.scale(ends))
    colour = channel("way:N", scale={"domain": [*COLOURS], "range": [*COLOURS.values()]}, legend=None)
    look = {"strokeWidth": 0.8, "opacity": 0.35} if len(values) > MANY else {"strokeWidth": 1.4, "opacity": 0.75}
    point = {"filled": True, "size": 14 if len(values) > MANY else 24}
    told = ["query:N", "run:N", channel("value:Q", format=".3f")]
    shared: dict[str, Any] = {"x": x, "y": y, "color": colour}
    layers = [
        layer("line", {**look, "point": point}, rows=rows, detail="query:N", tooltip=told, **shared),
        *_named(
            [query for query in order[::-1][:NAMED] if ways[query] != "same"], other, values, ways, means, ends, shared
        ),
    ]
    if means is not None:
        mean = [{"run": run, "value": value, "way": "mean"} for run, value in zip((one, other), means, strict=True)]
        layers.append(layer("line", {"strokeWidth": 3.5, "point": {"filled": True, "size": 60}}, rows=mean, **shared))
    if values:
        gains = [{"gain": sign * (after - before)} for before, after in values.values()]
        layers += counts("datum.gain", gains)
    up, down = (sum(way == wanted for way in ways.values()) for wanted in ("better", "worse"))
    description = f"From {one} to {other}, {count(up, 'query is', 'queries are')} better by {measure}, {down} worse."
    if means is not None:
        description += f" The mean goes from {means[0]:.3f} to {means[1]:.3f}."
    first, second = (brief(name, IN_TITLE) for name in (one, other))
    chart = {"layer": layers, "height": 340}
    return parts.specification(chart, f"{measure} by query: from {first} to {second}", description)


def _way(gain: float) -> str:
    return "better" if gain > SAME else "worse" if gain < -SAME else "same"


def _named(
    queries: Sequence[str],
    run: str,
    values: Mapping[str, tuple[float, float]],
    ways: Mapping[str, str],
    means: tuple[float, float] | None,
    ends: Sequence[float],
    shared: Mapping[str, Any],
) -> list[ChartPart]:
    """The names of some queries and of the mean beside the ends of their lines, none too near to another."""
    wanted = [(brief(query, ID), values[query][1], ways[query]) for query in queries]
    if means is not None:
        wanted.append((f"mean {means[1]:.3f}", means[1], "mean"))
    low, high = ends
    places = apart([(value - low) / (high - low) for _, value, _ in wanted], GAP)
    rows = [
        {"run": run, "end": value, "value": low + place * (high - low), "name": name, "way": way}
        for (name, value, way), place in zip(wanted, places, strict=True)
    ]
    if not rows:
        return []
    lead = {"strokeWidth": 0.6, "xOffset": 6, "x2Offset": 12}
    text = {"style": NOTE, "align": "left", "baseline": "middle", "dx": 14}
    led: dict[str, Any] = {**shared, "x2": "run", "y": {**shared["y"], "field": "end"}, "y2": "value"}
    return [
        layer("rule", lead, rows=rows, **led),
        layer("text", text, rows=rows, text="name:N", **shared),
    ]


def of_evaluations(results: Sequence[Evaluation], measure: Measure) -> Spec:
    one, other = results
    return slopes_chart(
        measure.name,
        one.run,
        other.run,
        shared_values(results, measure),
        means=(one[measure], other[measure]),
        lower_is_better=measure.definition.lower_is_better,
    )


CHART = Chart(name="slopes", meaning="two runs, a line for each query", runs=2, draw=of_evaluations)
