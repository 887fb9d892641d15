"""Two runs, query by query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from cranfield.evaluation.estimating import SAME, Columns, estimated
from cranfield.evaluation.result import Evaluation
from cranfield.look import LIGHT
from cranfield.measures import Measure
from cranfield.ranks.columns import Numbers
from cranfield.show.charts import parts
from cranfield.show.charts.chart import Chart, counts, shared_values
from cranfield.show.charts.parts import (
    IN_TITLE,
    NOTE,
    TICKS,
    ChartPart,
    Spec,
    brief,
    brief_labels,
    calculate,
    channel,
    fixed,
    layer,
)
from cranfield.words import columns, count

NAMED = 12  # queries whose names are written below their bars
BARS = 300  # more queries than that become one area, which has no gaps
ALPHA = 0.05
ID = 15  # columns of the name of a query
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
    sign = -1 if lower_is_better else 1
    ordered = sorted(differences.items(), key=lambda pair: -sign * pair[1])
    rows = [{"place": at, "query": query, "difference": value} for at, (query, value) in enumerate(ordered, start=1)]
    layers = [
        _bars([query for query, _ in ordered], measure, sign, mean),
        *counts(f"{sign} * datum.difference"),
        *_zero(*([ordered[0][1], 0.0 if mean is None else mean.mean] if ordered else [1.0, 1.0])),
        _room([*differences.values(), *(mean or ())[:3]]),
    ]
    if mean is not None:
        layers = [_band(mean, sign), *layers, _mean(mean)]
    up, down = (sum(way * value > SAME for value in differences.values()) for way in (1, -1))
    gained, same = count(up, "query", "queries"), len(rows) - up - down
    description = f"{run} is higher than {baseline} for {gained}, lower for {down}, the same for {same}."
    description += "" if mean is None else f" The mean difference is {mean}."
    chart = {**parts.data(rows), "layer": layers}
    first, second = (brief(name, IN_TITLE) for name in (run, baseline))
    return parts.specification(chart, f"{measure} by query: {first} against {second}", description)


def _bars(queries: Sequence[str], measure: str, sign: int, mean: MeanDifference | None) -> ChartPart:
    named = 0 < len(queries) <= NAMED
    few = f"n = {count(len(queries), 'query', 'queries')}" if queries else "queries"
    sorted_by = f"{few}, from largest gain to largest loss"
    angle = -35 if max(map(columns, queries), default=0) * len(queries) > 40 else 0
    x = channel(
        "query:N" if named else "place:O",
        # The mean is told here and not in the chart, where it would lie on bars.
        title=sorted_by if mean is None else [sorted_by, f"- - mean {mean}"],
        axis={
            "labels": named,
            "ticks": False,
            "domain": False,
            "labelLimit": 90,
            "labelAngle": angle,
            **(brief_labels(queries, ID) if named else {}),
        },
        scale={"paddingInner": 0.12 if len(queries) <= NAMED**2 else 0, "paddingOuter": 0},
        **({"sort": list(queries)} if named else {}),
    )
    y = channel("difference:Q", title=f"difference in {measure}", axis={"tickCount": TICKS, "labelExpr": _SIGNED})
    shown = ["query:N", channel("difference:Q", format="+.3f")]
    better, worse = (fixed(LIGHT[name]) for name in ("better", "worse"))
    if len(queries) <= BARS:
        colour = {"condition": {"test": f"{sign} * datum.difference > 0", **better}, **worse}
        return layer("bar", {"minBandSize": 1}, x=x, y=y, color=colour, tooltip=shown)
    gains, losses = (calculate(difference=f"{sign} * {side}(0, {sign} * datum.difference)") for side in ("max", "min"))
    ways, area = ((gains, better), (losses, worse)), {"interpolate": "step"}
    return {"layer": [layer("area", area, steps=part, x=x, y=y, color=colour) for part, colour in ways]}


def _zero(first: float, mean: float) -> list[ChartPart]:
    """The line of no difference, named where neither bars nor the mean are: first by the first bar, then the last."""
    below = first > 0
    left = mean >= 0 if below else mean <= 0
    above = below is not left
    side = {"baseline": "bottom", "dy": -4} if above else {"baseline": "top", "dy": 4}
    side |= {"align": "left", "dx": 2} if left else {"align": "right", "dx": -2}
    line: dict[str, Any] = {"rows": [{"difference": 0}], "y": "difference:Q"}
    words = {"style": NOTE, "text": "no difference", **side}
    return [
        layer("rule", {"color": LIGHT["ink"], "strokeWidth": 1}, **line),
        layer("text", words, x=fixed(0 if left else "width"), color=fixed(LIGHT["soft"]), **line),
    ]


def _room(values: Sequence[float]) -> ChartPart:
    """An invisible mark that makes the axis long enough for words above and below its zero."""
    length = max([0.0, *values]) - min([0.0, *values])
    rows = [{"difference": end} for end in (min([-ROOM * length, *values]), max([ROOM * length, *values]))]
    return layer("point", {"opacity": 0, "color": LIGHT["paper"]}, rows=rows, y="difference:Q")


def _band(mean: MeanDifference, sign: int) -> ChartPart:
    decided = "better" if sign * mean.low > 0 and sign * mean.high > 0 else "worse"
    colour = LIGHT["close-ground" if mean.low <= 0 <= mean.high else f"{decided}-ground"]
    ends = [{"difference": mean.low, "high": mean.high}]
    look = {"color": colour, "opacity": 1}
    return layer("rect", look, rows=ends, x=fixed(0), x2=fixed("width"), y="difference:Q", y2="high")


def _mean(mean: MeanDifference) -> ChartPart:
    line = {"color": LIGHT["ink"], "strokeWidth": 1, "strokeDash": [4, 3]}
    return layer("rule", line, rows=[{"difference": mean.mean}], y="difference:Q")


def mean_difference(
    differences: Sequence[float],
    widest: float = 1.0,
    alpha: float = ALPHA,
    weight: Numbers | None = None,
    probability: Numbers | None = None,
) -> MeanDifference | None:
    """The mean with the interval of the paired t-test; no difference is beyond `widest`. None for a single query."""
    if len(differences) < 2:
        return None
    column = np.array(differences, dtype=float)[:, None]
    values = (-widest, widest) if isfinite(widest) else None  # without an end, nothing could be drawn
    estimates = estimated(Columns(column, weight, probability=probability))
    low, high = estimates.interval(alpha, values)
    return MeanDifference(float(estimates.value[0]), float(low[0]), float(high[0]), alpha)


def of_evaluations(results: Sequence[Evaluation], measure: Measure) -> Spec:
    differences = {query: other - one for query, (one, other) in shared_values(results, measure).items()}
    (least, most), lower = measure.definition.range, measure.definition.lower_is_better
    weights = results[0].weights
    drawn = weight = None
    if weights is not None:
        weight, drawn = weights.column(tuple(differences)), weights.probabilities(tuple(differences))
    mean = mean_difference(list(differences.values()), most - least, weight=weight, probability=drawn)
    one, other = (result.run for result in results)
    return difference_chart(measure.name, one, other, differences, mean=mean, lower_is_better=lower)


CHART = Chart(name="difference", meaning="two runs, query by query, sorted", runs=2, draw=of_evaluations)
