"""The model of grades as naive loops and dense matrices, from its formula alone."""

from __future__ import annotations

from itertools import pairwise
from math import erfc, log, log2, sqrt
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize


class Problem(NamedTuple):
    """Ranks of documents by run (0: not returned), their queries, and the levels of those that are judged."""

    rank: np.ndarray  # a line for each run
    query: np.ndarray
    level: np.ndarray
    judged: np.ndarray
    thresholds: int
    queries: int

    @property
    def runs(self) -> int:
        return len(self.rank)

    @property
    def fixed(self) -> int:
        """Thresholds, then an s for each run, then a b for each, then a."""
        return self.thresholds + 2 * self.runs + 1

    @property
    def effects(self) -> int:
        """u, then a v for each run."""
        return 1 + self.runs

    @property
    def size(self) -> int:
        return self.fixed + self.queries * self.effects


def random_problem(
    seed: int, runs: int = 2, queries: int = 5, documents: int = 40, thresholds: int = 3, share: float = 0.5
) -> Problem:
    """Nothing of the last query is judged."""
    chance = np.random.default_rng(seed)
    query = np.sort(np.append(chance.integers(queries, size=documents - queries), np.arange(queries)))
    rank = chance.integers(0, 11, size=(runs, documents))
    judged = (chance.random(documents) < share) & (query != queries - 1)
    return Problem(rank, query, chance.integers(0, thresholds + 1, documents), judged, thresholds, queries)


def discount(rank: int, deepest: int) -> float:
    return 1 - log(rank) / log(deepest + 1)


def relevance(problem: Problem, document: int, parameters: np.ndarray) -> float:
    """The latent relevance of a document without its noise."""
    start = problem.fixed + problem.query[document] * problem.effects
    value = parameters[start]
    returning = [run for run in range(problem.runs) if problem.rank[run][document] > 0]
    for run in returning:
        s, b = parameters[problem.thresholds + run], parameters[problem.thresholds + problem.runs + run]
        disc, v = discount(problem.rank[run][document], problem.rank.max()), parameters[start + 1 + run]
        value += ((s + v) * (1 + 0.75 * disc) + b * disc) / sqrt(len(returning))
    if returning:
        value += parameters[problem.fixed - 1] * log2(len(returning))
    return value


def design(problem: Problem) -> np.ndarray:
    """How the relevance of each document follows all parameters: a line for each document."""
    unit = np.eye(problem.size)
    return np.array(
        [[relevance(problem, at, column) for column in unit] for at in range(len(problem.query))], dtype=float
    )


def log_prior(problem: Problem, parameters: np.ndarray, level: float, side: float, run: float) -> float:
    """The logarithm of the prior's density, without its constant."""
    count, runs = problem.thresholds, problem.runs
    thresholds = parameters[:count]
    s, b = parameters[count : count + runs], parameters[count + runs : count + 2 * runs]
    spacing = 3.0 / count
    centre = 1.1
    found = -((thresholds.mean() - centre) ** 2) / 2.0 / 2
    for lower, upper in pairwise(thresholds):
        found -= (upper - lower - spacing) ** 2 / (0.1 * spacing**2) / 2
    for own in s:
        found -= (own - 0.4) ** 2 / run / 2
    found -= (b.mean() - 0.35) ** 2 / 0.1 / 2
    for own in b:
        found -= (own - b.mean()) ** 2 / 0.01 / 2
    found -= (parameters[problem.fixed - 1] - 0.3) ** 2 / 0.1 / 2
    for query in range(problem.queries):
        start = problem.fixed + query * problem.effects
        found -= parameters[start] ** 2 / level / 2
        for place in range(runs):
            found -= parameters[start + 1 + place] ** 2 / side / 2
    return found


def log_chance(low: float, high: float) -> float:
    """Of a standard normal variable between the two."""
    if low > 0:  # both in the upper tail, where chances near 1 have lost their digits
        low, high = -high, -low
    return log(below(high) - below(low))


def below(value: float) -> float:
    return erfc(-value / sqrt(2)) / 2


def log_posterior(problem: Problem, parameters: np.ndarray, *variances: float) -> float:
    found = log_prior(problem, parameters, *variances)
    edges = [-np.inf, *parameters[: problem.thresholds], np.inf]
    for document in np.flatnonzero(problem.judged):
        middle = relevance(problem, document, parameters)
        low, high = edges[problem.level[document]] - middle, edges[problem.level[document] + 1] - middle
        found += log_chance(low, high)
    return found


def start_of(problem: Problem) -> np.ndarray:
    """The middle of the prior."""
    spacing = 3.0 / problem.thresholds
    thresholds = [1.1 + (at - (problem.thresholds - 1) / 2) * spacing for at in range(problem.thresholds)]
    effects = [0.0] * (problem.queries * problem.effects)
    return np.array([*thresholds, *[0.4] * problem.runs, *[0.35] * problem.runs, 0.3, *effects])


def mode(problem: Problem, *variances: float) -> np.ndarray:
    def loss(parameters: np.ndarray) -> float:
        if (np.diff(parameters[: problem.thresholds]) <= 0).any():
            return 1e10
        return -log_posterior(problem, parameters, *variances)

    return np.array(minimize(loss, start_of(problem), method="BFGS", options={"gtol": 1e-5, "maxiter": 1000}).x)


def hessian(problem: Problem, at: np.ndarray, *variances: float, step: float = 1e-3) -> np.ndarray:
    """The second derivatives of the negative log posterior, by central differences."""
    size = len(at)
    found = np.zeros((size, size))
    unit = np.eye(size) * step
    for i in range(size):
        for j in range(i + 1):
            corners = [
                sign_i * sign_j * log_posterior(problem, at + sign_i * unit[i] + sign_j * unit[j], *variances)
                for sign_i in (1, -1)
                for sign_j in (1, -1)
            ]
            found[i, j] = found[j, i] = -sum(corners) / (4 * step**2)
    return found
