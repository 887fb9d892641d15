"""Estimators: by hand, by naive loops, equal where they must be, and by simulation on skewed and tied values."""

from itertools import product
from math import sqrt

import numpy as np
import pytest

from cranfield import ComparisonError, InputError, MeasureError, evaluate
from cranfield.comparison.families import Procedure, check_supported, family_outcomes
from cranfield.comparison.pairing import Paired
from cranfield.evaluation.corrected import CORRECTED
from cranfield.evaluation.estimating import (
    GROUPED,
    MODELLED,
    PLAIN,
    WEIGHTED,
    Columns,
    deviation,
    estimator_of,
)
from tests.comparison.populations import missed_by_one_mean

CHANCE = np.random.default_rng(5)


def test_plain_by_hand():
    found = PLAIN.estimate(Columns(np.array([[0.0], [0.5], [1.0], [1.0]])))
    # mean 2.5/4; Σ(x - .625)² = .390625 + .015625 + 2 · .140625 = .6875
    assert found.value[0] == 0.625
    assert found.error[0] == pytest.approx(sqrt(0.6875 / 3 / 4))
    assert (found.freedom[0], found.effective, found.rows) == (3, 4, 4)
    low, high = found.interval(0.05)
    assert (high[0] - low[0]) / 2 == pytest.approx(3.18244630528 * found.error[0])


def naive(values, weights, groups):
    """The formulas of a weighted mean over groups as loops."""
    total = sum(weights)
    mean = sum(w * x for w, x in zip(weights, values, strict=True)) / total
    names = list(dict.fromkeys(groups))
    parts = [[(w, x) for w, x, g in zip(weights, values, groups, strict=True) if g == name] for name in names]
    left_out = [
        sum(w * x for part in parts if part is not other for w, x in part)
        / sum(w for part in parts if part is not other for w, _ in part)
        for other in parts
    ]
    error = sqrt((len(names) - 1) / len(names) * sum((each - mean) ** 2 for each in left_out))
    effective = total**2 / sum(sum(w for w, _ in part) ** 2 for part in parts)
    return mean, error, effective


@pytest.mark.parametrize("seed", range(10))
def test_weights_and_groups_as_naive_loops_have_them(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 40))
    values, weights, groups = rng.random((n, 2)), rng.exponential(size=n), rng.integers(0, n // 2 + 1, n)
    for columns, estimator, its_weights, its_groups in (
        (Columns(values, weights), WEIGHTED, weights, range(n)),
        (Columns(values, None, groups), GROUPED, np.ones(n), groups),
        (Columns(values, weights, groups), GROUPED, weights, groups),
    ):
        assert estimator_of(columns) is estimator
        found = estimator.estimate(columns)
        for at in range(2):
            mean, error, effective = naive(values[:, at].tolist(), list(its_weights), list(its_groups))
            assert (found.value[at], found.error[at]) == (pytest.approx(mean), pytest.approx(error))
        assert found.effective == pytest.approx(effective)
        assert found.freedom[0] == pytest.approx(max(effective - 1, 1))


def test_equal_weights_and_single_queries_are_plain():
    values = CHANCE.random((20, 3))
    plain = PLAIN.estimate(Columns(values))
    for columns in (Columns(values, np.full(20, 7.0)), Columns(values, None, np.arange(20)[::-1])):
        other = estimator_of(columns).estimate(columns)
        for name in ("value", "error", "freedom"):
            assert np.allclose(getattr(other, name), getattr(plain, name))
        assert other.effective == pytest.approx(plain.effective)


def test_a_contrast_is_formed_first():
    values, weights = CHANCE.random((12, 3)), CHANCE.random(12)
    contrast = Columns(values, weights).contrast([(0, 2), (1, 0)])
    assert contrast.contrasts
    assert np.allclose(contrast.values, np.stack([values[:, 2] - values[:, 0], values[:, 0] - values[:, 1]], 1))
    assert contrast.weight is weights
    third = Columns(np.array([[0.1 + 0.2, 0.3]])).contrast([(0, 1)])
    assert third.values.tolist() == [[0.0]]  # differences due to rounding


def test_completions_add_the_variance_between_them_to_that_within():
    lines = np.array([[0.1, 0.3, 0.2, 0.0], [0.2, 0.4, 0.1, 0.1], [0.0, 0.5, 0.3, 0.2]])  # a line for each completion
    found = MODELLED.estimate(Columns(lines.T))
    within = np.mean([np.var(line, ddof=1) for line in lines]) / 4
    between = np.var(lines.mean(axis=1), ddof=1)
    assert found.value.tolist() == pytest.approx([lines.mean()])
    assert found.error[0] == pytest.approx(sqrt(within + between))
    assert found.freedom[0] == 3


@pytest.mark.parametrize("kind", ["plain", "weighted", "grouped"])
def test_resampled_values_and_errors_are_those_of_all_samples(kind):
    """All 4⁴ samples of four queries or groups: the mean over many draws is that over all of them."""
    values = np.array([[0.0], [0.2], [0.9], [1.0]])
    weights, groups = np.array([1.0, 2.0, 1.0, 3.0]), np.array([0, 1, 2, 3])
    columns = {"plain": Columns(values), "weighted": Columns(values, weights), "grouped": Columns(values, None, groups)}
    columns, estimator = columns[kind], estimator_of(columns[kind])
    every = []
    for rows in product(range(4), repeat=4):
        picked = Columns(*(None if part is None else part[list(rows)] for part in columns[:2]))
        found = estimator.estimate(picked) if kind != "grouped" else PLAIN.estimate(picked)
        every.append((found.value[0], found.error[0]))
    drawn = [np.concatenate(part) for part in zip(*estimator.resample(columns, np.random.default_rng(0), 40_000))]
    columns = 1 if kind == "weighted" else 2  # its errors leave out one query after the other, those of draws do not
    for column, expected in list(zip(drawn, np.array(every).T, strict=True))[:columns]:
        assert column.mean() == pytest.approx(expected.mean(), abs=0.005)
        assert sorted(set(column[:, 0].round(9))) == sorted(set(expected.round(9)))


def test_corrected_resamples_are_estimates_of_samples():
    f, noise = CHANCE.random((60, 1)), CHANCE.normal(0, 0.1, (20, 1))
    columns = Columns(f[:20] + noise, proxy=f, drawn=np.arange(20))
    drawn = [np.concatenate(part) for part in zip(*CORRECTED.resample(columns, np.random.default_rng(1), 400))]
    found = CORRECTED.estimate(columns)
    assert drawn[0].mean() == pytest.approx(found.value[0], abs=0.02)
    assert drawn[0].std() == pytest.approx(found.error[0], rel=0.35)
    assert (drawn[1] > 0).all()


QUERIES = 50


def skewed(rng, draws):
    """Values like nDCG: a fifth are 0, some are 1, the rest lie in between."""
    values = rng.beta(2.0, 1.2, (QUERIES, draws))
    return np.where(rng.random(values.shape) < 0.2, 0.0, np.where(rng.random(values.shape) < 0.1, 1.0, values))


@pytest.mark.parametrize("weights", ["equal", "one to three", "frequencies"])
def test_intervals_of_weighted_means_hold_on_skewed_values(weights):
    """Weights go with values here, as frequent queries are easier; they belong to the queries that are drawn."""
    rng, draws = np.random.default_rng(7), 1500
    size = {"equal": 0.0, "one to three": 0.35, "frequencies": 0.9}[weights]
    values, noise = skewed(rng, draws), rng.normal(size=(QUERIES, draws))
    weight = np.exp(size * (noise + 0.5 * values))
    far, all_noise = skewed(rng, 20_000), rng.normal(size=(QUERIES, 20_000))
    far_weight = np.exp(size * (all_noise + 0.5 * far))
    truth = (far_weight * far).sum() / far_weight.sum()
    held = 0
    for at in range(draws):
        low, high = WEIGHTED.estimate(Columns(values[:, [at]], weight[:, at])).interval(0.05)
        held += bool(low[0] <= truth <= high[0])
    assert 0.93 < held / draws < 0.97


@pytest.mark.parametrize("kind", ["graded", "ap", "rr"])
def test_intervals_of_one_mean_hold_less_often_where_queries_are_few(kind):
    few, some, many = (missed_by_one_mean(kind, queries) for queries in (10, 20, 50))
    assert few < 0.09
    assert some < 0.075
    assert 0.04 < many < 0.065


@pytest.mark.parametrize("shared", [0.0, 0.5, 1.0])
def test_intervals_over_groups_hold_where_queries_of_a_group_are_alike(shared):
    rng, draws = np.random.default_rng(8), 1000
    group = np.repeat(np.arange(QUERIES), 3)
    held = alone = 0
    truth = skewed(np.random.default_rng(9), 20_000).mean()
    for _ in range(draws):
        own, common = skewed(rng, 3).reshape(-1, 1), np.repeat(skewed(rng, 1), 3, axis=0)
        values = np.where(rng.random(own.shape) < shared, common, own)
        low, high = GROUPED.estimate(Columns(values, None, group)).interval(0.05)
        held += bool(low[0] <= truth <= high[0])
        low, high = PLAIN.estimate(Columns(values)).interval(0.05)
        alone += bool(low[0] <= truth <= high[0])
    assert 0.93 < held / draws < 0.97
    assert (alone / draws < 0.9) == (shared > 0)  # without groups, intervals would be too short


def test_weighted_families_reject_no_more_than_they_may_where_runs_are_equal():
    """Values permuted among systems within each query: any significant pair is false."""
    from cranfield import parse_measure

    rng, measure, false = np.random.default_rng(3), parse_measure("RR"), 0
    pairs, weight = [(0, 1), (0, 2), (1, 2)], rng.exponential(size=QUERIES) + 0.2
    procedure = Procedure("t", "bonferroni", 0.05, 99, 0)

    class Weighted(Paired):
        def of(self, measure):
            return super().of(measure)._replace(weight=weight)

    for _ in range(400):
        values = rng.permuted(np.stack([skewed(rng, 1)[:, 0] for _ in range(3)], 1), axis=1)
        paired = Weighted(("a", "b", "c"), tuple(map(str, range(QUERIES))), 0, {measure: values})
        false += bool((family_outcomes(paired, [measure], pairs, procedure)[measure].adjusted <= 0.05).any())
    assert false / 400 < 0.075


def test_means_say_which_tests_they_support():
    for test in ("t", "bootstrap"):
        check_supported(WEIGHTED, test, "holm")
        check_supported(WEIGHTED, test, "max-t")
    check_supported(CORRECTED, "t", "max-t")
    with pytest.raises(ComparisonError, match=r"test 'sign' cannot be used for weighted values|sign") as refused:
        check_supported(WEIGHTED, "sign", "holm")
    assert (refused.value.parameter, refused.value.value) == ("test", "sign")
    assert "it may be t, bootstrap" in refused.value.hint
    with pytest.raises(ComparisonError) as refused:
        check_supported(PLAIN, "wilcoxon", "max-t")
    assert (refused.value.parameter, refused.value.value) == ("correction", "max-t")


def test_estimates_of_an_evaluation():
    qrels = {str(q): {"a": 1} for q in range(12)}
    run = {str(q): [*["b", "c"][: q % 3], "a"] for q in range(12)}
    result = evaluate(qrels, run, "RR NumRel")
    plain, column = result.estimate("RR"), result.column("RR")
    assert plain.value == pytest.approx(result["RR"])
    assert plain.error == pytest.approx(column.std(ddof=1) / sqrt(12))
    assert plain.high == pytest.approx(plain.value + plain.margin)
    assert result.estimate("RR", alpha=0.5).margin < plain.margin
    assert result.estimate("RR", weights={str(q): 1.0 for q in range(12)}) == plain
    groups = {str(q): str(q % 3) for q in range(12)}  # all queries of a group have the same value
    grouped = result.estimate("RR", groups=groups)
    assert (grouped.queries, grouped.freedom) == (3, 2)
    assert grouped.high == 1.0 < grouped.value + grouped.margin  # the range of the measure ends the interval
    alone = evaluate({"1": {"a": 1}}, {"1": ["b", "a"]}, "RR").estimate("RR")
    assert (alone.low, alone.value, alone.high) == (0.0, 0.5, 1.0)  # one query says nothing about others
    with pytest.raises(MeasureError, match="is not a mean over queries"):
        result.estimate("NumRel")
    with pytest.raises(ComparisonError, match="is not a level of an interval"):
        result.estimate("RR", alpha=0)


def test_weights_of_0_count_as_if_the_queries_were_not_there():
    values, weight = CHANCE.random((12, 1)), np.array([1.0, 2.0, 0.5, 1.0, 3.0, 1.0] + [0.0] * 6)
    left, all_of_them = (WEIGHTED.estimate(Columns(values[:n], weight[:n])) for n in (6, 12))
    assert all_of_them == left
    generator = np.random.default_rng(1)
    for value, error in WEIGHTED.resample(Columns(values, weight), generator, 500):
        assert np.isfinite(value).all()
        assert np.isfinite(error).all()
    constant = WEIGHTED.estimate(Columns(np.array([[0.3]] * 3 + [[0.9]]), np.array([1.0, 2.0, 3.0, 0.0])))
    assert constant.error[0] == 0.0


@pytest.mark.parametrize(
    "weights", [{"0": 0, "1": 0, "2": 0}, {"0": 1e308, "1": 1e308}, {"0": -1}, {"0": float("nan")}]
)
def test_weights_that_mean_nothing_are_refused(weights):
    qrels = {str(q): {"a": 1} for q in range(3)}
    with pytest.raises(InputError):
        evaluate(qrels, {str(q): ["a"] for q in range(3)}, "RR").estimate("RR", weights=weights)


def test_groups_are_a_mapping_of_ids_of_any_kind():
    result = evaluate({str(q): {"a": 1} for q in range(4)}, {str(q): ["b", "a"][q % 2 :] for q in range(4)}, "RR")
    assert result.estimate("RR", groups={0: "x", 1: "x"}) == result.estimate("RR", groups={"0": "x", "1": "x"})
    assert result.estimate("RR", groups={0: "x", 1: "x"}).queries < 4
    with pytest.raises(InputError, match="neither a mapping nor a path"):
        result.estimate("RR", groups=5)


def test_values_that_differ_by_rounding_alone_have_no_spread():
    values = np.array([[0.1 + 0.2], [0.3], [0.3]])
    assert deviation(values).tolist() == [0.0]
    greater, less = PLAIN.estimate(Columns(values)).chances()
    assert (greater[0], less[0]) == (1 / 8, 1.0)
