"""The tests: is a mean difference more than chance would give?

Every test takes a table of paired differences, one row for each query and one column for each pair of runs, and returns
for each column a two-sided p-value and an interval of the mean difference. Scipy is imported when a test is called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from cranfield.judge.judgments import Numbers

SAME = 1e-12  # values closer than this are equal: what is left of two equal sums, added in another order
BLOCK = 4_000_000  # numbers drawn at a time
EXACT = 1 << 16  # ways to flip signs that are all tried, even where fewer permutations were asked for
MOST_EXACT = 1 << 20  # ... and more than these never, since they are all in memory


class Tested(NamedTuple):
    """For each column its p-value, and the interval of its mean."""

    p: Numbers
    low: Numbers
    high: Numbers


class Settings(NamedTuple):
    """What a test may ask for beside the differences."""

    alpha: float
    permutations: int
    seed: int


def paired_t(differences: Numbers, settings: Settings) -> Tested:
    """Student's paired t-test.

    t = mean(d) / (sd(d) / √n), with n - 1 degrees of freedom

    Columns without any difference have p = 1. Where all queries differ by the very same amount there is no spread to
    estimate, and t would be infinite even for two queries; such a column has the p-value of the randomisation test,
    2 / 2^n.
    """
    from scipy.stats import ttest_1samp

    n = len(differences)
    mean, spread = differences.mean(axis=0), deviation(differences)
    p = np.where(mean == 0, 1.0, 2.0 ** (1 - min(n, 1000)))
    varied = spread > 0
    if varied.any():
        p[varied] = ttest_1samp(differences[:, varied], 0.0, axis=0).pvalue
    return Tested(p, *t_interval(differences, settings.alpha))


def randomisation(differences: Numbers, settings: Settings) -> Tested:
    """Fisher's randomisation test: if the runs were alike, each difference could as well have the other sign.

    p = share of the sign flips with |Σ ± d| ≥ |Σ d|

    All 2^m flips of the m differences that are not zero are tried where these are few; otherwise flips are drawn, and
    p = (1 + hits) / (1 + draws), which is never 0 and keeps its level. The interval is that of the t-test.
    """
    p = np.ones(differences.shape[1])
    drawn = []
    for column in range(differences.shape[1]):
        d = differences[:, column]
        d = d[d != 0]
        if 1 << len(d) <= max(min(settings.permutations, MOST_EXACT), EXACT):
            p[column] = _all_flips(d)
        else:
            drawn.append(column)
    if drawn:
        p[drawn] = _drawn_flips(differences[:, drawn], settings)
    return Tested(p, *t_interval(differences, settings.alpha))


def _all_flips(d: Numbers) -> float:
    sums = np.zeros(1)
    for each in d.tolist():
        sums = np.concatenate((sums + each, sums - each))
    return float((np.abs(sums) >= abs(d.sum()) - _slack(d)).mean())


def _drawn_flips(differences: Numbers, settings: Settings) -> Numbers:
    n, draws = len(differences), settings.permutations
    total = np.abs(differences.sum(axis=0)) - _slack(differences)
    generator = np.random.default_rng(settings.seed % 2**64)
    hits = np.zeros(differences.shape[1], dtype=np.int64)
    for size in _blocks(draws, n):
        bits = np.unpackbits(generator.integers(0, 256, (size, (n + 7) // 8), dtype=np.uint8), axis=1, count=n)
        # Σ ± d = 2 · Σ of those that keep their sign - Σ d
        kept = bits.astype(np.float64) @ differences
        hits += (np.abs(2 * kept - differences.sum(axis=0)) >= total).sum(axis=0)
    return (1 + hits) / (1 + draws)


def bootstrap(differences: Numbers, settings: Settings) -> Tested:
    """The paired bootstrap: queries are drawn with replacement, the same for every pair of runs.

    p = share of the draws with |t*| ≥ |t|, t* = (mean* - mean) / (sd* / √n), counted as (1 + hits) / (1 + draws)

    The interval is BCa: percentiles of the drawn means, corrected for bias and skewness (Efron 1987).
    """
    n, draws = len(differences), settings.permutations
    mean, spread = differences.mean(axis=0), deviation(differences)
    centred = differences - mean
    generator = np.random.default_rng(settings.seed % 2**64)
    hits = np.zeros(len(mean), dtype=np.int64)
    drawn = np.empty((draws, len(mean)))
    observed = np.abs(_ratio(mean, spread))
    done = 0
    for size in _blocks(draws, n):
        queries = generator.integers(0, n, (size, n)) + np.arange(size)[:, None] * n
        counts = np.bincount(queries.reshape(-1), minlength=size * n).reshape(size, n) / n
        shift = counts @ centred
        variance = np.maximum(counts @ centred**2 - shift**2, 0.0) * (n / (n - 1))
        # A draw without any spread says nothing of the scale; it counts as far away, which can only raise p.
        away = np.where(variance > SAME**2, np.abs(_ratio(shift, np.sqrt(variance))), np.inf)
        hits += (away >= observed * (1 - 1e-9)).sum(axis=0)
        drawn[done : done + size] = shift
        done += size
    p = np.where(spread > 0, (1 + hits) / (1 + draws), paired_t(differences, settings).p)
    p = np.where((differences == 0).all(axis=0), 1.0, p)
    bounds = [_bca(drawn[:, column], centred[:, column], settings.alpha) for column in range(len(mean))]
    low, high = np.array(bounds).reshape(-1, 2).T
    return Tested(p, mean + low, mean + high)


def _bca(drawn: Numbers, centred: Numbers, alpha: float) -> tuple[float, float]:
    """The interval around the mean. For a mean, the skewness that the jackknife finds has a closed form."""
    from scipy.stats import norm

    squares = float((centred**2).sum())
    if squares == 0 or np.ptp(drawn) == 0:
        return 0.0, 0.0
    # Draws that equal the mean count half.
    below = float((drawn < 0).mean() + (drawn == 0).mean() / 2)
    bias = norm.ppf(np.clip(below, 0.5 / len(drawn), 1 - 0.5 / len(drawn)))
    skew = float(((centred / squares**0.5) ** 3).sum()) / 6
    z = bias + norm.ppf([alpha / 2, 1 - alpha / 2])
    shares = norm.cdf(bias + z / (1 - skew * z))
    low, high = np.quantile(drawn, shares)
    return float(low), float(high)


def wilcoxon(differences: Numbers, settings: Settings) -> Tested:
    """Wilcoxon's signed-rank test; queries without a difference are left out. It is about the median.

    The interval is that of the t-test, of the mean.
    """
    from scipy.stats import wilcoxon as signed_rank

    # Equal differences that were added in another order must share a rank.
    rounded = np.round(differences, 12)
    p = [float(signed_rank(d[d != 0]).pvalue) if (d != 0).any() else 1.0 for d in rounded.T]
    return Tested(np.array(p), *t_interval(differences, settings.alpha))


def sign(differences: Numbers, settings: Settings) -> Tested:
    """The sign test: of the queries that differ, half should be better; how much better does not count.

    The interval is that of the t-test, of the mean.
    """
    from scipy.stats import binomtest

    better, worse = (differences > 0).sum(axis=0).tolist(), (differences < 0).sum(axis=0).tolist()
    p = [float(binomtest(up, up + down).pvalue) if up + down else 1.0 for up, down in zip(better, worse, strict=True)]
    return Tested(np.array(p), *t_interval(differences, settings.alpha))


Test = Callable[[Numbers, Settings], Tested]
TESTS: dict[str, Test] = {
    "t": paired_t,
    "randomisation": randomisation,
    "bootstrap": bootstrap,
    "wilcoxon": wilcoxon,
    "sign": sign,
}


def t_interval(differences: Numbers, alpha: float) -> tuple[Numbers, Numbers]:
    """mean(d) ± t(1 - alpha/2, n - 1) · sd(d) / √n."""
    from scipy.stats import t

    n = len(differences)
    half = t.ppf(1 - alpha / 2, n - 1) * deviation(differences) / np.sqrt(n)
    mean = differences.mean(axis=0)
    return mean - half, mean + half


def deviation(differences: Numbers) -> Numbers:
    """The standard deviation of each column; 0 where only rounding makes it differ from that."""
    with np.errstate(over="ignore", invalid="ignore"):
        spread = differences.std(axis=0, ddof=1)
    rounding = SAME * np.maximum(np.abs(differences).max(axis=0), 1.0)
    return np.where(spread <= rounding, 0.0, spread)


def effect_size(differences: Numbers) -> list[float | None]:
    """Cohen's d of paired values with Hedges' correction; None where all queries differ by the same amount, not zero.

    g = J · mean(d) / sd(d),  J = Γ(f/2) / (√(f/2) · Γ((f-1)/2)), f = n - 1
    """
    from math import exp, lgamma, log

    freedom = len(differences) - 1
    # With two queries the correction is 0: nothing can be said without bias.
    correction = exp(lgamma(freedom / 2) - log(freedom / 2) / 2 - lgamma((freedom - 1) / 2)) if freedom > 1 else 0.0
    pairs = zip(differences.mean(axis=0).tolist(), deviation(differences).tolist(), strict=True)
    return [correction * mean / spread if spread else (None if mean else 0.0) for mean, spread in pairs]


def _slack(d: Numbers) -> Numbers:
    """How far two equal sums may be apart, by the order in which they were added."""
    return 1e-9 * np.abs(d).sum(axis=0)  # type: ignore[no-any-return]


def _ratio(above: Numbers, below: Numbers) -> Numbers:
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)


def _blocks(draws: int, n: int) -> list[int]:
    """How many draws to make at a time, so that memory does not grow with their number."""
    size = max(1, BLOCK // n)
    return [min(size, draws - done) for done in range(0, draws, size)]
