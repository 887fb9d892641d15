"""Means by a model's grades, corrected by people on a random sample of the same queries.

A model judged all N queries, people a simple random sample of n. By query, f is the value by the model's grades and y
the value by people's; both may be differences of two runs.

    agreement   r = the correlation of y and f on the n
    slope       b = cov_n(y, f) / var_n(f); 0 where r is not above 0
    spread      s_f² = the variance of f over the n or over all N, whichever is larger
    scale       s² = s_f², or var_n(y) if that is larger; of differences s_f²
    weight      λ = b · var_n(f) / s² · (1 - 0.4 r⁸)
    estimate    θ = mean_n(y) - λ · (mean_n(f) - mean_N(f))
    residuals   s_e² = Σ(y - mean_n(y) - b (f - mean_n(f)))² / (n - 2)
    shift       k = 1 + n · (mean_n(f) - mean_N(f))² / ((n - 1) · s_f²)
    withheld    s_w² = (b - λ)² s_g², where s_g² = var_n(f) + r⁸ · (s_f² - var_n(f)); at most var_n(y)
    explained   s_b² = b² s_g², at most var_n(y)
    variance    V = (k s_e² + s_w²) · (1/n - 1/N) + ((n - 2) / (n - 1) · s_e² + s_b²) / N
    interval    θ ± t(1 - alpha/2, d) · √V
    freedom     d = n - 2 + n r⁴, or n - 1 without a weight; of means one less; at most N - 1

That is the regression estimator of survey sampling, whose weight is b, except that the weight is smaller where a small
sample cannot show that the model deserves it:

- A sample that misses the model's rare values has a slope far too large for them; but the f of all N are known, so s_f²
  is never smaller than theirs.
- A model whose values vary less than people's misses something that people see, perhaps on rare queries only: where it
  grades nothing 0, it is far off where people find nothing relevant. So its values are never stretched: the weight of a
  mean is the slope of y by f or of f by y, whichever is smaller. In a difference of two runs, what is rare falls on
  both sides; there a model may well see everything half as large as people do.
- A model that says the opposite of people has no weight.
- A sample in which the model is nearly always right does not tell it from one that is far off on rare queries; so the
  closer they agree, the more of the weight is withheld, up to four tenths.

What is withheld leaves more to people's values, and lengthens the interval by just what it adds to the error of the
estimate: a judge that never errs is covered as often as others, and one that errs rarely hardly less often. With a
correlation of 0.9 that costs a tenth of the length.

The degrees of freedom are n - 2 where V rests on the residuals of the sample, and more where the model agrees with
people: then V rests on the variance of f, which is known from all N. Means have one less, because values of a measure
are skewed, and t intervals of few skewed values too short. Where the model says the same of all n, they are n - 1.

The interval is for the mean over all queries that could be asked, of which these N are a sample; without the last part
of V, that over N, it is for these N. It rests on the random sample, not on the model being right: a useless one has a
weight near 0, and leaves what people say. Like every t interval it is an approximation, and with few sampled queries
too short where y - λ f is very skewed.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from cranfield.comparison.significance import SAME
from cranfield.comparison.significance.test import deviation, two_sided
from cranfield.errors import ComparisonError
from cranfield.ranks.columns import Flags, Integers, Numbers

FEWEST = 10  # sampled queries: with fewer, the weight is noise
WITHHELD = 0.4  # of the weight of a model that agrees with people on the whole sample
MOST = 1_000_000  # queries that could be said to be worth as much


class CorrectedColumns(NamedTuple):
    """What is known of each column; see the formulas above.

    value, error: the estimate, and the root of its variance
    weight: of the model
    model: the mean by the model's grades over all queries
    people, people_error: the mean by people's grades over the sampled queries alone, and its standard error
    spread: the standard deviation of people's values
    freedom: degrees of freedom of the interval of the estimate; that of people alone has n - 1
    """

    value: Numbers
    error: Numbers
    weight: Numbers
    model: Numbers
    people: Numbers
    people_error: Numbers
    spread: Numbers
    freedom: Numbers
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
    model: Numbers, people: Numbers, drawn: Integers, *, differences: bool = False, these_only: bool = False
) -> CorrectedColumns:
    """Correct the mean of every column.

    model: by the model's grades, a row for each of all queries
    people: by people's grades, a row for each sampled query
    drawn: which rows of `model` these are
    differences: the columns are differences of two runs
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
    of_all = np.maximum(of_sample, deviation(model))
    scale = of_all if differences else np.maximum(of_all, spread)
    together = (ys * fs).sum(axis=0) / (n - 1)
    varies = (of_sample > 0) & (spread > 0)
    says = varies & (together > 0)
    slope = _ratio(together, of_sample**2, says)
    agreement = _ratio(together, of_sample * spread, says)
    weight = _ratio(together, scale**2, says) * (1 - WITHHELD * agreement**8)
    apart = f.mean(axis=0) - model.mean(axis=0)

    divisor = np.where(varies, n - 2, n - 1)  # a slope that was not estimated costs nothing
    residuals = ((ys - slope * fs) ** 2).sum(axis=0) / divisor
    believed = of_sample**2 + agreement**8 * (of_all**2 - of_sample**2)
    withheld = np.minimum((slope - weight) ** 2 * believed, spread**2)
    explained = np.minimum(slope**2 * believed, spread**2)
    shift = 1 + n * _ratio(apart, of_all, says) ** 2 / (n - 1)
    variance = (shift * residuals + withheld) * (1 / n - 1 / every)
    if not these_only:
        variance += (residuals * divisor / (n - 1) + explained) / every
    freedom = np.where(says, n - 2 + n * agreement**4, n - 1)
    if not differences:
        freedom -= varies
    return CorrectedColumns(
        value=people.mean(axis=0) - weight * apart,
        error=np.where(spread > 0, np.sqrt(variance), 0.0),
        weight=weight,
        model=model.mean(axis=0),
        people=people.mean(axis=0),
        people_error=spread / np.sqrt(n),
        spread=spread,
        freedom=np.minimum(freedom, every - 1),
        sampled=n,
        queries=every,
    )


def _ratio(above: Numbers, below: Numbers, where: Flags) -> Numbers:
    """0 where there is nothing to divide by."""
    return np.divide(above, below, out=np.zeros_like(above), where=where)


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
