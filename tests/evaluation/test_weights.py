"""Weights of queries: they belong to an evaluation, and everything that is measured, tested and printed uses them."""

import json

import numpy as np
import pytest

from cranfield import (
    ComparisonError,
    Evaluation,
    InputError,
    Policy,
    compare,
    evaluate,
    evaluate_runs,
    gate,
    reusability,
    stability,
)
from cranfield.evaluation.weighting import Weights

QRELS = {str(q): {"a": 1, "x": 0} for q in range(30)}
OLD = {str(q): [*["b", "c", "d"][: q % 4], "a", "e"] for q in range(30)}
NEW = {str(q): [*["b", "c", "d"][: (q // 2) % 3], "a", "e"] for q in range(30)}
WEIGHTS = {str(q): 1 / (q + 1) for q in range(30)}


def naive(values, weights=WEIGHTS):
    return sum(weights[q] * values[q] for q in values) / sum(weights[q] for q in values)


def weighted(run=OLD, **options):
    return evaluate(QRELS, run, "RR P@1 NumRel", weights=WEIGHTS, **options)


def test_means_bounds_and_segments_are_weighted():
    plain, result = evaluate(QRELS, OLD, "RR P@1 NumRel"), weighted()
    assert result["RR"] == pytest.approx(naive(plain.by_query("RR")))
    assert result["NumRel"] == plain["NumRel"]  # a sum
    assert result.by_query("RR") == plain.by_query("RR")
    assert result.estimate("RR") == plain.estimate("RR", weights=WEIGHTS)
    ends = [naive({q: pair[end] for q, pair in plain.bounds("RR").by_query.items()}) for end in (0, 1)]
    assert result.bounds("RR")[:2] == pytest.approx(ends)
    first = {str(q): "first" for q in range(7)}
    inside = {q: plain.by_query("RR")[q] for q in first}
    assert result.by_segment("RR", first) == {"first": pytest.approx(naive(inside))}
    assert plain.weighted(WEIGHTS)["RR"] == result["RR"]
    assert result.weighted(None)["RR"] == plain["RR"]


def test_ties_are_weighted_by_the_same_weights():
    run = {str(q): {"a": 1.0, "b": 1.0 if q < 3 else 0.5} for q in range(30)}
    worst, best = weighted(run).tie_range("RR")
    ends = (evaluate(QRELS, run, "RR", policy=Policy(ties=ties)).by_query("RR") for ties in ("worst", "best"))
    assert (worst, best) == pytest.approx([naive(end) for end in ends])
    assert worst < best


def test_the_signature_names_the_weights_whatever_their_scale():
    signed = [part for part in weighted().signature.split("|") if part.startswith("weights:")]
    assert len(signed) == 1
    tripled = evaluate(QRELS, OLD, "RR", weights={q: 3 * weight for q, weight in reversed(WEIGHTS.items())})
    assert signed[0] in tripled.signature
    other = evaluate(QRELS, OLD, "RR", weights={**WEIGHTS, "7": 1})
    assert signed[0] not in other.signature
    assert "weights:" not in evaluate(QRELS, OLD, "RR").signature


def test_values_are_marked_and_the_effective_number_is_told():
    result = weighted()
    total = sum(WEIGHTS.values())
    assert result.weights.effective == pytest.approx(total**2 / sum(weight**2 for weight in WEIGHTS.values()))
    said = "weighted: as precise as 9.9 equally weighted queries"
    assert said in str(result)
    assert "RR†" in str(result)
    assert "NumRel†" not in str(result)
    assert "RR†" in repr(result)
    html = result._repr_html_()
    assert "RR†" in html
    assert said in html
    assert result.to_dict()["weights"]["effective_queries"] == result.weights.effective
    assert "weights" not in evaluate(QRELS, OLD, "RR").to_dict()
    both = evaluate_runs(QRELS, {"old": OLD, "new": NEW}, "RR", weights=WEIGHTS)._repr_html_()
    assert "RR†" in both
    assert said in both


@pytest.mark.parametrize(
    ("weights", "fact"),
    [
        ({"0": 1, "2": 1}, "the weights: 28 of 30 queries have no weight: 1, 3, 4 and 25 more"),
        ({**WEIGHTS, "3": -1}, "the weights: weight '-1' of '3' is not a number from 0"),
        (dict.fromkeys(WEIGHTS, 0), "all queries over which a value is averaged have the weight 0"),
        (7, "the weights: 7 is neither a mapping nor a path"),
    ],
)
def test_weights_that_are_missing_or_mean_nothing_are_refused(weights, fact):
    for measured in (evaluate, stability):
        runs = OLD if measured is evaluate else {"old": OLD}
        with pytest.raises(InputError, match=fact):
            measured(QRELS, runs, "RR", weights=weights)


def test_files_of_weights_are_refused_with_file_and_line(tmp_path):
    (tmp_path / "w.csv").write_text("query_id,weight\n0,1\n1,-2\n")
    with pytest.raises(InputError, match=r"w.csv:3: weight '-2' of '1' is not a number from 0"):
        evaluate(QRELS, OLD, "RR", weights=tmp_path / "w.csv")
    (tmp_path / "w.csv").write_text("".join(f"{q},0\n" for q in WEIGHTS))
    with pytest.raises(InputError, match=r"w.csv: all queries .* have the weight 0"):
        evaluate(QRELS, OLD, "RR", weights=tmp_path / "w.csv")


def test_saved_evaluations_keep_their_weights(tmp_path):
    weighted().save(tmp_path / "old.json")
    loaded = Evaluation.load(tmp_path / "old.json")
    assert (dict(loaded), loaded.signature) == (dict(weighted()), weighted().signature)
    content = json.loads((tmp_path / "old.json").read_text())
    del content["checksum"]
    content["query_weights"][0] = -1.0
    (tmp_path / "bad.json").write_text(json.dumps(content))
    with pytest.raises(InputError):
        Evaluation.load(tmp_path / "bad.json")


def test_evaluations_with_other_weights_are_not_compared_unless_weights_are_given():
    plain, other = evaluate(QRELS, NEW, "RR", name="new"), dict.fromkeys(WEIGHTS, 1) | {"3": 9}
    for again in (plain, plain.weighted(other)):
        with pytest.raises(ComparisonError, match="weighted by a mapping") as refused:
            compare(None, {"old": weighted(), "new": again}, "RR")
        assert "weights" in refused.value.hint
        with pytest.raises(ComparisonError, match="weighted"):
            gate(None, weighted(), again, "RR")
        given = compare(None, {"old": weighted(), "new": again}, "RR", weights=other)
        assert given.means["RR"]["new"] == pytest.approx(naive(plain.by_query("RR"), other))
    same = compare(None, {"old": weighted(), "new": plain.weighted({q: 5 * w for q, w in WEIGHTS.items()})}, "RR")
    assert same.weights is not None


def test_what_was_saved_with_other_weights_has_no_known_ties(tmp_path):
    run = {str(q): {"a": 1.0, "b": 1.0} for q in range(30)}
    evaluate(QRELS, run, "RR", name="tied").save(tmp_path / "tied.json")
    loaded = Evaluation.load(tmp_path / "tied.json")
    assert loaded.tie_range("RR") is not None
    assert loaded.weighted(WEIGHTS).tie_range("RR") is None
    compared = compare(QRELS, {"new": NEW, "tied": loaded}, "RR", weights=WEIGHTS)
    assert "tied was saved with other weights, so its ties are not checked" in compared.warnings


def test_comparisons_and_gates_are_those_of_weighted_means():
    compared = compare(QRELS, {"old": OLD, "new": NEW}, "RR", weights=WEIGHTS)
    [difference] = compared
    gaps = {q: 1 / (1 + (int(q) // 2) % 3) - 1 / (1 + int(q) % 4) for q in WEIGHTS}
    assert difference.difference == difference.estimate == pytest.approx(naive(gaps))
    # t = mean / error, error² = (n - 1) / n · Σ (w (x - m) / (W - w))²
    total, n = sum(WEIGHTS.values()), len(WEIGHTS)
    error = np.sqrt((n - 1) / n * sum((w * (gaps[q] - naive(gaps)) / (total - w)) ** 2 for q, w in WEIGHTS.items()))
    half = (difference.high - difference.low) / 2
    assert half > 1.9 * error
    assert "(weighted mean)" in difference.sentence
    assert "as precise as 9.9 equally weighted queries" in str(compared)
    assert compared.to_dict()["weights"]["effective_queries"] == compared.weights.effective
    low, high = (naive(dict.fromkeys(WEIGHTS, difference.difference)) for _ in "ab")
    assert difference.reach.low <= low <= high <= difference.reach.high
    decided = gate(QRELS, OLD, NEW, "RR", weights=WEIGHTS, minimum={"RR": 0.1}, segments=dict.fromkeys(WEIGHTS, "all"))
    assert decided.measures[0].drop == pytest.approx(-difference.difference)
    assert all("(weighted)" in check.message for check in decided.checks)
    assert "as precise as 9.9 equally weighted queries" in repr(decided)
    assert decided.to_dict()["weights"] == compared.weights.to_dict()
    assert decided.segments.differences[0].difference == pytest.approx(difference.difference)
    assert decided.to_dict()["segments"]["queries"] == {"all": 30}


def test_reach_is_weighted():
    qrels = {"0": {"a": 1}, "1": {"a": 1}, "2": {"a": 1}}
    runs = {"one": {q: ["a"] for q in qrels}, "two": {"0": ["y", "a"], "1": ["a"], "2": ["a"]}}
    [equal], [heavy] = (compare(qrels, runs, "P@1", weights=w) for w in (None, {"0": 8, "1": 1, "2": 1}))
    assert (equal.reach.low, equal.reach.high) == pytest.approx((-1 / 3, 0))
    assert (heavy.reach.low, heavy.reach.high) == pytest.approx((-0.8, 0))


@pytest.mark.parametrize("test", ["wilcoxon", "sign", "randomisation", "tukey"])
def test_tests_without_a_weighted_form_are_refused(test):
    with pytest.raises(ComparisonError) as refused:
        compare(QRELS, {"old": OLD, "new": NEW}, "RR", weights=WEIGHTS, test=test)
    assert (refused.value.parameter, refused.value.value) == ("test", test)
    assert "t, bootstrap" in refused.value.hint


@pytest.mark.parametrize(
    ("options", "unit"),
    [
        ({"weights": {query: float(query == "3") for query in WEIGHTS}}, "query"),
        ({"groups": dict.fromkeys(WEIGHTS, "all")}, "group"),
    ],
)
def test_one_query_or_group_that_counts_is_too_few_to_compare(options, unit):
    for decided in (
        lambda: compare(QRELS, {"old": OLD, "new": NEW}, "RR", **options),
        lambda: gate(QRELS, OLD, NEW, "RR", **options),
    ):
        with pytest.raises(ComparisonError, match=f"only one {unit} counts"):
            decided()


def test_few_heavy_queries_are_told():
    heavy = {q: 100.0 if int(q) < 3 else 0.01 for q in WEIGHTS}
    told = compare(QRELS, {"old": OLD, "new": NEW}, "RR", weights=heavy).warnings[-1]
    assert told.startswith("only 23 of 30 queries differ by RR, and with their weights they count as 2")


def test_removed_judgments_are_measured_by_the_weights():
    complete = stability(QRELS, {"old": OLD}, "RR", [0.0], repeats=1, weights=WEIGHTS)
    assert complete.rows[0].mean == pytest.approx(weighted()["RR"])
    assert complete.to_dict()["weights"] == weighted().weights.to_dict()
    lost = reusability(QRELS, {"old": OLD, "new": NEW}, "RR", weights=WEIGHTS)
    assert lost.rows[0].value == pytest.approx(weighted()["RR"])


def test_only_weights_of_the_queries_that_are_averaged_count():
    run = {q: OLD[q] for q in list(OLD)[:20]}
    skipped = evaluate(QRELS, run, "RR", policy=Policy(missing="skip"), weights=WEIGHTS)
    assert skipped["RR"] == pytest.approx(naive(skipped.by_query("RR")))
    assert len(skipped.weights.by_query) == 20
    assert Weights.read({**WEIGHTS, "unknown": 5}).over(tuple(QRELS)).effective == weighted().weights.effective
