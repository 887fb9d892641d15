"""The ranks that each run may truly have."""

from __future__ import annotations

from typing import Any

from cranfield.comparison.standing import Standing, Standings
from cranfield.look import LIGHT
from cranfield.show.charts import parts
from cranfield.show.charts.chart import Chart
from cranfield.show.charts.parts import BESIDE, NOTE, Spec, brief_labels, channel, fixed, layer
from cranfield.words import count

ROWS = 100  # runs that are shown, the best first
STEP, BAND = 16, 0.62  # pixels of a row, and the share of it that a bar takes
KINDS = {"leads": "best mean", "undecided": "not significantly worse", "behind": "significantly worse"}
COLOURS = {"leads": LIGHT["accent"], "undecided": LIGHT["close"], "behind": LIGHT["run-0"]}


def kind_of(standing: Standing, standings: Standings) -> str:
    """What is known of a run: it leads, it is not significantly worse than the leader, or it is."""
    if standing.run in standings.leaders:
        return "leads"
    return "undecided" if standing.not_worse else "behind"


def told(standing: Standing) -> str:
    ranks = f"may be {standing.first} to {standing.last}" if standing.last > standing.first else f"is {standing.first}"
    return f"{standing.run}: place {standing.place}, {ranks}"


def ranks_chart(standings: Standings) -> Spec:
    """A bar for each run over the ranks that it may truly have, with a dot at its place; the best on top."""
    rows: list[dict[str, Any]] = [
        {
            "run": row.run,
            "kind": KINDS[kind_of(row, standings)],
            "place": row.place,
            "first": row.first - 0.5,
            "last": row.last + 0.5,
            "told": told(row),
        }
        for row in standings.rows[:ROWS]
    ]
    number, names = len(standings.rows), [row["run"] for row in rows]
    shown = [kind for kind, words in KINDS.items() if any(row["kind"] == words for row in rows)]
    last = max(row["last"] for row in rows)
    x = channel(
        "first:Q",
        title=_words(standings, len(rows)),
        axis={"values": parts.whole_ticks(1, int(last)), "grid": True, "format": "d"},
        scale={"domain": [0.5, last], "nice": False},
    )
    y = channel("run:N", title=None, sort=names, axis={"labelColor": LIGHT["ink"], **brief_labels(names, BESIDE)})
    colour = channel(
        "kind:N",
        title=None,
        scale={"domain": [KINDS[kind] for kind in shown], "range": [COLOURS[kind] for kind in shown]},
        legend={"orient": "bottom", "columns": 1, "symbolType": "square", "symbolStrokeWidth": 0, "symbolSize": 90},
    )
    dot = {"filled": True, "size": 26, "opacity": 1, "strokeWidth": 1}
    shared: dict[str, Any] = {"y": y, "tooltip": ["told:N"]}
    layers = [
        layer("bar", {"height": {"band": BAND}, "opacity": 0.7}, x=x, x2="last", color=colour, **shared),
        layer("point", dot, x="place:Q", fill=fixed(LIGHT["ink"]), stroke=fixed(LIGHT["paper"]), **shared),
    ]
    if number <= parts.EVERY:  # room for numbers
        ends = [{"run": row.run, "first": row.last + 0.5, "text": _span(row)} for row in standings.rows]
        look = {"style": NOTE, "align": "left", "baseline": "middle", "dx": 4}
        layers.append(layer("text", look, rows=ends, x=x, y=y, text="text:N", color=fixed(LIGHT["soft"])))
    chart = {**parts.data(rows), "layer": layers, "height": {"step": STEP}}
    description = f"By {standings.measure}: {standings.sentence}."
    return parts.specification(chart, f"Ranks that the runs may truly have, by {standings.measure}", description)


def _span(row: Standing) -> str:
    return str(row.first) if row.first == row.last else f"{row.first}–{row.last}"


def _words(standings: Standings, shown: int) -> list[str]:
    number = len(standings.rows)
    level = [] if standings.level is None else [f"(all at once with {100 * standings.level:g}% confidence)"]
    cut = [] if shown == number else [f"the best {shown} of {count(number, 'run')}"]
    return ["rank", "bar: the ranks that a run may truly have", *level, "dot: where it came", *cut]


CHART = Chart(name="ranks", meaning="the ranks that each run may truly have", of="standings", draw=ranks_chart)
