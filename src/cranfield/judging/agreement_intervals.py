"""Statistics of agreement with their intervals. Queries are drawn, not documents: those of a query are alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from cranfield.judging.alpha import DISTANCES as LEVELS
from cranfield.judging.alpha import krippendorff_alpha
from cranfield.judging.grade_counts import CountedGrades
from cranfield.judging.kappa import DISTANCES as FORMS
from cranfield.judging.kappa import quotient, weighted_kappa
from cranfield.ranks.columns import Numbers

BLOCK = 4_000_000  # numbers at a time


class Estimate(NamedTuple):
    """A value and its 95% interval, or why there is none.

    undefined: how many draws of the queries had no value; the interval is that of the others
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    undefined: int = 0
    reason: str = ""

    def __str__(self) -> str:
        if self.value is None:
            return "–"
        inside = "" if self.low is None or self.high is None else f" ({self.low:.2f} to {self.high:.2f})"
        return f"{self.value:.3f}{inside}"


class AgreementSums(NamedTuple):
    """Counted tables, added up over some queries; the first axis is the draw."""

    shares: Numbers
    matrices: Numbers
    pairs: tuple[Numbers, ...]


Statistic = Callable[[AgreementSums, Numbers], Numbers]


def _agreement(sums: AgreementSums, grades: Numbers) -> Numbers:
    return quotient(np.trace(sums.shares, axis1=-2, axis2=-1), sums.shares.sum(axis=(-2, -1)))


def _kappa(form: str) -> Statistic:
    def mean_of_pairs(sums: AgreementSums, grades: Numbers) -> Numbers:  # of one pair it is that pair's (Light 1971)
        values = np.array([weighted_kappa(tables, grades, form) for tables in sums.pairs])
        known = ~np.isnan(values)
        return quotient(np.where(known, values, 0.0).sum(axis=0), known.sum(axis=0))

    return mean_of_pairs


def _alpha(level: str) -> Statistic:
    return lambda sums, grades: krippendorff_alpha(sums.matrices, grades, level)


def _of_grade(at: int) -> Statistic:
    return lambda sums, grades: quotient(sums.matrices[..., at, at], sums.matrices[..., at, :].sum(axis=-1))


STATISTICS: dict[str, Statistic] = {
    "agreement": _agreement,
    **{form: _kappa(form) for form in FORMS},
    **{level: _alpha(level) for level in LEVELS},
}


def by_grade(grades: Numbers) -> dict[float, Statistic]:
    """For each grade: if an assessor gave it, how likely another one did (specific agreement)."""
    return {grade: _of_grade(at) for at, grade in enumerate(grades.tolist())}


def estimate(
    counted: CountedGrades, statistics: list[Statistic], grades: Numbers, draws: int, seed: int
) -> list[Estimate]:
    """The values of all queries, and the middle 95% of those of queries drawn with replacement."""
    once = np.ones((1, len(counted.query_ids)))
    values = [float(statistic(_sums(counted, once), grades)[0]) for statistic in statistics]
    drawn: list[list[Numbers]] = [[] for _ in statistics]
    if len(counted.query_ids) > 1:
        for weights in _draws(len(counted.query_ids), len(grades), draws, seed):
            sums = _sums(counted, weights)
            for found, statistic in zip(drawn, statistics, strict=True):
                found.append(statistic(sums, grades))
    return [_estimate(value, found, counted) for value, found in zip(values, drawn, strict=True)]


def _sums(counted: CountedGrades, weights: Numbers) -> AgreementSums:
    def added(tables: Numbers) -> Numbers:
        return np.asarray(np.tensordot(weights, tables, 1))

    return AgreementSums(added(counted.shares), added(counted.matrices), tuple(map(added, counted.pairs)))


def _draws(queries: int, grades: int, draws: int, seed: int) -> Iterator[Numbers]:
    generator = np.random.default_rng(seed % 2**64)
    size = max(1, BLOCK // max(queries, grades * grades))
    for start in range(0, draws, size):
        yield generator.multinomial(queries, [1 / queries] * queries, min(size, draws - start)).astype(np.float64)


def _estimate(value: float, drawn: list[Numbers], counted: CountedGrades) -> Estimate:
    if np.isnan(value):
        reason = "no document was judged by both" if not counted.items else "all grades are the same"
        return Estimate(None, reason=reason)
    every = np.concatenate(drawn) if drawn else np.empty(0)
    known = every[~np.isnan(every)]
    if not len(known):
        return Estimate(value, reason="an interval needs two queries")
    low, high = np.percentile(known, [2.5, 97.5]).tolist()
    return Estimate(value, low, high, undefined=len(every) - len(known))
