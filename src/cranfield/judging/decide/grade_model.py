"""GradeModel: estimates of grades that are not given yet. They are for choosing and stopping, never for a store.

The grade of a document that two runs, a and b, rank somewhere:

    g = x'β + u + [only in a] v + [only in b] w + e,    x = (1, only in a, only in b, disc(rank in a), disc(rank in b))

with disc(r) = 1 / log2(r + 1), and 0 if there is no rank; u, v and w are effects of the query, e is noise. All have
normal distributions. The first three of x are what the effects of a query multiply, so a query has coefficients of its
own, γ = β + (u, v, w, 0, 0), and the grade is x'γ + e. With judged documents it is a ridge regression with 5 + 3n
unknowns. The effects of a query are eliminated within it, which leaves five: no matrix grows with the queries.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cranfield.ranks.columns import Flags, Integers, Numbers

FIXED, EFFECTS = 5, 3
TOP = 3.0  # the highest grade of the scale of the priors; for others they are stretched
PRIOR_MEAN = (1.0, 0.0, 0.0, 0.0, 0.0)
PRIOR_VARIANCE = (4.0, 0.25, 0.25, 0.5, 0.5)
STEPS = 10  # of expectation and maximisation
ENOUGH = 500  # queries to estimate variances from


class Variances(NamedTuple):
    """Of the noise, of the level of a query, and of the documents that only one run returns for a query."""

    noise: float
    level: float
    side: float


START = Variances(0.9, 0.4, 0.15)
COUNTS = Variances(5.0, 5.0, 10.0)  # how many observations the prior counts as


class JudgedSums(NamedTuple):
    squares: Numbers  # of x, with x: queries × 5 × 5
    products: Numbers  # of x with the grade: queries × 5
    grades: Numbers  # squared


def features(first: Integers, second: Integers) -> Numbers:
    """x of each document, from its ranks in two runs; column by column in memory, as it is read."""
    deepest = max(int(first.max(initial=0)), int(second.max(initial=0)))
    by_rank = np.concatenate([[0.0], 1 / np.log2(np.arange(2.0, deepest + 2))])
    only_first, only_second = (first > 0) & (second == 0), (second > 0) & (first == 0)
    return np.stack([np.ones(len(first)), only_first, only_second, by_rank[first], by_rank[second]]).T


def cells_of(x: Numbers, query: Integers) -> Integers:
    """The query and the side of each document as one number: its effects are the same for all documents of a cell."""
    return query * EFFECTS + (x[:, 1] + 2 * x[:, 2]).astype(np.int64)


def effect_sums(cells: Integers, weights: Numbers, queries: int) -> Numbers:
    sums = np.bincount(cells, weights, EFFECTS * queries).astype(np.float64, copy=False).reshape(queries, EFFECTS)
    return np.column_stack([sums.sum(axis=1), sums[:, 1:]])


def of_cells(effects: Numbers, axis: int = -1) -> Numbers:
    """What effects come to in each cell: the level, and the level with one of the sides."""
    cells = effects.copy()
    np.moveaxis(cells, axis, 0)[1:] += np.moveaxis(effects, axis, 0)[0]
    return cells


def sums_of(x: Numbers, query: Integers, grade: Numbers, queries: int) -> JudgedSums:
    cells = cells_of(x, query)

    def total(weights: Numbers) -> Numbers:
        return effect_sums(cells, weights, queries)

    squares, products = np.zeros((queries, FIXED, FIXED)), np.empty((queries, FIXED))
    products[:, :EFFECTS] = total(grade)
    count = total(np.ones(len(query)))
    squares[:, 0, :EFFECTS] = squares[:, :EFFECTS, 0] = count
    squares[:, 1, 1], squares[:, 2, 2] = count[:, 1], count[:, 2]
    for one in range(EFFECTS, FIXED):
        products[:, one] = np.bincount(query, x[:, one] * grade, queries)
        squares[:, :EFFECTS, one] = squares[:, one, :EFFECTS] = total(x[:, one])
        for other in range(EFFECTS, one + 1):
            both = np.bincount(query, x[:, one] * x[:, other], queries)
            squares[:, one, other] = squares[:, other, one] = both
    return JudgedSums(squares, products, np.bincount(query, grade**2, queries).astype(np.float64, copy=False))


@dataclass(frozen=True, eq=False)
class GradeModel:
    """The distribution of all grades, given those that are judged."""

    x: Numbers  # the features of each document
    query: Integers
    variances: Variances
    beta: Numbers  # the coefficients that all queries share
    beta_covariance: Numbers
    effects: Numbers  # u, v and w of each query for β = 0
    pull: Numbers  # what they lose by β
    effects_covariance: Numbers  # for any given β

    @cached_property
    def coefficients(self) -> Numbers:
        """γ of each query, as expected."""
        coefficients = np.array(np.broadcast_to(self.beta, (len(self.effects), FIXED)))
        coefficients[:, :EFFECTS] += self.effects - self.pull @ self.beta
        return coefficients

    @cached_property
    def expected(self) -> Numbers:
        return np.asarray(np.einsum("dk,dk->d", self.x, self.coefficients[self.query]))

    @cached_property
    def coefficients_covariance(self) -> Numbers:
        covariance = np.array(np.broadcast_to(self.beta_covariance, (len(self.pull), FIXED, FIXED)))
        covariance[:, :EFFECTS, :] -= self._pulled
        covariance[:, :, :EFFECTS] -= self._pulled.transpose(0, 2, 1)
        covariance[:, :EFFECTS, :EFFECTS] += self.all_effects_covariance
        return covariance

    @cached_property
    def _pulled(self) -> Numbers:
        return (flat(self.pull) @ self.beta_covariance).reshape(self.pull.shape)

    @cached_property
    def all_effects_covariance(self) -> Numbers:
        """Of u, v and w of each query, β being unknown."""
        return self.effects_covariance + self._pulled @ self.pull.transpose(0, 2, 1)

    @cached_property
    def cell(self) -> Integers:
        return cells_of(self.x, self.query)

    @cached_property
    def variance(self) -> Numbers:
        # How a grade follows β, but for its discounts: by itself, and by way of the effects of its query.
        follows = flat(of_cells(np.eye(EFFECTS, FIXED) - self.pull, axis=1))
        with_beta = follows @ self.beta_covariance
        of_effects = np.einsum("qkk->qk", of_cells(of_cells(self.effects_covariance), axis=1)).reshape(-1)
        variance = (self.variances.noise + of_effects + np.einsum("ck,ck->c", follows, with_beta))[self.cell]
        for one in range(EFFECTS, FIXED):
            own = self.beta_covariance[one, one] * self.x[:, one] + 2 * with_beta[:, one][self.cell]
            for other in range(EFFECTS, one):
                own += 2 * self.beta_covariance[one, other] * self.x[:, other]
            variance += self.x[:, one] * own
        return np.asarray(variance)

    def covariance_with(self, weights: Numbers) -> Numbers:
        sums = effect_sums(self.cell, weights, len(self.effects))
        total = np.append(sums.sum(axis=0), weights @ self.x[:, EFFECTS:])
        through_beta = self.beta_covariance @ (total - np.einsum("qkl,qk->l", self.pull, sums))
        own = np.einsum("qkl,ql->qk", self.effects_covariance, sums) - self.pull @ through_beta
        covariance = weights * self.variances.noise + of_cells(own + through_beta[:EFFECTS]).reshape(-1)[self.cell]
        for one in range(EFFECTS, FIXED):
            covariance += through_beta[one] * self.x[:, one]
        return np.asarray(covariance)

    def only(self, places: Integers) -> GradeModel:
        return replace(self, x=self.x[places], query=self.query[places])

    @cached_property
    def _through_beta(self) -> Numbers:
        """How each grade follows β, by way of the effects of its query, too."""
        slopes = self.x.copy()
        for one in range(EFFECTS):
            slopes -= self.x[:, one, None] * self.pull[self.query, one]
        return slopes

    def covariance_with_one(self, place: int) -> Numbers:
        covariance: Numbers = self._through_beta @ (self.beta_covariance @ self._through_beta[place])
        query, effects = self.query[place], self.x[place, :EFFECTS]
        same = np.flatnonzero(self.query == query)
        covariance[same] += self.x[same, :EFFECTS] @ (self.effects_covariance[query] @ effects)
        covariance[place] += self.variances.noise
        return covariance

    def draw(self, generator: np.random.Generator, count: int) -> Numbers:
        normal = generator.standard_normal
        beta = self.beta + normal((count, FIXED)) @ np.linalg.cholesky(self.beta_covariance).T
        root = np.linalg.cholesky(self.effects_covariance)
        effects = self.effects - np.einsum("qkl,sl->sqk", self.pull, beta)
        effects += np.einsum("qkl,sql->sqk", root, normal(effects.shape))
        cells = of_cells(beta[:, None, :EFFECTS] + effects).reshape(count, -1)
        grades = normal((count, len(self.query)))
        grades *= np.sqrt(self.variances.noise)
        for line, of_line, coefficients in zip(grades, cells, beta, strict=True):
            line += of_line[self.cell]
            line += self.x[:, EFFECTS:] @ coefficients[EFFECTS:]
        return np.asarray(grades)


def fit(x: Numbers, query: Integers, queries: int, grade: Numbers, judged: Flags, top: float) -> GradeModel:
    sums = sums_of(x[judged], query[judged], grade[judged], queries)
    stretch = top / TOP
    return solved(x, query, sums, estimated(x, query, sums, stretch), stretch)


def estimated(x: Numbers, query: Integers, sums: JudgedSums, stretch: float) -> Variances:
    """The variances, from the queries of which something is judged; some of them, if they are many."""
    judged = np.flatnonzero(sums.squares[:, 0, 0])
    judged = judged[:: 1 + len(judged) // ENOUGH]
    some = JudgedSums(sums.squares[judged], sums.products[judged], sums.grades[judged])
    start = Variances(*(variance * stretch**2 for variance in START))
    variances = start
    for _ in range(STEPS):
        variances = improved(solved(x, query, some, variances, stretch), some, start)
    return variances


def solved(x: Numbers, query: Integers, sums: JudgedSums, variances: Variances, stretch: float) -> GradeModel:
    prior = 1 / (np.array(PRIOR_VARIANCE) * stretch**2)
    precision = sums.squares / variances.noise
    products = sums.products / variances.noise
    within = precision[:, :EFFECTS, :EFFECTS] + np.diag([1 / variances.level, 1 / variances.side, 1 / variances.side])
    effects_covariance = inverse_of_effects(within)
    pull = effects_covariance @ precision[:, :EFFECTS, :]
    left = precision.sum(axis=0) - flat(precision[:, :EFFECTS, :]).T @ flat(pull) + np.diag(prior)
    target = products.sum(axis=0) - np.einsum("qkl,qk->l", pull, products[:, :EFFECTS])
    beta_covariance = np.linalg.inv((left + left.T) / 2)
    beta = beta_covariance @ (target + prior * np.array(PRIOR_MEAN) * stretch)
    effects = np.einsum("qkl,ql->qk", effects_covariance, products[:, :EFFECTS])
    return GradeModel(x, query, variances, beta, beta_covariance, effects, pull, effects_covariance)


def flat(blocks: Numbers) -> Numbers:
    return np.ascontiguousarray(blocks).reshape(-1, blocks.shape[-1])


def inverse_of_effects(matrices: npt.NDArray[np.float64]) -> Numbers:
    """The inverses of 3 × 3 matrices, in which the second and the third effect never meet in a document."""
    corner, second, third = (matrices[:, place, place] for place in range(EFFECTS))
    to_second, to_third = matrices[:, 0, 1] / second, matrices[:, 0, 2] / third
    level = 1 / (corner - to_second * matrices[:, 0, 1] - to_third * matrices[:, 0, 2])
    column = np.stack([np.ones(len(matrices)), -to_second, -to_third], axis=1)
    inverse = level[:, None, None] * column[:, :, None] * column[:, None, :]
    inverse[:, 1, 1] += 1 / second
    inverse[:, 2, 2] += 1 / third
    return inverse


def improved(model: GradeModel, sums: JudgedSums, start: Variances) -> Variances:
    """One step of expectation and maximisation; the prior counts like a few observations."""
    queries = len(model.effects)
    gamma = model.coefficients
    squares = gamma[:, :, None] * gamma[:, None, :] + model.coefficients_covariance
    fitted = (sums.squares * squares).sum()
    noise = sums.grades.sum() - 2 * (gamma * sums.products).sum() + fitted
    squared = (gamma - model.beta)[:, :EFFECTS] ** 2 + np.einsum("qkk->qk", model.all_effects_covariance)
    level, *sides = squared.sum(axis=0)
    squares_left = Variances(noise, level, sum(sides))
    observations = Variances(sums.squares[:, 0, 0].sum(), queries, 2 * queries)
    return Variances(
        *(
            (worth * before + total) / (worth + observed)
            for worth, before, total, observed in zip(COUNTS, start, squares_left, observations, strict=True)
        )
    )
