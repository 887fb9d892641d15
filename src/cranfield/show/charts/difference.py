"""Two runs, query by query."""

from __future__ import annotations

from collections.abc import Mapping

from cranfield.layout import count
from cranfield.show.charts.chart import Chart, shared_values
from cranfield.show.charts.drawing import COLOURS, Spec, altair, specification

BETTER, WORSE = COLOURS[0], COLOURS[1]


def difference_chart(measure: str, baseline: str, run: str, differences: Mapping[str, float]) -> Spec:
    """The difference run - baseline of every query, the largest gain first: {query: difference}."""
    alt = altair()
    ordered = sorted(differences.items(), key=lambda pair: -pair[1])
    rows = [{"place": at, "query": query, "difference": value} for at, (query, value) in enumerate(ordered, start=1)]
    colour = alt.condition("datum.difference > 0", alt.value(BETTER), alt.value(WORSE))
    chart = (
        alt.Chart(alt.Data(values=rows))
        .mark_bar(minBandSize=1)
        .encode(
            x=alt.X(
                "place:O",
                title="queries, largest gain to largest loss",
                axis=alt.Axis(labels=False, ticks=False),
            ),
            y=alt.Y("difference:Q", title=f"difference of {measure}"),
            color=colour,
            tooltip=["query:N", alt.Tooltip("difference:Q", format="+.4f")],
        )
    )
    up, down = (sum(sign * value > 0 for value in differences.values()) for sign in (1, -1))
    gained = count(up, "query", "queries")
    told = f"{run} is higher than {baseline} for {gained}, lower for {down}, the same for {len(rows) - up - down}."
    return specification(chart, f"{measure}: {run} against {baseline}, query by query", told)


CHART = Chart(
    name="difference",
    meaning="two runs, query by query, sorted",
    runs=2,
    draw=lambda results, measure: difference_chart(
        measure.name,
        results[0].run,
        results[1].run,
        {query: other - one for query, (one, other) in shared_values(results, measure).items()},
    ),
)
