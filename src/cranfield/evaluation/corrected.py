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
- A model that contradicts people has no weight.
- A sample in which the model is nearly always right does not tell it from one that is far off on rare queries; so the
  closer they agree, the more of the weight is withheld, up to four tenths.

Withholding weight gives more to people's values, and lengthens the interval by just what it adds to the error of the
estimate: a judge that never errs is covered as often as others, and one that errs rarely hardly less often. With a
correlation of 0.9 that makes the interval a tenth longer.

The degrees of freedom are n - 2 where V rests on the residuals of the sample, and more where the model agrees with
people: then V rests on the variance of f, which is known from all N. Means have one less, because values of a measure
are skewed, and t intervals of few skewed values too short. Where the model says the same of all n, they are n - 1.

Where all n values of people are equal, as where two runs differ on none of the sampled queries, they do not show how
much queries vary. The model's values of all N do: V = s_f² / n. Only where these are equal too is nothing known.

The interval is for the mean over all queries that could be asked, of which these N are a sample; without the last part
of V, that over N, it is for these N. It rests on the random sample, not on the model being right: a useless one has a
weight near 0, and leaves people's values alone. Like every t interval it is an approximation, and with few sampled
queries too short where y - λ f is very skewed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from cranfield.errors import ComparisonError, MeasureError
from cranfield.evaluation.estimating import (
    PLAIN,
    SAME,
    Columns,
    CorrectedParts,
    Estimates,
    Estimator,
    Parts,
    blocks,
    counted,
    deviation,
)
from cranfield.evaluation.t_distribution import exceeded_with
from cranfield.measures import Measure
from cranfield.ranks.columns import Flags, Integers, Numbers
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.policy import Policy

FEWEST = 10  # sampled queries: with fewer, the weight is noise
ROUGH = 30  # sampled queries from which on the interval holds well, whatever the judge
WITHHELD = 0.4  # of the weight of a model that agrees with people on the whole sample
MOST = 1_000_000  # the largest worth, in queries
_MEANS = "choose measures such as nDCG@10, AP or P@5"


class Moments(NamedTuple):
    """What the formulas above need of each column: means, standard deviations, and how y and f vary together.

    y, f: of the sampled queries; every: f of all of them
    """

    y: Numbers
    f: Numbers
    every: Numbers
    spread_y: Numbers
    spread_f: Numbers
    spread_every: Numbers
    together: Numbers


class Corrected(Estimator):
    """The formulas above, for every column: `values` are y, `proxy` f, and `drawn` the rows of f that y has."""

    def estimate(self, columns: Columns) -> Estimates:
        y, (every, drawn) = columns.values, _proxy(columns)
        n, f = len(y), every[drawn]
        if n < FEWEST:
            raise ComparisonError(
                f"people judged {n} sampled queries, but it takes at least {FEWEST} to correct a model.",
                hint=f"draw a larger sample: cranfield pool … --sample {2 * FEWEST}",
            )
        means = y.mean(axis=0), f.mean(axis=0), every.mean(axis=0)
        together = ((y - means[0]) * (f - means[1])).sum(axis=0) / (n - 1)
        moments = Moments(*means, deviation(y), deviation(f), deviation(every), together)
        value, error, weight, freedom = self._corrected(moments, n, len(every), contrasts=columns.contrasts)
        return Estimates(
            value=value,
            error=error,
            freedom=freedom,
            spread=moments.spread_y,
            effective=n - 1,  # the error is that of a mean of so many values, which has as many degrees of freedom
            rows=n,
            parts=Parts(weight, moments.every, moments.y, PLAIN.estimate(Columns(y)).error),
        )

    def _corrected(
        self, moments: Moments, n: int, every: int, *, contrasts: bool
    ) -> tuple[Numbers, Numbers, Numbers, Numbers]:
        """The estimate θ, its error √V, the weight and the degrees of freedom."""
        spread, of_sample, together = moments.spread_y, moments.spread_f, moments.together
        of_all = np.maximum(of_sample, moments.spread_every)
        scale = of_all if contrasts else np.maximum(of_all, spread)
        varies = (of_sample > 0) & (spread > 0)
        says = varies & (together > 0)
        slope = _ratio(together, of_sample**2, says)
        agreement = np.minimum(_ratio(together, of_sample * spread, says), 1.0)
        weight = _ratio(together, scale**2, says) * (1 - WITHHELD * agreement**8)
        apart = moments.f - moments.every

        divisor = np.where(varies, n - 2, n - 1)  # a slope that was not estimated costs nothing
        residuals = np.maximum(spread**2 - 2 * slope * together + slope**2 * of_sample**2, 0.0) * (n - 1) / divisor
        believed = of_sample**2 + agreement**8 * (of_all**2 - of_sample**2)
        withheld = np.minimum((slope - weight) ** 2 * believed, spread**2)
        explained = np.minimum(slope**2 * believed, spread**2)
        shift = 1 + n * _ratio(apart, of_all, says) ** 2 / (n - 1)
        variance = (shift * residuals + withheld) * (1 / n - 1 / every)
        variance += (residuals * divisor / (n - 1) + explained) / every
        freedom = np.where(says, n - 2 + n * agreement**4, n - 1) - (0 if contrasts else varies)
        # Where people saw no variation at all, the model says how much there may be.
        error = np.where(spread > 0, np.sqrt(variance), of_all / sqrt(n))
        return moments.y - weight * apart, error, weight, np.minimum(freedom, every - 1)

    def resample(
        self, columns: Columns, generator: np.random.Generator, times: int
    ) -> Iterator[tuple[Numbers, Numbers]]:
        """Sampled queries are drawn again among themselves, and so are the others."""
        (every, sampled), n = _proxy(columns), len(columns.values)
        others = np.delete(every, sampled, axis=0)
        middle = columns.values.mean(axis=0), every.mean(axis=0)
        y, f, rest = columns.values - middle[0], every[sampled] - middle[1], others - middle[1]
        for size in blocks(times, 8 * max(len(every), y.shape[1])):
            drawn, left = counted(generator, n, size), counted(generator, len(rest), size)
            sums = [drawn @ column for column in (y, f, y * y, f * f, y * f)]
            of_rest = [left @ column for column in (rest, rest * rest)]
            mean_y, mean_f = sums[0] / n, sums[1] / n
            mean_every = (sums[1] + of_rest[0]) / len(every)
            moments = Moments(
                middle[0] + mean_y,
                middle[1] + mean_f,
                middle[1] + mean_every,
                _spread(sums[2], mean_y, n),
                _spread(sums[3], mean_f, n),
                _spread(sums[3] + of_rest[1], mean_every, len(every)),
                (sums[4] - n * mean_y * mean_f) / (n - 1),
            )
            value, error, *_ = self._corrected(moments, n, len(every), contrasts=columns.contrasts)
            yield value, error


def _proxy(columns: Columns) -> tuple[Numbers, Integers]:
    """The model's values of all queries, and the rows of those that were sampled."""
    assert columns.proxy is not None
    assert columns.drawn is not None
    return columns.proxy, columns.drawn


def _spread(squares: Numbers, mean: Numbers, n: int) -> Numbers:
    """The standard deviation of n values by the sum of their squares; 0 if it is only due to rounding."""
    spread = np.sqrt(np.maximum(squares - n * mean**2, 0.0) / (n - 1))
    return np.where(spread <= SAME, 0.0, spread)


CORRECTED = Corrected("corrected", "corrected mean", frozenset({"t"}))


def _ratio(above: Numbers, below: Numbers, where: Flags) -> Numbers:
    return np.divide(above, below, out=np.zeros_like(above), where=where)


def parts_of(estimates: Estimates, alpha: float) -> list[CorrectedParts]:
    """The parts of each corrected mean."""
    parts = estimates.parts
    assert parts is not None
    half = float(exceeded_with(alpha / 2, estimates.rows - 1)) * parts.people_error
    columns = (
        *(parts.weight, parts.model, estimates.value - parts.model),
        *(parts.people, parts.people - half, parts.people + half),
    )
    rows = zip(*(column.tolist() for column in columns), worth(estimates, alpha), strict=True)
    return [CorrectedParts(*row) for row in rows]


def worth(estimates: Estimates, alpha: float = 0.05) -> list[int | None]:
    """How many queries judged by people alone would give as short an interval; None where it has no length."""
    half = estimates.interval(alpha)[1] - estimates.value
    return [
        _queries_for(length, spread, alpha) if length > 0 and spread > 0 else None
        for length, spread in zip(half.tolist(), estimates.spread.tolist(), strict=True)
    ]


def _queries_for(half: float, spread: float, alpha: float) -> int:
    """The smallest number of queries whose interval, t(1 - alpha/2, m - 1) · spread / √m, is no longer."""

    def enough(m: int) -> bool:
        return float(exceeded_with(alpha / 2, m - 1)) * spread / sqrt(m) <= half * (1 + 1e-9)

    m = min(max(2, round((NormalDist().inv_cdf(alpha / 2) * spread / half) ** 2)), MOST)  # for many queries
    while m < MOST and not enough(m):
        m += 1
    while m > 2 and enough(m - 1):
        m -= 1
    return m


@dataclass(frozen=True, slots=True)
class CorrectionBasis:
    """What corrected values rest on.

    store: where the judgments are
    model: the assessor whose grades all queries have
    judge: the hash of how it was asked: model, prompt and parameters, or the rule by which clicks became grades; empty
        where its grades came from a file
    people: the assessors who judged the sampled queries, or the kinds of them
    merge: the rule by which grades of several people become one
    sampled, queries: how many queries people judged completely, and of how many they were drawn
    seed, drawn_at: of the draw
    pooled: documents that the model was to judge
    missing: those of them without a grade by the model; they count as unjudged
    not_judged: documents of the sampled queries that people saw and could not judge
    unused: queries outside the sample that people judged as well; they are not used
    """

    store: str
    model: str
    judge: str
    people: tuple[str, ...]
    merge: str
    sampled: int
    queries: int
    seed: int
    drawn_at: str
    pooled: int
    missing: int
    not_judged: int
    unused: int

    def __repr__(self) -> str:
        return f"<CorrectionBasis: {self.model}, corrected by people on {self.sampled:,} of {self.queries:,} queries>"

    @property
    def sentence(self) -> str:
        """Whose grades are corrected by whom, on what."""
        people = "people" if set(self.people) == {"person", "imported"} else ", ".join(self.people)
        return f"{self.model} corrected by {people} on {self.sampled} of {self.queries} queries"

    @property
    def told_judge(self) -> str:
        """The first digits of the judge's hash, as signatures show it."""
        return self.judge[:8] or "imported"

    @property
    def signature(self) -> str:
        """Everything that must be the same for two corrected values to be comparable."""
        parts = [
            f"model:{self.model}",
            f"judge:{self.told_judge}",
            f"corrected_with:{','.join(self.people)}",
            f"merge:{self.merge}",
            f"sample:{self.sampled} of {self.queries}",
            f"sample_seed:{self.seed}",
        ]
        return "|".join(parts + [f"model_missing:{self.missing}"] * bool(self.missing))


class CorrectedJudgments:
    """A model's grades of all queries, and people's of a random sample: what `corrected_judgments` reads from a store.

    basis: which model, asked how, corrected by whom on which sample

    `evaluate`, `compare` and `gate` take them in place of judgments, and their means are corrected.

    >>> import tempfile
    >>> from cranfield import corrected_judgments, evaluate, open_store, pool
    >>> queries = {f"q{n}": "a question" for n in range(40)}
    >>> run = dict.fromkeys(queries, ["a", "b"])
    >>> with tempfile.TemporaryDirectory() as folder, open_store(f"{folder}/judgments.db", create=True) as store:
    ...     drawn = pool(store, queries, {"bm25": run}, sample=10, seed=7).drawn
    ...     said = store.import_qrels({q: {"a": len(q) % 2, "b": 1} for q in drawn}, "ann", kind="person")
    ...     said = store.import_qrels({q: {"a": 1, "b": 1} for q in queries}, "gpt", kind="model")
    ...     judgments = corrected_judgments(store, model="gpt")
    >>> judgments, judgments.basis.sampled, [len(judge) for judge in judgments.judges], len(judgments.flat)
    (<CorrectedJudgments: gpt corrected on 10 of 40 queries>, 10, [40, 10], 40)
    >>> estimate = evaluate(judgments, run, "P@1").estimate("P@1")
    >>> estimate.corrected.model, estimate.corrected.weight, estimate.value == estimate.corrected.people
    (1.0, 0.0, True)
    """

    def __init__(self, by_model: Judgments, by_people: Judgments, basis: CorrectionBasis) -> None:
        self._judges, self.basis = (by_model, by_people), basis

    def __repr__(self) -> str:
        sample = f"{self.basis.sampled} of {self.basis.queries} queries"
        return f"<CorrectedJudgments: {self.basis.model} corrected on {sample}>"

    @property
    def judges(self) -> tuple[Judgments, Judgments]:
        """The grades of the model, and those of people."""
        return self._judges

    @cached_property
    def flat(self) -> Judgments:
        """Every document that either has judged: a run is read once for both."""
        model, people = (judgments.by_query for judgments in self.judges)
        if all(grades.keys() <= model.get(query, {}).keys() for query, grades in people.items()):
            return self.judges[0]
        pairs = {query: {**people.get(query, {}), **grades} for query, grades in model.items()}
        return Judgments(pairs, name=self.judges[0].name)

    def _check(self, measures: Sequence[Measure], policy: Policy) -> None:
        """Refuse what would make the correction wrong."""
        if policy.missing == "skip":
            raise ComparisonError(
                "would leave queries that a run lacks out of the sample, which would no longer be random.",
                parameter="missing",
                value="skip",
                hint="let them count 0, as they do by default",
            )
        for measure in measures:
            if measure.definition.table != "ranks":
                raise MeasureError(f"{measure} needs judgments with groups, which cannot be corrected.", hint=_MEANS)
            if measure.definition.aggregate != "mean":
                how = measure.definition.aggregate
                raise ComparisonError(
                    f"{measure} is not a mean over queries ({how}), and only means are corrected.", hint=_MEANS
                )
