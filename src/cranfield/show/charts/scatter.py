"""Two runs, a point for each query."""

from __future__ import annotations

from collections.abc import Mapping

from cranfield.layout import count
from cranfield.show.charts.chart import Chart, shared_values
from cranfield.show.charts.drawing import COLOURS, Spec, altair, specification


def scatter_chart(measure: str, one: str, other: str, values: Mapping[str, tuple[float, float]]) -> Spec:
    """Each query at its values in two runs; above the diagonal the second is better: {query: (one, other)}."""
    alt = altair()
    rows = [{"query": query, "one": x, "other": y} for query, (x, y) in values.items()]
    every = [value for pair in values.values() for value in pair]
    low, high = min([0.0, *every]), max([1.0, *every])
    ends = alt.Chart(alt.Data(values=[{"one": low, "other": low}, {"one": high, "other": high}]))
    scale = alt.Scale(domain=[low, high])
    x = alt.X("one:Q", title=f"{measure} of {one}", scale=scale)
    y = alt.Y("other:Q", title=f"{measure} of {other}", scale=scale)
    shown = ["query:N", alt.Tooltip("one:Q", format=".4f"), alt.Tooltip("other:Q", format=".4f")]
    points = alt.Chart(alt.Data(values=rows)).mark_circle(size=45, opacity=0.75, color=COLOURS[0])
    diagonal = ends.mark_line(strokeDash=[4, 4], color="#888888", strokeWidth=1)
    above, below = (sum(sign * (b - a) > 0 for a, b in values.values()) for sign in (1, -1))
    higher = count(above, "query", "queries")
    told = f"{other} has a higher {measure} than {one} for {higher}, a lower one for {below}."
    chart = alt.layer(diagonal.encode(x=x, y=y), points.encode(x=x, y=y, tooltip=shown))
    return specification(chart, f"{measure}: {other} against {one}", told)


CHART = Chart(
    name="scatter",
    meaning="two runs, a point for each query",
    runs=2,
    draw=lambda results, measure: scatter_chart(
        measure.name, results[0].run, results[1].run, shared_values(results, measure)
    ),
)
