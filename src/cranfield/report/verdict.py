"""A difference as a card shows it: its verdict, its number with the interval drawn, and the queries it rests on."""

from __future__ import annotations

from math import isfinite
from typing import Any, NamedTuple

from cranfield.comparison.differences import Difference, decisive_p, estimate_text, interval_name, span_text
from cranfield.report.pair import KINDS
from cranfield.report.sentences import rounded, signed

WIDTH = 400.0  # of the drawings, in the units of their SVG


class Drawn(NamedTuple):
    """An interval, as positions in a drawing that is `WIDTH` wide; `zero` is None if it is not a difference."""

    low: float
    point: float
    high: float
    zero: float | None


def verdict_content(difference: Difference, before: float, now: float) -> dict[str, Any]:
    """before, now: the means of both runs"""
    kind = KINDS[difference.headline]
    counts = {"better": difference.better, "same": difference.same, "worse": difference.worse}
    return {
        "kind": kind,
        "badge": difference.headline,
        "number": signed(0) if kind == "same" else estimate_text(difference).replace("-", "−"),
        "measure": directed(difference.measure, lower=difference.lower_is_better),
        "of": "" if difference.of == "mean" else f"{difference.of} of the queries",
        "numbers": _numbers(difference, kind, before, now),
        "drawn": None if kind == "same" else _drawn(difference),
        "told": f"The interval {'includes' if difference.low <= 0 <= difference.high else 'does not include'} 0",
        "queries": sum(counts.values()),
        "counts": counts,
        "bar": _bar(counts),
    }


def directed(measure: str, *, lower: bool) -> str:
    return f"{measure}{' (lower is better)' if lower else ''}"


def _numbers(difference: Difference, kind: str, before: float, now: float) -> list[str]:
    parts = [f"{rounded(before)} → {rounded(now)}"]
    if kind == "same":
        return [*parts, "the same on every query"]
    if difference.constant:
        parts.append("by the same amount on every query")
    else:
        of = f" of the {difference.of}" if "median" in difference.of else ""
        parts.append(f"{interval_name(difference)}{of} {span_text(difference).replace('-', '−')}")
    many = f" corrected for {difference.family:,} comparisons" if difference.family > 1 else ""
    return [*parts, f"p {decisive_p(difference)}{many}"]


def _drawn(difference: Difference) -> Drawn | None:
    ends = (difference.low, difference.estimate, difference.high, 0.0)
    least, most = min(ends), max(ends)
    if difference.constant or not all(map(isfinite, ends)) or not most > least:
        return None
    room = 0.08 * (most - least)
    return Drawn(*(round(WIDTH * (end - least + room) / (most - least + 2 * room), 1) for end in ends))


def _bar(counts: dict[str, int]) -> list[tuple[str, float, float]]:
    """The parts of a bar that have a width: what they are, where they start, how wide they are."""
    total, at, parts = sum(counts.values()), 0.0, []
    for kind, number in counts.items():
        wide = WIDTH * number / total
        if number:
            parts.append((kind, round(at, 2), round(wide, 2)))
        at += wide
    return parts
