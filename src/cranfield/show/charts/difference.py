"""Two runs, query by query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from cranfield.comparison.significance import SAME, TESTS, Settings
from cranfield.evaluation.result import Evaluation
from cranfield.layout import columns, count
from cranfield.measures import Measure
from cranfield.show.charts.axes import TICKS
from cranfield.show.charts.chart import Chart, counts, shared_values
from cranfield.show.charts.drawing import NOTE, Spec, altair, specification
from cranfield.show.look import LIGHT

NAMED = 12  # queries whose names are written below their bars
BARS = 300  # more queries than that become one area, which has no gaps
ALPHA = 0.05
ROOM = 0.2  # of the length of the axis, on either side of its zero
_SIGNED = "datum.value ? format(datum.value, '+~g') : '0'"


class MeanDifference(NamedTuple):
    """The mean of the differences, and its interval at the level 1 - alpha."""

    mean: float
    low: float
    high: float
    alpha: float = ALPHA

    def __str__(self) -> str:
        mean, low, high = (f"{value + 0.0:+.3f}".replace("-", "−") for value in self[:3])  # + 0.0: there is no -0
        # Queries that all differ by one amount do not vary, and their mean has no interval.
        return mean if self.low == self.high else f"{mean} ({1 - self.alpha:.0%} interval {low} to {high})"


def difference_chart(
    measure: str,
    baseline: str,
    run: str,
    differences: Mapping[str, float],
    *,
    mean: MeanDifference | None = None,
    lower_is_better: bool = False,
) -> Spec:
    """The difference run - baseline of every query, the largest gain first: {query: difference}.

    mean: drawn as a line, with a band for its interval.
    """
    alt = altair()
    sign = -1 if lower_is_better else 1
    ordered = sorted(differences.items(), key=lambda pair: -sign * pair[1])
    rows = [{"place": at, "query": query, "difference": value} for at, (query, value) in enumerate(ordered, start=1)]
    layers = [
        _bars(alt, [query for query, _ in ordered], measure, sign),
        *counts(alt, alt.Chart(), f"{sign} * datum.difference"),
        *_zero(alt, *([ordered[0][1], 0.0 if mean is None else mean.mean] if ordered else [1.0, 1.0])),
        _room(alt, [*differences.values(), *(mean or ())[:3]]),
    ]
    if mean is not None:
        layers = [_band(alt, mean, sign), *layers, *_mean(alt, mean, lower_is_better)]
    up, down = (sum(way * value > SAME for value in differences.values()) for way in (1, -1))
    gained = count(up, "query", "queries")
    told = f"{run} is higher than {baseline} for {gained}, lower for {down}, the same for {len(rows) - up - down}."
    told += "" if mean is None else f" The mean difference is {mean}."
    chart = alt.layer(*layers, data=alt.Data(values=rows))
    return specification(chart, f"{measure} by query: {run} against {baseline}", told)


def _bars(alt: Any, queries: Sequence[str], measure: str, sign: int) -> Any:
    named = 0 < len(queries) <= NAMED
    few = f"n = {count(len(queries), 'query', 'queries')}" if queries else "queries"
    turned = {"labelAngle": -35} if max(map(columns, queries), default=0) * len(queries) > 40 else {"labelAngle": 0}
    x = alt.X(
        "query:N" if named else "place:O",
        sort=list(queries) if named else alt.Undefined,
        title=f"{few}, from largest gain to largest loss",
        axis=alt.Axis(labels=named, ticks=False, domain=False, labelLimit=90, **turned),
        scale=alt.Scale(paddingInner=0.12 if len(queries) <= NAMED**2 else 0, paddingOuter=0),
    )
    y = alt.Y("difference:Q", title=f"difference in {measure}", axis=alt.Axis(tickCount=TICKS, labelExpr=_SIGNED))
    shown = ["query:N", alt.Tooltip("difference:Q", format="+.4f")]
    better, worse = (alt.value(LIGHT[name]) for name in ("better", "worse"))
    if len(queries) <= BARS:
        gained = alt.condition(f"{sign} * datum.difference > 0", better, worse)
        return alt.Chart().mark_bar(minBandSize=1).encode(x=x, y=y, color=gained, tooltip=shown)
    gains = alt.Chart().transform_calculate(difference=f"{sign} * max(0, {sign} * datum.difference)")
    losses = alt.Chart().transform_calculate(difference=f"{sign} * min(0, {sign} * datum.difference)")
    area = {"interpolate": "step"}
    return alt.layer(
        *(part.mark_area(**area).encode(x=x, y=y, color=way) for part, way in ((gains, better), (losses, worse)))
    )


def _zero(alt: Any, first: float, mean: float) -> list[Any]:
    """The line of no difference, named where neither bars nor the mean are: first by the first bar, then the last."""
    below = first > 0
    left = mean >= 0 if below else mean <= 0
    above = below is not left
    side = {"baseline": "bottom", "dy": -4} if above else {"baseline": "top", "dy": 4}
    side |= {"align": "left", "dx": 2} if left else {"align": "right", "dx": -2}
    line = alt.Chart(alt.Data(values=[{"difference": 0}])).encode(y="difference:Q")
    return [
        line.mark_rule(color=LIGHT["ink"], strokeWidth=1),
        line.mark_text(style=NOTE, text="no difference", **side).encode(
            x=alt.value(0 if left else "width"), color=alt.value(LIGHT["soft"])
        ),
    ]


def _room(alt: Any, values: Sequence[float]) -> Any:
    """Nothing to see: makes the axis long enough for words above and below its zero."""
    length = max([0.0, *values]) - min([0.0, *values])
    ends = [min([-ROOM * length, *values]), max([ROOM * length, *values])]
    rows = alt.Data(values=[{"difference": end} for end in ends])
    return alt.Chart(rows).mark_point(opacity=0, color=LIGHT["paper"]).encode(y="difference:Q")


def _band(alt: Any, mean: MeanDifference, sign: int) -> Any:
    decided = "better" if sign * mean.low > 0 and sign * mean.high > 0 else "worse"
    colour = LIGHT["close-ground" if mean.low <= 0 <= mean.high else f"{decided}-ground"]
    band = alt.Chart(alt.Data(values=[{"difference": mean.low, "high": mean.high}]))
    return band.mark_rect(color=colour, opacity=1).encode(
        x=alt.value(0), x2=alt.value("width"), y="difference:Q", y2="high:Q"
    )


def _mean(alt: Any, mean: MeanDifference, lower_is_better: bool) -> list[Any]:
    """The mean as a line, and in words in the corner that sorted bars leave free."""
    at = alt.Chart(alt.Data(values=[{"difference": mean.mean}]))
    corner = {"baseline": "bottom", "dy": -2} if lower_is_better else {"baseline": "top", "dy": 2}
    return [
        at.mark_rule(color=LIGHT["ink"], strokeWidth=1, strokeDash=[4, 3]).encode(y="difference:Q"),
        at.mark_text(style=NOTE, text=f"- - mean {mean}", align="right", **corner).encode(
            x=alt.value("width"), y=alt.value("height" if lower_is_better else 0), color=alt.value(LIGHT["ink"])
        ),
    ]


def mean_difference(differences: Sequence[float], alpha: float = ALPHA) -> MeanDifference | None:
    """The mean with the interval of the paired t-test; None for a single query."""
    if len(differences) < 2:
        return None
    column = np.array(differences, dtype=float)[:, None]
    low, high = TESTS["t"].interval(column, np.array([alpha]), Settings(alpha, 0, 0))
    return MeanDifference(float(column.mean()), float(low[0]), float(high[0]), alpha)


def of_evaluations(results: Sequence[Evaluation], measure: Measure) -> Spec:
    """The chart of two evaluations, the baseline first."""
    differences = {query: other - one for query, (one, other) in shared_values(results, measure).items()}
    return difference_chart(
        measure.name,
        results[0].run,
        results[1].run,
        differences,
        mean=mean_difference(list(differences.values())),
        lower_is_better=measure.definition.lower_is_better,
    )


CHART = Chart(name="difference", meaning="two runs, query by query, sorted", runs=2, draw=of_evaluations)
