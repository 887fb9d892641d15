"""A mean by a model's grades, corrected by people: by hand, by naive loops, by enumeration, and by simulation."""

from functools import cache
from itertools import combinations
from math import sqrt

import numpy as np
import pytest
from scipy.stats import t

from cranfield import ComparisonError
from cranfield.evaluation import corrected as correcting
from cranfield.evaluation.corrected import CORRECTED, worth
from cranfield.evaluation.estimating import PLAIN, Columns
from tests.comparison.simulated_judges import JUDGES, by_judge, by_people, drawn

# Ten sampled queries of twenty: the values by people and by the model. By hand:
#   mean y = .5, mean f of the ten = .6, of all = .5
#   Σ(f - .6)² = 10·.04 = .4: a variance of .4/9, larger than that of all twenty, (5·.3² + 15·.1²)/19 = .6/19, and of y
#   Σ(y - .5)(f - .6) = 10·.15·.2 = .3,  Σ(y - .5)² = 10·.0225 + 8·.0025 = .245
#   b = .3/.4 = .75,  r² = .3²/(.4·.245) = .09/.098
#   λ = .75·(1 - .4 r⁸),  θ = .5 - λ·(.6 - .5)
#   s_e² = (.245 - .75·.3)/8 = .02/8,  k = 1 + 10·.01/.4 = 1.25,  s_w² = (b - λ)²·.4/9,  s_b² = .75²·.4/9
#   V = (1.25·.02/8 + s_w²)·(1/10 - 1/20) + (8/9·.02/8 + s_b²)/20 = (1.25·.02/8 + s_w²)/20 + .245/9/20
MODEL_DRAWN = [0.8, 0.8, 0.8, 0.8, 0.8, 0.4, 0.4, 0.4, 0.4, 0.4]
MODEL_OTHERS = [0.4] * 10
PEOPLE = [0.65 + e for e in (0.05, -0.05, 0.05, -0.05, 0.0)] + [0.35 + e for e in (0.05, -0.05, 0.05, -0.05, 0.0)]


def corrected_columns(model, people, drawn, *, differences=False):
    return CORRECTED.estimate(Columns(people, proxy=model, drawn=drawn, contrasts=differences))


def people_interval(people):
    return PLAIN.estimate(Columns(people)).interval(0.05)


def column(values):
    return np.array(values, dtype=float)[:, None]


def naive(model, people, drawn, differences):
    """The formulas as loops: the estimate, its variance for all queries and for these alone, degrees of freedom."""
    n, every = len(people), len(model)
    f = [model[at] for at in drawn]
    mean_y, mean_f, mean_all = sum(people) / n, sum(f) / n, sum(model) / every
    var_f = sum((each - mean_f) ** 2 for each in f) / (n - 1)
    larger = max(var_f, sum((each - mean_all) ** 2 for each in model) / (every - 1))
    var_y = sum((each - mean_y) ** 2 for each in people) / (n - 1)
    cov = sum((a - mean_y) * (b - mean_f) for a, b in zip(people, f, strict=True)) / (n - 1)
    agreement = max(0, cov) / sqrt(var_f * var_y)
    slope = max(0, cov) / var_f
    weight = max(0, cov) / (larger if differences else max(larger, var_y)) * (1 - 0.4 * agreement**8)
    errors = sum((a - mean_y - slope * (b - mean_f)) ** 2 for a, b in zip(people, f, strict=True))
    k = 1 + n * (mean_f - mean_all) ** 2 / ((n - 1) * larger) if cov > 0 else 1
    believed = var_f + agreement**8 * (larger - var_f)
    withheld, explained = min((slope - weight) ** 2 * believed, var_y), min(slope**2 * believed, var_y)
    these = (k * errors / (n - 2) + withheld) * (1 / n - 1 / every)
    value = mean_y - weight * (mean_f - mean_all)
    freedom = min((n - 2 + n * agreement**4 if cov > 0 else n - 1) - (0 if differences else 1), every - 1)
    return value, these + (errors / (n - 1) + explained) / every, these, freedom


def test_by_hand():
    found = corrected_columns(column(MODEL_DRAWN + MODEL_OTHERS), column(PEOPLE), np.arange(10))
    weight = 0.75 * (1 - 0.4 * (0.09 / 0.098) ** 4)
    withheld = (0.75 - weight) ** 2 * 0.4 / 9
    assert found.parts.weight[0] == pytest.approx(weight)
    assert found.value[0] == pytest.approx(0.5 - weight * 0.1)
    assert found.error[0] ** 2 == pytest.approx((1.25 * 0.02 / 8 + withheld) / 20 + 0.245 / 9 / 20)
    assert (found.parts.model[0], found.parts.people[0]) == (pytest.approx(0.5), pytest.approx(0.5))
    freedom = 7 + 10 * (0.09 / 0.098) ** 2
    assert found.freedom[0] == pytest.approx(freedom)
    low, high = found.interval(0.05)
    assert (high[0] - low[0]) / 2 == pytest.approx(t.isf(0.025, freedom) * found.error[0])
    assert people_interval(column(PEOPLE))[1][0] == pytest.approx(0.5 + t.isf(0.025, 9) * sqrt(0.245 / 9 / 10))


@pytest.mark.parametrize("differences", [False, True])
@pytest.mark.parametrize("follows", [0.5, 2.0, -0.5])
@pytest.mark.parametrize("seed", range(10))
def test_naive_loops_give_the_same_values(seed, follows, differences):
    rng = np.random.default_rng(seed)
    every, n = int(rng.integers(12, 60)), 10
    model = rng.random(every)
    drawn = rng.permutation(every)[:n]
    people = follows * model[drawn] + rng.random(n)  # which differs from the model everywhere
    value, variance, _, freedom = naive(model.tolist(), people.tolist(), drawn.tolist(), differences)
    found = corrected_columns(column(model), column(people), drawn, differences=differences)
    assert found.value[0] == pytest.approx(value)
    assert (found.error[0], found.freedom[0]) == (pytest.approx(sqrt(variance)), pytest.approx(freedom))
    ratio = value / sqrt(variance)
    greater, less = found.chances()
    assert greater[0] == pytest.approx(t.sf(ratio, found.freedom[0]))
    assert less[0] == pytest.approx(t.cdf(ratio, found.freedom[0]))
    assert (2 * min(greater[0], less[0]) <= 0.05) == bool(
        found.interval(0.05)[0][0] > 0 or found.interval(0.05)[1][0] < 0
    )


def test_over_all_samples_a_fixed_weight_is_unbiased_and_an_estimated_one_nearly():
    """All 1,001 samples of 10 of 14: exactly unbiased for any weight fixed beforehand.

    With the estimated weight there is a bias of the order 1/n, here less than a fifth of the estimate's own error.
    """
    rng = np.random.default_rng(4)
    model = rng.random(14)
    people = 0.3 + 0.4 * model + 0.2 * rng.random(14)
    samples = [np.array(each) for each in combinations(range(14), 10)]
    for weight in (-1.0, 0.0, 0.4, 1.0):
        fixed = [people[s].mean() - weight * (model[s].mean() - model.mean()) for s in samples]
        assert np.mean(fixed) == pytest.approx(people.mean())
    estimated = np.array([corrected_columns(column(model), column(people[s]), s).value[0] for s in samples])
    assert abs(estimated.mean() - people.mean()) < 0.2 * estimated.std()


def test_a_constant_model_leaves_the_mean_by_people():
    people = np.random.default_rng(1).random((12, 1))
    found = corrected_columns(np.full((50, 1), 0.7), people, np.arange(12))
    assert (found.parts.weight[0], found.freedom[0]) == (0.0, 11)
    assert found.value[0] == pytest.approx(people.mean())
    assert np.allclose(found.interval(0.05), people_interval(people))
    assert worth(found) == [12]


def test_a_reversed_model_leaves_the_mean_by_people():
    people = np.random.default_rng(1).random((50, 1))
    found = corrected_columns(1 - people, people[:12], np.arange(12))
    assert (found.parts.weight[0], found.freedom[0]) == (0.0, 10)
    assert found.value[0] == pytest.approx(people[:12].mean())


@pytest.mark.parametrize("times", [0.1, 0.5, 1.0, 2.0])
def test_the_values_of_a_model_are_never_stretched_but_its_differences_may_be(times):
    people = np.random.default_rng(1).random((500, 1))
    model = times * people
    by_scale = corrected_columns(model, people[:100], np.arange(100)).parts.weight[0]
    of_differences = corrected_columns(model, people[:100], np.arange(100), differences=True).parts.weight[0]
    assert by_scale == pytest.approx(0.6 * min(times, 1 / times), rel=0.05)  # four tenths of it are withheld
    assert of_differences == pytest.approx(0.6 / times, rel=0.05)


def test_people_who_judged_everything_need_no_model():
    rng = np.random.default_rng(2)
    people, model = rng.random((20, 1)), rng.random((20, 1))
    found = corrected_columns(model, people, np.arange(20))
    assert found.value[0] == pytest.approx(people.mean())
    assert found.error[0] == pytest.approx(people.std(ddof=1) / sqrt(20))


def test_p_is_that_of_signs_if_all_queries_have_the_same_value():
    found = corrected_columns(np.tile([0.3, 0.1], (30, 1)), np.tile([0.2, 0.0], (10, 1)), np.arange(10))
    assert found.error.tolist() == [0.0, 0.0]
    greater, less = found.chances()
    assert np.minimum(greater, less).tolist() == [1 / 2**10, 1.0]
    assert worth(found) == [None, None]


def test_where_people_saw_no_variation_the_model_says_how_much_there_may_be():
    """Two runs equal on the sample, of which the model says that one is broken elsewhere."""
    model = np.where(np.arange(60) < 20, 0.0, -0.7)[:, None]
    found = corrected_columns(model, np.zeros((20, 1)), np.arange(20), differences=True)
    assert (found.value[0], found.error[0]) == (0.0, pytest.approx(model.std(ddof=1) / sqrt(20)))
    low, high = found.interval(0.05)
    assert low[0] < -0.1 < 0.1 < high[0]
    greater, less = found.chances()
    assert greater[0] == less[0] == 0.5


def test_worth_is_the_smallest_number_of_queries_with_as_short_an_interval():
    rng = np.random.default_rng(5)
    model = rng.random((200, 1))
    found = corrected_columns(model, model[:20] + rng.normal(0, 0.1, (20, 1)), np.arange(20))
    half = (found.interval(0.05)[1] - found.value)[0]
    [queries] = worth(found)
    widths = [t.isf(0.025, m - 1) * found.spread[0] / sqrt(m) for m in (queries - 1, queries)]
    assert widths[0] > half >= widths[1] * (1 - 1e-9)
    assert queries > 20


def test_fewer_than_ten_sampled_queries_are_refused():
    with pytest.raises(ComparisonError, match="people judged 9 sampled queries"):
        corrected_columns(np.ones((50, 1)), np.ones((9, 1)), np.arange(9))


COUNT = 1000  # experiments of each kind


@cache
def truth():
    """The mean of nDCG@10 and the mean difference, over 200,000 queries."""
    one, other = by_people(drawn(200, 1000, np.random.default_rng(99)))
    return float(one.mean()), float((other - one).mean())


@cache
def world():
    """The queries that all judges see, and their values by people."""
    shared = drawn(60, COUNT, np.random.default_rng(60))
    return shared, by_people(shared)


@cache
def judged(judge):
    """For means and for differences: the values by people, the values by the judge, and the truth."""
    shared, (one, other) = world()
    model_one, model_other = by_judge(judge, shared, np.random.default_rng(list(JUDGES).index(judge)))
    return [(one, model_one, truth()[0]), (other - one, model_other - model_one, truth()[1])]


def tried(people, model, true, n, *, differences):
    """How often the interval holds, and its width relative to that of people alone."""
    found = corrected_columns(model, people[:n], np.arange(n), differences=differences)
    (low, high), (people_low, people_high) = found.interval(0.05), people_interval(people[:n])
    held = ((low <= true) & (true <= high)).mean()
    return held, (high - low).mean() / (people_high - people_low).mean()


@pytest.mark.parametrize("n", [10, 20])
@pytest.mark.parametrize("judge", JUDGES)
def test_intervals_hold_for_any_judge_and_are_hardly_wider(judge, n):
    chance = 3 * sqrt(0.95 * 0.05 / COUNT)  # three standard errors of a share of 95%
    for differences, values in zip((False, True), judged(judge), strict=True):
        held, width = tried(*values, n, differences=differences)
        assert 0.93 - chance <= held <= 0.97 + chance
        assert width <= (1.10 if n == 10 else 1.04) + 0.01


@pytest.mark.parametrize("n", [10, 20])
def test_stretching_values_would_overtrust_a_judge_that_never_grades_0(n):
    """It is far off on the few queries whose nDCG is 0 by people: too rarely for a small sample to show it."""
    means, _ = judged("one grade too high")
    held, width = tried(*means, n, differences=False)
    too_rarely, too_short = tried(*means, n, differences=True)
    assert too_rarely < held - 0.005  # of the same samples
    assert too_short < 0.9 * width


CURVES = {
    "few high values": lambda people: people**4,
    "hardly any high value": lambda people: people**8,
    "few low values": lambda people: 1 - (1 - people) ** 4,
    "a long tail": lambda people: np.exp(5 * people),
    "both tails": lambda people: (people - 0.5) ** 3,
}


@pytest.mark.parametrize("n", [10, 20])
@pytest.mark.parametrize("curve", CURVES)
def test_intervals_hold_if_the_model_is_a_curve_of_the_values_by_people(curve, n):
    """A sample that misses the model's rare values would make its weight far too large for them."""
    people = np.random.default_rng([n, list(CURVES).index(curve)]).beta(2, 2, (10 * n, 4 * COUNT))
    found = corrected_columns(CURVES[curve](people), people[:n], np.arange(n))
    (low, high), (people_low, people_high) = found.interval(0.05), people_interval(people[:n])
    assert 0.93 <= ((low <= 0.5) & (high >= 0.5)).mean() <= 0.97
    # Where its values vary far less than people's, they are of no use, and cost a little.
    assert (high - low).mean() < 1.02 * (people_high - people_low).mean()


@pytest.mark.parametrize(("n", "most"), [(10, 1.10), (20, 1.04), (50, 1.04)])
@pytest.mark.parametrize("tail", [0.0, 1.0, 2.0])
def test_a_useless_judge_costs_little_however_its_values_are_spread(n, most, tail):
    rng = np.random.default_rng([n, int(tail)])
    people, noise = rng.random((10 * n, COUNT)), rng.normal(0, 1, (10 * n, COUNT))
    found = corrected_columns(np.exp(tail * noise) if tail else noise, people[:n], np.arange(n))
    (low, high), (people_low, people_high) = found.interval(0.05), people_interval(people[:n])
    assert (high - low).mean() / (people_high - people_low).mean() <= most
    assert ((low <= 0.5) & (high >= 0.5)).mean() >= 0.93 - 3 * sqrt(0.95 * 0.05 / COUNT)


RARELY = {
    "some failures for successes": lambda people, wrong: np.where(wrong, 1.0, people),
    "some of both for the other": lambda people, wrong: np.where(wrong, 1 - people, people),
}


@pytest.mark.parametrize(("n", "every"), [(10, 100), (10, 1000), (20, 200), (20, 1000)])
@pytest.mark.parametrize("share", [0.05, 0.1])
@pytest.mark.parametrize("takes", RARELY)
def test_intervals_hold_for_a_judge_that_errs_rarely(takes, share, n, every):
    """Most samples show none of its errors, or one; with its full weight it would look perfect."""
    rng = np.random.default_rng([n, every, int(100 * share)])
    people = (rng.random((every, 2 * COUNT)) < 0.5).astype(float)
    model = RARELY[takes](people, rng.random(people.shape) < share)
    found = corrected_columns(model, people[:n], np.arange(n))
    (low, high), (people_low, people_high) = found.interval(0.05), people_interval(people[:n])
    chance = 3 * sqrt(0.95 * 0.05 / (2 * COUNT))
    alone = ((people_low <= 0.5) & (people_high >= 0.5)).mean()  # with two values only, often more than 95%
    assert 0.93 - chance <= ((low <= 0.5) & (high >= 0.5)).mean() <= max(0.97, alone) + chance
    assert (high - low).mean() < 0.8 * (people_high - people_low).mean()


@pytest.mark.parametrize(("n", "every"), [(10, 1000), (20, 1000)])
def test_full_weight_would_overtrust_a_judge_that_errs_rarely(n, every, monkeypatch):
    monkeypatch.setattr(correcting, "WITHHELD", 0.0)
    rng = np.random.default_rng([n, every])
    people = (rng.random((every, COUNT)) < 0.5).astype(float)
    found = corrected_columns(np.where(rng.random(people.shape) < 0.1, 1.0, people), people[:n], np.arange(n))
    low, high = found.interval(0.05)
    assert ((low <= 0.5) & (high >= 0.5)).mean() < 0.85


@pytest.mark.parametrize("n", [10, 20])
@pytest.mark.parametrize(("differences", "times"), [(False, 1.0), (True, 1.0), (True, 0.5)])
def test_a_judge_that_correlates_well_nearly_halves_the_interval(n, differences, times):
    rng = np.random.default_rng(n)
    every, rho = 10 * n, 0.9
    people = rng.normal(0, 1, (every, COUNT))
    model = 0.3 + times * (rho * people + sqrt(1 - rho**2) * rng.normal(0, 1, people.shape))
    held, width = tried(people, model, 0, n, differences=differences)
    assert 0.45 <= width <= (0.63 if n == 10 else 0.61)
    assert 0.93 <= held <= 0.97
