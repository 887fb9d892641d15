"""Intervals that hold for all comparisons of a family at once, whatever the values are like.

Values of real runs are skewed, many are equal, and runs of one make are near twins. There, t intervals of a family miss
more often than they say, even by Bonferroni's share of alpha. So chance is taken from the data: queries are drawn
again, the same for all comparisons, and the largest of the family's t-values of each draw is noted.

    d, e      the difference and its standard error; d*, e* those of a draw
    scale     s² = e² + e₀², s*² = e*² + e₀², where e₀² is a tenth of the mean of e² over the comparisons of a measure
    largest   T* = max |d* - d| / s*
    interval  d ± c · s, where c is the (1 - alpha) quantile of T*
    adjusted  p = the share of draws whose T* is at least |d| / s, counted as (1 + hits) / (1 + draws)

Without e₀ a pair that hardly varies in these queries, or does not vary at all, would have an interval of no length, and
draws in which some pair does not vary would make all others endless. bench/simultaneous.py says how often the intervals
miss.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cranfield.comparison.significance import Settings
from cranfield.evaluation.estimating import Columns, Estimates, estimator_of, ratio
from cranfield.ranks.columns import Integers, Numbers

FLOOR = 0.1  # of the mean variance
DRAWS = 2_000  # at least
FEWEST = 3  # queries: two are drawn in three ways only, which say nothing about others
BEYOND = 100  # draws beyond the interval that are worth having, as far as `permutations` goes


class Simultaneous(NamedTuple):
    """Of each comparison its scale, and of each draw the largest |t| of the family, in ascending order."""

    scale: Numbers
    largest: Numbers

    @property
    def finest(self) -> float:
        """The smallest p-value that so many draws can show."""
        return 1 / (1 + len(self.largest))

    def half(self, alpha: float) -> Numbers:
        """Half the length of each interval."""
        allowed = int(alpha * (1 + len(self.largest)) * (1 + 1e-12))
        far = self.largest[-allowed] if allowed else np.inf
        return np.where(self.scale > 0, far, 0.0) * self.scale

    def differs(self, value: Numbers) -> Numbers:
        """The adjusted two-sided p-values of "it is 0"."""
        observed = ratio(np.abs(value), self.scale) * (1 - 1e-9)  # equal sums may differ if added in another order
        hits = len(self.largest) - np.searchsorted(self.largest, observed, "left")
        return (1 + hits) / (1 + len(self.largest))

    def above(self, value: Numbers) -> Numbers:
        """The adjusted one-sided p-values of "it is not above 0": half of the two-sided ones.

        Counting the draws of one side alone would be more often wrong where values are skewed.
        """
        half = self.differs(value) / 2
        return np.where(value > 0, half, 1 - half)

    def part(self, columns: slice) -> Simultaneous:
        """Some comparisons of the family; what chance does is that of all."""
        return self._replace(scale=self.scale[columns])


def draws(settings: Settings) -> int:
    """How often queries are drawn again: more often for a small alpha."""
    return max(DRAWS, min(settings.permutations, round(BEYOND / settings.alpha)))


def chance(settings: Settings) -> np.random.Generator:
    return np.random.default_rng(settings.seed % 2**64)  # of any sign


def simultaneous(columns: Columns, estimates: Estimates, measure: Integers, settings: Settings) -> Simultaneous:
    """Draw the queries of a family again and again; `measure` numbers the measure that each column is by."""
    variance = estimates.error**2
    floor = FLOOR * (np.bincount(measure, variance) / np.bincount(measure))[measure]
    largest = []
    for value, error in estimator_of(columns).resample(columns, chance(settings), draws(settings)):
        t = value - estimates.value
        error *= error
        error += floor
        t = ratio(t, np.sqrt(error, out=error))
        largest.append(np.maximum(t.max(axis=1), -t.min(axis=1)))
    if estimates.effective < FEWEST:
        largest = [np.full(draws(settings), np.inf)]
    return Simultaneous(np.sqrt(variance + floor), np.sort(np.concatenate(largest)))
