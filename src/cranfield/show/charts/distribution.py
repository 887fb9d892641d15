"""How a measure is spread over the queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cranfield.show.charts.chart import Chart
from cranfield.show.charts.drawing import Spec, altair, colour_scale, specification

FEW = 500  # queries whose values are also drawn one by one ...
ALL = 2000  # ... as long as all runs together have no more values


def distribution_chart(measure: str, values: Mapping[str, Sequence[float]]) -> Spec:
    """How the values of queries are spread, a row for each run: a box from quartile to quartile, a line from the lowest
    to the highest, the median as a tick and the mean as a diamond; each query as a faint tick while they are few.
    """
    alt = altair()
    rows: list[dict[str, Any]] = []
    for run, column in values.items():
        low, q1, median, q3, high = np.percentile(column, [0, 25, 50, 75, 100]).tolist() if len(column) else [0.0] * 5
        mean = float(np.mean(column)) if len(column) else 0.0
        rows.append({"run": run, "low": low, "q1": q1, "median": median, "q3": q3, "high": high, "mean": mean})
    sizes = list(map(len, values.values()))
    few = max(sizes, default=0) <= FEW and sum(sizes) <= ALL
    each = [{"run": run, "value": float(value)} for run, column in values.items() for value in column] if few else []
    y = alt.Y("run:N", title=None, sort=list(values))
    shown = [alt.Tooltip(f"{name}:Q", format=".4f") for name in ("low", "q1", "median", "q3", "high", "mean")]
    boxes = alt.Chart(alt.Data(values=rows)).encode(y=y, tooltip=["run:N", *shown])
    colour = alt.Color("run:N", scale=colour_scale(alt, values), legend=None)
    layers = [
        boxes.mark_rule(color="#888888").encode(x=alt.X("low:Q", title=measure), x2="high:Q"),
        boxes.mark_bar(size=14, opacity=0.65).encode(x="q1:Q", x2="q3:Q", color=colour),
        boxes.mark_tick(size=18, thickness=2, color="#444444").encode(x="median:Q"),
        boxes.mark_point(shape="diamond", size=40, filled=True, color="#ffffff", stroke="#444444", opacity=1).encode(
            x="mean:Q"
        ),
    ]
    if few:
        ticks = alt.Chart(alt.Data(values=each)).mark_tick(size=8, opacity=0.45, yOffset=14, thickness=1.5)
        layers.append(ticks.encode(x="value:Q", y=y, color=colour))
    told = "; ".join(f"{row['run']}: median {row['median']:.4f}, mean {row['mean']:.4f}" for row in rows)
    title = f"{measure} of the queries"
    spec = specification(alt.layer(*layers), title, f"How {measure} is spread over the queries. {told}.")
    return Spec(spec, height={"step": 46})


CHART = Chart(
    name="distribution",
    meaning="how a measure is spread over the queries",
    draw=lambda results, measure: distribution_chart(
        measure.name, {each.run: each.column(measure).tolist() for each in results}
    ),
)
