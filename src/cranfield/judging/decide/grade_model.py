"""GradeModel: estimates of grades that are not given yet. They are for choosing and stopping, never for a store.

An ordinal (cumulative probit) regression with effects of queries. A document has a latent relevance,

    z = Σ over the k runs that return it ((s + v) · (1 + ¾ disc(rank)) + b · disc(rank)) / √k + a · log2(k) + u + e

and its grade is the number of thresholds below z. disc falls from 1 at the first rank to nearly 0 at the deepest,
disc(r) = 1 - log(r) / log(depth + 1): runs differ most in what they rank first. s and b belong to a run; a to all runs
(what several return is better, but not by the sum of what each of them says); u (the level of a query) and v (how well
a run does on a query) to a query; e is noise with variance 1. Thresholds, s, b, a, u and v have normal priors. All runs
of a decision share one model, so that what is judged for one pair of runs also tells about the others.

The mode comes from Newton's method, the distribution around it is taken as normal, and the variances of s, u and v
come from expectation and maximisation. The effects of a query are eliminated within it, so no matrix grows with the
number of queries.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np

from cranfield.judging.decide.candidates import Places
from cranfield.ranks.columns import Flags, Integers, Numbers

# Priors, on the scale of the noise; the figures come from fits to complete judgments.
CENTRE, CENTRE_VARIANCE = 1.1, 2.0  # of the thresholds
SPAN, SPACING_VARIANCE = 3.0, 0.1  # from the first to beyond the last of them; the variance is relative
RETURNED = 0.4  # s
SLOPE, SLOPE_VARIANCE, OWN_SLOPE_VARIANCE = 0.35, 0.1, 0.01  # b: what runs share, and what is a run's own
STEEPER = 0.75  # how much more s and v weigh at the first rank than at the deepest
AGREEMENT, AGREEMENT_VARIANCE = 0.3, 0.1  # a
STEPS = 10  # of expectation and maximisation
NEWTON_STEPS = 2  # before each of them
LAST_STEPS = 4  # at the end
ENOUGH = 500  # queries to estimate variances from
CLOSEST = 0.02  # two thresholds
FARTHEST_STEP = 3.0
BEYOND = 40.0  # no threshold
TINIEST = 1e-300  # chance: with a larger floor the second derivatives would not belong to it, nor be a covariance
FEW_CHANCES = 50_000
_ERFC = np.frompyfunc(math.erfc, 1, 1)
SMALL = 8  # matrices with no more rows
LEAST_NOISE = 0.2  # of the variance of a grade: what other grades can never tell


class Variances(NamedTuple):
    """Of the level of a query, of how well a run does on a query, and of how well runs do."""

    level: float
    side: float
    run: float


START = Variances(0.35, 0.25, 0.3)
COUNTS = Variances(5.0, 10.0, 4.0)  # how many observations the prior counts as


class Features(NamedTuple):
    """What is known about documents before they are judged."""

    fixed: Numbers  # a column for each s, one for each b, and one for a
    effects: Numbers  # a column for u, then one for each v
    query: Integers

    @classmethod
    def of(cls, rank: Integers, query: Integers) -> Features:
        """rank: a line for each run, 0 where it does not return the document."""
        deepest = int(rank.max(initial=0))
        by_rank = np.concatenate([[0.0], 1 - np.log(np.arange(1.0, deepest + 1)) / math.log(deepest + 1)])
        several = np.maximum((rank > 0).sum(axis=0, keepdims=True), 1)
        returned = (rank > 0) * (1 + STEEPER * by_rank[rank]) / np.sqrt(several)
        level = np.ones((1, rank.shape[1]))
        return cls(
            np.ascontiguousarray(np.concatenate([returned, by_rank[rank] / np.sqrt(several), np.log2(several)]).T),
            np.ascontiguousarray(np.concatenate([level, returned]).T),
            query,
        )

    def only(self, places: Integers | Flags) -> Features:
        return Features(self.fixed[places], self.effects[places], self.query[places])


class Prior(NamedTuple):
    """Of thresholds and coefficients: a normal distribution."""

    mean: Numbers
    precision: Numbers

    @classmethod
    def of(cls, thresholds: int, runs: int, variances: Variances) -> Prior:
        spacing = SPAN / thresholds
        steps = np.diff(np.eye(thresholds), axis=0)
        precision = np.zeros((thresholds + 2 * runs + 1, thresholds + 2 * runs + 1))
        centre = np.ones((thresholds, thresholds)) / thresholds**2 / CENTRE_VARIANCE
        precision[:thresholds, :thresholds] = centre + steps.T @ steps / (SPACING_VARIANCE * spacing**2)
        returned, slopes = slice(thresholds, thresholds + runs), slice(thresholds + runs, -1)
        precision[returned, returned] = np.eye(runs) / variances.run
        shared = np.ones((runs, runs)) / runs
        precision[slopes, slopes] = shared / (runs * SLOPE_VARIANCE) + (np.eye(runs) - shared) / OWN_SLOPE_VARIANCE
        precision[-1, -1] = 1 / AGREEMENT_VARIANCE
        first = CENTRE + (np.arange(thresholds) - (thresholds - 1) / 2) * spacing
        return cls(np.concatenate([first, [RETURNED] * runs, [SLOPE] * runs, [AGREEMENT]]), precision)


class Observed(NamedTuple):
    """Judged documents, sorted by query: their features, and which threshold is above and below each grade."""

    features: Features
    queries: Integers  # those with a judged document
    starts: Integers  # where each of these begins
    above: Numbers  # a column for each threshold: 1 for the one above the grade
    below: Numbers

    @classmethod
    def of(cls, features: Features, level: Integers, thresholds: int) -> Observed:
        queries, starts = np.unique(features.query, return_index=True)
        steps = np.arange(thresholds)
        above, below = level[:, None] == steps, level[:, None] - 1 == steps
        return cls(features, queries, starts, above.astype(np.float64), below.astype(np.float64))

    def some(self) -> Observed:
        """Some of the queries, if they are many."""
        if len(self.queries) <= ENOUGH:
            return self
        one_of = 1 + len(self.queries) // ENOUGH
        kept = np.repeat(np.arange(len(self.queries)) % one_of == 0, _lengths(self))
        features = self.features.only(kept)
        queries, starts = np.unique(features.query, return_index=True)
        return Observed(features, queries, starts, self.above[kept], self.below[kept])

    def sums(self, left: Numbers, right: Numbers) -> Numbers:
        """left' right of each query."""
        columns = [np.add.reduceat(left[:, place, None] * right, self.starts) for place in range(left.shape[1])]
        return np.stack(columns, axis=1)


class Solution(NamedTuple):
    """The mode, and the normal distribution around it; effects for the observed queries only."""

    fixed: Numbers  # thresholds and coefficients
    covariance: Numbers
    effects: Numbers
    pull: Numbers  # how the effects of a query follow the fixed ones
    effects_covariance: Numbers  # for any given fixed ones


def normal_density(value: Numbers) -> Numbers:
    return np.asarray(np.exp(-(value**2) / 2) / math.sqrt(2 * math.pi))


def normal_below(value: Numbers) -> Numbers:
    """The chance of a smaller standard normal variable."""
    if value.size <= FEW_CHANCES:
        return np.asarray(_ERFC(-value / math.sqrt(2)), dtype=np.float64) / 2
    from scipy.special import ndtr  # importing it takes longer than so few chances

    return np.asarray(ndtr(value))


def inverses(matrices: Numbers) -> Numbers:
    """Of many symmetric matrices without negative eigenvalues. Small ones are swept all at once, which is faster."""
    if matrices.shape[1] > SMALL:
        return np.asarray(np.linalg.inv(matrices))
    swept = np.moveaxis(matrices, 0, -1).copy()
    for place in range(len(swept)):
        pivot, column = swept[place, place].copy(), swept[:, place].copy()
        row = swept[place] / pivot
        swept -= column[:, None] * row
        swept[place], swept[:, place] = row, -column / pivot
        swept[place, place] = 1 / pivot
    return np.ascontiguousarray(np.moveaxis(swept, -1, 0))


def newton_step(observed: Observed, prior: Prior, variances: Variances, at: Solution) -> Solution:
    """One step of Newton's method towards the mode of the posterior, and the distribution as it is there."""
    thresholds = observed.above.shape[1]
    features, of_query = observed.features, np.repeat(np.arange(len(observed.queries)), _lengths(observed))
    mean = features.fixed @ at.fixed[thresholds:] + np.einsum("de,de->d", features.effects, at.effects[of_query])
    high = np.where(observed.above.any(axis=1), observed.above @ at.fixed[:thresholds] - mean, BEYOND)
    low = np.where(observed.below.any(axis=1), observed.below @ at.fixed[:thresholds] - mean, -BEYOND)
    mirrored = low > 0  # both in the upper tail, where differences of chances near 1 would lose all digits
    chance = normal_below(np.where(mirrored, -low, high)) - normal_below(np.where(mirrored, -high, low))
    chance = np.maximum(chance, TINIEST)
    at_high, at_low = normal_density(high) / chance, normal_density(low) / chance
    # The second derivatives of the logarithm of the chance, with the opposite sign.
    both_high, both_low, cross = high * at_high + at_high**2, at_low**2 - low * at_low, -at_high * at_low
    weight = np.maximum(both_high + 2 * cross + both_low, 1e-6)
    slope = at_low - at_high
    with_thresholds = -observed.above * (both_high + cross)[:, None] - observed.below * (both_low + cross)[:, None]

    gradient = np.concatenate([observed.above.T @ at_high - observed.below.T @ at_low, features.fixed.T @ slope])
    gradient -= prior.precision @ (at.fixed - prior.mean)
    curvature = prior.precision.copy()
    one, rest = slice(None, thresholds), slice(thresholds, None)
    between = (observed.above * cross[:, None]).T @ observed.below
    curvature[one, one] += (observed.above * both_high[:, None]).T @ observed.above + between + between.T
    curvature[one, one] += (observed.below * both_low[:, None]).T @ observed.below
    curvature[one, rest] += with_thresholds.T @ features.fixed
    curvature[rest, one] = curvature[one, rest].T
    curvature[rest, rest] += (features.fixed * weight[:, None]).T @ features.fixed

    effects = features.effects
    precision = effect_precision(effects.shape[1], variances)
    within = observed.sums(effects, effects * weight[:, None])
    within += np.diag(precision)
    mixed = observed.sums(effects, np.concatenate([with_thresholds, features.fixed * weight[:, None]], axis=1))
    own = np.add.reduceat(effects * slope[:, None], observed.starts) - at.effects * precision
    effects_covariance = inverses(within)
    pull = effects_covariance @ mixed
    left = curvature - np.einsum("qef,qeg->fg", mixed, pull)
    covariance = np.linalg.inv((left + left.T) / 2)
    step = covariance @ (gradient - np.einsum("qef,qe->f", pull, own))
    effects_step = np.einsum("qef,qf->qe", effects_covariance, own) - pull @ step
    share = min(1.0, FARTHEST_STEP / max(float(np.abs(step).max()), FARTHEST_STEP))
    while share > 1e-3 and (np.diff(at.fixed[one] + share * step[one]) < CLOSEST).any():
        share /= 2
    return Solution(at.fixed + share * step, covariance, at.effects + share * effects_step, pull, effects_covariance)


def _lengths(observed: Observed) -> Integers:
    return np.diff(np.append(observed.starts, len(observed.features.query)))


def effect_precision(effects: int, variances: Variances) -> Numbers:
    return np.array([1 / variances.level] + [1 / variances.side] * (effects - 1))


def improved(solution: Solution, thresholds: int, start: Variances = START) -> Variances:
    """One step of expectation and maximisation; the prior counts like a few observations."""
    squares = solution.effects**2 + np.einsum("qee->qe", all_effects_covariance(solution))
    runs = slice(thresholds, thresholds + squares.shape[1] - 1)
    of_runs = (solution.fixed[runs] - RETURNED) ** 2 + np.diag(solution.covariance)[runs]
    totals = Variances(float(squares[:, 0].sum()), float(squares[:, 1:].sum()), float(of_runs.sum()))
    counts = Variances(len(squares), squares[:, 1:].size, len(of_runs))
    return Variances(
        *(
            (worth * before + total) / (worth + observed)
            for worth, before, total, observed in zip(COUNTS, start, totals, counts, strict=True)
        )
    )


def all_effects_covariance(solution: Solution) -> Numbers:
    """Of the effects of each query, thresholds and coefficients being unknown."""
    through = solution.pull @ solution.covariance @ solution.pull.transpose(0, 2, 1)
    return np.asarray(solution.effects_covariance + through)


def solved(observed: Observed, prior: Prior, variances: Variances, start: Numbers, steps: int) -> Solution:
    queries, effects = len(observed.queries), observed.features.effects.shape[1]
    nothing = np.zeros((queries, effects, len(prior.mean)))
    at = Solution(start, np.empty(0), np.zeros((queries, effects)), nothing, np.empty(0))
    for _ in range(steps):
        at = newton_step(observed, prior, variances, at)
    return at


def estimated(observed: Observed, thresholds: int, runs: int) -> tuple[Variances, Numbers]:
    """The variances, and a start for the mode."""
    some, variances = observed.some(), START
    prior = Prior.of(thresholds, runs, variances)
    at = solved(some, prior, variances, prior.mean, LAST_STEPS)
    for _ in range(STEPS):
        variances = improved(at, thresholds)
        prior = Prior.of(thresholds, runs, variances)
        for _ in range(NEWTON_STEPS):
            at = newton_step(some, prior, variances, at)
    return variances, at.fixed


@dataclass(frozen=True, eq=False)
class GradeModel:
    """The distribution of all grades, as numbers of levels, given those that are judged."""

    features: Features
    thresholds: int
    variances: Variances
    fixed: Numbers
    covariance: Numbers
    effects: Numbers  # of all queries
    pull: Numbers
    effects_covariance: Numbers

    @cached_property
    def latent(self) -> Numbers:
        """The latent relevance of each document, as expected."""
        own = np.einsum("de,de->d", self.features.effects, self.effects[self.features.query])
        return np.asarray(self.features.fixed @ self.fixed[self.thresholds :] + own)

    @cached_property
    def _pulled(self) -> Numbers:
        """How each document follows the fixed coefficients by way of the effects of its query."""
        pulled = self.features.effects[:, :1] * self.pull[self.features.query, 0]
        for place in range(1, self.pull.shape[1]):
            pulled += self.features.effects[:, place, None] * self.pull[self.features.query, place]
        return np.asarray(pulled)

    def draw(self, generator: np.random.Generator, count: int) -> Places:
        """The level of each document, a line for each draw. Draws come in pairs with opposite random numbers."""

        def normal(*shape: int) -> Numbers:
            half = generator.standard_normal(((count + 1) // 2, *shape))
            return np.concatenate([half, -half])[:count]

        fixed = normal(len(self.fixed)) @ np.linalg.cholesky(self.covariance).T
        effects = np.einsum("qef,sqf->seq", np.linalg.cholesky(self.effects_covariance), normal(*self.effects.shape))
        effects += self.effects.T
        effects -= np.einsum("qef,sf->seq", self.pull, fixed)
        fixed += self.fixed
        noise = generator.standard_normal(((count + 1) // 2, len(self.features.query)))
        opposite = (-line for line in noise)
        columns = np.ascontiguousarray(self.features.effects.T)
        levels = np.zeros((count, len(self.features.query)), dtype=np.int32)
        # One by one, since each of them fits into the processor's cache.
        for line, its_fixed, its_effects, own in zip(levels, fixed, effects, chain(noise, opposite), strict=False):
            relevance = own + self.features.fixed @ its_fixed[self.thresholds :]
            for effect, column in zip(its_effects, columns, strict=True):
                relevance += effect[self.features.query] * column
            for threshold in its_fixed[: self.thresholds]:
                line += relevance > threshold
        return levels

    def linear(self, worth: Numbers) -> LinearGrades:
        """What grades are worth, made linear around the mode; `worth` of each level."""
        slopes = self._slopes(np.full((len(self.latent), self.thresholds), -1 / self.thresholds), np.ones(()))
        spread = np.sqrt(1 + slopes.variance)[:, None]
        # Averaged over what is uncertain about z: at the mode alone, all would seem to be known about a few documents.
        distance = (self.latent[:, None] - self.fixed[: self.thresholds]) / spread
        chance, density = normal_below(distance), normal_density(distance) / spread
        rises = np.diff(worth)
        at_least = chance @ rises
        squares = worth[0] ** 2 + chance @ np.diff(worth**2)
        noise = np.maximum(squares - (worth[0] + at_least) ** 2, 1e-4 * max(float(np.ptp(worth)) ** 2, 1e-12))
        linear = self._slopes(-density * rises, density @ rises)
        return replace(linear, noise=np.maximum(noise - linear.variance, noise * LEAST_NOISE))

    def _slopes(self, of_thresholds: Numbers, of_relevance: Numbers) -> LinearGrades:
        stretch = np.broadcast_to(of_relevance, self.latent.shape)[:, None]
        own = self.features.effects * stretch
        fixed = np.concatenate([of_thresholds, self.features.fixed * stretch], axis=1)
        fixed -= self._pulled * stretch
        return LinearGrades(
            self.features.query, fixed, own, self.covariance, self.effects_covariance, np.zeros(len(self.latent))
        )


@dataclass(frozen=True, eq=False)
class LinearGrades:
    """Grades as sums of what all documents share, what those of a query share, and noise: normally distributed."""

    query: Integers
    fixed: Numbers  # how each grade follows thresholds and coefficients, by way of the effects of its query, too
    own: Numbers  # how it follows the effects of its query, for given thresholds and coefficients
    covariance: Numbers
    effects_covariance: Numbers
    noise: Numbers  # variances

    @cached_property
    def variance(self) -> Numbers:
        shared = np.einsum("df,df->d", self.fixed @ self.covariance, self.fixed)
        own = np.einsum("def,de,df->d", self.effects_covariance[self.query], self.own, self.own)
        return np.asarray(shared + own + self.noise)

    @cached_property
    def _effects_precision(self) -> Numbers:
        return inverses(self.effects_covariance)

    def _sums(self, weights: Numbers) -> Numbers:
        """Of the weighted `own` of each query."""
        queries = len(self.effects_covariance)
        return np.stack([np.bincount(self.query, weights * column, queries) for column in self.own.T], axis=1)

    def covariance_with(self, weights: Numbers) -> Numbers:
        """Of each grade with Σ weights · grade."""
        of_queries = np.einsum("qef,qf->qe", self.effects_covariance, self._sums(weights))
        shared = self.fixed @ (self.covariance @ (weights @ self.fixed))
        return np.asarray(shared + np.einsum("de,de->d", self.own, of_queries[self.query]) + weights * self.noise)

    def covariance_with_one(self, place: int) -> Numbers:
        covariance: Numbers = self.fixed @ (self.covariance @ self.fixed[place])
        query = self.query[place]
        same = np.flatnonzero(self.query == query)
        covariance[same] += self.own[same] @ (self.effects_covariance[query] @ self.own[place])
        covariance[place] += self.noise[place]
        return covariance

    def variance_of(self, weights: Numbers) -> float:
        """Of Σ weights · grade."""
        return float(weights @ self.covariance_with(weights))

    def variance_given(self, judged: Integers, weights: Numbers) -> float:
        """Of Σ weights · grade once these documents are judged, whatever comes out: the others are surer then."""
        effects = self.own.shape[1]
        judged = judged[np.argsort(self.query[judged], kind="stable")]
        fixed, own, sure = self.fixed[judged], self.own[judged], 1 / self.noise[judged][:, None]
        which, starts = np.unique(self.query[judged], return_index=True)  # of the other queries nothing changes
        within, mixed = self._effects_precision[which], np.empty((len(which), effects, fixed.shape[1]))
        for place in range(effects):
            weighted = own[:, place, None] * sure
            within[:, place] += np.add.reduceat(weighted * own, starts)
            mixed[:, place] = np.add.reduceat(weighted * fixed, starts)
        effects_covariance = self.effects_covariance.copy()
        effects_covariance[which] = inverses(within)
        lines = mixed.reshape(len(which) * effects, -1)  # products of flat matrices are many times faster
        pull = (effects_covariance[which] @ mixed).reshape(lines.shape)
        precision = np.linalg.inv(self.covariance) + (fixed * sure).T @ fixed - lines.T @ pull
        rest = weights.copy()
        rest[judged] = 0.0
        sums = self._sums(rest)
        shared = rest @ self.fixed - sums[which].reshape(-1) @ pull
        of_queries = (effects_covariance @ sums[:, :, None])[:, :, 0]
        return float(
            shared @ np.linalg.solve((precision + precision.T) / 2, shared)
            + (sums * of_queries).sum()
            + rest**2 @ self.noise
        )

    def only(self, places: Integers) -> LinearGrades:
        return LinearGrades(
            self.query[places],
            self.fixed[places],
            self.own[places],
            self.covariance,
            self.effects_covariance,
            self.noise[places],
        )


def fit(features: Features, queries: int, level: Integers, judged: Flags, thresholds: int) -> GradeModel:
    """queries: how many there are. level: of the judged documents, their grade as a number of thresholds below it."""
    effects, runs = features.effects.shape[1], features.effects.shape[1] - 1
    of_query, pull = np.zeros((queries, effects)), np.zeros((queries, effects, thresholds + 2 * runs + 1))
    if not judged.any():
        prior = Prior.of(thresholds, runs, START)
        within: Numbers = np.broadcast_to(np.diag(1 / effect_precision(effects, START)), (queries, effects, effects))
        covariance = np.asarray(np.linalg.inv(prior.precision))
        return GradeModel(features, thresholds, START, prior.mean, covariance, of_query, pull, within)
    observed = Observed.of(features.only(judged), level[judged], thresholds)
    variances, start = estimated(observed, thresholds, runs)
    solution = solved(observed, Prior.of(thresholds, runs, variances), variances, start, LAST_STEPS)
    within = np.array(np.broadcast_to(np.diag(1 / effect_precision(effects, variances)), (queries, effects, effects)))
    of_query[observed.queries], pull[observed.queries] = solution.effects, solution.pull
    within[observed.queries] = solution.effects_covariance
    return GradeModel(features, thresholds, variances, solution.fixed, solution.covariance, of_query, pull, within)
