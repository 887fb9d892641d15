"""gate: what passes, what does not, and how often it is wrong."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from cranfield import ComparisonError, Evaluation, Policy, evaluate, gate
from cranfield.comparison.gating import detectable_drop
from tests.comparison.made import qrels_for, run_of_ranks

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
    assert "but not significantly" in result.checks[0].message
    assert gate(QRELS, WORSE, GOOD, "RR")
    same = gate(QRELS, GOOD, GOOD, "RR")
    assert same.passed
    assert (same.measures[0].p_worse, same.measures[0].p_better, same.measures[0].detectable) == (1, 1, None)
    assert same.checks[0].message == "RR stayed at 0.7500: not worse"


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
        assert replace(seen, sentence="") == replace(fresh, sentence="")
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
        {"correction": "max-t"},  # it would be Bonferroni's under another name
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


@pytest.mark.usefixtures("decision_only")
@pytest.mark.parametrize("tolerance", [0.0, 0.1])
def test_the_detectable_drop_is_stopped_80_percent_of_the_time(tolerance):
    [pair] = evaluations(1, 1)
    # The spread of the differences is the true one, as if it were known.
    drop = detectable_drop(0.1 * math.sqrt(2), len(pair[0].query_ids), tolerance, 0.05)
    times = 800
    stopped = sum(not gate(None, *pair, "RR", tolerance=tolerance) for pair in evaluations(2, times, drop))
    assert abs(stopped / times - 0.8) < 4 * math.sqrt(0.16 / times)
