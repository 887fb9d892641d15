"""Wilcoxon's signed-rank test; queries without a difference are left out."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from cranfield.comparison.significance.test import Outcome, Settings, Test
from cranfield.evaluation.estimating import Columns
from cranfield.ranks.columns import Numbers

EXACT = 50  # queries up to which the distribution is exact, if no two differences are equal
EXACT_TIED = 13  # ... and up to which it is exact if some are
FEW = 2000  # ... and up to which all pairs of them are looked at


class Wilcoxon(Test):
    """Of the pseudo-median of the queries that differ: the median of the means of all pairs of them.

    W₊ = Σ of the ranks of |d| where d > 0

    It points where W₊ does, which need not be where the mean does. The interval ends at order statistics of the means
    of pairs (Walsh averages), where the test would no longer reject. The effect is (W₊ - W₋) / (W₊ + W₋).
    """

    def outcome(self, columns: Columns, settings: Settings) -> Outcome:
        """Test every column."""
        differing = [_differing(column) for column in columns.values.T]
        tested = [_tested(d) for d in differing]
        estimate = np.array([_walsh(d, 0.5) if len(d) else 0.0 for d in differing])
        greater, less, p = (np.array([result[at] for result in tested]) for at in range(3))
        return Outcome(greater, less, p, estimate, [result[3] for result in tested])

    def interval(self, columns: Columns, alpha: Numbers, settings: Settings) -> tuple[Numbers, Numbers]:
        """[A_(K), A_(M+1-K)] of the M means of pairs; K is how many values of W₊ the test rejects on each side."""
        differences = columns.values
        low, high = np.full(len(alpha), -np.inf), np.full(len(alpha), np.inf)
        for at, column in enumerate(differences.T):
            d = _differing(column)
            if not len(d):
                low[at] = high[at] = 0.0
                continue
            rejected = _rejected(len(d), float(alpha[at]))
            if rejected:
                low[at], high[at] = _walsh_ends(d, rejected)
        return low, high


def _differing(column: Numbers) -> Numbers:
    """The differences that are not 0; equal ones that were added in another order must share a rank."""
    rounded = np.round(column, 12)
    return np.sort(rounded[rounded != 0])


def _tested(d: Numbers) -> tuple[float, float, float, float]:
    from scipy.stats import rankdata, wilcoxon

    if not len(d):
        return 1.0, 1.0, 1.0, 0.0
    ranks = rankdata(np.abs(d))
    if len(d) <= EXACT and len(np.unique(ranks)) == len(d):
        greater, less, p = _untied(ranks, d > 0)
    elif len(d) <= EXACT_TIED:
        greater, less, p = _tied(ranks, d > 0)
    else:
        greater, less, p = (float(wilcoxon(d, alternative=side).pvalue) for side in ("greater", "less", "two-sided"))
    return greater, less, p, float((ranks * np.sign(d)).sum() / ranks.sum())


def _untied(ranks: Numbers, positive: NDArray[np.bool_]) -> tuple[float, float, float]:
    """The exact p-values of ranks of which no two are equal; the distribution is symmetric."""
    tails, sum_above = _lower_tails(len(ranks)), int(ranks[positive].sum())
    greater, less = float(tails[-1 - sum_above]), float(tails[sum_above])
    return greater, less, min(1.0, 2 * min(greater, less))


def _tied(ranks: Numbers, positive: NDArray[np.bool_]) -> tuple[float, float, float]:
    """The exact p-values of ranks of which some are equal: twice a mean rank is a whole number."""
    doubled = np.rint(2 * ranks).astype(int)
    ways = _ways(doubled)
    sum_above = doubled[positive].sum()
    greater, less = (float(tail.sum()) / 2.0 ** len(ranks) for tail in (ways[sum_above:], ways[: sum_above + 1]))
    return greater, less, min(1.0, 2 * min(greater, less))


def _rejected(n: int, alpha: float) -> int:
    """How many values 0, 1, 2, … of W₊ have a lower tail of at most alpha / 2."""
    if n <= EXACT:
        return int((_lower_tails(n) <= alpha / 2 * (1 + 1e-12)).sum())
    from scipy.stats import norm

    mean, error = n * (n + 1) / 4, np.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    return max(0, int(np.floor(mean - float(norm.isf(alpha / 2)) * error)) + 1)


@lru_cache(maxsize=64)
def _lower_tails(n: int) -> Numbers:
    """P(W₊ ≤ w) for w = 0, 1, 2, … if each rank is as likely to be positive as not."""
    tails: Numbers = np.cumsum(_ways(range(1, n + 1))) / 2.0**n
    return tails


def _ways(ranks: Iterable[int]) -> Numbers:
    """How many choices of the ranks have the sum 0, 1, 2, …"""
    ways: Numbers = np.ones(1)
    for rank in ranks:
        ways = np.pad(ways, (0, rank)) + np.pad(ways, (rank, 0))
    return ways


def _walsh_ends(d: Numbers, k: int) -> tuple[float, float]:
    """The k-th smallest and the k-th largest mean of a pair (i ≤ j)."""
    if len(d) <= FEW:
        means = np.sort(_walsh_means(d))
        return float(means[k - 1]), float(means[len(means) - k])
    return _nth_mean(d, k), -_nth_mean(-d[::-1], k)


def _walsh(d: Numbers, share: float) -> float:
    if len(d) <= FEW:
        return float(np.median(_walsh_means(d)))
    return _nth_mean(d, int(len(d) * (len(d) + 1) / 2 * share) + 1)


def _walsh_means(d: Numbers) -> Numbers:
    first, second = np.triu_indices(len(d))
    return (d[first] + d[second]) / 2


def _nth_mean(d: Numbers, n: int) -> float:
    """The n-th smallest of very many means, by halving the range that it lies in."""
    low, high = float(d[0]), float(d[-1])
    for _ in range(60):
        middle = (low + high) / 2
        # Pairs i ≤ j with a mean of at most `middle`: each unordered pair is counted twice but for i = j.
        both = int(np.searchsorted(d, 2 * middle - d, "right").sum())
        alone = int((d <= middle).sum())
        if (both + alone) // 2 >= n:
            high = middle
        else:
            low = middle
    return high


WILCOXON = Wilcoxon(
    "wilcoxon",
    "Wilcoxon's signed-rank test",
    "tests the pseudo-median: ranks the differences, which should be distributed symmetrically",
    of="pseudo-median of the queries that differ",
    effect="rank-biserial correlation",
)
