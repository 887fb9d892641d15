"""Measures as judgments are removed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cranfield.comparison.stability import USUAL_MEASURES, Stability
from cranfield.show.charts.chart import Chart
from cranfield.show.charts.parts import TICKS, Spec, channel, domain, layer, remark, scale, specification
from cranfield.show.charts.runs import lines


def stability_chart(rows: Sequence[tuple[str, float, float, float]], design: str = "per-query") -> Spec:
    """Measures after judgments were taken away: (measure, share removed, mean, standard deviation of the mean).

    design: that of `stability`.
    """
    plain: list[dict[str, Any]] = [
        {"measure": name, "removed": share, "mean": mean, "low": mean - spread, "high": mean + spread}
        for name, share, mean, spread in rows
    ]
    names = list(dict.fromkeys(name for name, *_ in rows))
    what = "each query's judgments" if design == "per-query" else "all judgments"
    ends = domain(row[name] for row in plain for name in ("low", "high"))
    shares = sorted({row["removed"] for row in plain}) or [0.0, 1.0]
    percent, across = {"format": "%", "values": shares}, scale([shares[0], shares[-1]])
    x = channel("removed:Q", title=f"share of {what} removed", axis=percent, scale=across)
    y = channel("mean:Q", title="mean over the runs", axis={"tickCount": TICKS}, scale=scale(ends))
    shown = ["measure:N", channel("removed:Q", format=".0%"), channel("mean:Q", format=".3f")]
    chart = lines(plain, names, "removed", "mean", ends, field="measure", x=x, y=y, tooltip=shown)
    bands = layer("area", {"opacity": 0.14}, y="low:Q", y2="high")
    chart["layer"] = [bands, *chart["layer"], remark("bands: ± 1 standard deviation")]
    description = "; ".join(f"{name} at {share:.0%} removed: {mean:.3f}" for name, share, mean, _ in rows)
    description = f"A share of {what} is removed at random. {description}. Bands are one standard deviation."
    return specification(chart, "Measures as judgments are removed", description)


def of_stability(result: Stability) -> Spec:
    return stability_chart([(row.measure, row.removed, row.mean, row.spread) for row in result.rows], result.design)


CHART = Chart(
    name="stability",
    meaning="measures as judgments are removed",
    usual=tuple(USUAL_MEASURES),
    of="stability",
    draw=of_stability,
)
