"""Whether the last of many results is worse than an accepted one, or the last ten slide: two rules that share a level.

Each of so many looks tests both at alpha / (2 · looks), so that all looks together raise a false alarm with a chance of
at most about alpha. What varies by chance decides how:

- Queries vary, each by itself (`BY_QUERY`). Then differences and slopes of queries are independent, however values of a
  query depend on those before, and t-tests over queries hold.
- Days shake all queries together (`BY_DAY`), such as an index that is rebuilt each night. Then queries are no sample of
  what may happen: the mean of a day is one number, and what means of days do by themselves was seen before.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np

from cranfield.evaluation.estimating import SAME, Columns, Estimates, estimated
from cranfield.evaluation.t_distribution import chance_below
from cranfield.ranks.columns import Numbers

WINDOW = 10  # results of which the slope is looked at
EARLIER = 30  # results before them, which show what varies by chance
FEWEST_DAYS = 20  # of these, for the variance of means of days
REPEATS = 3  # pairs of results of one commit that show it, if no others do
BY_QUERY, BY_DAY = "queries vary on their own", "days shake all queries together"
_DOUBT = 0.84  # standard errors above 1 from which a ratio counts as shaken: in doubt it does, which only costs power


class Noise(NamedTuple):
    """What varies by chance.

    kind: BY_QUERY or BY_DAY
    seen: where that was seen: "repeats", "earlier", or empty if it is assumed
    pairs: how many pairs of results show it
    ratio: the variance of means between the results of a pair, as a multiple of what queries on their own would give
    """

    kind: str
    seen: str = ""
    pairs: int = 0
    ratio: float | None = None

    @property
    def by_day(self) -> bool:
        return self.kind == BY_DAY

    def chance_above(self, estimate: Estimates) -> float:
        """The chance of more than an estimate over queries; a ratio above 1 widens its error, doubt or not."""
        wider = estimate._replace(error=estimate.error * sqrt(max(self.ratio or 1.0, 1.0)))
        return float(wider.chances()[0][0])


class Tested(NamedTuple):
    """How much is lost, by one rule; p: one-sided; None where too little is known to say."""

    loss: float
    p: float | None


def noise_of(values: Numbers, commits: Sequence[str], weight: Numbers | None = None) -> Noise:
    """What varies by chance, as results in a row show it.

    values: a row for each query, a column for each result, the oldest first; the last ten are not looked at, except
        where both results of a pair are of one commit
    commits: of each result; empty where it is not known
    """
    last = values.shape[1]
    same = [at for at in range(last - 1) if commits[at] and commits[at] == commits[at + 1]]
    noise = _shaken(values, same, "repeats", weight)
    if noise is not None and noise.pairs >= REPEATS:
        return noise
    first = last - WINDOW - EARLIER
    if first >= 0:
        earlier = _shaken(values, range(first, last - WINDOW - 1), "earlier", weight)
        if earlier is not None:
            return earlier
    return Noise(BY_QUERY)


def _shaken(values: Numbers, at: Sequence[int], seen: str, weight: Numbers | None) -> Noise | None:
    """Whether means differ from the result at a place to the next by more than queries on their own let them."""
    if not len(at):
        return None
    first = np.array(at, dtype=np.int64)
    steps = _estimates(values[:, first + 1] - values[:, first], weight)
    moving = (steps.error > 0) | (np.abs(steps.value) > SAME)
    if not moving.any():
        return Noise(BY_QUERY, seen, len(at), None)  # nothing varies at all
    error = np.maximum(steps.error[moving], SAME)  # all queries may change by exactly the same amount
    squares = (steps.value[moving] / error) ** 2
    ratio, pairs = _ratio(squares), len(squares)
    doubtful = 1 + _DOUBT * _SPREAD / _USUAL / sqrt(pairs)
    return Noise(BY_DAY if ratio > doubtful else BY_QUERY, seen, pairs, ratio)


def _ratio(squares: Numbers) -> float:
    """The mean of squares of t as a multiple of what chance gives; large ones count as `_CUT`.

    So a single commit that truly moved something looks like no shaken day.
    """
    return float(np.minimum(squares, _CUT).mean() / _USUAL)


# Of the square of a standard normal variable that counts at most 4: its mean and its deviation.
_CUT, _USUAL, _SPREAD = 4.0, 0.92, 1.11


def drop_since(values: Numbers, accepted: Numbers, noise: Noise, weight: Numbers | None = None) -> Tested:
    """The drop of the last result since the accepted one: `values` as for `noise_of`."""
    difference = _estimates((accepted - values[:, -1])[:, None], weight)
    loss = float(difference.value[0])
    if noise.kind == BY_QUERY:
        return Tested(loss, noise.chance_above(difference))
    days = _Days.before(values, weight)
    # Means of two days far apart vary by themselves, each with the variance of all days.
    return Tested(loss, None if days is None else days.chance_above(loss, 2 * days.covariance(0)))


def slide(values: Numbers, noise: Noise, weight: Numbers | None = None) -> Tested | None:
    """The loss over the last ten results by their slope; None where there are fewer.

    p is 1 where the last result is not below the mean of the ten: whatever they lost has come back.
    """
    if values.shape[1] < WINDOW:
        return None
    window = values[:, -WINDOW:]
    slopes = _estimates(-(window @ _SLOPE)[:, None], weight)
    loss = float(slopes.value[0]) * (WINDOW - 1)
    if float(_estimates((window[:, -1] - window.mean(axis=1))[:, None], weight).value[0]) >= -SAME:
        return Tested(loss, 1.0)
    if noise.kind == BY_QUERY:
        return Tested(loss, noise.chance_above(slopes))
    days = _Days.before(values, weight)
    if days is None:
        return Tested(loss, None)
    lags = np.abs(np.subtract.outer(np.arange(WINDOW), np.arange(WINDOW)))
    variance = float(_SLOPE @ np.vectorize(days.covariance)(lags) @ _SLOPE)
    return Tested(loss, days.chance_above(float(slopes.value[0]), variance))


_TIMES = np.arange(WINDOW) - (WINDOW - 1) / 2
_SLOPE = _TIMES / (_TIMES @ _TIMES)  # times values: the least-squares slope


class _Days(NamedTuple):
    """Means of days as an autoregressive series: y_t - m = φ (y_{t-1} - m) + e_t.

    φ by least squares is too small by about (1 + 3φ) / n in n results, which is added (Marriott and Pope 1954). What is
    estimated with it varies about twice as much as a variance alone: half of the degrees of freedom are left.
    """

    coefficient: float
    variance: float  # of e
    freedom: float

    @classmethod
    def before(cls, values: Numbers, weight: Numbers | None) -> _Days | None:
        """That of the results before the last ten; None where there are too few."""
        means = _estimates(values[:, max(0, values.shape[1] - WINDOW - EARLIER) : -WINDOW], weight).value
        n = len(means)
        if n < FEWEST_DAYS:
            return None
        apart = means - means.mean()
        before, after = apart[:-1], apart[1:]
        square = float(before @ before)
        if square <= (n * SAME) ** 2:
            return cls(0.0, 0.0, n - 2)
        estimate = float(before @ after) / square
        coefficient = min(max(estimate + (1 + 3 * estimate) / n, 0.0), _HIGHEST)
        rest = after - coefficient * before
        return cls(coefficient, float(rest @ rest) / (n - 3), (n - 3) / 2)

    def covariance(self, lag: float) -> float:
        """Of two days so far apart."""
        return float(self.variance / (1 - self.coefficient**2) * self.coefficient**lag)

    def chance_above(self, value: float, variance: float) -> float:
        """The chance of more than a value, by what days do by themselves."""
        if variance <= 0:
            return 1.0 if value <= SAME else 0.0
        return float(chance_below(-value / variance**0.5, self.freedom))


_HIGHEST = 0.95


def _estimates(values: Numbers, weight: Numbers | None) -> Estimates:
    values = np.where(np.abs(values) < SAME, 0.0, values)
    return estimated(Columns(values, weight))
