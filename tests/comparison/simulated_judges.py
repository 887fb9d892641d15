"""Queries with documents, two runs, people's grades and a judge's: nDCG@10 of both runs by both.

A document has a hidden relevance; people turn it into a grade, runs into a score, and each judge into grades in its
own way. Everything is in arrays: (experiments, queries, documents).
"""

from typing import NamedTuple

import numpy as np

DEPTH, DOCUMENTS = 10, 30
DISCOUNT = 1 / np.log2(np.arange(2, DEPTH + 2))
STEPS = [0.3, 1.0, 1.7]  # of relevance, from one grade to the next


class World(NamedTuple):
    relevance: np.ndarray
    length: np.ndarray
    rankings: tuple[np.ndarray, np.ndarray]  # of the two runs

    @property
    def returned(self):
        """Which documents the second run returned."""
        found = np.zeros(self.relevance.shape, dtype=bool)
        np.put_along_axis(found, self.rankings[1], True, -1)
        return found


def graded(relevance):
    return np.digitize(relevance, STEPS)


def noisy(world, rng, amount):
    return world.relevance + rng.normal(0, amount, world.relevance.shape)


JUDGES = {
    "random": lambda world, rng: rng.integers(0, 4, world.relevance.shape),
    "the same for all": lambda world, rng: np.ones(world.relevance.shape, dtype=int),
    "perfect": lambda world, rng: graded(world.relevance),
    "good": lambda world, rng: graded(noisy(world, rng, 0.5)),
    "lenient": lambda world, rng: np.digitize(noisy(world, rng, 0.8), [-0.8, 0.0, 0.8]),
    "harsh on low grades": lambda world, rng: np.where(noisy(world, rng, 0.8) < 1.0, 0, graded(world.relevance)),
    "for one system": lambda world, rng: graded(noisy(world, rng, 0.8) + 0.8 * world.returned),
    "for long documents": lambda world, rng: graded(0.5 * world.relevance + world.length),
    "only the top grade": lambda world, rng: np.array([0, 0, 0, 3])[graded(world.relevance)],
    "relevant or not": lambda world, rng: np.array([0, 3, 3, 3])[graded(world.relevance)],
    "upside down": lambda world, rng: 3 - graded(world.relevance),
    "one grade too high": lambda world, rng: np.minimum(graded(world.relevance) + 1, 3),
}


def ndcg(grades, rankings):
    gains = np.take_along_axis(grades, rankings, -1) @ DISCOUNT
    ideal = -np.sort(-grades, -1)[..., :DEPTH] @ DISCOUNT
    return np.divide(gains, ideal, out=np.zeros_like(gains), where=ideal > 0)


def drawn(queries, count, rng):
    """`count` experiments of `queries` queries each, with two runs of the same documents."""
    shape = (count, queries, DOCUMENTS)
    relevance = rng.normal(0, 1, shape) + rng.normal(0, 0.6, (count, queries, 1))
    length = rng.normal(0, 1, shape)
    scores = relevance + 0.5 * length + rng.normal(0, 1.2, shape), 0.8 * relevance + rng.normal(0, 1.2, shape)
    one, other = (np.argsort(-score, -1)[..., :DEPTH] for score in scores)
    return World(relevance, length, (one, other))


def by_people(world):
    """A table (queries, experiments) of each run."""
    return _tables(graded(world.relevance), world)


def by_judge(judge, world, rng):
    """The same, by the grades of a judge."""
    return _tables(JUDGES[judge](world, rng), world)


def _tables(grades, world):
    return [ndcg(grades, ranking).T for ranking in world.rankings]
