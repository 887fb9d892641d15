"""Comparisons and gates of queries with weights, on skewed values: how often they mislead."""

import numpy as np
import pytest

from cranfield import compare, gate
from cranfield.comparison.significance import Settings
from cranfield.comparison.simultaneous import simultaneous
from cranfield.evaluation.estimating import Columns, estimated
from tests.comparison.populations import WEIGHTS, missed_with_weights, skewed_population


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("kind", ["graded", "ap", "rr"])
def test_weighted_differences_hold_and_weighted_gates_stop_no_more_than_they_say(kind, weights):
    missed, alarms = missed_with_weights(kind, weights, 60, differences=True)
    assert 0.03 < missed < 0.07
    assert alarms < 0.06
    alone, _ = missed_with_weights(kind, weights, 200, differences=False)
    assert alone < 0.09  # single means are more skewed than differences


@pytest.mark.parametrize("weights", WEIGHTS)
def test_weighted_families_hold_at_once(weights):
    population, pairs = skewed_population("rr", 4, 2), [(0, 1), (0, 2), (0, 3)]
    chance, missed, times = np.random.default_rng(3), 0, 150
    truth = np.array([(population[:, b] - population[:, a]).mean() for a, b in pairs])
    for seed in range(times):
        rows = chance.integers(0, len(population), 60)
        contrast = Columns(population[rows], WEIGHTS[weights](chance, 60)).contrast(pairs)
        estimates = estimated(contrast)
        half = simultaneous(contrast, estimates, np.zeros(3, np.int64), Settings(0.05, 1000, seed)).half(0.05)
        missed += bool((np.abs(estimates.value - truth) > half).any())
    assert missed / times < 0.09


def test_a_heavy_query_decides_a_gate_that_the_others_pass():
    """The same runs: better on most queries, and worse on those that are asked most."""
    qrels = {str(q): {"a": 1} for q in range(40)}
    rank = {q: 1 + q % 3 for q in range(40)}
    old = {str(q): [*"xyz"[: rank[q]], "a"] for q in rank}
    new = {str(q): [*"xyzuvw"[: rank[q] + 2 if q < 15 else rank[q] - 1], "a"] for q in rank}
    weights = {str(q): 50 if q < 15 else 1 for q in rank}
    assert gate(qrels, old, new, "RR").passed
    stopped = gate(qrels, old, new, "RR", weights=weights)
    assert not stopped.passed
    assert "(weighted)" in stopped.checks[0].message
    [plain], [heavy] = (compare(qrels, {"old": old, "new": new}, "RR", weights=w) for w in (None, weights))
    assert plain.verdict != heavy.verdict == "significantly worse"
