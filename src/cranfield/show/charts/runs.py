"""How lines are distinguished: runs by hue and dashes, everything else without hue, and all by names at their ends."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from cranfield.errors import CranfieldError, choice_hint
from cranfield.look import LIGHT
from cranfield.show.charts.parts import (
    COLOURS,
    HEIGHT,
    IN_LEGEND,
    LINE,
    NOTE,
    ChartPart,
    brief_labels,
    channel,
    data,
    encoding,
    fixed,
    layer,
)
from cranfield.words import columns, count

OTHERS = LIGHT["run-0"]
DASHES = ((1, 0), (6, 2), (2, 2), (8, 2, 2, 2))
SHAPES = ("circle", "square", "triangle-up", "diamond")  # of the points of lines without hues
LONG = 22  # columns of a name for which there is no room beside a chart
GAP = 0.068  # of the height, between the names at the ends of lines: what the smallest picture needs
FAR = 2 * GAP  # a name farther than this from the end of its line would be confusing
POINTS = 4  # lines whose points are marked


def emphasised(names: Sequence[str], highlight: Sequence[str] = (), best: str | None = None) -> dict[str, int]:
    """The runs with a colour of their own, and its number: all of a few; of many, or if some are chosen, the best and
    the chosen.

    names: in the order in which the runs were given, which numbers the colours of a few, whichever of them are shown.
        Of many, the best has the first colour, and the chosen the next.
    """
    unknown = next((run for run in highlight if run not in names), None)
    if unknown is not None:
        raise CranfieldError(f"there is no run '{unknown}' to highlight.", hint=choice_hint("runs are", names, unknown))
    if len(names) <= len(COLOURS):
        chosen = {*highlight, best} if highlight else set(names)
        return {name: number for number, name in enumerate(names, start=1) if name in chosen}
    first = [] if best is None else [best]
    chosen_first = [*first, *(name for name in names if name in highlight and name != best)]
    return {name: number for number, name in enumerate(chosen_first[: len(COLOURS)], start=1)}


def best_of(values: Mapping[str, float], *, lower: bool = False) -> str | None:
    return (min if lower else max)(values, key=lambda run: values[run], default=None)


def hue_scale(names: Sequence[str], shown: Mapping[str, int]) -> ChartPart:
    hues = {name: COLOURS[(number - 1) % len(COLOURS)] for name, number in shown.items()}
    return {"domain": list(names), "range": [hues.get(name, OTHERS) for name in names]}


def dash(at: int) -> tuple[int, ...]:
    """The dashes of a line; those that share a colour differ in them."""
    return DASHES[(at + at // len(COLOURS)) % len(DASHES)]


def dash_scale(names: Sequence[str], shown: Mapping[str, int]) -> ChartPart:
    dashes = {name: list(dash(number - 1)) for name, number in shown.items()}
    return {"domain": list(names), "range": [dashes.get(name, [1, 0]) for name in names]}


def neutral_scale(names: Sequence[str], shown: Mapping[str, int]) -> ChartPart:
    """The shade of each name that is not a run, since hues are for runs: ink, or another shade where dashes repeat."""
    shades = (LIGHT["ink"], LIGHT["faint"])
    return {"domain": list(names), "range": [shades[at // len(DASHES) % len(shades)] for at in range(len(names))]}


def neutral_dash_scale(names: Sequence[str], shown: Mapping[str, int]) -> ChartPart:
    return {"domain": list(names), "range": [list(DASHES[at % len(DASHES)]) for at in range(len(names))]}


def stroke_width(field: str, names: Sequence[str], shown: Collection[str], legend: ChartPart | None) -> ChartPart:
    """Thin lines for those that are not highlighted.

    Ordinal, and with the legend of the dashes: Vega-Lite warns of widths without an order and of legends that differ.
    """
    scale = {"type": "ordinal", "domain": list(names), "range": [2.0 if name in shown else 0.8 for name in names]}
    return channel(f"{field}:O", title=None, sort=list(names), scale=scale, legend=legend)


def legend(shown: Collection[str]) -> ChartPart:
    return {
        "orient": "bottom",
        "columns": _legend_columns(shown),
        "values": list(shown),
        **brief_labels(shown, IN_LEGEND),
    }


def _legend_columns(names: Collection[str]) -> int:
    longest = max(map(columns, names), default=0)
    return 1 if longest > LONG else 2 if len(names) <= 4 or longest > 16 else 3


def legend_height(names: Collection[str]) -> int:
    return LINE * (-(-len(names) // _legend_columns(names)) + 1) if names else 0


def lines(
    rows: Sequence[dict[str, Any]],
    names: Sequence[str],
    across: str,
    up: str,
    ends: Sequence[float],
    *,
    field: str = "run",
    shown: Mapping[str, int] | None = None,
    **channels: Any,
) -> ChartPart:
    """A line for each name, named at its end, or below the chart if names are long; lines not `shown` are grey.

    field: what the lines are of; only runs have hues
    across, up: the fields of the rows; ends: of the vertical axis, whose length the places of the names depend on
    channels: of all lines, such as their axes
    """
    shown = {name: number for number, name in enumerate(names, start=1)} if shown is None else shown
    order = [*(name for name in names if name not in shown), *shown]  # what is drawn later lies on top
    place = {name: at for at, name in enumerate(order)}
    ordered = sorted(rows, key=lambda row: place[row[field]]) if len(order) > len(shown) else list(rows)
    named = _named_ends(ordered, field, across, up, ends, shown)
    key = legend(shown) if not named else None
    colour, dashes = (
        channel(f"{field}:N", title=None, sort=order, scale=scale(order, shown), legend=key)
        for scale in ((hue_scale, dash_scale) if field == "run" else (neutral_scale, neutral_dash_scale))
    )
    point = {"size": 22 if field == "run" else 34, "filled": True} if len(names) <= POINTS else False
    looks: dict[str, Any] = {"strokeDash": dashes, "strokeWidth": stroke_width(field, order, shown, key)}
    if point and field != "run":
        shapes = {"domain": order, "range": list(SHAPES[: len(order)])}
        looks["shape"] = channel(f"{field}:N", title=None, sort=order, scale=shapes, legend=key)
    return {
        **data(ordered),
        "layer": [layer("line", {"point": point}, **looks), *_written(named, across, up, set(shown))],
        "encoding": encoding(color=colour, **channels),
        "height": HEIGHT + legend_height(() if named else shown),
    }


def _named_ends(
    rows: Sequence[dict[str, Any]], field: str, across: str, up: str, ends: Sequence[float], shown: Collection[str]
) -> list[dict[str, Any]]:
    """Where each name goes, so that none is too near to another; nothing where there is no room for that."""
    last = {row[field]: row for row in rows}
    grey = sorted((row for name, row in last.items() if name not in shown), key=lambda row: float(row[up]))
    labelled = [(name, last[name]) for name in shown if name in last]
    if len(labelled) > len(COLOURS) or max((columns(name) for name, _ in labelled), default=0) > LONG:
        return []
    if grey:
        labelled.append((count(len(grey), "other run"), grey[len(grey) // 2]))
    low, high = ends
    wanted = [(row[up] - low) / (high - low) for _, row in labelled]
    places = apart(wanted, GAP)
    if any(abs(place - at) > FAR for place, at in zip(places, wanted, strict=True)):
        return []
    return [
        {field: row[field], across: row[across], "end": row[up], "name": name, up: low + place * (high - low)}
        for (name, row), place in zip(labelled, places, strict=True)
    ]


def _written(named: Sequence[dict[str, Any]], across: str, up: str, shown: Collection[str]) -> list[ChartPart]:
    """The names at their places, and the lines that connect them to the ends."""
    layers = []
    lead = {"strokeWidth": 0.6, "xOffset": 3, "x2Offset": 9}
    text = {"style": NOTE, "align": "left", "baseline": "middle", "dx": 11}
    for coloured in (True, False):
        if part := [row for row in named if (row["name"] in shown) is coloured]:
            colour = {} if coloured else {"color": fixed(LIGHT["faint"])}
            shared: dict[str, Any] = {"rows": part, "tooltip": fixed(None), **colour}
            layers.append(layer("rule", lead, x2=across, y="end:Q", y2=up, **shared))
            layers.append(layer("text", text, text="name:N", **shared))
    return layers


def apart(places: Sequence[float], gap: float) -> list[float]:
    """Places between 0 and 1 near those given, in the same order, none nearer to another than the gap."""
    order = sorted(range(len(places)), key=lambda at: places[at])
    groups: list[list[int]] = []

    def first(group: Sequence[int]) -> float:
        return sum(places[at] - gap * after for after, at in enumerate(group)) / len(group)

    for at in order:
        groups.append([at])
        while len(groups) > 1 and first(groups[-2]) + gap * len(groups[-2]) > first(groups[-1]):
            groups[-2:] = [groups[-2] + groups[-1]]
    moved = {at: first(group) + gap * after for group in groups for after, at in enumerate(group)}
    for below, at in enumerate(order):
        moved[at] = max(min(moved[at], 1 - gap * (len(order) - 1 - below)), gap * below)
    return [round(moved[at], 6) for at in range(len(places))]
