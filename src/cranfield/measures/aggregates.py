"""The values of queries as one number: a mean, a sum, a median, a geometric mean."""

from __future__ import annotations

import math
from typing import get_args

import numpy as np

from cranfield.errors import InputError, MeasureError, choice_hint
from cranfield.measures.registry import Aggregate
from cranfield.ranks.columns import Numbers

AGGREGATES: tuple[str, ...] = get_args(Aggregate)


def aggregate(values: Numbers, how: Aggregate, weights: Numbers | None = None, *, of: str) -> float:
    """Values of queries as one number; 0 where there is no query.

    A sum is exact before it is rounded, so neither the order nor the grouping of the queries matters.
    of: the name of the values, for the error if their sum is not finite.
    """
    value = combined(values, how, weights, of=of)
    if not math.isfinite(value):
        raise not_finite(how, of, len(values))
    return value


def not_finite(how: Aggregate, of: str, queries: int) -> MeasureError:
    what = {"geometric": "geometric mean"}.get(how, how)
    return MeasureError(
        f"the {what} of {of} over {queries} queries is not a finite number: its values are too large to add up.",
        hint="use smaller grades, or less extreme parameters",
    )


def combined(values: Numbers, how: Aggregate, weights: Numbers | None = None, *, of: str) -> float:
    """`aggregate` for values that may be infinite, as bounds are."""
    if how not in AGGREGATES:
        raise MeasureError(f"there is no aggregate '{how}'.", hint=choice_hint("it may be", AGGREGATES, how))
    if weights is not None:
        weights = scaled(weights, of)
    with np.errstate(over="ignore", invalid="ignore"):
        if how == "sum":
            return _sum(values)
        if not len(values):
            return 0.0
        if how == "geometric":
            return float(np.exp(_mean(np.log(np.maximum(values, 0.00001)), weights)))
        return float(np.median(values)) if how == "median" else _mean(values, weights)


def _mean(values: Numbers, weights: Numbers | None) -> float:
    return _sum(values) / len(values) if weights is None else float(np.average(values, weights=weights))


def _sum(values: Numbers) -> float:
    try:
        return math.fsum(values.tolist())
    except OverflowError:
        return float(values.sum())


def scaled(weights: Numbers, of: str, place: str = "the weights") -> Numbers:
    """Weights in a range in which products with them are exact; an error if there is no such range."""
    with np.errstate(over="ignore"):
        total = float(weights.sum())
    if len(weights) and not total:
        fact = f"all queries over which {of} is averaged have the weight 0."
        raise InputError(place, fact, hint="give at least one of them a weight above 0")
    if not math.isfinite(total):
        fact = f"they are too large to add up (the largest is {weights.max(initial=0):g})."
        raise InputError(place, fact, hint="only their proportions matter: divide all of them by the largest")
    return np.ldexp(weights, -math.frexp(total)[1])
