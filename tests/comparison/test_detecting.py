"""Differences that are said to be detected 80% of the time are, on average over samples of skewed populations.

A sample says what it can detect; then the run of a pair is shifted so that this is the true difference, and fresh
samples are tested in the same way.
"""

import math
from itertools import combinations, product

import numpy as np
import pytest

from cranfield import parse_measure
from cranfield.comparison.detecting import LARGEST, _step_reached, family_needs, gate_needs, is_bound
from cranfield.comparison.families import Procedure, family_outcomes
from cranfield.comparison.multiple_testing import CORRECTIONS
from cranfield.comparison.pairing import Paired
from cranfield.evaluation.estimating import Columns
from cranfield.evaluation.t_distribution import chance_below, exceeded_with
from tests.comparison.populations import skewed_population

MEASURE = parse_measure("RR")


def drawn(population, n, chance):
    rows = chance.integers(0, len(population), n)
    names = tuple(map(str, range(population.shape[1])))
    return Paired(names, tuple(map(str, rows)), 0, {MEASURE: population[rows]})


def average_power(kind, procedure, *, systems=4, n=50, samples=10, fresh=80, seeds=(0, 1, 2)):
    """How often fresh samples detect what samples say is detected 80% of the time."""
    found, pairs = [], list(combinations(range(systems), 2))
    for seed in seeds:
        population, chance = skewed_population(kind, systems, seed), np.random.default_rng(seed)
        true = np.array([population[:, run].mean() - population[:, base].mean() for base, run in pairs])
        tested = [drawn(population, n, chance) for _ in range(fresh)]
        outcomes = [family_outcomes(values, [MEASURE], pairs, procedure)[MEASURE] for values in tested]
        apart = np.array([values.contrast(MEASURE, pairs).values for values in tested])
        mean, error = apart.mean(axis=1), apart.std(axis=1, ddof=1) / math.sqrt(n)
        for _ in range(samples):
            sample = drawn(population, n, chance)
            once = family_outcomes(sample, [MEASURE], pairs, procedure)
            detectable = family_needs(sample, [MEASURE], pairs, once, procedure)[MEASURE].detectable()
            for pair, side in product(np.flatnonzero(detectable), (1, -1)):
                run = pairs[pair][1]
                along = np.array([(run == other) - (run == base) for base, other in pairs])
                moved = mean + (side * detectable[pair] - true[pair]) * along
                found.append(np.mean(significant(moved, error, outcomes, procedure, n)[:, pair]))
    return np.mean(found)


def significant(mean, error, outcomes, procedure, n):
    """A shift changes no width, so what is decided at once is decided by the widths; steps are taken anew."""
    if CORRECTIONS[procedure.correction].steps:
        p = 2 * chance_below(-np.abs(mean) / np.maximum(error, 1e-12), n - 1)
        return np.apply_along_axis(CORRECTIONS[procedure.correction].adjust, 1, p) <= procedure.alpha
    half = np.array([np.maximum(each.high - each.estimate, each.estimate - each.low) for each in outcomes])
    return np.abs(mean) > half


@pytest.mark.parametrize(
    ("test", "correction"),
    [("t", "max-t"), ("t", "bonferroni"), ("t", "holm"), ("t", "bh"), ("t", "none"), ("tukey", "none")],
)
@pytest.mark.parametrize("kind", ["graded", "rr"])
def test_the_detectable_difference_is_detected_as_often_as_claimed(kind, test, correction):
    found = average_power(kind, Procedure(test, correction, 0.05, 499, 0))
    assert abs(found - 0.8) < 0.06  # of which chance in 30 samples is 0.03


@pytest.mark.parametrize("correction", ["holm", "bh"])
def test_the_step_at_which_a_comparison_is_decided(correction):
    """Against the adjusted p-values of the whole family."""
    chance, steps = np.random.default_rng(1), CORRECTIONS[correction].steps
    for family in (2, 3, 7):
        t = np.abs(chance.normal(0, 2.5, (500, family)))
        critical = exceeded_with(0.05 * steps.shares(family) / 2, 30)
        reached = t[:, 0] >= critical[_step_reached(t[:, 1:], critical, steps)]
        adjusted = [CORRECTIONS[correction].adjust(2 * chance_below(-row, 30))[0] for row in t]
        assert reached.tolist() == [p <= 0.05 for p in adjusted]
        assert 0.1 < reached.mean() < 0.9


def test_large_families_in_steps_get_a_bound():
    assert is_bound(LARGEST + 1, together=False)
    assert not is_bound(LARGEST, together=False)
    assert not is_bound(1000, together=True)


def drops(kind, n, times, seed=0):
    population = skewed_population(kind, 2, seed)
    chance, apart = np.random.default_rng(seed), population[:, 0] - population[:, 1]
    return (apart - apart.mean())[chance.integers(0, len(apart), (times, n))]


@pytest.mark.parametrize(("share", "beyond"), [(0.0, False), (0.8, False), (3.0, False), (1.0, True)])
@pytest.mark.parametrize("kind", ["graded", "rr"])
def test_the_detectable_drop_is_stopped_as_often_as_claimed(kind, share, beyond):
    """Whether significance stops it, the tolerance, or both; the tolerance is a share of what is significant."""
    n, far = 50, float(exceeded_with(0.05, 49))
    fresh = drops(kind, n, 2000)
    mean, error = fresh.mean(axis=1), fresh.std(axis=1, ddof=1) / math.sqrt(n)
    tolerance = share * far * error.mean()
    least = tolerance + far * error if beyond else np.maximum(tolerance, far * error)
    found, claimed = [], []
    for sample in drops(kind, n, 150, seed=0)[50:]:
        columns = Columns(sample[:, None] - (tolerance if beyond else 0.0))
        needs = gate_needs(columns, "holm", 0.05, 0, np.array([tolerance]), beyond=beyond)
        found.append(np.mean(mean + needs.detectable()[0] > least))
        claimed.append(needs.power(tolerance + 2.5 * error.mean())[0])
    assert abs(np.mean(found) - 0.8) < 0.04
    assert -0.01 < np.mean(mean + tolerance + 2.5 * error.mean() > least) - np.mean(claimed) < 0.1


def test_a_chance_of_detecting_is_right_on_average_over_those_who_read_the_same():
    """Also next to 0% and 100%, and it is 80% for the difference that is said to be detected 80% of the time."""
    n, far, claimed, true = 20, float(exceeded_with(0.05, 19)), [], []
    for seed in range(40):
        population, chance = skewed_population("graded", 2, seed), np.random.default_rng(seed)
        apart = population[:, 0] - population[:, 1]
        fresh = (apart - apart.mean())[chance.integers(0, len(apart), (501, n))]
        needs = gate_needs(Columns(fresh[0][:, None]), "none", 0.05, seed, np.zeros(1), beyond=False)
        assert abs(needs.power(needs.detectable()[0])[0] - 0.8) < 0.002
        least = far * fresh[1:].std(axis=1, ddof=1) / math.sqrt(n)
        for times in (0.2, 0.5, 0.8, 1.2, 1.6, 2, 2.5, 3):
            claimed.append(needs.power(times * least.mean())[0])
            true.append(np.mean(fresh[1:].mean(axis=1) + times * least.mean() > least))
    claimed, true = np.array(claimed), np.array(true)
    for low, high in ((0, 0.1), (0.1, 0.4), (0.4, 0.7), (0.7, 0.9), (0.9, 1.01)):
        alike = (low <= claimed) & (claimed < high)
        assert abs(claimed[alike].mean() - true[alike].mean()) < 0.12, (low, claimed[alike].mean(), true[alike].mean())


def test_few_queries_are_drawn_as_if_normal():
    """Draws of three queries are the same again and again, and some have no spread at all."""
    for n in (2, 3, 5):
        drops = np.random.default_rng(n).normal(0, 0.1, (n, 1))
        needs = gate_needs(Columns(drops), "holm", 0.05, 0, np.zeros(1), beyond=False)
        known = float(drops.std(ddof=1)) / math.sqrt(n) * (float(exceeded_with(0.05, n - 1)) + 0.84)
        assert known < needs.detectable()[0] < math.inf
        assert needs.power(1e-6)[0] < 0.1
