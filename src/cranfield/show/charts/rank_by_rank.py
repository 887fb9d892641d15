"""Precision and recall down to each rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cranfield.look import LIGHT
from cranfield.measures.recall_levels import Curve
from cranfield.ranks.columns import Flags
from cranfield.show.charts import parts, runs
from cranfield.show.charts.chart import Chart
from cranfield.show.charts.parts import (
    HEIGHT,
    IN_TITLE,
    LINE,
    WIDTH,
    ChartPart,
    Spec,
    brief,
    channel,
    layer,
    share_domain,
)
from cranfield.words import count


def rank_by_rank_chart(
    curves: Mapping[str, Curve], *, query: str | None = None, mean: bool = True, highlight: Sequence[str] = ()
) -> Spec:
    """Precision against recall down to each rank, as points, and interpolated, as steps: a curve for each run.

    query: the one that the curves are of; mean: whether they are means over queries.
    """
    tops = [
        share_domain(max((float(values.max()) for values in columns), default=1.0)) for columns in zip(*curves.values())
    ] or [[0.0, 1.0]] * 2
    wide, high = WIDTH / tops[0][1], HEIGHT / tops[1][1]  # pixels for each unit
    shown = runs.emphasised(list(curves), highlight, runs.best_of({run: _area(curve) for run, curve in curves.items()}))
    order = [*(run for run in curves if run not in shown), *shown]  # what is drawn later lies on top
    points = [{"run": run, **_points(curves[run], wide, high)} for run in (order if len(order) <= runs.POINTS else ())]
    steps = [{"run": run, **_steps(curves[run].interpolated(), high)} for run in order]
    ticks = {"tickCount": parts.TICKS}
    x, y = (
        channel(f"{name}:Q", title=f"{'mean ' * mean}{name}{words}", scale=parts.scale(top), axis=ticks)
        for name, top, words in (("recall", tops[0], ""), ("precision", tops[1], "" if points else ", interpolated"))
    )
    values = [channel(f"{name}:Q", format=".3f") for name in ("recall", "precision")]
    named = runs.legend(shown) if len(order) > 1 else None
    colour, dashes = (
        channel("run:N", title=None, sort=order, scale=looks(order, shown), legend=named)
        for looks in (runs.hue_scale, runs.dash_scale)
    )
    shared: dict[str, Any] = {"x": x, "y": y, "color": colour}
    layers = [
        layer(
            "line",
            {"interpolate": "step-before"},
            rows=steps,
            steps=[parts.flatten("recall", "precision")],
            strokeDash=dashes,
            strokeWidth=runs.stroke_width("run", order, shown, named),
            tooltip=["run:N", *values],
            **shared,
        ),
    ]
    if points:
        layers.append(
            layer(
                "line",
                {"strokeWidth": 0.75, "opacity": 0.4, "point": {"size": 20, "filled": True, "opacity": 0.9}},
                rows=points,
                steps=[parts.flatten("rank", "recall", "precision")],
                shape=_key(),
                order="rank:Q",
                tooltip=["run:N", "rank:Q", *values],
                **shared,
            )
        )
    if len(order) == 1:
        ranks = {"style": parts.NOTE, "align": "left", "dx": 3, "dy": -7, "color": LIGHT["soft"]}
        layers.append(layer("text", ranks, rows=_labelled(points[0], wide, high), x=x, y=y, text="rank:Q"))
    if len(order) > len(shown):
        layers.append(parts.remark(f"in grey: {count(len(order) - len(shown), 'other run')}"))
    title = f"Precision and recall{'' if query is None else f' of query {brief(query, IN_TITLE)}'}, rank by rank"
    description = "; ".join(f"{run} {_ends(curve)}" for run, curve in curves.items())
    height = HEIGHT + LINE * bool(points) + runs.legend_height(shown if named is not None else ())
    description = f"A point for each rank, and steps where it is interpolated: {description}."
    return parts.specification({"layer": layers, "height": height}, title, description)


def _area(curve: Curve) -> float:
    steps = curve.interpolated()
    return float((np.diff(steps.recall, prepend=0.0) * steps.precision).sum())


STAIRS = "M-1,-.6H0V.2H1V.5H-.3V-.3H-1Z"  # a sign for the legend
ROOM = 34  # pixels between the ranks that are written beside points


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
    labels: list[dict[str, float]] = []
    before = 0.0
    for rank, x, y in zip(points["rank"], points["recall"], points["precision"], strict=True):
        gaps = ((abs(x - other["recall"]) * wide, abs(y - other["precision"]) * high) for other in labels)
        if x > before and not any(across < ROOM and up < ROOM / 2 for across, up in gaps):
            labels.append({"rank": rank, "recall": x, "precision": y})
        before = x
    return labels


def _key() -> ChartPart:
    shapes = {"domain": ["each rank", "interpolated"], "range": ["circle", STAIRS]}
    looks = {"symbolFillColor": LIGHT["soft"], "symbolStrokeWidth": 0, "symbolSize": 60}
    return {"datum": "each rank", "title": None, "scale": shapes, "legend": {"orient": "top", "offset": 14, **looks}}


def _ends(curve: Curve) -> str:
    at = (0, len(curve.recall) - 1)
    first, last = (f"{curve.precision[n]:.2f} and recall {curve.recall[n]:.2f} at rank {n + 1:,}" for n in at)
    return f"from precision {first} to precision {last}"


CHART = Chart(
    name="precision-recall-full",
    meaning="precision and recall at each rank, and interpolated",
    usual=("P@1",),
    only="P",
    options=("query", "grades", "missed", "highlight"),
    of="curves",
    draw=rank_by_rank_chart,
)
