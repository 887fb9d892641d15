"""Charts as Vega-Lite specifications: one function for each, plain data in, a plain dict out.

The same specification becomes a part of a page or a picture. Colours are those of Okabe and Ito, which people with any
kind of colour vision tell apart; lines differ in their dashes as well. Every chart describes itself in words.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from cranfield.errors import need


class Spec(dict[str, Any]):
    """A Vega-Lite specification: a plain dict that notebooks show as a picture."""

    def _repr_svg_(self) -> str | None:
        from cranfield.show.pictures import shown_in_notebook

        return shown_in_notebook(self)


COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F", "#B8A800")
BETTER, WORSE = COLOURS[0], COLOURS[1]
DASHES = ((1, 0), (6, 2), (2, 2), (8, 2, 2, 2))
RECALLS = tuple(level / 10 for level in range(11))
HEIGHT, LINE = 260, 16  # of a chart, and of each line of its legend after the first
FEW = 500  # queries whose values are also drawn one by one ...
ALL = 2000  # ... as long as all runs together have no more values
CONFIG: dict[str, Any] = {
    "background": None,
    "font": "Helvetica, Arial, Liberation Sans, sans-serif",
    "view": {"stroke": None},
    "axis": {"gridOpacity": 0.4, "titleFontWeight": "normal"},
    "title": {"anchor": "start", "fontSize": 13},
    "legend": {
        "symbolType": "stroke",
        "symbolStrokeWidth": 2,
        "symbolSize": 300,
        "symbolOpacity": 1,
        "labelLimit": 300,
        "offset": 6,
    },
}


def precision_recall_chart(curves: Mapping[str, Sequence[float]]) -> Spec:
    """Interpolated precision at the eleven levels of recall 0, 0.1, …, 1, a line for each run."""
    alt = _altair()
    rows = [
        {"run": run, "recall": level, "precision": value}
        for run, values in curves.items()
        for level, value in zip(RECALLS, values, strict=True)
    ]
    chart = _lines(alt, rows, curves).encode(
        x=alt.X("recall:Q", title="recall", scale=alt.Scale(domain=[0, 1])),
        y=alt.Y("precision:Q", title="interpolated precision", scale=_share(alt, rows, "precision")),
        tooltip=["run:N", "recall:Q", alt.Tooltip("precision:Q", format=".4f")],
    )
    ends = "; ".join(f"{run} from {values[0]:.2f} to {values[-1]:.2f}" for run, values in curves.items())
    return _spec(
        chart, "Precision at levels of recall", f"Interpolated precision from recall 0 to recall 1: {ends}.", curves
    )


def rank_by_rank_chart(curves: Mapping[str, Sequence[tuple[int, float, float]]]) -> Spec:
    """Mean precision against mean recall down to one rank after the other: {run: [(rank, recall, precision)]}."""
    alt = _altair()
    rows = [
        {"run": run, "rank": rank, "recall": recall, "precision": precision}
        for run, points in curves.items()
        for rank, recall, precision in points
    ]
    chart = _lines(alt, rows, curves).encode(
        x=alt.X("recall:Q", title="mean recall", scale=_share(alt, rows, "recall")),
        y=alt.Y("precision:Q", title="mean precision", scale=_share(alt, rows, "precision")),
        order="rank:Q",
        tooltip=["run:N", "rank:Q", *(alt.Tooltip(f"{name}:Q", format=".4f") for name in ("recall", "precision"))],
    )
    ends = {run: (points[0], points[-1]) for run, points in curves.items() if points}
    told = "; ".join(
        f"{run} from precision {first[2]:.2f} and recall {first[1]:.2f} at rank {first[0]} "
        f"to {last[2]:.2f} and {last[1]:.2f} at rank {last[0]}"
        for run, (first, last) in ends.items()
    )
    return _spec(chart, "Precision and recall, rank by rank", f"Not interpolated: {told}.", curves)


def cutoff_chart(measure: str, curves: Mapping[str, Mapping[int, float]]) -> Spec:
    """The mean of a measure at one cutoff after the other, a line for each run: {run: {cutoff: value}}."""
    alt = _altair()
    rows = [{"run": run, "cutoff": k, "value": value} for run, values in curves.items() for k, value in values.items()]
    chart = _lines(alt, rows, curves).encode(
        x=alt.X("cutoff:Q", title="cutoff k", axis=alt.Axis(tickMinStep=1), scale=alt.Scale(nice=False)),
        y=alt.Y("value:Q", title=f"{measure}@k"),
        tooltip=["run:N", "cutoff:Q", alt.Tooltip("value:Q", format=".4f")],
    )
    last = {run: list(values.items())[-1] for run, values in curves.items() if values}
    told = "; ".join(f"{run} reaches {value:.4f} at {k}" for run, (k, value) in last.items())
    return _spec(chart, f"{measure} by cutoff", f"The mean of {measure} at each cutoff: {told}.", curves)


def distribution_chart(measure: str, values: Mapping[str, Sequence[float]]) -> Spec:
    """How the values of queries are spread, a row for each run: a box from quartile to quartile, a line from the lowest
    to the highest, the median as a tick and the mean as a diamond; each query as a faint tick while they are few.
    """
    alt = _altair()
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
    colour = alt.Color("run:N", scale=_colours(alt, values), legend=None)
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
    spec = _spec(alt.layer(*layers), title, f"How {measure} is spread over the queries. {told}.")
    return Spec(spec, height={"step": 46})


def difference_chart(measure: str, baseline: str, run: str, differences: Mapping[str, float]) -> Spec:
    """The difference run - baseline of every query, the largest gain first: {query: difference}."""
    alt = _altair()
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
    return _spec(chart, f"{measure}: {run} against {baseline}, query by query", told)


def scatter_chart(measure: str, one: str, other: str, values: Mapping[str, tuple[float, float]]) -> Spec:
    """Each query at its values in two runs; above the diagonal the second is better: {query: (one, other)}."""
    alt = _altair()
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
    return _spec(chart, f"{measure}: {other} against {one}", told)


def discount_chart(depth: int = 10) -> Spec:
    """What is left of a gain at each rank: of DCG 1/log2(i+1), of RR 1/i, of RBP with persistence 0.8 0.8^(i-1)."""
    alt = _altair()
    curves = {
        "DCG: 1/log2(i+1)": [1 / float(np.log2(i + 1)) for i in range(1, depth + 1)],
        "RR: 1/i": [1 / i for i in range(1, depth + 1)],
        "RBP: 0.8^(i-1)": [0.8 ** (i - 1) for i in range(1, depth + 1)],
    }
    rows = [
        {"run": name, "rank": i, "kept": kept} for name, values in curves.items() for i, kept in enumerate(values, 1)
    ]
    chart = _lines(alt, rows, curves).encode(
        x=alt.X("rank:Q", title="rank i", axis=alt.Axis(tickMinStep=1), scale=alt.Scale(nice=False)),
        y=alt.Y("kept:Q", title="share that counts", axis=alt.Axis(format="%")),
        tooltip=[alt.Tooltip("run:N", title="discount"), "rank:Q", alt.Tooltip("kept:Q", format=".1%")],
    )
    shares = ", ".join(f"{value:.0%}" for value in curves["DCG: 1/log2(i+1)"][:5])
    return _spec(
        chart, "What a document counts at each rank", f"DCG keeps {shares} of a gain at ranks 1, 2, 3, …", curves
    )


def gain_chart(highest: int = 4) -> Spec:
    """What a grade is worth: the grade itself (linear), or 2^grade - 1 (exponential)."""
    alt = _altair()
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
    chart = _lines(alt, rows, curves).encode(
        x=alt.X("grade:Q", title="grade", axis=alt.Axis(values=grades, format="d"), scale=alt.Scale(nice=False)),
        y=alt.Y("gain:Q", title="gain"),
        tooltip=[alt.Tooltip("run:N", title="gain"), "grade:Q", "gain:Q"],
    )
    told = f"At grade {highest} the linear gain is {highest}, the exponential one {2**highest - 1}."
    return _spec(chart, "What a grade is worth", told, curves)


def stability_chart(rows: Sequence[tuple[str, float, float, float]], design: str = "per-query") -> Spec:
    """Measures after judgments were taken away: (measure, share removed, mean, standard deviation of the mean).

    design: that of `stability`.
    """
    alt = _altair()
    plain = [
        {"measure": name, "removed": share, "mean": mean, "low": mean - spread, "high": mean + spread}
        for name, share, mean, spread in rows
    ]
    names = list(dict.fromkeys(name for name, *_ in rows))
    what = "each query's judgments" if design == "per-query" else "all judgments"
    x = alt.X("removed:Q", title=f"share of {what} removed", axis=alt.Axis(format="%"))
    colour = alt.Color("measure:N", title=None, sort=names, scale=_colours(alt, names), legend=_legend(alt, names))
    base = alt.Chart(alt.Data(values=plain))
    shown = ["measure:N", alt.Tooltip("removed:Q", format=".0%"), alt.Tooltip("mean:Q", format=".4f")]
    dashes = alt.StrokeDash("measure:N", title=None, sort=names, scale=_dashes(alt, names), legend=_legend(alt, names))
    line = base.mark_line(point=True, strokeWidth=2).encode(
        x=x, y=alt.Y("mean:Q", title="mean over the runs"), color=colour, strokeDash=dashes, tooltip=shown
    )
    band = base.mark_area(opacity=0.18).encode(x=x, y=alt.Y("low:Q"), y2="high:Q", color=colour)
    told = "; ".join(f"{name} at {share:.0%} removed: {mean:.4f}" for name, share, mean, _ in rows)
    told = f"A share of {what} is removed at random. {told}. Bands are one standard deviation."
    return _spec(alt.layer(band, line), "Measures as judgments are removed", told, names)


def _altair() -> Any:
    return need("altair", extra="report", purpose="drawing charts")


def _lines(alt: Any, rows: Sequence[dict[str, Any]], names: Mapping[str, Any]) -> Any:
    """Lines with points, one for each name, told apart by colour and by dashes."""
    order = list(names)
    return (
        alt.Chart(alt.Data(values=list(rows)))
        .mark_line(point=alt.OverlayMarkDef(size=28, filled=True), strokeWidth=2)
        .encode(
            color=alt.Color("run:N", title=None, sort=order, scale=_colours(alt, order), legend=_legend(alt, order)),
            strokeDash=alt.StrokeDash(
                "run:N", title=None, sort=order, scale=_dashes(alt, order), legend=_legend(alt, order)
            ),
        )
    )


def _share(alt: Any, rows: Sequence[dict[str, Any]], name: str) -> Any:
    """The scale of values between 0 and 1: all of it, unless they fill less than half."""
    half = max((row[name] for row in rows), default=1.0) < 0.5
    return alt.Scale(zero=True) if half else alt.Scale(domain=[0, 1])


def _legend(alt: Any, names: Sequence[str]) -> Any:
    return alt.Legend(orient="bottom", columns=_legend_columns(names))


def _legend_columns(names: Sequence[str]) -> int:
    return 2 if len(names) <= 4 or max(map(len, names)) > 16 else 3


def _colours(alt: Any, names: Any) -> Any:
    order = list(names)
    return alt.Scale(domain=order, range=[COLOURS[at % len(COLOURS)] for at in range(len(order))])


def dash(at: int) -> tuple[int, ...]:
    """The dashes of a line; those that share a colour differ in them.

    >>> dash(0), dash(len(COLOURS))
    ((1, 0), (6, 2))
    """
    return DASHES[(at + at // len(COLOURS)) % len(DASHES)]


def _dashes(alt: Any, names: Any) -> Any:
    order = list(names)
    return alt.Scale(domain=order, range=[list(dash(at)) for at in range(len(order))])


def _spec(chart: Any, title: str, description: str, names: Iterable[str] = ()) -> Spec:
    """A chart as a dict that holds its own data, with its title, what it says in words, and room for a legend."""
    listed = list(names)
    lines = -(-len(listed) // _legend_columns(listed)) if listed else 0
    spec: dict[str, Any] = chart.properties(
        title=title, description=description, width=420, height=HEIGHT + LINE * max(lines - 1, 0)
    ).to_dict(validate=False)
    spec["config"] = CONFIG
    datasets: dict[str, Any] = spec.pop("datasets", {})
    for part in (spec, *spec.get("layer", ())):
        name = part.get("data", {}).get("name")
        if name in datasets:
            part["data"] = {"values": datasets[name]}
    for part in (spec, *spec.get("layer", ())):
        part.pop("name", None)
    # Names become parts of Vega's expressions, where these two signs would end a line inside a string.
    text = json.dumps(spec, ensure_ascii=False)
    return Spec(json.loads(text.replace("\u2028", "\ufffd").replace("\u2029", "\ufffd")))
