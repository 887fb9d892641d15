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

Documents, or queries, are the last dimension of every table: then its lines are long, and numpy works along lines. In
`einsum`, e and f are effects, g and h thresholds and coefficients, d documents, and q queries.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
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
FEW_CHANCES = 5_000
_ERFC = np.frompyfunc(math.erfc, 1, 1)
SMALL = 8  # matrices with no more rows
MANY = 500  # queries
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

    fixed: Numbers  # a line for each s, one for each b, and one for a
    effects: Numbers  # a line for u, then one for each v
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
            np.concatenate([returned, by_rank[rank] / np.sqrt(several), np.log2(several)]),
            np.concatenate([level, returned]),
            query,
        )

    def only(self, places: Integers | Flags) -> Features:
        return Features(self.fixed[:, places], self.effects[:, places], self.query[places])


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


class Groups(NamedTuple):
    """Documents sorted by query, as groups."""

    queries: Integers
    starts: Integers  # where each of these begins
    place: Integers  # of the query of each document among these

    @classmethod
    def of(cls, query: Integers) -> Groups:
        starts = np.flatnonzero(np.diff(query, prepend=-1))
        return cls(query[starts], starts, np.repeat(np.arange(len(starts)), np.diff(starts, append=len(query))))

    def products(self, left: Numbers, right: Numbers) -> Numbers:
        """left right' of each query. Of many, which have few documents each, numpy counts faster than it reduces."""
        if len(self.queries) > MANY:
            return np.array([[np.bincount(self.place, one * other) for other in right] for one in left])
        return np.array([np.add.reduceat(one * right, self.starts, axis=1) for one in left])


class Observed(NamedTuple):
    """Judged documents, sorted by query: their features, and which threshold is above and below each grade."""

    features: Features
    groups: Groups
    above: Numbers  # a line for each threshold: 1 for the one above the grade
    below: Numbers

    @classmethod
    def of(cls, features: Features, level: Integers, thresholds: int) -> Observed:
        steps = np.arange(thresholds)[:, None]
        above, below = level == steps, level - 1 == steps
        return cls(features, Groups.of(features.query), above.astype(np.float64), below.astype(np.float64))

    def some(self) -> Observed:
        """Some of the queries, if they are many."""
        queries = len(self.groups.queries)
        if queries <= ENOUGH:
            return self
        kept = self.groups.place % (1 + queries // ENOUGH) == 0
        features = self.features.only(kept)
        return Observed(features, Groups.of(features.query), self.above[:, kept], self.below[:, kept])


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
    if len(matrices) > SMALL:
        return np.ascontiguousarray(np.moveaxis(np.linalg.inv(np.moveaxis(matrices, -1, 0)), 0, -1))
    swept = matrices.copy()
    for place in range(len(swept)):
        pivot, column = swept[place, place].copy(), swept[:, place].copy()
        row = swept[place] / pivot
        swept -= column[:, None] * row
        swept[place], swept[:, place] = row, -column / pivot
        swept[place, place] = 1 / pivot
    return swept


def newton_step(observed: Observed, prior: Prior, variances: Variances, at: Solution) -> Solution:
    """One step of Newton's method towards the mode of the posterior, and the distribution as it is there."""
    thresholds, features, groups = len(observed.above), observed.features, observed.groups
    mean = at.fixed[thresholds:] @ features.fixed + (features.effects * at.effects[:, groups.place]).sum(axis=0)
    high = np.where(observed.above.any(axis=0), at.fixed[:thresholds] @ observed.above - mean, BEYOND)
    low = np.where(observed.below.any(axis=0), at.fixed[:thresholds] @ observed.below - mean, -BEYOND)
    mirrored = low > 0  # both in the upper tail, where differences of chances near 1 would lose all digits
    chance = normal_below(np.where(mirrored, -low, high)) - normal_below(np.where(mirrored, -high, low))
    chance = np.maximum(chance, TINIEST)
    at_high, at_low = normal_density(high) / chance, normal_density(low) / chance
    # The second derivatives of the logarithm of the chance, with the opposite sign.
    both_high, both_low, cross = high * at_high + at_high**2, at_low**2 - low * at_low, -at_high * at_low
    weight = np.maximum(both_high + 2 * cross + both_low, 1e-6)
    slope = at_low - at_high
    with_thresholds = -observed.above * (both_high + cross) - observed.below * (both_low + cross)

    gradient = np.concatenate([observed.above @ at_high - observed.below @ at_low, features.fixed @ slope])
    gradient -= prior.precision @ (at.fixed - prior.mean)
    curvature = prior.precision.copy()
    one, rest = slice(None, thresholds), slice(thresholds, None)
    between = (observed.above * cross) @ observed.below.T
    curvature[one, one] += (observed.above * both_high) @ observed.above.T + between + between.T
    curvature[one, one] += (observed.below * both_low) @ observed.below.T
    curvature[one, rest] += with_thresholds @ features.fixed.T
    curvature[rest, one] = curvature[one, rest].T
    curvature[rest, rest] += (features.fixed * weight) @ features.fixed.T

    effects = features.effects
    precision = effect_precision(len(effects), variances)
    within = groups.products(effects, effects * weight) + np.diag(precision)[:, :, None]
    mixed = groups.products(effects, np.concatenate([with_thresholds, features.fixed * weight]))
    own = groups.products(effects, slope[None])[:, 0] - at.effects * precision[:, None]
    effects_covariance = inverses(within)
    pull = np.einsum("efq,fgq->egq", effects_covariance, mixed)
    left = curvature - np.tensordot(mixed, pull, ([0, 2], [0, 2]))
    covariance = np.asarray(np.linalg.inv((left + left.T) / 2))
    step = covariance @ (gradient - np.einsum("egq,eq->g", pull, own))
    effects_step = np.einsum("efq,fq->eq", effects_covariance, own) - np.einsum("egq,g->eq", pull, step)
    share = min(1.0, FARTHEST_STEP / max(float(np.abs(step).max()), FARTHEST_STEP))
    while share > 1e-3 and (np.diff(at.fixed[one] + share * step[one]) < CLOSEST).any():
        share /= 2
    return Solution(at.fixed + share * step, covariance, at.effects + share * effects_step, pull, effects_covariance)


def effect_precision(effects: int, variances: Variances) -> Numbers:
    return np.array([1 / variances.level] + [1 / variances.side] * (effects - 1))


def improved(solution: Solution, thresholds: int, start: Variances = START) -> Variances:
    """One step of expectation and maximisation; the prior counts like a few observations."""
    squares = solution.effects**2 + np.einsum("eeq->eq", all_effects_covariance(solution))
    runs = slice(thresholds, thresholds + len(squares) - 1)
    of_runs = (solution.fixed[runs] - RETURNED) ** 2 + np.diag(solution.covariance)[runs]
    totals = Variances(float(squares[0].sum()), float(squares[1:].sum()), float(of_runs.sum()))
    counts = Variances(squares[0].size, squares[1:].size, len(of_runs))
    return Variances(
        *(
            (worth * before + total) / (worth + observed)
            for worth, before, total, observed in zip(COUNTS, start, totals, counts, strict=True)
        )
    )


def all_effects_covariance(solution: Solution) -> Numbers:
    """Of the effects of each query, thresholds and coefficients being unknown."""
    half = np.einsum("egq,gh->ehq", solution.pull, solution.covariance)
    return np.asarray(solution.effects_covariance + np.einsum("ehq,fhq->efq", half, solution.pull))


def solved(observed: Observed, prior: Prior, variances: Variances, start: Numbers, steps: int) -> Solution:
    nothing = np.zeros((len(observed.features.effects), len(observed.groups.queries)))
    at = Solution(start, np.empty(0), nothing, np.empty(0), np.empty(0))
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
        own = (self.features.effects * self._repeated(self.effects)).sum(axis=0)
        return np.asarray(self.fixed[self.thresholds :] @ self.features.fixed + own)

    @cached_property
    def _follows(self) -> Numbers:
        """How the latent relevance of each document follows the coefficients, and by way of effects the thresholds."""
        follows = np.zeros((len(self.fixed), len(self.features.query)))
        follows[self.thresholds :] = self.features.fixed
        for line, pulls in zip(follows, np.moveaxis(self.pull, 1, 0), strict=True):
            for effect, pull in zip(self.features.effects, pulls, strict=True):
                line -= effect * self._repeated(pull)
        return follows

    def _repeated(self, of_queries: Numbers) -> Numbers:
        """For each document, what is so of its query."""
        return np.repeat(of_queries, self._documents, axis=-1)

    @cached_property
    def _documents(self) -> Integers:
        """How many each query has."""
        return np.bincount(self.features.query, minlength=self.effects.shape[1])

    def draw(self, generator: np.random.Generator, count: int) -> Places:
        """The level of each document, a line for each draw. Draws come in pairs with opposite random numbers."""
        effects, queries = self.effects.shape
        documents, pairs = len(self.features.query), (count + 1) // 2

        def opposite(half: Numbers) -> Iterator[Numbers]:
            return chain(half, (-line for line in half))

        of_fixed = opposite(generator.standard_normal((pairs, len(self.fixed))))
        of_effects = opposite(generator.standard_normal((pairs, queries, effects)))
        of_documents = opposite(generator.standard_normal((pairs, documents)))
        root = np.linalg.cholesky(self.covariance)
        effects_root = np.moveaxis(np.linalg.cholesky(np.moveaxis(self.effects_covariance, -1, 0)), 0, -1).copy()
        levels = np.zeros((count, documents), dtype=np.int32)
        for line in levels:  # one by one, since each of them fits into the processor's cache
            off = root @ next(of_fixed)
            fixed = self.fixed + off
            its_effects = self.effects - np.einsum("egq,g->eq", self.pull, off)
            its_effects += np.einsum("efq,qf->eq", effects_root, next(of_effects))
            relevance = next(of_documents) + fixed[self.thresholds :] @ self.features.fixed
            for effect, weight in zip(its_effects, self.features.effects, strict=True):
                relevance += self._repeated(effect) * weight
            for threshold in fixed[: self.thresholds]:
                line += relevance > threshold
        return levels

    def linear(self, worth: Numbers) -> LinearGrades:
        """What grades are worth, made linear around the mode; `worth` of each level."""
        relevance = self._slopes(np.full((self.thresholds, 1), -1 / self.thresholds), np.ones(1))
        spread = np.sqrt(1 + relevance.variance)
        # Averaged over what is uncertain about z: at the mode alone, all would seem to be known about a few documents.
        distance = (self.latent - self.fixed[: self.thresholds, None]) / spread
        chance, density = normal_below(distance), normal_density(distance) / spread
        rises = np.diff(worth)
        at_least = rises @ chance
        squares = worth[0] ** 2 + np.diff(worth**2) @ chance
        noise = np.maximum(squares - (worth[0] + at_least) ** 2, 1e-4 * max(float(np.ptp(worth)) ** 2, 1e-12))
        linear = self._slopes(-density * rises[:, None], rises @ density)
        return replace(linear, noise=np.maximum(noise - linear.variance, noise * LEAST_NOISE))

    def _slopes(self, of_thresholds: Numbers, of_relevance: Numbers) -> LinearGrades:
        fixed = self._follows * of_relevance
        fixed[: self.thresholds] += of_thresholds
        own, noise = self.features.effects * of_relevance, np.zeros(len(self.features.query))
        return LinearGrades(self.features.query, fixed, own, self.covariance, self.effects_covariance, noise)


@dataclass(frozen=True, eq=False)
class LinearGrades:
    """Grades as sums of what all documents share, what those of a query share, and noise: normally distributed.

    Documents are sorted by query.
    """

    query: Integers
    fixed: Numbers  # how each grade follows thresholds and coefficients, by way of the effects of its query, too
    own: Numbers  # how it follows the effects of its query, for given thresholds and coefficients
    covariance: Numbers
    effects_covariance: Numbers
    noise: Numbers  # variances

    @cached_property
    def variance(self) -> Numbers:
        variance = self.noise + np.einsum("gd,gd->d", self.covariance @ self.fixed, self.fixed)
        for one, covariance in zip(self.own, self.effects_covariance, strict=True):
            for other, between in zip(self.own, covariance, strict=True):
                variance += one * other * between[self.query]
        return np.asarray(variance)

    @cached_property
    def _effects_precision(self) -> Numbers:
        return inverses(self.effects_covariance)

    def _sums(self, weights: Numbers) -> Numbers:
        """Of the weighted `own` of each query."""
        queries = self.effects_covariance.shape[2]
        return np.array([np.bincount(self.query, weights * line, queries) for line in self.own])

    def covariance_with(self, weights: Numbers) -> Numbers:
        """Of each grade with Σ weights · grade."""
        of_queries = np.einsum("efq,fq->eq", self.effects_covariance, self._sums(weights))
        shared = (self.covariance @ (self.fixed @ weights)) @ self.fixed
        own = (self.own * of_queries.take(self.query, axis=1)).sum(axis=0)
        return np.asarray(shared + own + weights * self.noise)

    def covariance_with_one(self, place: int) -> Numbers:
        covariance: Numbers = (self.covariance @ self.fixed[:, place]) @ self.fixed
        query = self.query[place]
        same = slice(*np.searchsorted(self.query, [query, query + 1]).tolist())
        covariance[same] += (self.effects_covariance[:, :, query] @ self.own[:, place]) @ self.own[:, same]
        covariance[place] += self.noise[place]
        return covariance

    def variance_of(self, weights: Numbers) -> float:
        """Of Σ weights · grade."""
        return float(weights @ self.covariance_with(weights))

    def variances_given(self, order: Integers, numbers: Iterable[int], weights: Numbers) -> Iterator[float]:
        """Of Σ weights · grade once so many documents are judged, whatever comes out: the others are surer then.

        numbers: how many documents, the first of `order`.
        """
        sums, shared, noise = self._sums(weights), self.fixed @ weights, weights**2 @ self.noise
        for number in numbers:
            judged = np.sort(order[:number])
            weight, sure = weights[judged], 1 / self.noise[judged]
            fixed, own = self.fixed.take(judged, axis=1), self.own.take(judged, axis=1)
            groups = Groups.of(self.query[judged])  # of the other queries nothing changes
            mixed = groups.products(own, fixed * sure)
            within = self._effects_precision[:, :, groups.queries] + groups.products(own, own * sure)
            effects_covariance = self.effects_covariance.copy()
            effects_covariance[:, :, groups.queries] = within = inverses(within)
            pull = np.einsum("efq,fgq->egq", within, mixed)
            precision = np.linalg.inv(self.covariance) + (fixed * sure) @ fixed.T
            precision -= np.tensordot(mixed, pull, ([0, 2], [0, 2]))
            rest = sums.copy()  # what is judged adds nothing, whatever it weighs
            rest[:, groups.queries] -= groups.products(own, weight[None])[:, 0]
            follows = shared - fixed @ weight - np.einsum("egq,eq->g", pull, rest[:, groups.queries])
            of_queries = np.einsum("efq,fq->eq", effects_covariance, rest)
            yield float(
                follows @ np.linalg.solve((precision + precision.T) / 2, follows)
                + (rest * of_queries).sum()
                + noise
                - weight**2 @ self.noise[judged]
            )

    def only(self, places: Integers) -> LinearGrades:
        return LinearGrades(
            self.query[places],
            self.fixed[:, places],
            self.own[:, places],
            self.covariance,
            self.effects_covariance,
            self.noise[places],
        )


def fit(features: Features, queries: int, level: Integers, judged: Flags, thresholds: int) -> GradeModel:
    """queries: how many there are. level: of the judged documents, their grade as a number of thresholds below it."""
    effects = len(features.effects)
    runs = effects - 1
    of_query, pull = np.zeros((effects, queries)), np.zeros((effects, thresholds + 2 * runs + 1, queries))
    if not judged.any():
        prior = Prior.of(thresholds, runs, START)
        within = _apart(START, effects, queries)
        covariance = np.asarray(np.linalg.inv(prior.precision))
        return GradeModel(features, thresholds, START, prior.mean, covariance, of_query, pull, within)
    observed = Observed.of(features.only(judged), level[judged], thresholds)
    variances, start = estimated(observed, thresholds, runs)
    solution = solved(observed, Prior.of(thresholds, runs, variances), variances, start, LAST_STEPS)
    within, known = _apart(variances, effects, queries), observed.groups.queries
    of_query[:, known], pull[:, :, known] = solution.effects, solution.pull
    within[:, :, known] = solution.effects_covariance
    return GradeModel(features, thresholds, variances, solution.fixed, solution.covariance, of_query, pull, within)


def _apart(variances: Variances, effects: int, queries: int) -> Numbers:
    """The covariance of the effects of each query, none of which is judged."""
    return np.repeat(np.diag(1 / effect_precision(effects, variances))[:, :, None], queries, axis=2)
