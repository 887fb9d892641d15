"""gate: what passes, what does not, and how often it is wrong."""

import inspect
import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from cranfield import ComparisonError, Evaluation, Policy, evaluate, gate
from cranfield.cli.gate import SETTINGS
from cranfield.comparison.significance import TESTS, Settings
from cranfield.evaluation.estimating import Columns
from cranfield.show.gate_text import gate_text
from cranfield.systems.project import GATE
from tests.comparison.made import qrels_for, run_of_ranks
from tests.comparison.populations import skewed_population

N = 30
QRELS = qrels_for(N)
GOOD = run_of_ranks([1, 2] * (N // 2))
WORSE = run_of_ranks([2, 3] * (N // 2 - 1) + [1, 2])
ONE_WORSE = run_of_ranks([2, 2] + [1, 2] * (N // 2 - 1))


def failed(result):
    return [check.name for check in result.checks if not check.passed]


def test_it_stops_a_significant_drop_beyond_the_tolerance():
    result = gate(QRELS, GOOD, WORSE, "RR")
    assert not result
    assert failed(result) == ["RR does not drop"]
    assert gate(QRELS, GOOD, WORSE, "RR", tolerance=0.5)
    assert gate(QRELS, GOOD, WORSE, "RR", tolerance={"mrr": 0.5})
    assert not gate(QRELS, GOOD, WORSE, "RR", tolerance=0.1)


def test_it_lets_noise_and_improvements_pass():
    result = gate(QRELS, GOOD, ONE_WORSE, "RR")
    assert result.passed
    assert "not significant" in result.checks[0].message
    assert gate(QRELS, WORSE, GOOD, "RR")
    same = gate(QRELS, GOOD, GOOD, "RR")
    assert same.passed
    assert (same.measures[0].p_worse, same.measures[0].p_better, same.measures[0].detectable) == (1, 1, None)
    assert same.checks[0].message == "RR 0.750, unchanged: no regression"


def test_minimum_improvement_and_worse_queries():
    assert failed(gate(QRELS, GOOD, GOOD, "RR", minimum={"RR": 0.8})) == ["RR is at least 0.8"]
    assert gate(QRELS, GOOD, GOOD, "RR", minimum={"RR": 0.75})
    assert failed(gate(QRELS, GOOD, GOOD, "RR", minimum={"P@1": 0.9})) == ["P@1 is at least 0.9"]
    assert failed(gate(QRELS, GOOD, GOOD, "RR", require_improvement=True)) == ["some measure improves"]
    assert gate(QRELS, WORSE, GOOD, "RR", require_improvement=True)
    assert gate(QRELS, GOOD, ONE_WORSE, "RR", max_worse_queries=1)
    assert failed(gate(QRELS, GOOD, ONE_WORSE, "RR", max_worse_queries=0)) == ["at most 0 queries get worse by RR"]


def test_worse_queries_are_listed_with_what_moved():
    [seen] = gate(QRELS, GOOD, {**ONE_WORSE, "1": ["x1"]}, "RR").measures
    assert [(query.query_id, query.moved) for query in seen.worse_queries] == [
        ("0", "the first relevant at rank 2, previously 1"),
        ("1", "0 of 1 relevant retrieved, previously 1"),
    ]
    gone = {query: ranking for query, ranking in GOOD.items() if query != "0"}
    assert gate(QRELS, GOOD, gone, "RR").measures[0].worse_queries[0].moved == "nothing retrieved, previously 1"
    two = {"q": {"a": 1, "b": 1, "x": 0}, "p": {"a": 1}}
    result = gate(two, {"q": ["a", "b", "x"], "p": ["a"]}, {"q": ["a", "x", "b"], "p": ["a"]}, "AP")
    assert result.measures[0].worse_queries[0].moved == "some relevant documents moved down"


def test_a_saved_baseline_is_the_same_as_its_run(tmp_path):
    evaluate(QRELS, GOOD, "RR Judged@10", name="good").save(tmp_path / "good.json")
    for baseline in (tmp_path / "good.json", str(tmp_path / "good.json"), Evaluation.load(tmp_path / "good.json")):
        again = gate(QRELS, baseline, WORSE, "RR")
        [seen], [fresh] = again.measures, gate(QRELS, GOOD, WORSE, "RR").measures
        assert replace(seen, difference=fresh.difference) == fresh
        assert again.baseline == "good"


def test_changed_inputs_are_refused(tmp_path):
    saved = evaluate(QRELS, GOOD, "RR", name="saved")
    with pytest.raises(ComparisonError, match="different judgments"):
        gate({**QRELS, "0": {"r": 0}}, saved, GOOD, "RR")
    with pytest.raises(ComparisonError, match="different policies"):
        gate(QRELS, saved, GOOD, "RR", policy=Policy(ties="worst"))
    with pytest.raises(ComparisonError, match="not evaluated by AP"):
        gate(QRELS, saved, GOOD, "AP")
    skip = Policy(missing="skip")
    gone = {query: ranking for query, ranking in GOOD.items() if query not in ("3", "4")}
    with pytest.raises(ComparisonError, match=r"2 missing, 0 new \(3, 4\)"):
        gate(QRELS, evaluate(QRELS, GOOD, "RR", policy=skip, name="saved"), gone, "RR", policy=skip)
    for wrong in (
        {"alpha": 0.5},
        {"test": "tukey"},
        {"correction": "x"},
        {"permutations": 0},
        {"non_inferiority": 0},
        {"correction": "max-t", "test": "sign"},
        {"tolerance": -1},
        {"tolerance": {"AP": 0.1}},
        {"max_worse_queries": -1},
        {"tolerance": math.nan},
    ):
        with pytest.raises(ComparisonError):
            gate(QRELS, GOOD, GOOD, "RR", **wrong)


def test_lower_is_better():
    name = "E"
    a, b = evaluate(QRELS, GOOD, name)[name], evaluate(QRELS, WORSE, name)[name]
    [seen] = gate(QRELS, GOOD, WORSE, name).measures
    assert seen.drop == pytest.approx(b - a)
    assert failed(gate(QRELS, GOOD, GOOD, name, minimum={name: a - 0.01})) == [f"{name} is at most {a - 0.01:g}"]
    assert gate(QRELS, GOOD, GOOD, name, minimum={name: a})


def test_several_measures_are_corrected_for():
    one, three = gate(QRELS, GOOD, WORSE, "RR"), gate(QRELS, GOOD, WORSE, "RR P@1 AP")
    assert three.measures[0].p_worse > one.measures[0].p_worse
    plain = gate(QRELS, GOOD, WORSE, "RR P@1 AP", correction="none")
    assert plain.measures[0].p_worse == one.measures[0].p_worse


@pytest.mark.parametrize("test", ["t", "randomisation", "wilcoxon", "sign"])
def test_p_values_are_one_sided(test):
    worse, better = (gate(QRELS, *pair, "RR", test=test).measures[0] for pair in ((GOOD, WORSE), (WORSE, GOOD)))
    assert worse.p_worse == pytest.approx(better.p_better)
    assert worse.p_worse + worse.p_better == pytest.approx(1, abs=0.001)  # ties count on both sides
    assert worse.p_worse < 0.05 < better.p_worse
    json.dumps(gate(QRELS, GOOD, WORSE, "RR", test=test).to_dict(), allow_nan=False)


def evaluations(seed, times, drop=0.0):
    """Pairs of evaluations whose values are drawn; the second is worse by `drop` in the mean."""
    chance = np.random.default_rng(seed)
    base = evaluate(QRELS, GOOD, "RR")
    for _ in range(times):
        pair = []
        for name, mean in (("a", 0.5), ("b", 0.5 - drop)):
            pair.append(replace(base, run=name, _columns={base.measures[0]: chance.normal(mean, 0.1, N)}))
        yield pair


@pytest.fixture
def decision_only(monkeypatch):
    """Describing what moved takes half of the time, and does not affect the decision."""
    monkeypatch.setattr("cranfield.comparison.gate_checks.what_moved", lambda *_: "")


@pytest.mark.usefixtures("decision_only")
@pytest.mark.parametrize("test", ["t", "randomisation"])
def test_an_equally_good_candidate_is_stopped_with_probability_alpha(test):
    times = 1200
    stopped = sum(not gate(None, *pair, "RR", alpha=0.1, test=test, permutations=199) for pair in evaluations(5, times))
    assert abs(stopped / times - 0.1) < 4 * math.sqrt(0.09 / times)


def test_what_a_drop_is_tested_against():
    """By default that there is a drop at all; the tolerance only if asked for."""
    usual, strict = (gate(QRELS, GOOD, WORSE, "RR", tolerance=0.2, beyond_tolerance=beyond) for beyond in (False, True))
    assert not usual
    assert re.fullmatch(
        r"RR fell significantly, 0\.750 → 0\.\d{3}: more than the 0\.2 allowed "
        r"\(one-sided p < 0\.001\)",
        usual.checks[0].message,
    )
    told = "RR fell by significantly more than the 0.2 allowed, "
    assert told in strict.checks[0].message
    drop = evaluate(QRELS, GOOD, "RR").column("RR") - evaluate(QRELS, WORSE, "RR").column("RR")
    assert strict.measures[0].p_worse == pytest.approx(stats.ttest_1samp(drop, 0.2, alternative="greater").pvalue)
    assert strict.passed == (strict.measures[0].p_worse > 0.05)
    assert strict.measures[0].p_better == usual.measures[0].p_better
    assert strict.measures[0].detectable > usual.measures[0].detectable
    noise = gate(QRELS, GOOD, ONE_WORSE, "RR", tolerance=0.01).checks[0].message
    assert "more than the 0.01 allowed, but not significant" in noise
    noise = gate(QRELS, GOOD, ONE_WORSE, "RR", tolerance=0.01, beyond_tolerance=True).checks[0].message
    assert "not significantly more than the 0.01 allowed" in noise


def test_the_drop_of_a_measure_of_which_less_is_better_is_a_rise():
    worse = gate(QRELS, GOOD, WORSE, "E", detect=0.1)
    assert failed(worse) == ["E does not rise"]
    assert re.search(r"A true rise of 0\.\d{3} would be stopped 80% of the time; one of 0\.1, \d+%\.", gate_text(worse))


def test_gates_share_alpha():
    one, month = (gate(QRELS, GOOD, ONE_WORSE, "RR", alpha=0.2, gates=gates) for gates in (1, 30))
    assert one.measures[0].p_worse == month.measures[0].p_worse
    assert (one.passed, month.passed) == (False, True)
    assert month.measures[0].detectable > one.measures[0].detectable
    assert "at alpha 0.2, for drops shared by 30 gates (0.0067 each)" in " ".join(gate_text(month).split())
    for wrong in ({"gates": 0}, {"detect": 0}, {"detect": math.inf}):
        with pytest.raises(ComparisonError):
            gate(QRELS, GOOD, GOOD, "RR", **wrong)


def test_which_p_values_are_corrected():
    text = " ".join(gate_text(gate(QRELS, GOOD, WORSE, "RR P@1", non_inferiority=0.1)).split())
    assert "p of a drop corrected over 2 measures (Holm); p of non-inferiority needs no correction, since every" in text


@pytest.mark.parametrize("correction", ["holm", "bh", "bonferroni", "none"])
def test_the_detectable_drop_depends_on_the_correction(correction):
    """Of four measures, three of which drop for certain; Holm's and BH's last step is at alpha."""
    [alone] = gate(QRELS, GOOD, ONE_WORSE, "RR").measures
    seen = gate(QRELS, GOOD, {**WORSE, "29": ["x1"]}, "RR P@1 AP R@1", correction=correction).measures[0]
    several = gate(QRELS, GOOD, {**WORSE, "29": ["x1"]}, "RR").measures[0]
    assert alone.detectable < several.detectable
    ratio = seen.detectable / several.detectable
    assert ratio == pytest.approx(1, abs=0.01) if correction != "bonferroni" else ratio > 1.15


@pytest.mark.usefixtures("decision_only")
@pytest.mark.parametrize("kind", ["graded", "rr"])
def test_how_often_a_month_of_gates_stops_a_harmless_change(kind):
    """What docs/guides/ci-gate.md says: thirty changes that neither help nor hurt, each against the accepted result."""
    chance, months, base = np.random.default_rng(7), [], evaluate(QRELS, GOOD, "RR")
    for seed in range(100):
        population = skewed_population(kind, 31, seed, queries=1000)
        population -= population.mean(axis=0)  # no system is better than another
        sample = population[chance.integers(0, len(population), 60)]
        p = TESTS["t"].outcome(Columns(sample[:, :1] - sample[:, 1:]), Settings(0.05, 0, 0)).greater
        months.append([(p <= level).any() for level in (0.05, 0.05 / 30)])
    apart, shared = np.mean(months, axis=0)
    assert 0.25 < apart < 0.5
    assert shared < 0.1
    [measure], values = base.measures, sample[:N]  # the gate decides in the same way
    p = TESTS["t"].outcome(Columns(values[:, :1] - values[:, 1:]), Settings(0.05, 0, 0)).greater
    runs = [replace(base, run=str(at), _columns={measure: column}) for at, column in enumerate(values.T)]
    for gates in (1, 30):
        passed = [gate(None, runs[0], run, "RR", gates=gates).passed for run in runs[1:]]
        assert passed == (p > 0.05 / gates).tolist()


def test_what_decides_can_be_set_in_every_file():
    """The settings of cranfield.toml, which `cranfield test` and the pytest fixture take, and those of the gate's."""
    decides = {"tolerance", "beyond_tolerance", "alpha", "gates", "detect", "minimum", "non_inferiority"}
    assert decides <= {*GATE} & {*SETTINGS} & {*inspect.signature(gate).parameters}
    assert {*GATE} <= {*inspect.signature(gate).parameters}
