"""How a measure changes with each parameter that was tuned."""

from __future__ import annotations

from typing import Any

from cranfield.look import LIGHT
from cranfield.mixing.curves import Curve
from cranfield.mixing.tuning import Tuning
from cranfield.show.charts.parts import (
    IN_TITLE,
    TICKS,
    ChartPart,
    Spec,
    brief,
    channel,
    data,
    domain,
    fixed,
    layer,
    remark,
    scale,
    specification,
)

MARKED = 7  # up to this many values, all are marked
SEVERAL = 170  # pixels of height of one of several charts
WIDE = 10  # how many times the smallest value the largest is, from which on the axis is logarithmic


def response_chart(tuning: Tuning) -> Spec:
    """The mean difference from the baseline at each value of a parameter, with its 95% band, a chart below another."""
    if not tuning.curves:
        return specification(
            {**data([]), **layer("text", {"text": "no parameter has three values or more"})}, "Nothing to draw", ""
        )
    points = [point for curve in tuning.curves for point in curve.points]
    ends = domain([0.0, *(point.low for point in points), *(point.high for point in points)])
    parts = [_part(curve, tuning, ends) for curve in tuning.curves]
    title = f"{brief(tuning.measure, IN_TITLE)} by setting, on the queries that choose"
    told = "; ".join(_told(curve, tuning.measure) for curve in tuning.curves)
    if len(parts) == 1:
        return specification(parts[0], title, told)
    whole = specification({"vconcat": [{**part, "height": SEVERAL} for part in parts]}, title, told)
    return Spec({name: part for name, part in whole.items() if name not in ("width", "height")})


def _part(curve: Curve, tuning: Tuning, ends: list[float]) -> ChartPart:
    rows: list[dict[str, Any]] = [
        {"value": its.value, "difference": its.difference, "low": its.low, "high": its.high, "queries": its.queries}
        for its in curve.points
    ]
    values = [row["value"] for row in rows]
    across: dict[str, Any] = {"domain": [min(values), max(values)], "nice": False}
    above = [value for value in values if value > 0]
    if min(values) >= 0 and above and max(above) >= WIDE * min(above):
        across |= {"type": "log"} if len(above) == len(values) else {"type": "symlog", "constant": min(above)}
    axis = {"format": "~g", **({"values": values} if len(values) <= MARKED else {"tickCount": TICKS})}
    level = f"{100 * (1 - tuning.alpha):g}%"
    x = channel("value:Q", title=curve.parameter, axis=axis, scale=across)
    y = channel("difference:Q", title=f"vs {brief(curve.baseline, 30)}", axis={"tickCount": TICKS}, scale=scale(ends))
    told = [*(channel(f"{name}:Q", format="+.3f") for name in ("difference", "low", "high")), "value:Q", "queries:Q"]
    ink, accent = fixed(LIGHT["faint"]), fixed(LIGHT["accent"])
    layers = [
        layer("rule", {"strokeDash": [4, 3]}, rows=[{"zero": 0}], y=channel("zero:Q"), color=ink),
        layer("area", {"opacity": 0.14}, x=x, y=channel("low:Q", scale=scale(ends)), y2="high", color=accent),
        layer("line", {"strokeWidth": 2}, x=x, y=y, color=accent),
        layer("point", {"filled": True, "size": 36, "opacity": 1}, x=x, y=y, color=accent, tooltip=told),
        layer("rule", {"strokeWidth": 1.5}, rows=[{"at": curve.final}], x=channel("at:Q", scale=across), color=accent),
        remark(f"line: the final setting; band: {level}"),
    ]
    return {**data(rows), "layer": layers}


def _told(curve: Curve, measure: str) -> str:
    shown = ", ".join(f"{its.difference:+.3f} at {its.value:g}" for its in curve.points)
    return (
        f"{measure} by {curve.parameter}, from that of {curve.baseline}: {shown}; the final setting is {curve.final:g}"
    )
