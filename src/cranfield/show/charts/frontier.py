"""Quality against latency or cost: the runs on the frontier, and those that another one dominates."""

from __future__ import annotations

from typing import Any

from cranfield.comparison.frontier import Frontier, FrontierPoint
from cranfield.look import LIGHT
from cranfield.show.charts.chart import Chart
from cranfield.show.charts.parts import (
    IN_TITLE,
    NOTE,
    TICKS,
    ChartPart,
    ChartRows,
    Spec,
    brief,
    channel,
    domain,
    fixed,
    layer,
    scale,
    specification,
)

NAME = 44  # columns of a name beside its point: half of the chart


def frontier_chart(found: Frontier) -> Spec:
    """A point for each run, with the interval of its quality; a line through those on the frontier."""
    rows: list[dict[str, Any]] = [
        {
            "run": point.run,
            "name": brief(point.run, NAME),
            "value": point.value,
            "low": point.low,
            "high": point.high,
            "taken": taken(point) * (1000 if found.by == "latency" else 1),
            "standing": f"dominated by {', '.join(point.dominated_by)}" if point.dominated_by else "on the frontier",
            "on": not point.dominated_by,
        }
        for point in found.points
    ]
    what = _axis(found)
    least, most = (end(row["taken"] for row in rows) for end in (min, max))
    for row in rows:
        row["side"] = 1 if row["taken"] ** 2 <= least * most else -1
    x = channel(
        "taken:Q", title=what, scale={"type": "log", "domain": [least / 1.6, most * 1.6]}, axis={"tickCount": TICKS}
    )
    ends = domain(row[name] for row in rows for name in ("low", "high"))
    quality = f"{found.measure}{', lower is better' if found.lower_is_better else ''}"
    y = channel("value:Q", title=quality, axis={"tickCount": TICKS}, scale=scale(ends))
    shown = [
        "run:N",
        channel("value:Q", title=found.measure, format=".4f"),
        channel("taken:Q", title=what, format=".4~g"),
        "standing:N",
    ]
    on, off = ([row for row in rows if row["on"] is kind] for kind in (True, False))
    look = {"strokeDash": [5, 4], "strokeWidth": 1.5, "color": LIGHT["accent"], "interpolate": "step-after"}
    layers = [
        layer("line", look, rows=best_so_far(on, lower=found.lower_is_better), x=x, y=y, tooltip=fixed(None)),
        *_marks(off, LIGHT["faint"], x, y, shown, filled=False),
        *_marks(on, LIGHT["accent"], x, y, shown, filled=True),
    ]
    title = f"{brief(found.measure, IN_TITLE)} against {found.by}: {len(on)} of {len(rows)} on the frontier"
    return specification({"layer": layers}, title, f"{found.sentence}. {found.method}.")


def best_so_far(rows: ChartRows, *, lower: bool) -> ChartRows:
    """Of points on the frontier, those that are better than all that take less: the line goes through these."""
    best: list[Any] = []
    for row in rows:
        if not best or (row["value"] < best[-1]["value"] if lower else row["value"] > best[-1]["value"]):
            best.append(row)
    return best


def taken(point: FrontierPoint) -> float:
    """The median latency, or the mean of what a query takes."""
    return point.spent if point.p50 is None else point.p50


def _axis(found: Frontier) -> str:
    if found.by == "cost":
        return "mean cost of a query"
    median = all(point.p50 is not None for point in found.points)
    return f"{'median' if median else 'mean'} latency, ms"


def _marks(
    rows: ChartRows, colour: str, x: ChartPart, y: ChartPart, shown: list[Any], *, filled: bool
) -> list[ChartPart]:
    """Points with their intervals and names."""
    if not rows:
        return []
    point = {"size": 70, "filled": filled, "strokeWidth": 1.8, "opacity": 1}
    parts = [
        layer("rule", {"strokeWidth": 1.5, "opacity": 0.55}, rows=rows, x=x, y="low:Q", y2="high", color=fixed(colour)),
        layer("point", point, rows=rows, x=x, y=y, color=fixed(colour), tooltip=shown),
    ]
    for side, align in ((1, "left"), (-1, "right")):  # towards the middle, where there is room
        name = {"style": NOTE, "align": align, "baseline": "bottom", "dx": 7 * side, "dy": -4}
        written = fixed(LIGHT["ink"] if filled else colour)
        if part := [row for row in rows if row["side"] == side]:
            parts.append(layer("text", name, rows=part, x=x, y=y, text="name:N", color=written))
    return parts


CHART = Chart(
    name="frontier",
    meaning="quality against latency or cost",
    of="frontier",
    draw=frontier_chart,
    options=("by", "values", "margin", "alpha"),
)
