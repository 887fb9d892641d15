"""Values as skewed as those of real runs: populations of queries, on which claims are tested by drawing samples."""

import numpy as np

from cranfield.comparison.significance import Settings
from cranfield.comparison.significance.student import STUDENT
from cranfield.evaluation.estimating import Columns, estimated


def skewed_population(kind, systems, seed, queries=2000):
    """A row for each query, a column for each system.

    "graded" is like nDCG@10, "ap" like AP, and "rr" like RR@10, with many equal values.
    Systems come in families that are nearly alike, and fail now and then on a query or on a kind of query.
    """
    chance = np.random.default_rng(seed)
    families = max(2, systems // 3)
    of = chance.integers(0, families, systems)
    skill = chance.normal(0, 0.4, families)[of] + chance.normal(0, 0.05, systems)
    taste = chance.normal(0, 0.4, (queries, families))
    taste -= 3 * (chance.random((queries, families)) < chance.uniform(0.02, 0.2, families))
    own = chance.normal(0, 0.3, (queries, systems)) * (chance.random((queries, systems)) < 0.3)
    own -= 3 * (chance.random((queries, systems)) < chance.uniform(0, 0.05, systems))
    score = skill + chance.normal(-1.3 if kind == "ap" else 0.3, 1.1, (queries, 1)) + taste[:, of] + own
    if kind != "rr":
        return 1 / (1 + np.exp(-score))
    rank = np.ceil(np.exp(np.clip(1.1 - score, 0, 4)))
    return np.where(rank <= 10, 1 / rank, 0.0)


def missed_where_few_differ(differing, queries=100, samples=4000, seed=0):
    """The share of samples in which the 95% interval of the t-test for two runs does not hold their true difference.

    About so many queries differ, by an exponential amount, and 19 of 20 of them gain. Samples in which none differs do
    not count.
    """
    chance, size = np.random.default_rng(seed), (queries, samples)
    gain = np.where(chance.random(size) < 0.95, 1, -1) * chance.exponential(0.2, size)
    values, truth = gain * (chance.random(size) < differing / queries), 0.9 * 0.2 * differing / queries
    low, high = STUDENT.interval(Columns(values), np.full(samples, 0.05), Settings(0.05, 0, 0))
    return float(((truth < low) | (truth > high))[(values != 0).any(axis=0)].mean())


def missed_by_one_mean(kind, queries, samples=3000):
    """The share of samples in which the 95% interval of a single run's mean does not hold its true mean.

    The mean over 18 runs of three populations.
    """
    chance, shares = np.random.default_rng(queries), []
    for seed in range(3):
        for values in skewed_population(kind, 6, seed).T:
            drawn = estimated(Columns(values[chance.integers(0, len(values), (queries, samples))]))
            low, high = drawn.interval(np.full(samples, 0.05))
            shares.append(((values.mean() < low) | (values.mean() > high)).mean())
    return float(np.mean(shares))


WEIGHTS = {
    "zipf": lambda chance, queries: 1 / np.arange(1, queries + 1),
    "lognormal": lambda chance, queries: np.exp(chance.normal(0, 1, queries)),
}


def missed_with_weights(kind, weights, queries, samples=400, *, differences, populations=3):
    """How often queries with weights mislead: over 18 runs, or 18 pairs, of three populations.

    Returns the share of samples in which the 95% interval does not hold the truth, and the share in which a one-sided
    test at 0.05 takes a difference of 0 for a drop: what a gate does.
    """
    chance, missed, alarms = np.random.default_rng(queries), [], []
    for seed in range(populations):
        population = skewed_population(kind, 6, seed)
        pairs = [(one, other) for one in range(6) for other in range(one)][:6]
        columns = [population[:, b] - population[:, a] for a, b in pairs] if differences else population.T
        for values in columns:
            weight, truth = WEIGHTS[weights](chance, queries), values.mean()
            drawn = Columns(values[chance.integers(0, len(values), (queries, samples))], weight)
            low, high = estimated(drawn).interval(np.full(samples, 0.05))
            missed.append(((truth < low) | (truth > high)).mean())
            alarms.append((estimated(drawn.shifted(-truth)).chances()[1] <= 0.05).mean())
    return float(np.mean(missed)), float(np.mean(alarms))
