"""Two runs, a point for each query."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cranfield.evaluation.estimating import SAME
from cranfield.look import LIGHT
from cranfield.show.charts import parts
from cranfield.show.charts.chart import Chart, counts, shared_values
from cranfield.show.charts.parts import (
    IN_TITLE,
    TICKS,
    WIDTH,
    ChartPart,
    ChartRows,
    Spec,
    brief,
    calculate,
    channel,
    layer,
    scale,
)
from cranfield.words import count

ON_AXIS = 36  # columns of a name
MANY = 300  # queries whose points are small and faint, so that where they lie close shows


def scatter_chart(
    measure: str, one: str, other: str, values: Mapping[str, tuple[float, float]], *, lower_is_better: bool = False
) -> Spec:
    """Each query at its values in two runs, {query: (one, other)}: above the diagonal the second is higher."""
    rows = [{"query": query, "one": x, "other": y} for query, (x, y) in values.items()]
    every = [value for pair in values.values() for value in pair]
    low, high = min([0.0, *every]), max([1.0, *every])
    ends = [{"one": end, "other": end} for end in (low, high)]
    x = channel(
        "one:Q",
        title=f"{measure} of {brief(one, ON_AXIS)}",
        scale=scale([low, high]),
        axis={"tickCount": TICKS, "grid": True},
    )
    y = channel(
        "other:Q", title=f"{measure} of {brief(other, ON_AXIS)}", scale=scale([low, high]), axis={"tickCount": TICKS}
    )
    shown = ["query:N", channel("one:Q", title=one, format=".3f"), channel("other:Q", title=other, format=".3f")]
    above, below = (sum(sign * (b - a) > SAME for a, b in values.values()) for sign in (1, -1))
    diagonal = {"strokeDash": [4, 4], "color": LIGHT["faint"], "strokeWidth": 1}
    gain = f"{-1 if lower_is_better else 1} * (datum.other - datum.one)"
    layers = [
        layer("line", diagonal, rows=ends, x=x, y=y),
        _points(rows, gain, x=x, y=y, tooltip=shown),
        *(counts(gain, rows) if rows else ()),
    ]
    higher = count(above, "query", "queries")
    description = f"{other} has a higher {measure} than {one} for {higher}, a lower one for {below}."
    chart = {"layer": layers, "height": round(0.8 * WIDTH)}
    first, second = (brief(name, IN_TITLE) for name in (other, one))
    return parts.specification(chart, f"{measure}: {first} against {second}", description)


def _points(rows: ChartRows, gain: str, **channels: Any) -> ChartPart:
    """A triangle that points up where the second run is better, down where it is worse, a circle where neither is."""
    ways = {"better": "triangle-up", "worse": "triangle-down", "faint": "circle"}
    many = len(rows) > MANY
    return layer(
        "point",
        {"filled": True, "size": 16 if many else 40, "opacity": 0.5 if many else 0.8},
        rows=rows,
        steps=calculate(way=f"{gain} > {SAME} ? 'better' : {gain} < -{SAME} ? 'worse' : 'faint'"),
        color=channel("way:N", scale={"domain": [*ways], "range": [LIGHT[way] for way in ways]}, legend=None),
        shape=channel("way:N", scale={"domain": [*ways], "range": [*ways.values()]}, legend=None),
        **channels,
    )


CHART = Chart(
    name="scatter",
    meaning="two runs, a point for each query",
    runs=2,
    draw=lambda results, measure: scatter_chart(
        measure.name,
        results[0].run,
        results[1].run,
        shared_values(results, measure),
        lower_is_better=measure.definition.lower_is_better,
    ),
)
