"""Measures as judgments are removed."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.comparison.thinning import USUAL_MEASURES, Stability
from cranfield.show.charts.chart import Chart
from cranfield.show.charts.drawing import Spec, altair, colour_scale, dash_scale, legend, specification


def stability_chart(rows: Sequence[tuple[str, float, float, float]], design: str = "per-query") -> Spec:
    """Measures after judgments were taken away: (measure, share removed, mean, standard deviation of the mean).

    design: that of `stability`.
    """
    alt = altair()
    plain = [
        {"measure": name, "removed": share, "mean": mean, "low": mean - spread, "high": mean + spread}
        for name, share, mean, spread in rows
    ]
    names = list(dict.fromkeys(name for name, *_ in rows))
    what = "each query's judgments" if design == "per-query" else "all judgments"
    x = alt.X("removed:Q", title=f"share of {what} removed", axis=alt.Axis(format="%"))
    colour = alt.Color("measure:N", title=None, sort=names, scale=colour_scale(alt, names), legend=legend(alt, names))
    base = alt.Chart(alt.Data(values=plain))
    shown = ["measure:N", alt.Tooltip("removed:Q", format=".0%"), alt.Tooltip("mean:Q", format=".4f")]
    dashes = alt.StrokeDash(
        "measure:N", title=None, sort=names, scale=dash_scale(alt, names), legend=legend(alt, names)
    )
    line = base.mark_line(point=True, strokeWidth=2).encode(
        x=x, y=alt.Y("mean:Q", title="mean over the runs"), color=colour, strokeDash=dashes, tooltip=shown
    )
    band = base.mark_area(opacity=0.18).encode(x=x, y=alt.Y("low:Q"), y2="high:Q", color=colour)
    told = "; ".join(f"{name} at {share:.0%} removed: {mean:.4f}" for name, share, mean, _ in rows)
    told = f"A share of {what} is removed at random. {told}. Bands are one standard deviation."
    return specification(alt.layer(band, line), "Measures as judgments are removed", told, names)


def of_stability(found: Stability) -> Spec:
    """The chart of what `stability` found."""
    return stability_chart([(row.measure, row.removed, row.mean, row.spread) for row in found.rows], found.design)


CHART = Chart(
    name="stability",
    meaning="measures as judgments are removed",
    usual=tuple(USUAL_MEASURES),
    of="stability",
    draw=of_stability,
)
