"""Two runs, a point for each query."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cranfield.comparison.significance import SAME
from cranfield.layout import count
from cranfield.show.charts.axes import TICKS
from cranfield.show.charts.chart import Chart, counts, shared_values
from cranfield.show.charts.drawing import WIDTH, Spec, altair, specification
from cranfield.show.look import LIGHT

MANY = 300  # queries whose points are small and faint, so that where they lie close shows


def scatter_chart(
    measure: str,
    one: str,
    other: str,
    values: Mapping[str, tuple[float, float]],
    *,
    lower_is_better: bool = False,
) -> Spec:
    """Each query at its values in two runs, {query: (one, other)}: above the diagonal the second is higher."""
    alt = altair()
    rows = [{"query": query, "one": x, "other": y} for query, (x, y) in values.items()]
    every = [value for pair in values.values() for value in pair]
    low, high = min([0.0, *every]), max([1.0, *every])
    ends = alt.Chart(alt.Data(values=[{"one": low, "other": low}, {"one": high, "other": high}]))
    scale = alt.Scale(domain=[low, high])
    x = alt.X("one:Q", title=f"{measure} of {one}", scale=scale, axis=alt.Axis(tickCount=TICKS, grid=True))
    y = alt.Y("other:Q", title=f"{measure} of {other}", scale=scale, axis=alt.Axis(tickCount=TICKS))
    shown = ["query:N", alt.Tooltip("one:Q", format=".4f"), alt.Tooltip("other:Q", format=".4f")]
    above, below = (sum(sign * (b - a) > SAME for a, b in values.values()) for sign in (1, -1))
    diagonal = ends.mark_line(strokeDash=[4, 4], color=LIGHT["faint"], strokeWidth=1)
    gain = f"{-1 if lower_is_better else 1} * (datum.other - datum.one)"
    queries = alt.Chart(alt.Data(values=rows))
    points = _points(alt, queries, gain, len(rows))
    layers = [diagonal.encode(x=x, y=y), points.encode(x=x, y=y, tooltip=shown)]
    chart = alt.layer(*layers, *(counts(alt, queries, gain) if rows else ()))
    higher = count(above, "query", "queries")
    told = f"{other} has a higher {measure} than {one} for {higher}, a lower one for {below}."
    return specification(chart, f"{measure}: {other} against {one}", told, height=round(0.8 * WIDTH))


def _points(alt: Any, queries: Any, gain: str, number: int) -> Any:
    """A triangle that points up where the second run is better, down where it is worse, a circle where neither is."""
    ways = {"better": "triangle-up", "worse": "triangle-down", "faint": "circle"}
    many = number > MANY
    return (
        queries.transform_calculate(way=f"{gain} > {SAME} ? 'better' : {gain} < -{SAME} ? 'worse' : 'faint'")
        .mark_point(filled=True, size=16 if many else 40, opacity=0.5 if many else 0.8)
        .encode(
            color=alt.Color("way:N", scale=alt.Scale(domain=[*ways], range=[LIGHT[way] for way in ways]), legend=None),
            shape=alt.Shape("way:N", scale=alt.Scale(domain=[*ways], range=[*ways.values()]), legend=None),
        )
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
