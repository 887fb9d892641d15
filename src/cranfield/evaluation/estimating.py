"""The one way to estimate a mean over queries: columns in, a value with its error out.

    Columns ──contrast(pairs)──▶ Columns ──estimate──▶ Estimates: value, error, degrees of freedom, effective queries
                                         ──resample──▶ the same of queries that are drawn again

A difference of two runs is formed first and then estimated. Which estimator it is follows from the columns
(`estimator_of`): plain or weighted means, means over a sample with known probabilities, means over groups of queries
that belong together, means by a model's grades that people correct (corrected.py), and means over completions of the
judgments. Each says which significance tests
it supports; everything else knows only this.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

import numpy as np

from cranfield.evaluation.t_distribution import chance_below, exceeded_with
from cranfield.ranks.columns import Integers, Numbers

SAME = 1e-12  # values closer than this are equal: equal sums may differ if added in another order
BLOCK = 4_000_000  # numbers drawn at a time


class Columns(NamedTuple):
    """Values of queries, a row for each query and a column for each mean that is wanted.

    weight: how much each query counts
    probability: of a sample, with which each query was drawn; its weight is then already divided by it
    group: the number of the group that each query belongs to; queries of a group vary together
    proxy: values by a model's grades, a row for each of all queries; `values`, by people's, are those of a sample
    drawn: the rows of `proxy` that were sampled, in the order of `values`
    contrasts: whether the columns are differences of two runs
    """

    values: Numbers
    weight: Numbers | None = None
    group: Integers | None = None
    proxy: Numbers | None = None
    drawn: Integers | None = None
    contrasts: bool = False
    probability: Numbers | None = None

    def contrast(self, pairs: Sequence[tuple[int, int]]) -> Columns:
        """For each pair of columns (baseline, run) the column run - baseline."""
        proxy = None if self.proxy is None else differences(self.proxy, pairs)
        return self._replace(values=differences(self.values, pairs), proxy=proxy, contrasts=True)

    def times(self, factor: float) -> Columns:
        proxy = None if self.proxy is None else self.proxy * factor
        return self._replace(values=self.values * factor, proxy=proxy)

    def shifted(self, by: float) -> Columns:
        return self._replace(values=self.values + by)

    def beside(self, other: Columns) -> Columns:
        """The columns of both, for the same queries."""
        both = None if self.proxy is None or other.proxy is None else np.hstack([self.proxy, other.proxy])
        return self._replace(values=np.hstack([self.values, other.values]), proxy=both)


def differences(columns: Numbers, pairs: Sequence[tuple[int, int]]) -> Numbers:
    """For each pair (baseline, run) a column of run - baseline; differences due to rounding count as 0."""
    first, second = np.array(pairs, dtype=np.int64).T
    with np.errstate(over="ignore"):
        difference = columns[:, second] - columns[:, first]
    difference[np.abs(difference) < SAME] = 0.0
    return difference


class Parts(NamedTuple):
    """What corrected means are made of, by column.

    weight: how much of the model's values is used: 0 where they say nothing about people's
    model: the mean by the model's grades over all queries
    people, people_error: the mean by people's grades over the sampled queries alone, and its standard error
    """

    weight: Numbers
    model: Numbers
    people: Numbers
    people_error: Numbers


class Estimates(NamedTuple):
    """The estimate of each column.

    error, freedom: the standard error, and the degrees of freedom of t
    spread: the standard deviation of the values of queries
    effective: how many queries of equal weight, each by itself, would say as much
    rows: how many values there are in a column
    """

    value: Numbers
    error: Numbers
    freedom: Numbers
    spread: Numbers
    effective: float
    rows: int
    parts: Parts | None = None

    def interval(self, alpha: Numbers | float, values: tuple[float, float] | None = None) -> tuple[Numbers, Numbers]:
        """value ± t(1 - alpha/2) · error; alpha may differ from column to column.

        values: the range of the values. Where all are equal, it is all that is known of others: with a chance of
            alpha, n values would be equal though a share of 1 - alpha^(1/n) of all values are others (about 3/n: the
            rule of three), and these may be anything in the range. Without a range, there is no length.
        """
        still = self.error == 0
        half = np.where(still, 0.0, exceeded_with(np.asarray(alpha) / 2, self.freedom)) * self.error
        low, high = self.value - half, self.value + half
        if values is None or not still.any():
            return low, high
        others = 1 - np.asarray(alpha) ** (1 / max(self.effective, 1.0))
        least, most = values
        return (
            np.where(still, self.value - others * (self.value - least), low),
            np.where(still, self.value + others * (most - self.value), high),
        )

    def chances(self) -> tuple[Numbers, Numbers]:
        """One-sided p-values of "the mean is 0", against greater and against less.

        If all queries have exactly the same value their variation is unknown, and t would be infinite even for two of
        them; p is then that of the randomisation test, 1 / 2^n.
        """
        t = ratio(self.value, self.error)
        still, chance = self.error == 0, 2.0 ** -min(self.rows, 1000)
        greater, less = chance_below(-t, self.freedom), chance_below(t, self.freedom)
        return (
            np.where(still, np.where(self.value > SAME, chance, 1.0), greater),
            np.where(still, np.where(self.value < -SAME, chance, 1.0), less),
        )

    @property
    def unit(self) -> Numbers:
        """The spread that as many effective queries need for this error: what power depends on."""
        return self.error * sqrt(self.effective)


@dataclass(frozen=True)
class Estimator:
    """A kind of mean.

    of: what is estimated, in words
    tests: the significance tests that it supports; None: all
    """

    name: str
    of: str = "mean"
    tests: frozenset[str] | None = None

    def supports(self, test: str) -> bool:
        return self.tests is None or test in self.tests

    def estimate(self, columns: Columns) -> Estimates:
        raise NotImplementedError

    def resample(
        self, columns: Columns, generator: np.random.Generator, times: int
    ) -> Iterator[tuple[Numbers, Numbers]]:
        """Values and errors, a row for each time that the queries are drawn again, in blocks."""
        raise NotImplementedError


class Plain(Estimator):
    """Every query counts once, and by itself: mean(x), sd(x) / √n, n - 1."""

    def estimate(self, columns: Columns) -> Estimates:
        values, spread = columns.values, deviation(columns.values)
        n = len(values)
        error = spread / sqrt(n) if n > 1 else np.full(spread.shape, np.inf)  # one query says nothing about others
        return Estimates(values.mean(axis=0), error, np.full(spread.shape, float(max(n - 1, 1))), spread, n, n)

    def resample(
        self, columns: Columns, generator: np.random.Generator, times: int
    ) -> Iterator[tuple[Numbers, Numbers]]:
        yield from resampled_totals(columns.values, np.ones(len(columns.values)), generator, times)


class Grouped(Estimator):
    """Groups of queries vary by themselves, queries of a group together; without groups, each query is one.

    mean m = Σ w x / W, W = Σ w;  z_g = Σ w (x - m) over the queries of group g, whose weight is W_g
    error² = (G - 1) / G · Σ (z_g / (W - W_g))², by leaving out one group after the other (jackknife)
    effective n = W² / Σ W_g²; it has n - 1 degrees of freedom
    """

    def estimate(self, columns: Columns) -> Estimates:
        columns = self._counted(columns)
        weight, totals, weights = self._totals(columns)
        groups, whole = len(weights), weights.sum()
        mean = totals.sum(axis=0) / whole
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            apart = (totals - weights[:, None] * mean) / (whole - weights)[:, None]
            error = np.sqrt((groups - 1) / groups * (apart**2).sum(axis=0))
            spread = np.sqrt((weight[:, None] * (columns.values - mean) ** 2).sum(axis=0) / weight.sum())
        error = np.where(np.isfinite(error) & (groups > 1), error, np.inf)  # one group says nothing about others
        still = (deviation(columns.values) == 0) & (groups > 1)
        effective = float(whole**2 / (weights**2).sum())
        freedom = np.full(mean.shape, max(effective - 1, 1.0))
        error, spread = np.where(still, 0.0, error), np.where(still, 0.0, spread)
        return Estimates(mean, error, freedom, spread, effective, groups)

    def resample(
        self, columns: Columns, generator: np.random.Generator, times: int
    ) -> Iterator[tuple[Numbers, Numbers]]:
        _, totals, weights = self._totals(self._counted(columns))
        yield from resampled_totals(totals, weights, generator, times)

    def _counted(self, columns: Columns) -> Columns:
        """Without queries of weight 0, which say nothing about the mean nor about how queries vary."""
        if columns.weight is None or columns.weight.all():
            return columns
        rows = np.flatnonzero(columns.weight)
        group = None if columns.group is None else columns.group[rows]
        return columns._replace(values=columns.values[rows], weight=columns.weight[rows], group=group)

    def _totals(self, columns: Columns) -> tuple[Numbers, Numbers, Numbers]:
        """The weight of each query, Σ w x of each group, and Σ w of each group."""
        group = np.arange(len(columns.values)) if columns.group is None else columns.group
        group = np.unique(group, return_inverse=True)[1].ravel()
        totals = np.zeros((int(group.max(initial=-1)) + 1, columns.values.shape[1]))
        weight = np.ones(len(group)) if columns.weight is None else columns.weight
        np.add.at(totals, group, weight[:, None] * columns.values)
        return weight, totals, np.bincount(group, weight).astype(np.float64)


def resampled_totals(
    totals: Numbers, weights: Numbers, generator: np.random.Generator, times: int
) -> Iterator[tuple[Numbers, Numbers]]:
    """Means of groups drawn with replacement, and their errors: m* = Σ c T / Σ c W, c how often each was drawn."""
    n, columns = totals.shape
    middle = totals.sum(axis=0) / weights.sum()
    centred = totals - weights[:, None] * middle  # small numbers, so that squares keep their digits
    squares, alike = centred**2, bool((weights == weights[0]).all())
    for size in blocks(times, 4 * max(n, columns)):  # four tables of a block's size are held at a time
        counts = counted(generator, n, size)
        weight = (counts @ weights)[:, None]
        total = counts @ centred
        shift = total / weight
        scatter = counts @ squares
        scatter -= 2 * shift * (weights[0] * total if alike else counts @ (centred * weights[:, None]))
        scatter += shift**2 * (counts @ weights**2)[:, None]
        yield middle + shift, np.sqrt(np.maximum(scatter, 0.0) * (n / max(n - 1, 1))) / weight


def counted(generator: np.random.Generator, n: int, size: int, draws: int | None = None) -> Numbers:
    """A row for each of `size` draws of n with replacement (or of `draws`): how often each was drawn."""
    if not n:
        return np.zeros((size, 0))
    drawn = generator.integers(0, n, (size, n if draws is None else draws)) + np.arange(size)[:, None] * n
    return np.bincount(drawn.reshape(-1), minlength=size * n).reshape(size, n).astype(np.float64)


class Sampled(Estimator):
    """Queries drawn from a log without replacement with probabilities π, such as by `cranfield sample`; w has the 1/π.

    mean m = Σ w x / W, W = Σ w (Hájek);  z = w (x - m) / W
    error² = n / (n - 1) · Σ (1 - π) z²: a query that is drawn for certain adds none
    effective n = W² / Σ (1 - π) w²; t has at most (Σ (1 - π) w²)² / Σ ((1 - π) w²)² - 1 degrees of freedom
    fewer if few queries tell how values vary (Satterthwaite): 2 / (Σ f² - 1/n), f = (1 - π) z² / Σ (1 - π) z²
    resampled: n - 1 draws, by which w becomes w (1 + √(1 - π) (c n / (n - 1) - 1)), c how often drawn (Rao & Wu 1988)
    """

    def estimate(self, columns: Columns) -> Estimates:
        values, weight, open_share = self._counted(columns)
        n, total, parts = len(values), weight.sum(), open_share * weight**2
        mean = weight @ values / total
        with np.errstate(over="ignore", invalid="ignore"):
            squares = (values - mean) ** 2
            scatter = parts @ squares
            error = np.sqrt(n / max(n - 1, 1) * scatter) / total
            spread = np.sqrt(weight @ squares / total)
            told = ((parts[:, None] * squares / scatter) ** 2).sum(axis=0) - 1 / n
        still = (deviation(values) == 0) & (n > 1)
        error = np.where(np.isfinite(error) & (n > 1), error, np.inf)  # one query says nothing about others
        freedom = np.fmin(parts.sum() ** 2 / (parts**2).sum() - 1, 2 / np.maximum(told, SAME)).clip(1.0)
        error, spread = np.where(still, 0.0, error), np.where(still, 0.0, spread)
        return Estimates(mean, error, freedom, spread, float(total**2 / parts.sum()), n)

    def resample(
        self, columns: Columns, generator: np.random.Generator, times: int
    ) -> Iterator[tuple[Numbers, Numbers]]:
        values, weight, open_share = self._counted(columns)
        n, middle = len(values), weight @ values / weight.sum()
        more = n / max(n - 1, 1)
        apart = weight[:, None] * (values - middle)
        for size in blocks(times, 4 * max(n, values.shape[1])):
            counts = counted(generator, n, size, n - 1) * more
            factor = 1 + np.sqrt(open_share) * (counts - 1)
            total = (factor @ weight)[:, None]
            shift = factor @ apart / total
            counts *= open_share
            scatter = counts @ apart**2 - 2 * shift * (counts @ (apart * weight[:, None]))
            scatter += shift**2 * (counts @ weight**2)[:, None]
            yield middle + shift, np.sqrt(more * np.maximum(scatter, 0.0)) / total

    def _counted(self, columns: Columns) -> tuple[Numbers, Numbers, Numbers]:
        """Values, weights and 1 - π of the queries that count."""
        assert columns.probability is not None
        weight = np.ones(len(columns.values)) if columns.weight is None else columns.weight
        rows = np.flatnonzero(weight)
        return columns.values[rows], weight[rows], 1 - columns.probability[rows]


class Modelled(Estimator):
    """Columns are the values under completions of the judgments that a model of the grades has drawn.

    The variance of the mean over them is that within a completion, by queries, plus that between completions.
    """

    def estimate(self, columns: Columns) -> Estimates:
        completions = PLAIN.estimate(columns)
        between = float(completions.value.var(ddof=1)) if len(completions.value) > 1 else 0.0
        within = float((completions.spread**2).mean()) / completions.rows
        error = np.array([sqrt(between + within)])
        spread = np.array([sqrt(within * completions.rows)])
        return Estimates(
            completions.value.mean(keepdims=True),
            error,
            completions.freedom[:1],
            spread,
            completions.rows,
            completions.rows,
        )


PLAIN = Plain("plain")
WEIGHTED = Grouped("weighted", "weighted mean", frozenset({"t", "bootstrap"}))
SAMPLED = Sampled("sampled", "weighted mean", frozenset({"t", "bootstrap"}))
GROUPED = Grouped("grouped", "mean over groups", frozenset({"t", "bootstrap"}))
MODELLED = Modelled("modelled", "mean over completions", frozenset({"t"}))


def estimator_of(columns: Columns) -> Estimator:
    """The estimator that these columns call for."""
    if columns.proxy is not None:
        from cranfield.evaluation.corrected import CORRECTED

        return CORRECTED
    if columns.group is not None:
        return GROUPED
    if columns.probability is not None and (columns.probability < 1).any():
        return SAMPLED  # otherwise it is the whole log, which itself is a sample of what people search for
    return PLAIN if columns.weight is None else WEIGHTED


def estimated(columns: Columns) -> Estimates:
    return estimator_of(columns).estimate(columns)


def deviation(values: Numbers) -> Numbers:
    """The standard deviation of each column; 0 if it is only due to rounding."""
    if len(values) < 2:
        return np.zeros(values.shape[1])
    with np.errstate(over="ignore", invalid="ignore"):
        spread = values.std(axis=0, ddof=1)
    rounding = SAME * np.maximum(np.abs(values).max(axis=0), 1.0)
    return np.where(spread <= rounding, 0.0, spread)


def ratio(above: Numbers, below: Numbers) -> Numbers:
    """above / below, and 0 where that is 0."""
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)


def blocks(draws: int, n: int) -> Iterator[int]:
    """How many draws to make at a time, so that memory does not grow with their number."""
    size = max(1, BLOCK // max(n, 1))
    return (min(size, draws - done) for done in range(0, draws, size))


@dataclass(frozen=True, slots=True)
class CorrectedParts:
    """The parts of a corrected mean, or of a corrected difference of two runs.

    weight: how much of the model's value is used: 0 where it says nothing about people's
    model: the mean by the model's grades
    correction: what people's grades add to it
    people, people_low, people_high: the mean by people's grades over the sampled queries alone, and its interval
    worth: how many queries judged by people alone would give as short an interval; None where it has no length
    """

    weight: float
    model: float
    correction: float
    people: float
    people_low: float
    people_high: float
    worth: int | None


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over queries, and how far it can be trusted.

    value, low, high: the mean, and its interval at the level 1 - alpha, for the mean over all queries that could be
        asked, of which these are a sample; it ends where the range of the measure ends
    margin: how far the interval reaches on either side, where no range cuts it
    error, freedom: the standard error, and the degrees of freedom of t
    queries: how many queries of equal weight, each by itself and judged by people, would say as much
    corrected: of a mean by a model's grades that people correct, its parts; otherwise None

    >>> from cranfield import evaluate
    >>> qrels, run = {str(q): {"a": 1} for q in range(4)}, {str(q): ["b"] * (q % 2) + ["a"] for q in range(4)}
    >>> evaluate(qrels, run, "RR").estimate("RR")
    <Estimate 0.7500 (0.2907 to 1.0000); 4 queries>
    """

    value: float
    low: float
    high: float
    margin: float
    error: float
    freedom: float
    queries: float
    corrected: CorrectedParts | None = None

    def __repr__(self) -> str:
        queries = "1 query" if self.queries == 1 else f"{self.queries:g} queries"
        return f"<Estimate {self.value:.4f} ({self.low:.4f} to {self.high:.4f}); {queries}>"


def estimates_of(estimates: Estimates, alpha: float, least: float, most: float) -> list[Estimate]:
    """The estimates of columns one by one; intervals stay within the range of the measure."""
    low, high = estimates.interval(alpha, (least, most))
    margin = np.maximum(high - estimates.value, estimates.value - low)
    ends = np.maximum(low, least).tolist(), np.minimum(high, most).tolist(), margin.tolist()
    parts: Sequence[CorrectedParts | None] = [None] * len(low)
    queries: list[float] = [estimates.effective] * len(low)
    if estimates.parts is not None:
        from cranfield.evaluation.corrected import parts_of

        parts = corrected = parts_of(estimates, alpha)
        queries = [estimates.rows if part.worth is None else part.worth for part in corrected]
    errors = estimates.error.tolist(), estimates.freedom.tolist(), queries
    return [Estimate(*row) for row in zip(estimates.value.tolist(), *ends, *errors, parts, strict=True)]
