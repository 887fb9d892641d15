"""Intervals drawn with letters, all against one line at 0."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import NamedTuple


class DrawnInterval(NamedTuple):
    """An estimate and the ends of its interval, which may be infinite."""

    low: float
    estimate: float
    high: float


def drawn_intervals(spans: Sequence[DrawnInterval | None], width: int) -> list[str]:
    """A drawing of each interval; where there is none, such as for the baseline, the line at 0 alone.

    >>> for drawing in drawn_intervals([DrawnInterval(-1, 1, 3), None, DrawnInterval(-3, -2, -1)], 13):
    ...     print(drawing)
        ├─┼─●──┤
          │
     ├─●┤ │
    """
    ends = [end for span in spans if span for end in span if isfinite(end)]
    low, high = min([*ends, 0.0]), max([*ends, 0.0])
    # Room for an interval that ends just before the line, where the line would be at the edge.
    first, last = int(low < 0), width - 1 - int(high > 0)

    def place(value: float) -> int:
        if not isfinite(value):
            return -1 if value < 0 else width
        return round(first + (value - low) / (high - low) * (last - first)) if high > low else width // 2

    zero = place(0.0)
    return [_drawn(span and _apart(DrawnInterval(*map(place, span)), span, zero), zero, width) for span in spans]


def _apart(places: DrawnInterval, span: DrawnInterval, zero: int) -> DrawnInterval:
    """Places that tell the ends from the estimate; an interval that excludes 0 does not touch the line."""
    first, point, last = places
    if span.low < span.estimate:
        first = min(first, point - 1)
    if span.estimate < span.high:
        last = max(last, point + 1)
    shift = min(zero - 1 - last, 0) if span.high < 0 else max(zero + 1 - first, 0) if span.low > 0 else 0
    return DrawnInterval(first + shift, max(point + shift, 0), last + shift)


def _drawn(places: DrawnInterval | None, zero: int, width: int) -> str:
    cells = [" "] * width
    if places is not None:
        first, last = int(places.low), int(places.high)
        for at in range(max(first, 0), min(last, width - 1) + 1):
            cells[at] = "─"
        for at, sign in ((first, "├"), (last, "┤")):
            if 0 <= at < width:
                cells[at] = sign
    cells[zero] = {" ": "│", "─": "┼"}.get(cells[zero], cells[zero])
    if places is not None:
        cells[min(int(places.estimate), width - 1)] = "●"
    return "".join(cells).rstrip()
