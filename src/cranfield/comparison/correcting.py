"""Means by a model's grades, corrected by people on a random sample of the same queries.

A model judged all N queries, people a simple random sample of n. By query, f is the value by the model's grades and y
the value by people's; both may be differences of two runs.

    spread      s_f² = the variance of f over the n or over all N, whichever is larger
    weight      λ = cov_n(y, f) / s_f²; 0 where the model says the same of all n
    estimate    θ = mean_n(y) - λ · (mean_n(f) - mean_N(f))
    residuals   r = y - λ f,  s_r² = Σ(r - mean r)² / (n - 2)
    shift       k = 1 + n · (mean_n(f) - mean_N(f))² / ((n - 1) · s_f²)
    variance    V = s_r² · (1/n - 1/N) · k + s_y² / N
    interval    θ ± t(1 - alpha/2, n - 2) · √V

That is the regression estimator of survey sampling, with one change. There s_f² is that of the n, which makes V
smallest; but a sample that misses the model's rare values then has a weight far too large for them. The f of all N are
known, so s_f² is never smaller than theirs. That costs little: with a correlation of 0.9, 2% to 7% of the length.

Where people and the model differ on fewer than five sampled queries, as a good judge and a measure of few values (P@1,
RR) make likely, s_r² sees too little of how they differ elsewhere. It then grows by u · s_y², up to s_y² at most; u is
by how much the share of queries on which they differ may exceed that of the sample (Clopper and Pearson, 95%). A judge
that never errs pays for that too: its intervals hold 97% to 99.7% of the time. It cannot be avoided: many samples do
not tell it from one that errs rarely. Without it, a judge that takes every tenth failure for success would be covered
90% of the time with 10 sampled queries of 100, 73% of 500, and 43% of 5,000.

The interval is for the mean over all queries that could be asked, of which these N are a sample; without s_y²/N it is
for these N. It rests on the random sample, not on the model being right: a useless one has a weight near 0, and leaves
what people say. Like every t interval it is an approximation, and with few sampled queries too short where y - λ f is
very skewed: where the model is far off on rare queries, or where its values do not rise or fall with people's.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from cranfield.comparison.significance import SAME
from cranfield.comparison.significance.test import deviation, two_sided
from cranfield.errors import ComparisonError
from cranfield.ranks.columns import Integers, Numbers

FEWEST = 10  # sampled queries: with fewer, the weight is noise
FEW = 5  # sampled queries on which people and model differ: with fewer, their variation is no guide to the others
MOST = 1_000_000  # queries that could be said to be worth as much


class CorrectedColumns(NamedTuple):
    """What is known of each column; see the formulas above.

    value, error: the estimate, and the root of its variance
    weight: of the model
    model: the mean by the model's grades over all queries
    people, people_error: the mean by people's grades over the sampled queries alone, and its standard error
    spread: the standard deviation of people's values
    freedom: degrees of freedom of the interval of the estimate; that of people alone has n - 1
    differing: on how many sampled queries people and model differ
    """

    value: Numbers
    error: Numbers
    weight: Numbers
    model: Numbers
    people: Numbers
    people_error: Numbers
    spread: Numbers
    freedom: Numbers
    differing: Integers
    sampled: int
    queries: int

    def interval(self, alpha: Numbers | float) -> tuple[Numbers, Numbers]:
        """The interval of the estimate at the level 1 - alpha, which may differ from column to column."""
        from scipy.stats import t

        half = np.asarray(t.isf(np.asarray(alpha) / 2, self.freedom)) * self.error
        return self.value - half, self.value + half

    def people_interval(self, alpha: float) -> tuple[Numbers, Numbers]:
        """The interval of what people say alone."""
        from scipy.stats import t

        half = float(t.isf(alpha / 2, self.sampled - 1)) * self.people_error
        return self.people - half, self.people + half

    def chances(self, shift: float = 0.0) -> tuple[Numbers, Numbers, Numbers]:
        """p-values of "the mean is -shift": against greater, against less, and two-sided.

        Where all sampled queries have the very same value nothing is known of their variation, and p is that of the
        randomisation test, as in Student's test.
        """
        from scipy.stats import t

        moved = self.value + shift
        ratio = np.divide(moved, self.error, out=np.zeros_like(moved), where=self.error > 0)
        greater, less = np.asarray(t.sf(ratio, self.freedom)), np.asarray(t.cdf(ratio, self.freedom))
        still, chance = self.error == 0, 2.0 ** -min(self.sampled, 1000)
        greater = np.where(still, np.where(moved > SAME, chance, 1.0), greater)
        less = np.where(still, np.where(moved < -SAME, chance, 1.0), less)
        return greater, less, two_sided(greater, less)

    def worth(self, alpha: float = 0.05) -> list[int | None]:
        """How many queries judged by people alone would give as short an interval; None where it has no length."""
        from scipy.stats import t

        half = np.asarray(t.isf(alpha / 2, self.freedom)) * self.error
        return [
            _queries_for(float(each), float(spread), alpha) if each > 0 and spread > 0 else None
            for each, spread in zip(half, self.spread, strict=True)
        ]


def corrected_columns(
    model: Numbers, people: Numbers, drawn: Integers, *, these_only: bool = False
) -> CorrectedColumns:
    """Correct the mean of every column.

    model: by the model's grades, a row for each of all queries
    people: by people's grades, a row for each sampled query
    drawn: which rows of `model` these are
    these_only: the mean over these queries is wanted, not over all that could be asked
    """
    n, every = len(people), len(model)
    if n < FEWEST:
        raise ComparisonError(
            f"people judged {n} sampled queries, but it takes at least {FEWEST} to correct a model.",
            hint=f"draw a larger sample: cranfield pool … --sample {2 * FEWEST}",
        )
    f = model[drawn]
    fs, ys = f - f.mean(axis=0), people - people.mean(axis=0)
    of_sample, spread = deviation(f), deviation(people)
    squares = (n - 1) * np.maximum(of_sample, deviation(model)) ** 2
    says = of_sample > 0
    weight = np.divide((ys * fs).sum(axis=0), squares, out=np.zeros(model.shape[1]), where=says)
    weight = np.where(spread > 0, weight, 0.0)
    apart = f.mean(axis=0) - model.mean(axis=0)
    freedom = np.where(says, n - 2, n - 1)  # a weight that was not estimated costs nothing
    residuals = ((ys - weight * fs) ** 2).sum(axis=0) / freedom
    differing = (np.abs(people - f) > SAME).sum(axis=0)
    unseen = np.where(differing < FEW, _unseen_share(differing, n), 0.0)
    residuals = np.maximum(residuals, np.minimum(spread**2, residuals + unseen * spread**2))
    shift = 1 + np.divide(n * apart**2, squares, out=np.zeros_like(apart), where=says)
    variance = residuals * (1 / n - 1 / every) * shift + (0.0 if these_only else spread**2 / every)
    return CorrectedColumns(
        value=people.mean(axis=0) - weight * apart,
        error=np.where(spread > 0, np.sqrt(variance), 0.0),
        weight=weight,
        model=model.mean(axis=0),
        people=people.mean(axis=0),
        people_error=spread / np.sqrt(n),
        spread=spread,
        freedom=freedom,
        differing=differing,
        sampled=n,
        queries=every,
    )


def _unseen_share(differing: Integers, n: int) -> Numbers:
    """By how much the share of queries on which two differ may exceed that of the sample, at a level of 95%."""
    from scipy.stats import beta

    return np.asarray(beta.ppf(0.95, differing + 1, np.maximum(n - differing, 1))) - differing / n


def _queries_for(half: float, spread: float, alpha: float) -> int:
    """The smallest number of queries whose interval, t(1 - alpha/2, m - 1) · spread / √m, is no longer."""
    from scipy.stats import t

    def enough(m: int) -> bool:
        return float(t.isf(alpha / 2, m - 1)) * spread / sqrt(m) <= half * (1 + 1e-9)

    low, high = 1, 2
    while not enough(high) and high < MOST:
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
