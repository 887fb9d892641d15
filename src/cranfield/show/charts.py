"""Charts as Vega-Lite specifications: one function for each, plain data in, a plain dict out.

The same specification becomes a part of a page or a picture. Colours are those of Okabe and Ito, which people with any
kind of colour vision tell apart; lines differ in their dashes as well. Every chart describes itself in words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cranfield.measures.curve import Curve
from cranfield.ranks.columns import Flags
from cranfield.show.drawing import (
    COLOURS,
    HEIGHT,
    WIDTH,
    Spec,
    altair,
    colour_scale,
    dash_scale,
    legend,
    lines,
    share_scale,
    share_top,
    specification,
)

BETTER, WORSE = COLOURS[0], COLOURS[1]
RECALLS = tuple(level / 10 for level in range(11))
FEW = 500  # queries whose values are also drawn one by one ...
ALL = 2000  # ... as long as all runs together have no more values


def precision_recall_chart(curves: Mapping[str, Sequence[float]]) -> Spec:
    """Interpolated precision at the eleven levels of recall 0, 0.1, …, 1, a line for each run."""
    alt = altair()
    rows = [
        {"run": run, "recall": level, "precision": value}
        for run, values in curves.items()
        for level, value in zip(RECALLS, values, strict=True)
    ]
    chart = lines(alt, rows, curves).encode(
        x=alt.X("recall:Q", title="recall", scale=alt.Scale(domain=[0, 1])),
        y=alt.Y("precision:Q", title="interpolated precision", scale=share_scale(alt, rows, "precision")),
        tooltip=["run:N", "recall:Q", alt.Tooltip("precision:Q", format=".4f")],
    )
    ends = "; ".join(f"{run} from {values[0]:.2f} to {values[-1]:.2f}" for run, values in curves.items())
    return specification(
        chart, "Precision at levels of recall", f"Interpolated precision from recall 0 to recall 1: {ends}.", curves
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


def cutoff_chart(measure: str, curves: Mapping[str, Mapping[int, float]]) -> Spec:
    """The mean of a measure at one cutoff after the other, a line for each run: {run: {cutoff: value}}."""
    alt = altair()
    rows = [{"run": run, "cutoff": k, "value": value} for run, values in curves.items() for k, value in values.items()]
    chart = lines(alt, rows, curves).encode(
        x=alt.X("cutoff:Q", title="cutoff k", axis=alt.Axis(tickMinStep=1), scale=alt.Scale(nice=False)),
        y=alt.Y("value:Q", title=f"{measure}@k"),
        tooltip=["run:N", "cutoff:Q", alt.Tooltip("value:Q", format=".4f")],
    )
    last = {run: list(values.items())[-1] for run, values in curves.items() if values}
    told = "; ".join(f"{run} reaches {value:.4f} at {k}" for run, (k, value) in last.items())
    return specification(chart, f"{measure} by cutoff", f"The mean of {measure} at each cutoff: {told}.", curves)


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
    told = f"{run} is higher than {baseline} for {up} queries, lower for {down}, the same for {len(rows) - up - down}."
    return specification(chart, f"{measure}: {run} against {baseline}, query by query", told)


def scatter_chart(measure: str, one: str, other: str, values: Mapping[str, tuple[float, float]]) -> Spec:
    """Each query at its values in two runs; above the diagonal the second is better: {query: (one, other)}."""
    alt = altair()
    rows = [{"query": query, "one": x, "other": y} for query, (x, y) in values.items()]
    every = [value for pair in values.values() for value in pair]
    low, high = min([0.0, *every]), max([1.0, *every])
    ends = alt.Chart(alt.Data(values=[{"one": low, "other": low}, {"one": high, "other": high}]))
    scale = alt.Scale(domain=[low, high])
    x = alt.X("one:Q", title=f"{measure} of {one}", scale=scale)
    y = alt.Y("other:Q", title=f"{measure} of {other}", scale=scale)
    shown = ["query:N", alt.Tooltip("one:Q", format=".4f"), alt.Tooltip("other:Q", format=".4f")]
    points = alt.Chart(alt.Data(values=rows)).mark_circle(size=45, opacity=0.75, color=COLOURS[0])
    diagonal = ends.mark_line(strokeDash=[4, 4], color="#888888", strokeWidth=1)
    above, below = (sum(sign * (b - a) > 0 for a, b in values.values()) for sign in (1, -1))
    told = f"{above} queries have a higher {measure} in {other}, {below} a higher one in {one}."
    chart = alt.layer(diagonal.encode(x=x, y=y), points.encode(x=x, y=y, tooltip=shown))
    return specification(chart, f"{measure}: {other} against {one}", told)


def discount_chart(depth: int = 10) -> Spec:
    """What is left of a gain at each rank: of DCG 1/log2(i+1), of RR 1/i, of RBP with persistence 0.8 0.8^(i-1)."""
    alt = altair()
    curves = {
        "DCG: 1/log2(i+1)": [1 / float(np.log2(i + 1)) for i in range(1, depth + 1)],
        "RR: 1/i": [1 / i for i in range(1, depth + 1)],
        "RBP: 0.8^(i-1)": [0.8 ** (i - 1) for i in range(1, depth + 1)],
    }
    rows = [
        {"run": name, "rank": i, "kept": kept} for name, values in curves.items() for i, kept in enumerate(values, 1)
    ]
    chart = lines(alt, rows, curves).encode(
        x=alt.X("rank:Q", title="rank i", axis=alt.Axis(tickMinStep=1), scale=alt.Scale(nice=False)),
        y=alt.Y("kept:Q", title="share that counts", axis=alt.Axis(format="%")),
        tooltip=[alt.Tooltip("run:N", title="discount"), "rank:Q", alt.Tooltip("kept:Q", format=".1%")],
    )
    shares = ", ".join(f"{value:.0%}" for value in curves["DCG: 1/log2(i+1)"][:5])
    return specification(
        chart, "What a document counts at each rank", f"DCG keeps {shares} of a gain at ranks 1, 2, 3, …", curves
    )


def gain_chart(highest: int = 4) -> Spec:
    """What a grade is worth: the grade itself (linear), or 2^grade - 1 (exponential)."""
    alt = altair()
    grades = list(range(highest + 1))
    curves = {
        "linear: grade": [float(grade) for grade in grades],
        "exponential: 2^grade - 1": [2.0**grade - 1 for grade in grades],
    }
    rows = [
        {"run": name, "grade": grade, "gain": gain}
        for name, values in curves.items()
        for grade, gain in enumerate(values)
    ]
    chart = lines(alt, rows, curves).encode(
        x=alt.X("grade:Q", title="grade", axis=alt.Axis(values=grades, format="d"), scale=alt.Scale(nice=False)),
        y=alt.Y("gain:Q", title="gain"),
        tooltip=[alt.Tooltip("run:N", title="gain"), "grade:Q", "gain:Q"],
    )
    told = f"At grade {highest} the linear gain is {highest}, the exponential one {2**highest - 1}."
    return specification(chart, "What a grade is worth", told, curves)


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
