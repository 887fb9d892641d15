"""Fisher's randomisation test: if the runs were alike, each difference could as well have the other sign."""

from __future__ import annotations

import numpy as np

from cranfield.comparison.significance.test import Outcome, Settings, Test, hedges, random_bits, two_sided
from cranfield.evaluation.estimating import BLOCK, Columns
from cranfield.ranks.columns import Numbers

EXACT = 16  # differences whose signs are flipped in all ways; of more, some ways are drawn


class Randomisation(Test):
    """Of the mean, as a shift of all queries.

    greater = share of the ways to flip signs with Σ ± d ≥ Σ d

    A flip of the queries S has Σ ± d ≥ Σ d where Σ_S d ≤ 0, and a shift by θ is rejected where too many subsets have a
    mean of at most θ. So the interval ends at order statistics of the means of subsets, and belongs to the test. All
    subsets are tried where these are few; otherwise some are drawn, the same for both, and p = 2 · (1 + hits) / (1 +
    draws), which is never 0 and keeps its level.
    """

    def outcome(self, columns: Columns, settings: Settings) -> Outcome:
        """Test every column."""
        differences = columns.values
        slack = 1e-9 * np.abs(differences).sum(axis=0)  # equal sums may differ if added in another order
        few = (differences != 0).sum(axis=0) <= EXACT
        greater, less = np.ones(differences.shape[1]), np.ones(differences.shape[1])
        for at in np.flatnonzero(few).tolist():
            d = differences[differences[:, at] != 0, at]  # flipping a difference of 0 changes nothing
            sums = _every_subset(len(d)) @ d
            greater[at], less[at] = (sums <= slack[at]).mean(), (sums >= -slack[at]).mean()
        many = np.flatnonzero(~few)
        if len(many):
            table, near = differences[:, many], slack[many]
            up = down = np.ones(len(many))
            for bits in random_bits(settings.permutations, len(table), settings.seed, len(many)):
                sums = bits.astype(np.float64) @ table
                up, down = up + (sums <= near).sum(axis=0), down + (sums >= -near).sum(axis=0)
            greater[many], less[many] = up / (1 + settings.permutations), down / (1 + settings.permutations)
        return Outcome(greater, less, two_sided(greater, less), differences.mean(axis=0), hedges(differences))

    def interval(self, columns: Columns, alpha: Numbers, settings: Settings) -> tuple[Numbers, Numbers]:
        """From the means of subsets: as many lie outside on each side as the test allows."""
        differences = columns.values
        n, pairs = differences.shape
        subsets = _every_subset(n)[1:] if n <= EXACT else None
        ways = 2.0**n if n <= EXACT else 1.0 + settings.permutations
        low, high = np.full(pairs, -np.inf), np.full(pairs, np.inf)
        step = max(1, BLOCK // int(ways))
        for first in range(0, pairs, step):
            part = slice(first, min(first + step, pairs))
            means = _subset_means(differences[:, part], subsets, settings)
            for at in range(part.start, part.stop):
                outside = int(float(alpha[at]) / 2 * ways)  # subsets on each side, the empty one among them
                if outside >= 1:
                    ends = np.partition(means[:, at - first], (outside - 1, len(means) - outside))
                    low[at], high[at] = ends[outside - 1], ends[len(means) - outside]
        return low, high


def _subset_means(differences: Numbers, subsets: Numbers | None, settings: Settings) -> Numbers:
    n = len(differences)
    if subsets is not None:
        return np.asarray(subsets @ differences / subsets.sum(axis=1, keepdims=True))
    means = []
    for bits in random_bits(settings.permutations, n, settings.seed, differences.shape[1]):
        size = bits.sum(axis=1, keepdims=True, dtype=np.float64)
        means.append(np.where(size > 0, bits.astype(np.float64) @ differences / np.maximum(size, 1), 0.0))
    return np.concatenate(means)


def _every_subset(n: int) -> Numbers:
    numbers = np.arange(1 << n, dtype=np.uint32)
    return (numbers[:, None] >> np.arange(n, dtype=np.uint32) & 1).astype(np.float64)


RANDOMISATION = Randomisation(
    "randomisation",
    "randomisation test",
    "Fisher's: randomly swaps the runs on each query; assumes no distribution",
    draws="permutations",
)
