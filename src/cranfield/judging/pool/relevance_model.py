"""RelevanceModel: how relevant the documents of a pool may be, from the runs that return them and the grades so far.

The consensus c of the runs on a document is the mean over the runs of ln((Z+1) / rank) / ln(Z+1), where Z is the
deepest rank of the pool: 1 if all runs return it first, 0 if none returns it. The document has a certain grade, or a
higher one, with the probability

    1 / (1 + exp(-(a + u + b √c)))

where u is an effect of the query; each grade above 0 has its own a, b and u. A collection may have few relevant
documents or many, so these are unknown: they have wide normal distributions, which the grades so far narrow down.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log
from typing import NamedTuple

import numpy as np

from cranfield.judging.pool.order import FoundByRuns
from cranfield.ranks.columns import Integers, Numbers

# Of the lowest grade above 0: with a = -3, one in 20 of the documents that hardly any run returns is relevant, and with
# a + b = 2 seven in eight of those that all runs return first. A deviation of 1.2 reaches from one in 200 to one in 3.
MEAN = np.array([-3.0, 5.0])
DEVIATION = np.array([1.2, 1.0])  # of a and b
STEP = 1.0  # how much lower the mean of a is for each next grade
OF_QUERIES = 1.0  # the deviation of u
STEPS, CLOSE = 30, 1e-6  # of Newton, which takes fewer steps


def consensus(returned: FoundByRuns, runs: int, deepest: int) -> dict[str, float]:
    whole = log(deepest + 1) * runs
    return {
        document: sum(log((deepest + 1) / rank) for rank in ranks.values() if rank <= deepest) / whole
        for document, ranks in returned.items()
    }


class Fit(NamedTuple):
    """The most likely a, b and u, and how far they may be off."""

    both: Numbers  # a and b
    effects: Numbers
    root: Numbers  # of the covariance of a and b
    cross: Numbers  # second derivatives: of each u with a and b
    own: Numbers  # and of each u


@dataclass(frozen=True)
class RelevanceModel:
    """The distribution of grades. A row for each document: its query (a number) and x = √c."""

    query: Integers
    x: Numbers
    queries: int
    grades: Sequence[float]  # those above 0 that can be given, the lowest first
    fixed: Numbers  # by document the grade that is known, NaN if none

    def worlds(self, count: int, chance: np.random.Generator) -> Iterator[Numbers]:
        """Grades of all documents as they may be, drawn again and again; those that are known stay."""
        fits = [self._fitted(number) for number in range(len(self.grades))]
        for _ in range(count):
            # The same for all grades, so that a collection with many good documents has many fair ones.
            moved, levels = chance.standard_normal(2), chance.standard_normal(self.queries)
            luck = chance.random(len(self.x))
            grade, reached = np.zeros(len(self.x)), np.ones(len(self.x), dtype=np.bool_)
            for value, fit in zip(self.grades, fits, strict=True):
                a, b = fit.both + fit.root @ moved
                level = fit.effects - (fit.cross @ fit.root @ moved) / fit.own + levels / np.sqrt(fit.own)
                reached &= luck < _chance(a + level[self.query] + b * self.x)
                grade[reached] = value
            yield np.where(np.isnan(self.fixed), grade, self.fixed)

    def _fitted(self, number: int) -> Fit:
        """Newton's method, for a grade; the effects of queries are eliminated, since each meets a and b alone."""
        known, mean = ~np.isnan(self.fixed), MEAN - [STEP * number, 0]
        query, x = self.query[known], np.column_stack([np.ones(int(known.sum())), self.x[known]])
        relevant = (self.fixed[known] >= self.grades[number]).astype(np.float64)
        both, effects = mean.copy(), np.zeros(self.queries)
        for _ in range(STEPS):
            p = _chance(x @ both + effects[query])
            weight, left = p * (1 - p), relevant - p
            precision = np.diag(DEVIATION**-2) + (x * weight[:, None]).T @ x
            cross = np.column_stack([self._by_query(query, weight * column) for column in x.T])
            own = self._by_query(query, weight) + OF_QUERIES**-2
            slope = x.T @ left - (both - mean) / DEVIATION**2
            slopes = self._by_query(query, left) - effects / OF_QUERIES**2
            step = np.linalg.solve(precision - (cross.T / own) @ cross, slope - cross.T @ (slopes / own))
            both, effects = both + step, effects + (slopes - cross @ step) / own
            if np.abs(step).max() < CLOSE:
                break
        root = np.linalg.cholesky(np.linalg.inv(precision - (cross.T / own) @ cross))
        return Fit(both, effects, root, cross, own)

    def _by_query(self, query: Integers, values: Numbers) -> Numbers:
        return np.bincount(query, values, self.queries).astype(np.float64, copy=False)


def _chance(logit: Numbers) -> Numbers:
    return 1 / (1 + np.exp(-np.clip(logit, -30, 30)))
