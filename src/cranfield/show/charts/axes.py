"""The ends and the ticks of axes."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil, floor, inf, isfinite, log10, sqrt

TICKS = 5  # about
EVERY = 12  # up to this many whole numbers, all are marked


def step(length: float, ticks: int = TICKS) -> float:
    """A round distance between ticks, 1, 2 or 5 times a power of ten: the one that Vega takes for this many ticks.

    >>> step(1.0), step(0.15), step(37)
    (0.2, 0.02, 10.0)
    """
    rough = max(length, 1e-12) / ticks
    power: float = 10.0 ** floor(log10(rough))
    factor = next((factor for above, factor in ((50, 10), (10, 5), (2, 2)) if rough / power >= sqrt(above)), 1)
    return float(f"{factor * power:.6g}")


def domain(values: Iterable[float]) -> list[float]:
    """Round ends of an axis that holds all values; it starts at 0 unless they lie far from there.

    >>> domain([0.1, 0.43]), domain([0.41, 0.5]), domain([])
    ([0.0, 0.5], [0.4, 0.5], [0.0, 1.0])
    """
    low, high = inf, -inf
    for value in values:
        low, high = min(low, value), max(high, value)
    if not (isfinite(low) and isfinite(high)):
        return [0.0, 1.0]
    if (low >= 0 and low < 0.6 * high) or low == high:
        low, high = min(low, 0.0), max(high, 0.0)
    if low == high:
        return [0.0, 1.0]
    by = step(high - low)
    return [float(f"{end:.10g}") for end in (floor(low / by + 1e-9) * by, ceil(high / by - 1e-9) * by)]


def share_domain(highest: float) -> list[float]:
    """The ends of an axis for values between 0 and 1: all of it, unless they fill less than half.

    >>> share_domain(0.7), share_domain(0.2), share_domain(0.0)
    ([0.0, 1.0], [0.0, 0.2], [0.0, 1.0])
    """
    return domain([0.0, highest]) if 0 < highest < 0.5 else [0.0, 1.0]


def whole_ticks(first: int, last: int) -> list[int]:
    """Which of the whole numbers from the first to the last are marked; the first always is.

    >>> whole_ticks(1, 4), whole_ticks(1, 20), whole_ticks(10, 200)
    ([1, 2, 3, 4], [1, 5, 10, 15, 20], [10, 50, 100, 150, 200])
    """
    if last - first < EVERY:
        return list(range(first, last + 1))
    by = int(step(last - first))
    marked = range(-(-first // by) * by, last + 1, by)
    return [first, *(each for each in marked if each - first > by // 2)]
