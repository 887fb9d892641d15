"""Many runs: the order as the verdict of the card, and a chart of the ranks that each run may truly have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import numpy as np

from cranfield.comparison.standing import Standings
from cranfield.evaluation.estimating import SAME
from cranfield.report.gathered import Gathered
from cranfield.report.sentences import NAME, capital, rounded
from cranfield.show.charts.ranks import kind_of, told
from cranfield.words import joined, shortened

WIDTH, HEIGHT = 1000.0, 240.0  # of the chart, in the units of its SVG
STRIP = 400.0  # width of the means in the card
WIDEST = 40.0  # a bar
NAMED = 6  # runs that are all named below the chart


def standing_kinds(gathered: Gathered) -> list[str]:
    """Of each run, where it stands; empty where the order is not known."""
    standings = gathered.standings
    kinds = {} if standings is None else {row.run: kind_of(row, standings) for row in standings.rows}
    return [kinds[run] for run in gathered.runs] if kinds else []


def order_of(standings: Standings) -> dict[str, Any]:
    """The part of the card that says the order: who leads, how many may be as good, and how the means lie."""
    kinds = [kind_of(row, standings) for row in standings.rows]
    counts = {kind: kinds.count(kind) for kind in ("leads", "undecided", "behind")}
    alone = counts["leads"] == 1 and not counts["undecided"]
    names = tuple(shortened(run, NAME) for run in standings.leaders)
    sentence = standings.naming(names)
    sentence = sentence if sentence.startswith(names) else capital(sentence)  # a name stays as it is
    means = [row.mean for row in standings.rows]
    low, high = min(means), max(means)
    room = (high - low) or 1.0
    start, bar = 0.0, []
    for kind, number in counts.items():
        wide = STRIP * number / len(kinds)
        bar.append((kind, round(start, 2), round(wide, 2)))
        start += wide
    return {
        "kind": "better" if alone else "close",
        "badge": "One is best" if alone else "No single best",
        "headline": f"{sentence}.",
        "order": {
            "runs": len(kinds),
            "counts": counts,
            "bar": [part for part in bar if part[2]],
            "ends": [rounded(low), rounded(high)],
            "ticks": [
                (kind, round(2 + (STRIP - 4) * (mean - low) / room, 1))
                for kind, mean in [*zip(kinds, means, strict=True)][::-1]  # the leaders are drawn on top
            ],
        },
    }


def same_leaders(gathered: Gathered, standings: Standings) -> Iterator[str]:
    """Whether the runs that lead have the same value on every query, as one system entered several times has."""
    if len(standings.leaders) < 2 or gathered.comparison is None:
        return
    paired, measure = gathered.comparison._paired, gathered.primary
    values = paired.columns[measure][:, [paired.runs.index(run) for run in standings.leaders]]
    if np.ptp(values, axis=1).max() <= SAME:
        names = joined((shortened(run, NAME) for run in standings.leaders), "and")
        yield f"{names} have the same {measure.name} on every query."


def compare_place(gathered: Gathered, run: str) -> str | None:
    """The address at which a run is compared with that of the verdict; None where there is only one run."""
    pair = gathered.pair
    if pair is None:
        return None
    if gathered.own:
        two = next((own for own in gathered.own if run in (own.run, own.baseline)), pair)
        sides = {"a": two.baseline, "b": two.run}
    elif pair.chosen == "second":
        best = gathered.best_first[0].run
        sides = {"a": best, "b": run} if run != best else {"a": pair.baseline, "b": pair.run}
    else:
        sides = {"a": pair.baseline, "b": run if run != pair.baseline else pair.run}
    return f"#{urlencode({**sides, 'm': pair.measure.name})}"


def rank_chart(gathered: Gathered) -> dict[str, Any] | None:
    """A bar for each run over the ranks that it may truly have, with a dot at its place."""
    standings = gathered.standings
    if standings is None:
        return None
    number = len(standings.rows)
    step, unit = WIDTH / number, HEIGHT / number
    wide = min(0.8 * step, WIDEST)
    bars = [
        {
            "run": row.run,
            "kind": kind_of(row, standings),
            "href": compare_place(gathered, row.run),
            "x": round((at + 0.5) * step - wide / 2, 2),
            "wide": round(wide, 2),
            "top": round((row.first - 1) * unit, 2),
            "high": round((row.last - row.first + 1) * unit, 2),
            "dot": (round((at + 0.5) * step, 2), round((row.place - 0.5) * unit, 2)),
            "told": told(row),
        }
        for at, row in enumerate(standings.rows)
    ]
    names = [row.run for row in standings.rows]
    return {
        "bars": bars,
        "runs": number,
        "radius": round(min(3.5, 0.3 * step, 0.45 * max(unit, 4)), 2),
        "first": sum(row.first == 1 for row in standings.rows),
        "level": None if standings.level is None else f"{100 * standings.level:g}%",
        "names": names if number <= NAMED else [names[0], names[-1]],
    }
