"""Precision and recall down to each rank."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cranfield.measures.curve import Curve
from cranfield.ranks.columns import Flags
from cranfield.show.charts.chart import Chart
from cranfield.show.charts.drawing import (
    HEIGHT,
    WIDTH,
    Spec,
    altair,
    colour_scale,
    dash_scale,
    legend,
    share_scale,
    share_top,
    specification,
)


def rank_by_rank_chart(curves: Mapping[str, Curve], *, query: str | None = None, mean: bool = True) -> Spec:
    """Precision against recall down to each rank, as points, and interpolated, as steps: a curve for each run.

    query: the one that the curves are of; mean: whether they are means over queries.
    """
    alt = altair()
    highest = [max(float(values.max()) for values in columns) for columns in zip(*curves.values())]
    wide, high = WIDTH / share_top(highest[0]), HEIGHT / share_top(highest[1])  # pixels for each unit
    points = [{"run": run, **_points(curve, wide, high)} for run, curve in curves.items()]
    steps = [{"run": run, **_steps(curve.interpolated(), high)} for run, curve in curves.items()]
    x, y = (
        axis(f"{name}:Q", title=f"{'mean ' * mean}{name}", scale=share_scale(alt, [{name: top}], name))
        for axis, name, top in ((alt.X, "recall", highest[0]), (alt.Y, "precision", highest[1]))
    )
    order, values = list(curves), [alt.Tooltip(f"{name}:Q", format=".4f") for name in ("recall", "precision")]
    named = legend(alt, order) if len(order) > 1 else None
    colour = alt.Color("run:N", title=None, sort=order, scale=colour_scale(alt, order), legend=named)
    dashes = alt.StrokeDash("run:N", title=None, sort=order, scale=dash_scale(alt, order), legend=named)
    stairs = alt.Chart(alt.Data(values=steps)).transform_flatten(["recall", "precision"])
    dots = alt.Chart(alt.Data(values=points)).transform_flatten(["rank", "recall", "precision"])
    dot = alt.OverlayMarkDef(size=20, filled=True, opacity=0.9)
    layers = [
        stairs.mark_line(interpolate="step-before", strokeWidth=1.5).encode(
            x=x, y=y, color=colour, strokeDash=dashes, tooltip=["run:N", *values]
        ),
        dots.mark_line(strokeWidth=0.75, opacity=0.4, point=dot).encode(
            x=x, y=y, color=colour, shape=_key(alt), order="rank:Q", tooltip=["run:N", "rank:Q", *values]
        ),
    ]
    if len(order) == 1:
        labels = alt.Chart(alt.Data(values=_labelled(points[0], wide, high))).encode(x=x, y=y, text="rank:Q")
        layers.append(labels.mark_text(align="left", dx=4, dy=-6, fontSize=9, color=GREY))
    title = f"Precision and recall{'' if query is None else f' of query {query}'}, rank by rank"
    told = "; ".join(f"{run} {_ends(curve)}" for run, curve in curves.items())
    return specification(
        alt.layer(*layers), title, f"A point for each rank, and steps where it is interpolated: {told}.", curves
    )


GREY = "#777777"  # readable on a light and on a dark page
STAIRS = "M-1,-.6H0V.2H1V.5H-.3V-.3H-1Z"  # a sign for the legend
ROOM = 22  # pixels between the ranks that are written beside points


def _points(curve: Curve, wide: float, high: float) -> dict[str, Any]:
    """The points of a curve as columns, without those that fall on the pixel of the one before."""
    x, y = np.round(curve.recall * wide), np.round(curve.precision * high)
    kept = np.append(True, (x[1:] != x[:-1]) | (y[1:] != y[:-1]))
    kept[-1] = True
    return {"rank": (np.flatnonzero(kept) + 1).tolist(), **_columns(curve, kept)}


def _steps(curve: Curve, high: float) -> dict[str, Any]:
    """The ends of the steps of a curve as columns, without those of steps that are not a pixel high."""
    y = np.round(curve.precision * high)
    kept = np.append(y[1:] != y[:-1], True)
    kept[0] = True
    return _columns(curve, kept)


def _columns(curve: Curve, kept: Flags) -> dict[str, Any]:
    return {"recall": curve.recall[kept].round(5).tolist(), "precision": curve.precision[kept].round(5).tolist()}


def _labelled(points: Mapping[str, Any], wide: float, high: float) -> list[dict[str, float]]:
    """The points that have their ranks written beside them: where recall rises and no other label is near."""
    found: list[dict[str, float]] = []
    before = 0.0
    for rank, x, y in zip(points["rank"], points["recall"], points["precision"], strict=True):
        near = any(
            abs(x - other["recall"]) * wide < ROOM and abs(y - other["precision"]) * high < ROOM / 2 for other in found
        )
        if x > before and not near:
            found.append({"rank": rank, "recall": x, "precision": y})
        before = x
    return found


def _key(alt: Any) -> Any:
    """Says in the legend what points and steps are."""
    shapes = alt.Scale(domain=["each rank", "interpolated"], range=["circle", STAIRS])
    signs = alt.Legend(orient="top", offset=14, symbolFillColor=GREY, symbolStrokeWidth=0, symbolSize=60)
    return alt.ShapeDatum("each rank", title=None, scale=shapes, legend=signs)


def _ends(curve: Curve) -> str:
    at = (0, len(curve.recall) - 1)
    first, last = (f"{curve.precision[n]:.2f} and recall {curve.recall[n]:.2f} at rank {n + 1:,}" for n in at)
    return f"from precision {first} to precision {last}"


CHART = Chart(
    name="precision-recall-full",
    meaning="precision and recall down to each rank, and interpolated",
    usual=("P@1",),
    only="P",
    options=("query", "grades", "missed"),
    of="curves",
    draw=rank_by_rank_chart,
)
