"""Power: which differences a set of queries can show, and how many queries a difference needs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import ceil, log10, sqrt
from typing import NamedTuple

from cranfield.errors import ComparisonError
from cranfield.evaluation.t_distribution import exceeded_with, shifted_chance_below

USUAL = 0.8  # the usual power
PRECISE = 1e-12  # of a detectable difference, as a share of it
MOST = 10_000_000  # more queries than anyone has


def power_of(difference: float, spread: float, queries: float, alpha: float = 0.05) -> float:
    """The chance that a two-sided paired t-test detects a true difference.

    With f = n - 1, δ = difference / spread · √n:  P(|T| > t(1 - alpha/2, f)), T noncentral t with f and δ

    difference: the true difference of the means.
    spread: the standard deviation of the differences of the queries.
    queries: how many there are.
    alpha: the level of significance.
    Returns a chance from 0 to 1.

    >>> round(power_of(0.05, 0.1, 34), 2)
    0.81
    """
    _check(alpha, queries)
    if spread <= 0:
        return 1.0 if difference else alpha
    freedom, far = queries - 1, _critical(alpha, queries)
    shift = abs(difference) / spread * sqrt(queries)
    return min(1 - shifted_chance_below(far, freedom, shift) + shifted_chance_below(-far, freedom, shift), 1.0)


@lru_cache(maxsize=256)
def _critical(alpha: float, queries: float) -> float:
    return float(exceeded_with(alpha / 2, queries - 1))


def detectable_difference(spread: float, queries: float, alpha: float = 0.05, power: float = USUAL) -> float:
    """The smallest true difference that this many queries detect with this power.

    spread, alpha: those of `power_of`.
    queries: how many there are.
    power: the chance of detecting the difference.
    Returns a difference of the means, above 0.

    >>> round(detectable_difference(0.1, 34), 3)
    0.05
    """
    _check(alpha, queries, power)
    return spread * _detectable_effect(queries, alpha, power) if spread > 0 else 0.0


@lru_cache(maxsize=256)  # a comparison needs it for every pair and every measure
def _detectable_effect(queries: float, alpha: float, power: float) -> float:
    """The detectable difference where the spread is 1."""
    low, high = 0.0, 1.0
    while power_of(high, 1.0, queries, alpha) < power:
        low, high = high, high * 2
    while high - low > PRECISE * high:
        middle = (low + high) / 2
        low, high = (low, middle) if power_of(middle, 1.0, queries, alpha) >= power else (middle, high)
    return high


def queries_needed(difference: float, spread: float, alpha: float = 0.05, power: float = USUAL) -> int:
    """How many queries it takes to detect a true difference with this power.

    difference, spread, alpha: those of `power_of`.
    power: the chance of detecting the difference.
    Returns a number of queries.

    >>> queries_needed(0.05, 0.1)
    34
    """
    _check(alpha, 2, power)
    if not difference:
        raise ComparisonError(
            "no number of queries detects a difference of 0.", hint="give the smallest difference that matters"
        )
    if spread <= 0:
        return 2
    if power_of(difference, spread, MOST, alpha) < power:
        raise ComparisonError(f"it would take more than {MOST:,} queries to detect a difference of {difference:g}.")
    low, high = 2, 4
    while power_of(difference, spread, high, alpha) < power:
        low, high = high, high * 2
    while low < high:  # the smallest that is enough
        middle = (low + high) // 2
        low, high = (low, middle) if power_of(difference, spread, middle, alpha) >= power else (middle + 1, high)
    return ceil(low)


def step_of(spread: float, step: float = 0.02) -> float:
    """A difference of 0.02, or ten, a hundred, … times as much where values vary on a larger scale.

    >>> step_of(0.2), step_of(7.0)
    (0.02, 0.2)
    """
    return step * 10 ** max(0, ceil(log10(spread))) if spread else step


class SizeRow(NamedTuple):
    """A difference, and how many queries it takes at each power of the table."""

    difference: float
    queries: tuple[int, ...]


def query_set_sizes(
    spread: float,
    differences: Sequence[float] = (0.01, 0.02, 0.05, 0.1),
    powers: Sequence[float] = (0.7, 0.8, 0.9),
    alpha: float = 0.05,
) -> list[SizeRow]:
    """How many queries each difference takes, one column for each power.

    spread, alpha: those of `power_of`.
    differences: the true differences, one for each row.
    powers: the chances of detecting them, one for each column.
    Returns a row for each difference.

    >>> query_set_sizes(0.1, [0.05, 0.1])
    [SizeRow(difference=0.05, queries=(27, 34, 44)), SizeRow(difference=0.1, queries=(9, 10, 13))]
    """
    return [
        SizeRow(difference, tuple(queries_needed(difference, spread, alpha, power) for power in powers))
        for difference in differences
    ]


def about(queries: int) -> str:
    """A number of queries in words, to two digits: more would be false precision.

    >>> about(1234), about(57)
    ('about 1,200', 'about 57')
    """
    return f"about {round(queries, 2 - len(str(queries))):,}"


def check_detect(difference: float | None) -> None:
    """Refuse a difference that nobody could want to detect."""
    if difference is not None and not 0 < difference < float("inf"):
        raise ComparisonError(
            "is not a difference to detect.",
            parameter="detect",
            value=difference,
            hint="give the smallest difference that matters to you, for instance 0.02",
        )


def _check(alpha: float, queries: float, power: float = USUAL) -> None:
    if not 0 < alpha < 1 or not alpha < power < 1:
        raise ComparisonError(
            f"alpha={alpha:g} and power={power:g} do not go together.",
            hint="both are between 0 and 1, and power is larger than alpha",
        )
    if queries < 2:
        raise ComparisonError("one query cannot show how queries vary.", hint="compare over at least two queries")
