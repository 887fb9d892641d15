"""The sign test: of the queries that differ, half should be better; how much better does not count."""

from __future__ import annotations

import numpy as np

from cranfield.comparison.significance.test import Outcome, Settings, Test, two_sided
from cranfield.evaluation.estimating import Columns
from cranfield.ranks.columns import Numbers


class Sign(Test):
    """Of the median of the queries that differ.

    greater = P(B ≥ better), B ~ Binomial(better + worse, ½)

    It points where more queries moved, which need not be where the mean did. The interval ends at order statistics of
    the differences that are not 0. The effect is (better - worse) / (better + worse).
    """

    def outcome(self, columns: Columns, settings: Settings) -> Outcome:
        """Test every column."""
        differences = columns.values
        from scipy.stats import binom

        up, down = (differences > 0).sum(axis=0), (differences < 0).sum(axis=0)
        greater, less = (np.asarray(binom.sf(side - 1, up + down, 0.5)) for side in (up, down))
        effect: list[float | None] = ((up - down) / np.maximum(up + down, 1)).tolist()
        median = np.array([float(np.median(d[d != 0])) if (d != 0).any() else 0.0 for d in differences.T])
        return Outcome(greater, less, two_sided(greater, less), median, effect)

    def interval(self, columns: Columns, alpha: Numbers, settings: Settings) -> tuple[Numbers, Numbers]:
        """[d_(k), d_(n+1-k)] of the n that differ; k is the largest with P(B < k) ≤ alpha / 2."""
        differences = columns.values
        from scipy.stats import binom

        low, high = np.full(len(alpha), -np.inf), np.full(len(alpha), np.inf)
        for at, column in enumerate(differences.T):
            d = np.sort(column[column != 0])
            if not len(d):
                low[at] = high[at] = 0.0
                continue
            k = int((np.asarray(binom.cdf(np.arange(len(d)), len(d), 0.5)) <= alpha[at] / 2 * (1 + 1e-12)).sum())
            if k:
                low[at], high[at] = d[k - 1], d[len(d) - k]
        return low, high


SIGN = Sign(
    "sign",
    "sign test",
    "counts better and worse queries, however much they differ; tests the median",
    of="median of the queries that differ",
    effect="better minus worse queries, as a share",
)
