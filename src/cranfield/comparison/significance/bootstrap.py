"""The paired bootstrap: queries are drawn with replacement, the same for every pair of runs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cranfield.comparison.significance.student import STUDENT
from cranfield.comparison.significance.test import (
    SAME,
    Outcome,
    Settings,
    Test,
    blocks,
    deviation,
    hedges,
    ratio,
    t_values,
)
from cranfield.ranks.columns import Numbers


class Bootstrap(Test):
    """Of the mean, by studentised draws: what t would be if the mean were 0.

    p = share of the draws with |t*| ≥ |t|, t* = (mean* - mean) / (sd* / √n), counted as (1 + hits) / (1 + draws)

    The interval is mean ± |t*|(1 - alpha) · sd / √n, of the same draws, so that it excludes 0 exactly where p is at
    most alpha. One-sided p-values are halves of it.
    """

    def outcome(self, differences: Numbers, settings: Settings) -> Outcome:
        """Test every column."""
        observed, hits = np.abs(t_values(differences)), np.zeros(differences.shape[1])
        for drawn in _draws(differences, settings):
            hits += (drawn >= observed * (1 - 1e-9)).sum(axis=0)
        usual = STUDENT.outcome(differences, settings)
        # A column without spread has nothing to draw from; it follows the rule of the t-test.
        varied = deviation(differences) > 0
        p = np.where(varied, (1 + hits) / (1 + settings.permutations), usual.p)
        up = usual.estimate > 0
        greater, less = (np.where(varied, np.where(side, p / 2, 1 - p / 2), usual_p)
                         for side, usual_p in ((up, usual.greater), (usual.estimate < 0, usual.less)))  # fmt: skip
        return Outcome(greater, less, p, usual.estimate, hedges(differences))

    def interval(self, differences: Numbers, alpha: Numbers, settings: Settings) -> tuple[Numbers, Numbers]:
        """Column by column, from the draws of that column."""
        drawn = np.concatenate(list(_draws(differences, settings)))
        allowed = np.floor(alpha * (1 + settings.permutations)).astype(int)
        far = np.array([_nth_largest(drawn[:, at], allowed[at]) for at in range(drawn.shape[1])])
        error = deviation(differences) / np.sqrt(len(differences))
        half = np.where(error > 0, far * np.where(error > 0, error, 1.0), 0.0)
        mean = differences.mean(axis=0)
        return mean - half, mean + half

    def largest(self, differences: Numbers, settings: Settings) -> Numbers:
        """The largest |t*| of all columns in each draw."""
        found = [drawn.max(axis=1, initial=0.0) for drawn in _draws(differences, settings)]
        return np.sort(np.concatenate(found))[::-1]


def _nth_largest(values: Numbers, n: int) -> float:
    return float(np.partition(values, len(values) - n)[len(values) - n]) if n >= 1 else float("inf")


def _draws(differences: Numbers, settings: Settings) -> Iterator[Numbers]:
    """|t*| of each draw and column."""
    n, columns = differences.shape
    centred = differences - differences.mean(axis=0)
    spread = deviation(differences)
    generator = np.random.default_rng(settings.seed % 2**64)
    for size in blocks(settings.permutations, max(n, columns)):
        queries = generator.integers(0, n, (size, n)) + np.arange(size)[:, None] * n
        counts = np.bincount(queries.reshape(-1), minlength=size * n).reshape(size, n) / n
        shift = counts @ centred
        variance = np.maximum(counts @ centred**2 - shift**2, 0.0) * (n / (n - 1))
        # A draw without spread says nothing about the scale; it counts as extreme, which can only raise p.
        away = np.where(variance > SAME**2, ratio(np.abs(shift), np.sqrt(variance / n)), np.inf)
        yield np.where(spread > 0, away, 0.0)


BOOTSTRAP = Bootstrap(
    "bootstrap",
    "paired bootstrap",
    "resamples the queries; assumes no distribution, and needs about 20 queries",
    draws="draws",
    studentised=True,
)
