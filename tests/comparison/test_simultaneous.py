"""Intervals that hold for a whole family at once: by loops, and by simulation on values as skewed as real ones."""

from itertools import combinations

import numpy as np
import pytest

from cranfield import gate
from cranfield.comparison.doubts import ENOUGH
from cranfield.comparison.families import Procedure, family_outcomes
from cranfield.comparison.pairing import Paired
from cranfield.comparison.significance import Settings
from cranfield.comparison.simultaneous import DRAWS, FLOOR, simultaneous
from cranfield.evaluation.estimating import Columns, estimated
from cranfield.measures import parse_measure
from tests.comparison.populations import missed_where_few_differ, skewed_population

RR = parse_measure("RR")
SETTINGS = Settings(0.05, 1000, 0)
TIMES = 150
ALLOWED = 0.05 + 3 * np.sqrt(0.05 * 0.95 / TIMES)


def family(values, pairs, correction="max-t", seed=0):
    names = tuple(f"run{at}" for at in range(values.shape[1]))
    paired = Paired(names, tuple(map(str, range(len(values)))), 0, {RR: values})
    return family_outcomes(paired, [RR], pairs, Procedure("t", correction, 0.05, 1000, seed))[RR]


def drawn(population, queries, times=TIMES, seed=9):
    chance = np.random.default_rng(seed)
    for _ in range(times):
        yield population[chance.integers(0, len(population), queries)]


def test_the_largest_t_of_each_draw_by_loops():
    chance = np.random.default_rng(1)
    columns = Columns(np.round(chance.random((9, 3)) * [1.0, 0.2, 5.0], 2))
    measure = np.array([0, 0, 1])
    estimates = estimated(columns)
    found = simultaneous(columns, estimates, measure, SETTINGS)
    generator, largest = np.random.default_rng(0), []
    floor = [FLOOR * (estimates.error[:2] ** 2).mean()] * 2 + [FLOOR * estimates.error[2] ** 2]
    for rows in generator.integers(0, 9, (DRAWS, 9)):
        again = columns.values[rows]
        spread = again.std(axis=0, ddof=1) / 3
        largest.append(np.abs((again.mean(axis=0) - columns.values.mean(axis=0)) / np.sqrt(spread**2 + floor)).max())
    assert found.largest == pytest.approx(np.sort(largest))
    c = np.sort(largest)[-100]  # 5% of 2,001 draws, rounded down
    assert found.half(0.05) == pytest.approx(c * np.sqrt(estimates.error**2 + floor))
    t = np.abs(estimates.value) / np.sqrt(estimates.error**2 + floor)
    shares = [(1 + sum(one >= its for one in largest)) / 2001 for its in t]
    assert found.differs(estimates.value) == pytest.approx(shares)


@pytest.mark.parametrize(("kind", "systems", "queries"), [("rr", 6, 10), ("graded", 6, 20), ("ap", 10, 20)])
def test_intervals_of_all_pairs_hold_at_once_on_skewed_values(kind, systems, queries):
    population = skewed_population(kind, systems, 1)
    pairs = list(combinations(range(systems), 2))
    truth = np.array([(population[:, b] - population[:, a]).mean() for a, b in pairs])
    missed, false, widths = 0, 0, np.zeros(2)
    for seed, values in enumerate(drawn(population, queries)):
        found, usual = family(values, pairs, seed=seed), family(values, pairs, "bonferroni")
        missed += bool(((truth < found.low) | (truth > found.high)).any())
        widths += [(found.high - found.low).mean(), (usual.high - usual.low).mean()]
        alike = np.random.default_rng(seed).permuted(values, axis=1)
        false += bool((family(alike, pairs, seed=seed).adjusted <= 0.05).any())
    assert missed / TIMES < ALLOWED
    assert false / TIMES < ALLOWED
    assert widths[0] < 1.1 * widths[1]


def test_comparisons_with_a_baseline_hold_at_once():
    population = skewed_population("rr", 8, 2)
    pairs = [(0, other) for other in range(1, 8)]
    truth = population[:, 1:].mean(axis=0) - population[:, 0].mean()
    missed = 0
    for seed, values in enumerate(drawn(population, 15)):
        found = family(values, pairs, seed=seed)
        missed += bool(((truth < found.low) | (truth > found.high)).any())
    assert missed / TIMES < ALLOWED


@pytest.mark.parametrize("how", ["weighted", "grouped", "corrected"])
def test_other_means_hold_at_once(how):
    """Weights of a few heavy queries, groups that vary together, and people's grades that correct a model's."""
    population, pairs = skewed_population("graded", 4, 3), list(combinations(range(4), 2))
    chance, missed = np.random.default_rng(4), 0
    weights = chance.exponential(1.0, len(population)) + 0.2
    model = np.clip(population + chance.normal(0, 0.15, population.shape), 0, 1)
    by = weights if how == "weighted" else np.ones(len(population))
    truth = np.array([np.average(population[:, b] - population[:, a], weights=by) for a, b in pairs])
    for seed in range(TIMES):
        rows = chance.integers(0, len(population), 120 if how == "corrected" else 30)
        columns = Columns(population[rows])
        if how == "weighted":
            columns = columns._replace(weight=weights[rows])
        elif how == "grouped":  # queries that were asked two or three times
            rows = np.repeat(rows[:15], chance.integers(1, 4, 15))
            columns = Columns(population[rows], group=rows)
        else:
            columns = Columns(population[rows[:30]], proxy=model[rows], drawn=np.arange(30))
        contrast = columns.contrast(pairs)
        estimates = estimated(contrast)
        half = simultaneous(contrast, estimates, np.zeros(6, np.int64), Settings(0.05, 1000, seed)).half(0.05)
        missed += bool((np.abs(estimates.value - truth) > half).any())
    assert missed / TIMES < ALLOWED


def test_one_sided_p_values_hold_over_several_measures():
    """A change that makes no measure worse on the whole is stopped by any of three in about 5% of samples at most."""
    kinds = [skewed_population(kind, 2, 4) for kind in ("graded", "ap", "rr")]
    table = np.stack([values[:, 1] - values[:, 0] for values in kinds], 1)
    table -= table.mean(axis=0)
    false = np.zeros(2)
    for seed, values in enumerate(drawn(table, 15, times=300)):
        columns = Columns(values, contrasts=True)
        estimates = estimated(columns)
        found = simultaneous(columns, estimates, np.arange(3), Settings(0.05, 1000, seed))
        false += [(found.above(side * estimates.value) <= 0.05).any() for side in (1, -1)]
    assert max(false) / 300 < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)


def test_a_gate_takes_the_largest_t_of_its_measures():
    qrels = {str(q): {"a": 1, "b": 1} for q in range(30)}
    good = {str(q): [*["x", "y"][: q % 3], "a", "b"] for q in range(30)}
    bad = {str(q): [*["x", "y", "z"][: 1 + q % 3], "a", *["u"] * (q % 2), "b"] for q in range(30)}
    found = {name: gate(qrels, good, bad, "RR AP nDCG@5", correction=name, detect=0.1) for name in ("max-t", "holm")}
    for name, result in found.items():
        assert not result, name
    measures = [result.measures for result in found.values()]
    for one, other in zip(*measures, strict=True):
        assert one.p_worse <= 0.05
        assert one.p_better > 0.9
        assert one.detectable == pytest.approx(other.detectable, rel=0.25)
    assert gate(qrels, good, good, "RR AP", correction="max-t")


def test_a_pair_without_spread_has_the_width_of_its_family():
    values = skewed_population("rr", 3, 6)[:20]
    values[:, 1] = values[:, 0]
    found = family(values, [(0, 1), (0, 2), (1, 2)])
    assert found.low[0] < 0 < found.high[0]
    assert found.high[0] - found.low[0] < found.high[1] - found.low[1]
    assert found.adjusted[0] == 1
    alike = family(values[:, [0, 0, 0]], [(0, 1), (0, 2), (1, 2)])
    share = 1 - (0.05 / 3) ** (1 / 20)  # none of them varies: the rule of three, at a third of alpha
    assert alike.high == pytest.approx([share] * 3)


def test_intervals_of_two_runs_are_rough_where_few_queries_differ():
    """Where nearly all that differ gain: the reason for the warning, and for the number up to which it is given."""
    assert missed_where_few_differ(2) > missed_where_few_differ(5) > 0.15
    assert 0.08 < missed_where_few_differ(ENOUGH) < 0.13
    assert missed_where_few_differ(60) < 0.07
