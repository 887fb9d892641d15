"""Alarms: how often there is a false one, how often a slide is found, and that each rule is what it says."""

import json
from pathlib import Path

import numpy as np
import pytest

from cranfield import gate
from cranfield.comparison.sliding import (
    BY_DAY,
    BY_QUERY,
    EARLIER,
    WINDOW,
    Noise,
    drop_since,
    noise_of,
    slide,
)
from tests.comparison.days import World, alarms, results

RECORDED = json.loads((Path(__file__).parents[2] / "bench" / "alerting.json").read_text(encoding="utf-8"))
ALONE = Noise(BY_QUERY)


def few(share, months):
    """The largest share that is likely where the true one is this."""
    return share + 2.5 * (share * (1 - share) / months) ** 0.5


@pytest.mark.parametrize(
    "world",
    [
        World(),
        World(kind="rr", earlier=40),
        World(shake=0.02, shake_autocorrelation=0.5, earlier=40),
        World(kind="rr", shake=0.01, earlier=40),
    ],
    ids=["own", "own, earlier results", "shaken, autocorrelated", "shaken"],
)
def test_a_month_of_looks_rarely_raises_a_false_alarm(world):
    months = 100
    found = alarms(world, months, seed=1)
    assert found.either <= few(0.06, months)
    assert found.gate_alone > 0.2  # what thirty tests at the level of one do


def test_a_slide_is_found():
    assert alarms(World(slide=0.02), 60, seed=2).either >= 0.9


def test_the_recorded_figures_keep_what_the_documentation_promises():
    assert RECORDED["months"] >= 1000
    for kind in ("own", "shaken"):
        assert max(world["either"] for world in RECORDED[kind]) <= 0.065
    assert {world["kind"] for world in RECORDED["own"]} == {"graded", "rr"}
    first = RECORDED["sliding"][0]
    assert (first["slide"], first["shake"]) == (0.02, 0.0)
    assert first["either"] >= 0.95


def test_the_drop_is_the_gates_test():
    chance = np.random.default_rng(3)
    before, after = chance.integers(1, 9, 50), chance.integers(1, 12, 50)
    qrels = {str(query): {"a": 1} for query in range(50)}
    runs = [
        {str(query): [*map(str, range(rank - 1)), "a"] for query, rank in enumerate(ranks.tolist())}
        for ranks in (before, after)
    ]
    found = drop_since((1 / after)[:, None], 1 / before, ALONE)
    [measure] = gate(qrels, *runs, "RR").measures
    assert (found.loss, found.p) == pytest.approx((measure.drop, measure.p_worse))


def test_the_slope_is_that_of_least_squares():
    chance = np.random.default_rng(4)
    values = chance.random((30, WINDOW)) - 0.05 * np.arange(WINDOW)
    slopes = np.polyfit(np.arange(WINDOW), values.T, 1)[0]
    found = slide(values, ALONE)
    t = -slopes.mean() / (slopes.std(ddof=1) / np.sqrt(30))
    from scipy.stats import t as student

    assert (found.loss, found.p) == pytest.approx((-slopes.mean() * (WINDOW - 1), student.sf(t, 29)))


def test_the_slope_of_days_by_hand():
    """An autoregressive series, with φ corrected for its bias."""
    chance = np.random.default_rng(5)
    means = chance.normal(0.5, 0.01, EARLIER + WINDOW)
    means[-WINDOW:] -= 0.003 * np.arange(WINDOW)
    values = np.tile(means, (20, 1))
    found = slide(values, Noise(BY_DAY))
    from scipy.stats import t as student

    y = means[:EARLIER] - means[:EARLIER].mean()
    phi = (y[:-1] @ y[1:]) / (y[:-1] @ y[:-1])
    phi = max(phi + (1 + 3 * phi) / EARLIER, 0)
    rest = y[1:] - phi * y[:-1]
    covariance = [[(rest @ rest) / 27 / (1 - phi**2) * phi ** abs(i - j) for j in range(10)] for i in range(10)]
    weights = (np.arange(10) - 4.5) / 82.5
    slope = weights @ means[-WINDOW:]
    assert found.p == pytest.approx(student.cdf(slope / np.sqrt(weights @ covariance @ weights), 27 / 2), rel=1e-6)


def test_what_came_back_is_no_slide():
    values = np.tile(np.r_[[0.9] * 7, 0.5, 0.5, 0.9], (30, 1)) + np.random.default_rng(0).normal(0, 0.01, (30, 10))
    assert slide(values, ALONE).p == 1
    assert slide(values[:, :9], ALONE) is None


def test_shaken_days_are_seen_in_repeats_and_in_earlier_results():
    chance = np.random.default_rng(6)
    shaken = results(World(shake=0.05, earlier=40), chance)
    calm = results(World(earlier=40), chance)
    none = [""] * shaken.shape[1]
    assert noise_of(shaken, none)[:2] == (BY_DAY, "earlier")
    assert noise_of(shaken[:, :20], none) == (BY_QUERY, "", 0, None)  # too few: it is assumed, and said so
    assert noise_of(shaken[:, :20], ["a"] * 20)[:2] == (BY_DAY, "repeats")
    assert noise_of(calm[:, :20], ["a"] * 20).seen == "repeats"
    still = np.tile(calm[:, :1], (1, 20))
    assert noise_of(still, ["a"] * 20) == (BY_QUERY, "repeats", 19, None)


def test_days_that_move_all_queries_alike_are_shaken():
    chance = np.random.default_rng(1)
    values = np.full((30, 12), 0.5) + chance.integers(0, 3, 12) / 10
    assert noise_of(values, ["a"] * 12).kind == BY_DAY


def test_one_commit_that_moved_something_is_no_shaken_day():
    calm = results(World(earlier=40, noise=0.02), np.random.default_rng(8))
    moved = calm.copy()
    moved[:, 15:] += 0.1
    none = [""] * calm.shape[1]
    difference = noise_of(moved, none).ratio - noise_of(calm, none).ratio
    assert 0 < difference < 4 / 0.92 / 29 + 0.01


def test_a_system_that_never_changes_raises_no_alarm():
    values = np.tile(np.random.default_rng(9).random((30, 1)), (1, 45))
    noise = noise_of(values, [""] * 45)
    assert noise == (BY_QUERY, "earlier", 29, None)
    assert drop_since(values, values[:, 0], noise).p == 1
    assert slide(values, noise).p == 1
