"""The tests of one pair, against scipy and by hand; their levels and power, by simulation."""

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

from cranfield.comparison.multiple_testing import CORRECTIONS
from cranfield.comparison.significance import TESTS as ALL
from cranfield.comparison.significance import Settings
from cranfield.comparison.significance import hedges as effect_size
from cranfield.evaluation.estimating import Columns

TESTS = {name: test for name, test in ALL.items() if name != "tukey"}
SETTINGS = Settings(alpha=0.05, permutations=2000, seed=1)


def differences(seed, n, columns=1, shift=0.0):
    chance = np.random.default_rng(seed)
    return np.round(chance.normal(shift, 0.2, (n, columns)), 3)


def one(test, d, settings=SETTINGS):
    table = np.asarray(d, dtype=float)[:, None]
    low, high = TESTS[test].interval(Columns(table), np.array([settings.alpha]), settings)
    return TESTS[test].outcome(Columns(table), settings).p[0], low[0], high[0]


def two_sided(test, table, settings):
    low, high = TESTS[test].interval(Columns(table), np.full(table.shape[1], settings.alpha), settings)
    return TESTS[test].outcome(Columns(table), settings).p, low, high


@pytest.mark.parametrize("n", [2, 3, 10, 50, 400])
def test_t_is_scipys(n):
    d = differences(n, n, shift=0.05)[:, 0]
    other = np.random.default_rng(n).random(n)
    theirs = stats.ttest_rel(other + d, other)
    p, low, high = one("t", d)
    assert p == pytest.approx(theirs.pvalue)
    assert (low, high) == pytest.approx(tuple(theirs.confidence_interval(0.95)))


@pytest.mark.parametrize("n", [1, 5, 12, 30, 50, 51])
def test_wilcoxon_and_sign_are_scipys(n):
    d = differences(n, n, shift=0.1)[:, 0]
    assert one("wilcoxon", d)[0] == pytest.approx(stats.wilcoxon(d).pvalue)
    assert one("sign", d)[0] == pytest.approx(stats.binomtest(int((d > 0).sum()), n).pvalue)
    with_ties = np.concatenate([d, [0.0, 0.0]])
    assert one("wilcoxon", with_ties)[0] == one("wilcoxon", d)[0]
    assert one("sign", with_ties)[0] == one("sign", d)[0]


@pytest.mark.parametrize("seed", range(5))
def test_wilcoxon_is_exact_for_few_differences_with_ties(seed):
    d = np.round(differences(seed, 9, shift=0.1)[:, 0], 1)
    d = np.concatenate([d[d != 0], [0.1, 0.1, -0.1]])
    ranks = stats.rankdata(np.abs(d))
    sums = np.array([sum(r for r, sign in zip(ranks, signs) if sign) for signs in product((0, 1), repeat=len(d))])
    found = ranks[d > 0].sum()
    by_hand = min(1, 2 * min(np.mean(sums >= found), np.mean(sums <= found)))
    assert one("wilcoxon", d)[0] == pytest.approx(by_hand)


@pytest.mark.parametrize("seed", range(5))
def test_randomisation_tries_all_flips_of_few_differences(seed):
    d = np.concatenate([differences(seed, 9, shift=0.1)[:, 0], np.zeros(100)])
    flips = [abs(sum(s * x for s, x in zip(signs, d, strict=False))) for signs in product((1, -1), repeat=9)]
    by_hand = np.mean([flip >= abs(d.sum()) - 1e-9 for flip in flips])
    assert one("randomisation", d)[0] == pytest.approx(by_hand)
    theirs = stats.permutation_test((d[:9],), np.sum, permutation_type="samples", n_resamples=np.inf)
    assert one("randomisation", d)[0] == pytest.approx(theirs.pvalue)


def test_randomisation_draws_flips_of_many_differences_and_p_is_never_0():
    d = differences(3, 60, shift=0.03)[:, 0]
    settings = Settings(0.05, 50_000, 0)
    theirs = stats.permutation_test((d,), np.mean, permutation_type="samples", n_resamples=50_000, rng=1)
    assert one("randomisation", d, settings)[0] == pytest.approx(theirs.pvalue, abs=0.01)
    assert one("randomisation", np.ones(60), Settings(0.05, 999, 0))[0] == 2 / 1000
    assert one("randomisation", d, settings) == one("randomisation", d, settings)
    assert one("randomisation", d, settings)[0] != one("randomisation", d, Settings(0.05, 50_000, 1))[0]


@pytest.mark.parametrize("test", TESTS)
def test_thousands_of_queries(test):
    p, low, high = one(test, differences(1, 7000, shift=0.01)[:, 0], Settings(0.05, 300, 0))
    assert p < 0.01
    assert 0 < low < 0.01 < high < 0.02


def test_the_bootstrap_is_near_the_t_test_for_symmetric_differences():
    symmetric = differences(8, 80, shift=0.04)[:, 0]
    assert one("bootstrap", symmetric, Settings(0.05, 20_000, 0)) == pytest.approx(one("t", symmetric), abs=0.03)


def test_the_effect_is_cohens_d_without_bias():
    d = differences(1, 20, shift=0.1)
    [g] = effect_size(d)
    assert g == pytest.approx(d.mean() / d.std(ddof=1) * (1 - 3 / (4 * 19 - 1)), rel=1e-3)
    # The correction makes it right on average.
    many = effect_size(np.random.default_rng(0).normal(0.5, 1.0, (6, 20_000)))
    assert np.mean(many) == pytest.approx(0.5, abs=0.01)
    assert effect_size(np.zeros((4, 1))) == [0.0]
    assert effect_size(np.full((4, 1), 0.1)) == [None]


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("d", [np.zeros(10), np.full(10, 0.1), np.full(10, 0.1 + 0.2) - 0.3, [0.0, 0.5], [0.5, 0.5]])
def test_nothing_is_ever_nan(test, d):
    d = np.where(np.abs(d) < 1e-12, 0.0, d)
    p, low, high = one(test, d)
    assert 0 < p <= 1
    assert low <= high  # few queries may leave an interval without an end
    if not np.any(d):
        assert (p, low, high) == (1, 0, 0)


def test_equal_differences_do_not_have_p_0():
    """Two queries that differ by the same amount have no spread, and an infinite t."""
    assert one("t", [0.5, 0.5])[0] == 0.5
    assert one("t", np.full(10, 0.1))[0] == one("randomisation", np.full(10, 0.1))[0] == 2 / 2**10


@pytest.mark.parametrize("test", TESTS)
def test_the_level_holds(test):
    """If the runs are alike, a share alpha of the comparisons is significant, and as many intervals miss 0."""
    columns = 1500
    d = np.random.default_rng(11).normal(0, 0.2, (30, columns))
    p, low, high = two_sided(test, d, Settings(0.05, 999, 3))
    found = (p <= 0.05).mean()
    # Four standard errors of a share of 0.05; the sign test has few levels, and 0.043 is the nearest below.
    assert abs(found - (0.043 if test == "sign" else 0.05)) < 4 * math.sqrt(0.05 * 0.95 / columns)
    covered = ((low <= 0) & (high >= 0)).mean()
    assert covered == pytest.approx(1 - found, abs=1e-9)  # where the test rejects, and only there, 0 is outside


def test_levels_hold_for_differences_with_many_ties():
    """As with P@1: most queries are the same, some better or worse by a whole step."""
    d = np.random.default_rng(2).choice([-1.0, 0.0, 1.0], p=[0.1, 0.8, 0.1], size=(60, 1500))
    for test in ("t", "randomisation"):
        assert (TESTS[test].outcome(Columns(d), Settings(0.05, 999, 3)).p <= 0.05).mean() < 0.05 + 4 * math.sqrt(
            0.05 * 0.95 / 1500
        )


def by_definition(name, p):
    """Adjusted p-values from the definitions, one at a time."""
    m = len(p)
    if name == "none":
        return list(p)
    if name in ("bonferroni", "max-t"):
        return [min(1, m * x) for x in p]
    ranked = sorted(p)
    if name == "holm":
        return [min(1, max((m - k) * ranked[k] for k in range(ranked.index(x) + 1))) for x in p]
    last = {x: m - 1 - ranked[::-1].index(x) for x in p}
    return [min(1, min(m / (k + 1) * ranked[k] for k in range(last[x], m))) for x in p]


@pytest.mark.parametrize("name", CORRECTIONS)
def test_corrections(name):
    for seed in range(20):
        p = np.round(np.random.default_rng(seed).random(8) ** 3, 2)
        adjusted = CORRECTIONS[name].adjust(p)
        assert adjusted.tolist() == pytest.approx(by_definition(name, p.tolist()))
        assert (adjusted >= p).all()
    assert CORRECTIONS[name].adjust(np.array([0.03])).tolist() == [0.03]


EXAMPLE = [0.12, 0.05, -0.03, 0.20, 0.08, 0.01, -0.06, 0.15, 0.09, 0.30, -0.02, 0.11]


@pytest.mark.parametrize(
    ("test", "greater", "p", "estimate", "low", "high"),
    [
        ("t", 0.008776, 0.017551, 0.083333, 0.0176, 0.1490),
        ("randomisation", 33 / 4096, 66 / 4096, 0.083333, 0.020, 0.150),
        ("wilcoxon", 0.0105, 0.0210, 0.08, 0.015, 0.15),
        ("sign", 0.0730, 0.1460, 0.085, -0.02, 0.15),
    ],
)
def test_a_worked_example(test, greater, p, estimate, low, high):
    table = np.array(EXAMPLE)[:, None]
    outcome = TESTS[test].outcome(Columns(table), SETTINGS)
    assert (outcome.greater[0], outcome.p[0], outcome.estimate[0]) == pytest.approx((greater, p, estimate), abs=6e-5)
    assert one(test, EXAMPLE)[1:] == pytest.approx((low, high), abs=6e-5)
    assert outcome.direction.tolist() == [1]
    turned = TESTS[test].outcome(Columns(-table), SETTINGS)
    assert (turned.less[0], turned.direction[0]) == (pytest.approx(outcome.greater[0]), -1)


@pytest.mark.parametrize("test", TESTS)
def test_an_interval_excludes_0_exactly_where_its_test_rejects(test):
    chance = np.random.default_rng(7)
    for _ in range(40):
        table = chance.normal(chance.choice([0, 0.3, 0.6]), 1, (int(chance.integers(5, 60)), 5))
        for alpha in (0.05, 0.01, 0.2):
            p, low, high = two_sided(test, table, Settings(alpha, 1999, 0))
            assert ((p <= alpha) == ((low > 0) | (high < 0))).all()


def test_wilcoxons_interval_is_the_same_by_bisection(monkeypatch):
    from cranfield.comparison.significance import wilcoxon

    d = differences(4, 120, shift=0.02)[:, 0]
    listed = one("wilcoxon", d)
    monkeypatch.setattr(wilcoxon, "FEW", 10)
    assert one("wilcoxon", d) == pytest.approx(listed, abs=1e-12)


@pytest.mark.parametrize("test", ["sign", "wilcoxon"])
def test_rank_tests_follow_most_queries_rather_than_the_mean(test):
    """Most queries gain a little, a few lose much: the mean falls, and the test says that queries gain."""
    d = np.array([0.0091] * 18 + [-0.5] * 2)
    outcome = TESTS[test].outcome(Columns(d[:, None]), SETTINGS)
    assert d.mean() < 0
    assert outcome.direction[0] == 1
    assert outcome.greater[0] < 0.05 < outcome.less[0]
    assert outcome.effect[0] > 0
