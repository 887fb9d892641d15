"""A mean by a model's grades, corrected by people: by hand, by naive loops, by enumeration, and by simulation."""

from functools import cache
from itertools import combinations
from math import sqrt

import numpy as np
import pytest
from scipy.stats import t

from cranfield import ComparisonError
from cranfield.comparison import correcting
from cranfield.comparison.correcting import corrected_columns
from tests.comparison.simulated_judges import JUDGES, by_judge, by_people, drawn

# Ten sampled queries of twenty: what people and the model say of each. By hand:
#   mean y = .5, mean f of the ten = .6, of all = .5
#   Σ(f - .6)² = 10·.04 = .4: a variance of .4/9, larger than that of all twenty, (5·.3² + 15·.1²)/19 = .6/19
#   Σ(y - .5)(f - .6) = 10·.15·.2 = .3,  Σ(y - .5)² = 10·.0225 + 8·.0025 = .245
#   λ = .3/.4 = .75,  θ = .5 - .75·(.6 - .5) = .425
#   Σ(r - mean r)² = .245 - .75·.3 = .02,  s_r² = .02/8,  k = 1 + 10·.01/.4 = 1.25,  s_y² = .245/9
#   V = .02/8 · (1/10 - 1/20) · 1.25 + .245/9/20
MODEL_DRAWN = [0.8, 0.8, 0.8, 0.8, 0.8, 0.4, 0.4, 0.4, 0.4, 0.4]
MODEL_OTHERS = [0.4] * 10
PEOPLE = [0.65 + e for e in (0.05, -0.05, 0.05, -0.05, 0.0)] + [0.35 + e for e in (0.05, -0.05, 0.05, -0.05, 0.0)]


def column(values):
    return np.array(values, dtype=float)[:, None]


def naive(model, people, drawn):
    """The formulas as loops; returns the estimate, its variance for all queries, and for these alone."""
    n, every = len(people), len(model)
    f = [model[at] for at in drawn]
    mean_y, mean_f, mean_all = sum(people) / n, sum(f) / n, sum(model) / every
    var_f = max(
        sum((each - mean_f) ** 2 for each in f) / (n - 1),
        sum((each - mean_all) ** 2 for each in model) / (every - 1),
    )
    cov = sum((a - mean_y) * (b - mean_f) for a, b in zip(people, f, strict=True)) / (n - 1)
    weight = cov / var_f
    residuals = [a - weight * b for a, b in zip(people, f, strict=True)]
    mean_r = sum(residuals) / n
    s_r = sum((each - mean_r) ** 2 for each in residuals) / (n - 2)
    s_y = sum((each - mean_y) ** 2 for each in people) / (n - 1)
    k = 1 + n * (mean_f - mean_all) ** 2 / ((n - 1) * var_f)
    these = s_r * (1 / n - 1 / every) * k
    return mean_y - weight * (mean_f - mean_all), these + s_y / every, these


def test_by_hand():
    found = corrected_columns(column(MODEL_DRAWN + MODEL_OTHERS), column(PEOPLE), np.arange(10))
    assert found.weight[0] == pytest.approx(0.75)
    assert found.value[0] == pytest.approx(0.425)
    assert found.error[0] ** 2 == pytest.approx(0.02 / 8 * 0.05 * 1.25 + 0.245 / 9 / 20)
    assert (found.model[0], found.people[0], found.freedom[0]) == (pytest.approx(0.5), pytest.approx(0.5), 8)
    low, high = found.interval(0.05)
    assert (high[0] - low[0]) / 2 == pytest.approx(t.isf(0.025, 8) * found.error[0])
    assert found.people_interval(0.05)[1][0] == pytest.approx(0.5 + t.isf(0.025, 9) * sqrt(0.245 / 9 / 10))


@pytest.mark.parametrize("seed", range(20))
def test_naive_loops_say_the_same(seed):
    rng = np.random.default_rng(seed)
    every, n = int(rng.integers(12, 60)), 10
    model = rng.random(every)
    drawn = rng.permutation(every)[:n]
    people = 0.5 * model[drawn] + rng.random(n)  # which differs from the model everywhere
    value, variance, these = naive(model.tolist(), people.tolist(), drawn.tolist())
    found = corrected_columns(column(model), column(people), drawn)
    alone = corrected_columns(column(model), column(people), drawn, these_only=True)
    assert found.value[0] == pytest.approx(value)
    assert found.error[0] == pytest.approx(sqrt(variance))
    assert (alone.value[0], alone.error[0]) == (pytest.approx(value), pytest.approx(sqrt(these)))
    ratio = value / sqrt(variance)
    greater, less, both = found.chances()
    assert greater[0] == pytest.approx(t.sf(ratio, n - 2))
    assert less[0] == pytest.approx(t.cdf(ratio, n - 2))
    assert both[0] == pytest.approx(2 * min(greater[0], less[0]))
    assert (both[0] <= 0.05) == bool(found.interval(0.05)[0][0] > 0 or found.interval(0.05)[1][0] < 0)


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


def test_a_model_that_says_the_same_of_all_leaves_what_people_say():
    people = np.random.default_rng(1).random((12, 1))
    found = corrected_columns(np.full((50, 1), 0.7), people, np.arange(12))
    assert (found.weight[0], found.freedom[0]) == (0.0, 11)
    assert found.value[0] == pytest.approx(people.mean())
    assert np.allclose(found.interval(0.05), found.people_interval(0.05))
    assert found.worth() == [12]


def test_people_who_judged_everything_need_no_model():
    rng = np.random.default_rng(2)
    people, model = rng.random((20, 1)), rng.random((20, 1))
    found = corrected_columns(model, people, np.arange(20))
    assert found.value[0] == pytest.approx(people.mean())
    assert found.error[0] == pytest.approx(people.std(ddof=1) / sqrt(20))


def test_where_all_sampled_queries_have_one_value_the_chance_is_that_of_signs():
    found = corrected_columns(np.random.default_rng(3).random((30, 2)), np.tile([0.2, 0.0], (10, 1)), np.arange(10))
    assert found.error.tolist() == [0.0, 0.0]
    assert found.chances()[2].tolist() == [2 / 2**10, 1.0]
    assert found.worth() == [None, None]


def test_what_it_is_worth_is_the_first_number_of_queries_with_as_short_an_interval():
    rng = np.random.default_rng(5)
    model = rng.random((200, 1))
    found = corrected_columns(model, model[:20] + rng.normal(0, 0.1, (20, 1)), np.arange(20))
    half = (found.interval(0.05)[1] - found.value)[0]
    [worth] = found.worth()
    widths = [t.isf(0.025, m - 1) * found.spread[0] / sqrt(m) for m in (worth - 1, worth)]
    assert widths[0] > half >= widths[1] * (1 - 1e-9)
    assert worth > 20


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
    """What all judges look at, and what people say of it."""
    shared = drawn(60, COUNT, np.random.default_rng(60))
    return shared, by_people(shared)


@cache
def judged(judge):
    """Of means and of differences: what people say, what the judge says, and the truth."""
    shared, (one, other) = world()
    model_one, model_other = by_judge(judge, shared, np.random.default_rng(list(JUDGES).index(judge)))
    return [(one, model_one, truth()[0]), (other - one, model_other - model_one, truth()[1])]


def tried(judge, n):
    """Of means and of differences: how often the interval holds, and its length against that of people alone."""
    for people, model, true in judged(judge):
        found = corrected_columns(model, people[:n], np.arange(n))
        (low, high), (people_low, people_high) = found.interval(0.05), found.people_interval(0.05)
        held = ((low <= true) & (true <= high)).mean()
        yield held, (high - low).mean() / (people_high - people_low).mean()


@pytest.mark.parametrize("n", [10, 20])
@pytest.mark.parametrize("judge", JUDGES)
def test_intervals_hold_however_bad_the_judge_and_cost_little(judge, n):
    chance = 3 * sqrt(0.95 * 0.05 / COUNT)  # three standard errors of a share of 95%
    # What agrees on all sampled queries may differ elsewhere, which a perfect judge cannot refute: see below.
    most = 1.0 if judge == "perfect" else 0.97 + chance
    # A judge who grades nothing 0 is far off on the few queries whose nDCG is 0 by people: too rarely for a small
    # sample to show it. The weight that is best over all queries does no better.
    least = {"mean": 0.86 if judge == "one grade too high" else 0.93, "difference": 0.93}
    for (what, low), (held, width) in zip(least.items(), tried(judge, n), strict=True):
        assert low - chance <= held <= most, what
        assert width <= (1.10 if n == 10 else 1.04) + 0.01


CURVES = {
    "few high values": lambda people: people**4,
    "hardly any high value": lambda people: people**8,
    "few low values": lambda people: 1 - (1 - people) ** 4,
    "a long tail": lambda people: np.exp(5 * people),
    "both tails": lambda people: (people - 0.5) ** 3,
}


@pytest.mark.parametrize("n", [10, 20])
@pytest.mark.parametrize("curve", CURVES)
def test_intervals_hold_where_the_model_bends_what_people_say(curve, n):
    """A sample that misses the model's rare values would make its weight far too large for them."""
    people = np.random.default_rng([n, list(CURVES).index(curve)]).beta(2, 2, (10 * n, 4 * COUNT))
    found = corrected_columns(CURVES[curve](people), people[:n], np.arange(n))
    (low, high), (people_low, people_high) = found.interval(0.05), found.people_interval(0.05)
    assert 0.93 <= ((low <= 0.5) & (high >= 0.5)).mean() <= 0.97
    assert (high - low).mean() < (people_high - people_low).mean()


@pytest.mark.parametrize(("n", "most"), [(10, 1.10), (20, 1.04), (50, 1.04)])
@pytest.mark.parametrize("tail", [0.0, 1.0, 2.0])
def test_a_useless_judge_costs_little_however_its_values_are_spread(n, most, tail):
    rng = np.random.default_rng([n, int(tail)])
    people, noise = rng.random((10 * n, COUNT)), rng.normal(0, 1, (10 * n, COUNT))
    found = corrected_columns(np.exp(tail * noise) if tail else noise, people[:n], np.arange(n))
    (low, high), (people_low, people_high) = found.interval(0.05), found.people_interval(0.05)
    assert (high - low).mean() / (people_high - people_low).mean() <= most
    assert ((low <= 0.5) & (high >= 0.5)).mean() >= 0.93 - 3 * sqrt(0.95 * 0.05 / COUNT)


def few_values(accuracy, every, rng):
    """Success on half of the queries; a judge who is often right, and takes failures for success otherwise."""
    people = (rng.random((every, COUNT)) < 0.5).astype(float)
    return people, np.where(rng.random(people.shape) < accuracy, people, 1.0)


@pytest.mark.parametrize("n", [10, 20])
@pytest.mark.parametrize(("accuracy", "every"), [(0.95, 500), (0.9, 1000), (0.8, 500)])
def test_intervals_hold_where_people_and_model_differ_on_hardly_any_sampled_query(accuracy, every, n):
    """Where all sampled queries agree, residuals have no variance, and the model would be taken for perfect."""
    people, model = few_values(accuracy, every, np.random.default_rng([n, every]))
    found = corrected_columns(model, people[:n], np.arange(n))
    low, high = found.interval(0.05)
    assert ((low <= 0.5) & (high >= 0.5)).mean() >= 0.93 - 3 * sqrt(0.95 * 0.05 / COUNT)
    assert (found.differing < 5).mean() > 0.5


@pytest.mark.parametrize(("n", "every"), [(10, 100), (10, 1000), (20, 200)])
def test_no_length_suits_both_a_judge_that_never_errs_and_one_that_errs_rarely(n, every, monkeypatch):
    """Why a judge that never errs is covered more often than 95% of the time.

    One that takes a fifth of the failures for success differs from people on a tenth of the queries, but on none of ten
    sampled ones in 35% of the samples, which then look like those of a judge that never errs. Intervals short enough
    for the one are too short for the other.
    """
    rng = np.random.default_rng([n, every])
    people = (rng.random((every, 2 * COUNT)) < 0.5).astype(float)
    rare = np.where(rng.random(people.shape) < 0.2, 1.0, people)

    def off(model):
        """How far the estimate is from the truth, in half lengths of its interval."""
        found = corrected_columns(model, people[:n], np.arange(n))
        half = found.interval(0.05)[1] - found.value
        return np.divide(np.abs(found.value - 0.5), half, out=np.full_like(half, np.inf), where=half > 0)

    never, rarely = off(people), off(rare)
    assert (never <= 1).mean() > 0.97
    assert (rarely <= 1).mean() >= 0.93
    assert (rarely <= np.quantile(never, 0.97)).mean() < 0.93  # all shortened until the first are held 97% of the time
    monkeypatch.setattr(correcting, "FEW", 0)
    assert (off(people) <= 1).mean() < 0.97
    assert (off(rare) <= 1).mean() < 0.9


def test_few_differences_lengthen_the_interval_by_the_share_that_may_be_unseen():
    people = np.array([0.0, 1.0] * 10)[:, None]
    model = np.concatenate([people, np.tile([[1.0], [0.0]], (90, 1))])
    found = corrected_columns(model, people, np.arange(20))
    share = 1 - 0.05 ** (1 / 20)  # what no difference among 20 does not rule out
    spread = 20 * 0.25 / 19
    assert found.differing.tolist() == [0]
    assert found.error[0] ** 2 == pytest.approx(share * spread * (1 / 20 - 1 / 200) + spread / 200)
    model[:4] = 1 - model[:4]
    assert corrected_columns(model, people, np.arange(20)).differing.tolist() == [4]


@pytest.mark.parametrize("n", [10, 20])
def test_a_judge_that_correlates_well_halves_the_interval(n):
    rng = np.random.default_rng(n)
    every, rho = 10 * n, 0.9
    people = rng.normal(0, 1, (every, COUNT))
    model = 0.3 + 0.5 * (rho * people + sqrt(1 - rho**2) * rng.normal(0, 1, people.shape))
    found = corrected_columns(model, people[:n], np.arange(n))
    (low, high), (people_low, people_high) = found.interval(0.05), found.people_interval(0.05)
    assert 0.45 <= (high - low).mean() / (people_high - people_low).mean() <= 0.6
    assert 0.93 <= ((low <= 0) & (high >= 0)).mean() <= 0.97
