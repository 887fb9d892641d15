"""compare: differences, families, groups of runs, and saved evaluations."""

import json
import math
import random
import re

import numpy as np
import pytest
from scipy import stats

from cranfield import (
    ComparisonError,
    Evaluation,
    InputError,
    OutputError,
    Policy,
    compare,
    compare_evaluations,
    evaluate,
    evaluate_runs,
)
from cranfield.comparison.means import means_table
from tests.comparison.made import qrels_for, random_runs, run_of_ranks
from tests.program import printed

TESTS = ("t", "randomisation", "bootstrap", "wilcoxon", "sign", "tukey")
N = 40
QRELS = qrels_for(N)
RUNS = random_runs(3, N, 4, worse=5)


def numbers(value):
    if isinstance(value, dict):
        return [n for each in value.values() for n in numbers(each)]
    if isinstance(value, list):
        return [n for each in value for n in numbers(each)]
    return [value] if isinstance(value, float) else []


def test_a_difference_holds_the_values_of_the_paired_t_test():
    found = compare(QRELS, {"old": RUNS["run3"], "new": RUNS["run0"]}, "RR")
    [difference] = found
    old, new = (evaluate(QRELS, run, "RR").column("RR") for run in (RUNS["run3"], RUNS["run0"]))
    theirs = stats.ttest_rel(new, old)
    assert (difference.baseline, difference.run) == ("old", "new")
    assert difference.difference == pytest.approx((new - old).mean())
    assert difference.p == difference.adjusted == pytest.approx(theirs.pvalue)
    assert (difference.low, difference.high) == pytest.approx(tuple(theirs.confidence_interval()))
    assert (difference.better, difference.same, difference.worse) == (
        (new > old).sum(),
        (new == old).sum(),
        (new < old).sum(),
    )
    assert difference.verdict == "significantly better"
    most = np.argsort(-np.abs(new - old), kind="stable")[:5]
    assert [change.query_id for change in difference.changed] == [str(q) for q in most]
    assert difference.changed[0].difference == pytest.approx((new - old)[most[0]])
    assert found.means["RR"] == pytest.approx({"old": old.mean(), "new": new.mean()})
    assert found.find("mrr", "new", "old") is difference
    assert found.judged == {"RR": {"old": 1.0, "new": 1.0}}
    with pytest.raises(ComparisonError, match="was not compared"):
        found.find("RR", "old", "new")


@pytest.mark.parametrize("test", TESTS)
def test_the_order_of_queries_and_documents_changes_nothing(test):
    chance = random.Random(1)

    def shuffled(by_query):
        return {q: by_query[q] for q in chance.sample(list(by_query), len(by_query))}

    again = compare(shuffled(QRELS), {name: shuffled(run) for name, run in RUNS.items()}, "RR P@5", test=test)
    assert compare(QRELS, RUNS, "RR P@5", test=test).differences == again.differences


@pytest.mark.parametrize("test", TESTS)
def test_identical_runs_have_p_1_and_nothing_is_nan(test):
    runs = {"a": RUNS["run0"], "b": RUNS["run0"], "c": RUNS["run1"]}
    found = compare(QRELS, runs, "RR P@5", test=test)
    same = found.find("RR", "b", "a")
    assert (same.p, same.adjusted, same.difference, same.effect, same.significant) == (1, 1, 0, 0, False)
    assert (same.better, same.same, same.worse, same.changed) == (0, N, 0, ())
    assert same.low < 0 < same.high  # other queries may differ
    every = numbers(found.to_dict())
    assert len(every) > 50
    assert all(map(math.isfinite, every))
    only = compare(QRELS, {"a": RUNS["run0"], "b": RUNS["run0"]}, test=test)
    assert all(map(math.isfinite, numbers(only.to_dict())))
    assert json.loads(only.to_json())["differences"][0]["p"] == 1


def test_the_family_is_the_pairs_of_a_measure_or_all_of_them():
    alone = compare(QRELS, RUNS, "RR", correction="holm")
    found = compare(QRELS, RUNS, "RR P@5 P@1", correction="holm")
    assert [each.adjusted for each in found.of("RR")] == [each.adjusted for each in alone]
    assert {each.measure: each.primary for each in found} == {"RR": True, "P@5": False, "P@1": False}
    assert found.corrected == ("Holm over a family of 6 pairs; only RR decides, other measures are secondary")
    whole = compare(QRELS, RUNS, "RR P@5 P@1", correction="holm", family="all")
    assert whole.corrected == "Holm over a family of 18 (6 pairs × 3 measures)"
    p = sorted(each.p for each in whole)
    assert min(each.adjusted for each in whole) == pytest.approx(min(1, 18 * p[0]))
    none = compare(QRELS, RUNS, "RR P@5 P@1", correction="none", family="all")
    assert [each.adjusted for each in none] == [each.p for each in none] == [each.p for each in found]
    assert none.corrected == "no correction for 18 comparisons (6 pairs × 3 measures)"
    based = compare(QRELS, RUNS, "RR", baseline="run2", correction="bonferroni")
    assert based.corrected == "Bonferroni over a family of 3 pairs"
    assert [(each.baseline, each.run) for each in based] == [("run2", run) for run in ("run0", "run1", "run3")]
    tukey = compare(QRELS, RUNS, "RR P@5", test="tukey", family="all")
    assert all(each.adjusted == min(1, 2 * each.p) for each in tukey)
    assert all(each.adjusted == each.p for each in compare(QRELS, RUNS, "RR P@5", test="tukey"))


def test_a_baseline_may_be_a_name_a_path_or_another_run(tmp_path):
    paths = []
    for name, run in list(RUNS.items())[:3]:
        paths.append(tmp_path / f"{name}.run")
        rows = [(q, d, i) for q, ranking in run.items() for i, d in enumerate(ranking, 1)]
        paths[-1].write_text("".join(f"{q} Q0 {d} {i} {-i} t\n" for q, d, i in rows))
    for baseline in ("run1", paths[1], str(paths[1])):
        assert {each.baseline for each in compare(QRELS, paths, "RR", baseline=baseline)} == {"run1"}
    beside = compare(QRELS, paths[1:], "RR", baseline=paths[0])
    assert beside.runs == ("run0", "run1", "run2")
    assert compare(QRELS, {"x": RUNS["run1"]}, "RR", baseline=RUNS["run0"]).runs == ("baseline", "x")
    with pytest.raises(ComparisonError, match="no run is called 'run9'"):
        compare(QRELS, RUNS, "RR", baseline="run9")


def test_queries_missing_from_some_runs_follow_the_policy():
    shorter = {q: ranking for q, ranking in RUNS["run1"].items() if int(q) >= 5}
    runs = {"a": RUNS["run0"], "b": shorter}
    skipping = compare(QRELS, runs, "RR", policy=Policy(missing="skip"))
    assert (skipping.queries, skipping.left_out) == (N - 5, 5)
    kept = {q: judged for q, judged in QRELS.items() if int(q) >= 5}
    assert skipping.differences[0].p == compare(kept, runs, "RR").differences[0].p
    # Means are over the same queries for all.
    assert skipping.means["RR"]["a"] == pytest.approx(evaluate(kept, RUNS["run0"], "RR")["RR"])
    zero = compare(QRELS, runs, "RR")
    assert (zero.queries, zero.left_out) == (N, 0)
    assert zero.means["RR"]["b"] == pytest.approx(evaluate(QRELS, shorter, "RR")["RR"])
    with pytest.raises(InputError, match="not in the run"):
        compare(QRELS, runs, "RR", policy=Policy(missing="error"))
    with pytest.raises(ComparisonError, match="have one query in common"):
        compare(QRELS, {"a": RUNS["run0"], "b": {"3": ["r"]}}, "RR", policy=Policy(missing="skip"))


def test_incomparable_evaluations_and_invalid_settings_are_refused():
    one = evaluate(QRELS, RUNS["run0"], "RR", name="one")
    other = evaluate(QRELS, RUNS["run1"], "RR", name="other")
    assert compare_evaluations([one, other]).runs == ("one", "other")
    assert compare(None, [one, other], "RR").differences == compare_evaluations([one, other]).differences
    changed = evaluate({**QRELS, "0": {"r": 2}}, RUNS["run1"], "RR", name="other")
    with pytest.raises(ComparisonError, match="different judgments"):
        compare_evaluations([one, changed])
    deeper = evaluate(QRELS, RUNS["run1"], "RR", policy=Policy(depth=3), name="other")
    with pytest.raises(ComparisonError, match="different policies"):
        compare_evaluations([one, deeper])
    with pytest.raises(ComparisonError, match="compare needs at least two runs"):
        compare(QRELS, [RUNS["run0"]], "RR")
    with pytest.raises(ComparisonError, match="same name"):
        compare_evaluations([one, one])
    with pytest.raises(ComparisonError, match="not evaluated by AP"):
        compare_evaluations([one, other], "AP")
    for measure in ("NumRet", "GMAP"):
        with pytest.raises(ComparisonError, match="not a mean"):
            compare(QRELS, RUNS, measure)
    for wrong in (
        {"test": "z"},
        {"correction": "x"},
        {"alpha": 0},
        {"alpha": 1.5},
        {"alpha": 0.9},
        {"permutations": 0},
    ):
        with pytest.raises(ComparisonError):
            compare(QRELS, RUNS, "RR", **wrong)


def test_lower_is_better():
    name = "E"
    found = compare(QRELS, {"a": RUNS["run0"], "b": RUNS["run3"]}, name)
    [difference] = found
    a, b = (evaluate(QRELS, RUNS[run], name).column(name) for run in ("run0", "run3"))
    assert difference.better == (b < a).sum()
    if difference.significant:
        assert difference.verdict == f"significantly {'better' if difference.difference < 0 else 'worse'}"


def test_runs_that_do_not_differ_significantly_form_groups():
    good, middle, poor = (run_of_ranks([rank] * (N - 1) + [1]) for rank in (1, 2, 20))
    near = run_of_ranks([1] * (N - 1) + [2])
    runs = {"poor": poor, "good": good, "middle": middle, "near": near}
    found = compare(QRELS, runs, "RR")
    assert found.groups("RR") == [("good", "near"), ("middle",), ("poor",)]
    marks = {row.run: row.cells[0].mark for row in means_table(found).rows}
    assert marks == {"poor": "c", "good": "a", "middle": "b", "near": "a"}
    assert found.discriminative_power() == {"RR": 5 / 6}
    based = means_table(compare(QRELS, runs, "RR", baseline="middle"))
    assert {row.run: row.cells[0].mark for row in based.rows} == {"poor": "▼", "good": "▲", "middle": "", "near": "▲"}
    assert [row.run for row in based.rows if row.cells[0].best] == ["good"]
    # Identical runs are one group.
    chain = {f"s{s}": random_runs(9, N, 1)["run0"] for s in range(2)}
    assert compare(QRELS, chain, "RR").groups("RR") == [("s0", "s1")]


def test_runs_share_a_group_exactly_if_they_do_not_differ_significantly():
    for seed in range(6):
        found = compare(QRELS, random_runs(seed, N, 6, worse=4), "RR", correction="none")
        groups = found.groups("RR")
        for each in found:
            together = any({each.run, each.baseline} <= set(group) for group in groups)
            assert together != each.significant


def test_agreement_is_1_for_measures_that_order_runs_and_queries_alike():
    found = compare(QRELS, RUNS, "RR AP P@1")
    by_pair = {(each.one, each.other): each for each in found.agreement()}
    assert by_pair["RR", "AP"].runs == by_pair["RR", "AP"].queries == pytest.approx(1)
    assert 0 < by_pair["RR", "P@1"].queries < 1
    alike = compare(QRELS, {"a": RUNS["run0"], "b": RUNS["run0"]}, "RR P@1").agreement()
    assert alike[0].runs is None


def test_the_detectable_difference_accounts_for_the_family():
    """Values that are not skewed: close to the formula, which takes the spread for known, and above it."""
    from cranfield import detectable_difference, power_of, queries_needed

    found = {
        correction: compare(QRELS, RUNS, "RR P@5", correction=correction, detect=0.1).differences[0]
        for correction in ("none", "bh", "holm", "max-t", "bonferroni")
    }
    each = found["none"]
    for correction, level in {"none": 0.05, "bonferroni": 0.05 / 6}.items():
        known = detectable_difference(each.spread, N, level)
        assert known < found[correction].detectable < 1.1 * known
    sizes = [difference.detectable for difference in found.values()]
    assert sizes[0] < sizes[1] < sizes[2] < sizes[4]
    assert sizes[0] < sizes[3] < sizes[4]
    assert each.detection.power == pytest.approx(power_of(0.1, each.spread, N), abs=0.04)
    assert each.detection.queries == pytest.approx(queries_needed(0.1, each.spread), rel=0.1)
    assert found["holm"].detection.queries > each.detection.queries
    assert compare(QRELS, RUNS, "RR").differences[0].detection.difference == 0.02
    assert len(compare(QRELS, RUNS, "RR P@5").query_set_sizes("RR")) == 4
    with pytest.raises(ComparisonError, match="detect=0 is not a difference"):
        compare(QRELS, RUNS, "RR", detect=0)


def test_saved_evaluations_are_compared_like_others(tmp_path):
    fresh = evaluate_runs(QRELS, RUNS, "RR P@5 Judged@10")
    for name, each in fresh.items():
        each.save(tmp_path / f"{name}.json")
    loaded = {name: Evaluation.load(tmp_path / f"{name}.json") for name in fresh}
    for name, each in loaded.items():
        assert dict(each) == dict(fresh[name])
        assert each.per_query == fresh[name].per_query
        assert (each.counts, each.policy, each.signature) == (
            fresh[name].counts,
            fresh[name].policy,
            fresh[name].signature,
        )
        assert each.worst("RR", 3) == fresh[name].worst("RR", 3)
        assert each.by_segment("RR", {"1": "x"}) == fresh[name].by_segment("RR", {"1": "x"})
        assert str(each) == str(fresh[name])
        with pytest.raises(InputError, match="has no ranks"):
            each.bounds("RR")
        each.save(tmp_path / "again.json")
        assert (tmp_path / "again.json").read_text() == (tmp_path / f"{name}.json").read_text()
    one, other = compare_evaluations(list(fresh.values()), "RR"), compare_evaluations(list(loaded.values()), "RR")
    assert [each.p for each in one] == [each.p for each in other]
    assert one.judged == other.judged
    assert {each.could_reverse for each in other} == {None}


def test_files_of_saved_evaluations_are_runs(tmp_path):
    first, second = RUNS["run0"], RUNS["run1"]
    evaluate(QRELS, first, "RR", name="run0").save(tmp_path / "run0.json")
    whole = compare(QRELS, {"run0": first, "run1": second}, "RR", bounds=False)
    for path in (tmp_path / "run0.json", str(tmp_path / "run0.json")):
        found = compare(QRELS, {"run0": path, "run1": second}, "RR", bounds=False)
        assert [pair.sentence for pair in found] == [pair.sentence for pair in whole]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: "no JSON", "this is not JSON(.|\n)*Evaluation.save"),
        (lambda text: "[]", "not a saved evaluation"),
        (lambda text: text.replace('"edition": 2', '"edition": 99'), "edition 99"),
        (lambda text: text.replace('"retrieved"', '"other"'), "columns are missing"),
        (lambda text: text.replace('"RR": [', '"RR": [NaN, '), "columns are missing"),
        (lambda text: text.replace('"RR"', '"XYZ"'), "cannot read the saved evaluation"),
        (lambda text: text.replace('"doc_id"', '"odd"'), "cannot read the saved evaluation"),
    ],
)
def test_broken_files_are_errors(tmp_path, change, message):
    path = tmp_path / "saved.json"
    evaluate(QRELS, RUNS["run0"], "RR").save(path)
    text = path.read_text()
    path.write_text(change(re.sub(r',\n"checksum": "\w+"', "", text)))
    with pytest.raises(InputError, match=message):
        Evaluation.load(path)


def test_files_that_cannot_be_read_or_written(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        Evaluation.load(tmp_path / "none.json")
    with pytest.raises(OutputError, match="cannot be written"):
        evaluate(QRELS, RUNS["run0"], "RR").save(tmp_path / "none" / "x.json")


def test_runs_agree_on_which_queries_are_hard():
    qrels = qrels_for(6)
    easy_first, same_order = run_of_ranks([1, 2, 3, 4, 5, 6]), run_of_ranks([2, 3, 4, 5, 6, 7])
    hard_first = run_of_ranks([6, 5, 4, 3, 2, 1])
    comparison = compare(qrels, {"a": easy_first, "b": same_order, "c": hard_first}, "RR")
    found = {(each.one, each.other): each.queries for each in comparison.run_agreement()}
    assert found == pytest.approx({("a", "b"): 1.0, ("a", "c"): -1.0, ("b", "c"): -1.0})
    assert comparison.to_dict()["run_agreement"][0] == {
        "measure": "RR",
        "one": "a",
        "other": "b",
        "queries": found["a", "b"],
    }


def test_the_t_test_does_not_import_scipy_stats():
    """Importing scipy.stats takes longer than comparing two runs."""
    code = (
        "import sys; from cranfield import compare; qrels = {str(q): {'a': 1} for q in range(9)};"
        "runs = {'x': {str(q): ['b', 'a'][: q + 1] for q in range(9)}, 'y': {str(q): ['a'] for q in range(9)}};"
        "print(compare(qrels, runs, 'RR')); print(sorted({'scipy.stats', 'scipy.optimize'} & set(sys.modules)))"
    )
    assert printed(code).splitlines()[-1] == "[]"
