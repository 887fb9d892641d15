"""The paired bootstrap: queries are drawn with replacement, the same for every pair of runs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cranfield.comparison.significance.student import STUDENT
from cranfield.comparison.significance.test import Outcome, Settings, Test
from cranfield.evaluation.estimating import SAME, Columns, estimated, estimator_of, ratio
from cranfield.ranks.columns import Numbers


class Bootstrap(Test):
    """Of the mean, by studentised draws: what t would be if the mean were 0.

    p = share of the draws with |t*| ≥ |t|, t* = (mean* - mean) / (sd* / √n), counted as (1 + hits) / (1 + draws)

    The interval is mean ± |t*|(1 - alpha) · sd / √n, of the same draws, so that it excludes 0 exactly where p is at
    most alpha. One-sided p-values are halves of it.
    """

    def outcome(self, columns: Columns, settings: Settings) -> Outcome:
        """Test every column."""
        estimates = estimated(columns)
        observed, hits = np.abs(ratio(estimates.value, estimates.error)), np.zeros(len(estimates.value))
        for drawn in _draws(columns, settings):
            hits += (drawn >= observed * (1 - 1e-9)).sum(axis=0)
        usual = STUDENT.outcome(columns, settings)
        # A column without spread has nothing to draw from; it follows the rule of the t-test.
        varied = estimates.error > 0
        p = np.where(varied, (1 + hits) / (1 + settings.permutations), usual.p)
        greater, less = (
            np.where(varied, np.where(side, p / 2, 1 - p / 2), usual_p)
            for side, usual_p in ((usual.estimate > 0, usual.greater), (usual.estimate < 0, usual.less))
        )
        return Outcome(greater, less, p, usual.estimate, usual.effect)

    def interval(self, columns: Columns, alpha: Numbers, settings: Settings) -> tuple[Numbers, Numbers]:
        """Column by column, from the draws of that column."""
        drawn, estimates = np.concatenate(list(_draws(columns, settings))), estimated(columns)
        allowed = np.floor(alpha * (1 + settings.permutations)).astype(int)
        far = np.array([_nth_largest(drawn[:, at], allowed[at]) for at in range(drawn.shape[1])])
        half = np.where(estimates.error > 0, far, 0.0) * estimates.error
        return estimates.value - half, estimates.value + half


def _nth_largest(values: Numbers, n: int) -> float:
    return float(np.partition(values, len(values) - n)[len(values) - n]) if n >= 1 else float("inf")


def _draws(columns: Columns, settings: Settings) -> Iterator[Numbers]:
    """|t*| of each draw and column."""
    estimator, generator = estimator_of(columns), np.random.default_rng(settings.seed % 2**64)
    estimates = estimator.estimate(columns)
    for value, error in estimator.resample(columns, generator, settings.permutations):
        # A draw without spread says nothing about the scale; it counts as extreme, which can only raise p.
        away = np.where(error > SAME, ratio(np.abs(value - estimates.value), error), np.inf)
        yield np.where(estimates.error > 0, away, 0.0)


BOOTSTRAP = Bootstrap(
    "bootstrap",
    "paired bootstrap",
    "resamples the queries; assumes no distribution, and needs about 20 queries",
    draws="draws",
)
