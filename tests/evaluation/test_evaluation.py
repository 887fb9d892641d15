"""The result of evaluate."""

import io
import json
from dataclasses import FrozenInstanceError

import pytest

import cranfield
from cranfield import (
    Evaluation,
    InputError,
    JudgedRanks,
    Judgments,
    MeasureError,
    Policy,
    PolicyError,
    evaluate,
    evaluate_runs,
)

QRELS = {"1": {"a": 2, "b": 0}, "2": {"a": 1, "c": 1}, "3": {"a": 0}, "10": {"z": 1}}
RUN = {"1": {"a": 2.0, "b": 1.0}, "2": {"b": 2.0, "a": 1.0}, "3": {"a": 1.0}, "99": {"a": 1.0}}


@pytest.fixture
def result() -> Evaluation:
    return evaluate(QRELS, RUN, "RR nDCG@10 NumRet")


def test_an_evaluation_maps_measures_to_means(result):
    assert list(result) == ["RR", "nDCG@10", "NumRet"]
    assert result["RR"] == result["mrr"] == (1 + 0.5 + 0 + 0) / 4
    assert result["NumRet"] == 5
    assert "AP" not in result
    assert "no such" not in result
    with pytest.raises(KeyError):
        result["AP"]
    assert result == dict(result)


def test_queries_are_in_natural_order(result):
    assert result.query_ids == ("1", "2", "3", "10")
    assert result.by_query("RR") == {"1": 1.0, "2": 0.5, "3": 0.0, "10": 0.0}
    assert Judgments.read({"b": {"x": 1}, "10": {"x": 1}, "9": {"x": 1}}).query_ids == ("10", "9", "b")


def test_counts_and_policy(result):
    counts = result.counts
    assert (counts.queries, counts.judged, counts.missing, counts.extra, counts.no_relevant) == (4, 4, 1, 1, 1)
    skipped = evaluate(QRELS, RUN, "RR", policy=Policy(missing="skip"))
    assert (skipped["RR"], skipped.counts.queries, skipped.counts.missing) == (0.5, 3, 1)
    assert "10" not in skipped.query_ids
    with pytest.raises(InputError, match="1 judged query is not in the run: 10"):
        evaluate(QRELS, RUN, "RR", policy=Policy(missing="error"))


def test_the_signature_contains_all_settings_and_counts(result):
    parts = dict(part.split(":") for part in result.signature.split("|"))
    assert parts | {"qrels": "", "run": ""} == {
        "ties": "doc_id",
        "missing": "zero",
        "duplicates": "error",
        "depth": "all",
        "same_id": "keep",
        "rel": "1",
        "judged": "4",
        "queries": "4",
        "missing_queries": "1",
        "extra_queries": "1",
        "no_relevant": "1",
        "tied": "0.0%",
        "qrels": "",
        "run": "",
        "version": cranfield.__version__,
    }
    assert parts["qrels"] == result.qrels_sha256[:12]
    assert result.run_sha256.startswith("ranks-")
    assert len(result.run_sha256) == 6 + 64
    other = evaluate(QRELS, {**RUN, "1": {"a": 1.0, "b": 2.0}}, "RR")
    assert other.run_sha256 != result.run_sha256


def test_tidy_tables(result):
    assert result.per_query[1] == ("the run", "2", "RR", 0.5)
    assert len(result.per_query) == 12
    for table in (result.to_arrow().to_pylist(), result.to_polars().to_dicts(), result.to_pandas().to_dict("records")):
        assert [tuple(row.values()) for row in table] == list(map(tuple, result.per_query))
        assert list(table[0]) == ["run", "query_id", "measure", "value"]


def test_dicts_and_json(result):
    whole = result.to_dict()
    assert json.loads(result.to_json()) == whole
    assert whole["mean"] == dict(result)
    assert whole["per_query"]["2"]["RR"] == 0.5
    assert whole["signature"] == result.signature
    assert "per_query" not in result.to_dict(per_query=False)


def test_the_worst_queries_have_a_reason(result):
    worst = evaluate({**QRELS, "4": {"y": 1}}, {**RUN, "4": {"x": 1.0}}, "RR").worst("RR", 4)
    assert [(poor.query_id, poor.value, poor.reason) for poor in worst] == [
        ("3", 0.0, "no relevant document is judged"),
        ("4", 0.0, "none of 1 relevant among 1 retrieved; 1 of 1 retrieved unjudged"),
        ("10", 0.0, "nothing retrieved, 1 relevant"),
        ("2", 0.5, "1 of 2 relevant retrieved, the first at rank 2; 1 of 2 retrieved unjudged"),
    ]
    assert result.worst("RR", 0) == []
    assert len(result.worst(n=100)) == 4


def test_an_evaluation_is_shown_as_text_and_html(result):
    text = str(result)
    assert "RR       0.3750" in text
    assert "1 judged but not in the run (counts 0)" in text
    named = evaluate(QRELS, RUN, "RR", name="<b>")
    assert "&lt;b&gt;" in named._repr_html_()
    assert '<td class="n">0.3750</td>' in named._repr_html_()
    assert result.signature.replace("&", "&amp;") in result._repr_html_()


def test_several_runs_share_the_judgments(tmp_path):
    (tmp_path / "a.run").write_text("1 Q0 a 1 1 t\n")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "a.run.gz").write_text("1 Q0 b 1 1 t\n")
    judgments = Judgments.read(QRELS)
    results = evaluate_runs(judgments, [tmp_path / "a.run", tmp_path / "b" / "a.run.gz"], "P@1")
    assert {name: result["P@1"] for name, result in results.items()} == {f"{tmp_path.name}/a": 0.25, "b/a": 0.0}
    assert Judgments.read(judgments) is judgments


def test_results_and_errors_survive_pickling():
    import copy
    import pickle

    result = evaluate(QRELS, RUN, "RR nDCG@10")
    for again in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
        assert dict(again) == dict(result)
        assert again.by_query("mrr") == result.by_query("RR")
    error = pickle.loads(pickle.dumps(InputError("f", "x.", line=3, hint="h")))
    assert (str(error), error.line, error.source) == ("f:3: x.\nHint: h", 3, "f")
    judgments = Judgments.read(QRELS)
    evaluate(judgments, io.BytesIO(b"1 Q0 a 1 1 t\n"), "RR")
    assert pickle.loads(pickle.dumps(judgments)).sha256 == judgments.sha256


def test_omitted_queries_are_not_counted():
    result = evaluate({"1": {"a": 1}, "2": {"b": 0}}, {"1": ["a"]}, "RR", policy=Policy(missing="skip"))
    assert (result.counts.queries, result.counts.no_relevant) == (1, 0)
    assert 123 not in result


def test_policies_are_checked():
    with pytest.raises(PolicyError, match="ties='random' is not a policy"):
        Policy(ties="random")
    for depth in (0, -1, 2.5, "3", True):
        with pytest.raises(PolicyError, match="is not a rank"):
            Policy(depth=depth)


def test_ties_best_and_worst_bracket_the_default():
    qrels, run = {"q": {"b": 1}}, {"q": {"a": 1.0, "b": 1.0, "c": 1.0}}
    ranks = {
        ties: 1 / evaluate(qrels, run, "RR", policy=Policy(ties=ties))["RR"] for ties in ("best", "doc_id", "worst")
    }
    assert ranks == {"best": 1, "doc_id": 2, "worst": 3}


def test_the_ideal_ranking_uses_all_judgments():
    """A perfect order of the retrieved documents alone does not make nDCG 1."""
    assert evaluate({"q": {"a": 1, "b": 3}}, {"q": {"a": 1.0}}, "nDCG")["nDCG"] < 0.3


def test_a_query_without_judgments_counts_0():
    assert evaluate({"q": {"a": 1}, "empty": {}}, {"q": ["a"]}, "RR")["RR"] == 0.5


def test_public_names():
    assert set(cranfield.__all__) <= set(dir(cranfield))
    assert cranfield.__all__ == sorted(cranfield.__all__)


def test_aggregates_and_segments():
    result = evaluate({str(q): {"a": 1} for q in range(4)}, {"0": ["a"], "1": ["x", "a"], "2": ["a"]}, "RR GMAP")
    assert result.aggregate("RR") == result["RR"] == 2.5 / 4
    assert result.aggregate("RR", "median") == 0.75
    assert result.aggregate("RR", "sum") == 2.5
    assert result.aggregate("RR", "geometric") == pytest.approx((1 * 0.5 * 1 * 1e-5) ** (1 / 4))
    assert result["GMAP"] == pytest.approx(result.aggregate("RR", "geometric"))
    assert result.aggregate("RR", weights={"3": 0, 0: 2, 1: 1, "2": 1}) == pytest.approx((2 * 1 + 0.5 + 1) / 4)
    assert result.by_segment("RR", {"0": "x", "1": "x", "3": "y"}) == {"x": 0.75, "y": 0.0}


def test_bounds_of_means():
    qrels = {"1": {"a": 1, "b": 0}, "2": {"c": 1}, "3": {"z": 1}}
    run = {"1": ["a", "b"], "2": ["x", "c"]}
    result = cranfield.evaluate(qrels, run, "RR P@2 Judged@2")
    by_query = {"1": (1.0, 1.0), "2": (0.5, 1.0), "3": (0.0, 0.0)}
    assert result.bounds("RR") == (0.5, 2 / 3, True, by_query, (0.0, 1.0))
    assert result.bounds("P@2")[:2] == ((0.5 + 0.5) / 3, (0.5 + 1) / 3)
    assert result.bounds("Judged@2")[:2] == (result["Judged@2"],) * 2
    skipping = cranfield.evaluate(qrels, run, "RR", policy=cranfield.Policy(missing="skip"))
    assert list(skipping.bounds("RR").by_query) == ["1", "2"]
    assert cranfield.evaluate({"1": {"a": 1}}, {"1": ["x", "a"]}, "nDCG").bounds("nDCG", scale=[0, 3]).low > 0


def test_bounds_of_measures_of_groups():
    qrels = {"1": {"s1": {"a": 1}, "s2": {"b": 1}}, "2": {"s1": {"c": 1}}}
    result = cranfield.evaluate(qrels, {"1": ["a", "b"], "2": ["x", "c"]}, "alpha_nDCG@5")
    bounds = result.bounds("alpha_nDCG@5")
    assert bounds.by_query == {"1": (1.0, 1.0), "2": result.definition("alpha_nDCG@5").range}
    assert not bounds.exact


def test_an_evaluation_never_changes(result, tmp_path):
    result.save(tmp_path / "saved.json")
    for each in (result, Evaluation.load(tmp_path / "saved.json")):
        for name in ("run", "measures", "policy", "counts", "query_ids", "version", "mine"):
            with pytest.raises(FrozenInstanceError):
                setattr(each, name, "other")
        each.column("RR")[:] = 7
        assert each["RR"] == 0.375
    with pytest.raises(ValueError, match="read-only"):
        result._columns[result.measures[0]][0] = 7


def test_ranks_are_evaluated_like_the_run_they_come_from(tmp_path):
    qrels = {"1": {"a": 2, "b": 0, "c": 1}, "2": {"a": 1}, "3": {"d": 1}}
    run = {"1": {"x": 3.0, "c": 2.0, "b": 1.0}, "2": {"a": 1.0}}
    for policy in (Policy(), Policy(missing="skip"), Policy(depth=2)):
        known = evaluate(qrels, run, "nDCG@2 RR AP Judged@3", policy=policy)
        again = Evaluation.of(known.ranks, "nDCG@2 RR AP Judged@3", policy=policy)
        assert dict(again) == dict(known)
        assert again.per_query == known.per_query
        assert again.counts == known.counts
        assert again.bounds("AP") == known.bounds("AP")
        assert again.worst("AP", 3) == known.worst("AP", 3)
    again.renamed("ranks").save(tmp_path / "saved.json")
    saved = Evaluation.load(tmp_path / "saved.json")
    assert (saved.run, dict(saved)) == ("ranks", dict(again))
    assert saved.qrels_sha256 == again.qrels_sha256 != Evaluation.of(JudgedRanks.of_grades([1]), "AP").qrels_sha256


def test_ranks_alone_cannot_be_evaluated_by_measures_of_groups_or_by_a_policy_that_refuses_them():
    judged = evaluate({"1": {"a": 1}, "2": {"a": 1}}, {"1": ["a"]}, "RR").ranks
    with pytest.raises(MeasureError, match="alpha_nDCG"):
        Evaluation.of(judged, "RR alpha_nDCG@10")
    with pytest.raises(InputError, match="1 judged query is not in the run: 2"):
        Evaluation.of(judged, "RR", policy=Policy(missing="error"))


def test_a_new_name_makes_a_new_evaluation(result, tmp_path):
    again = result.renamed("mine")
    assert (again.run, result.run, again.per_query[0].run) == ("mine", "the run", "mine")
    assert dict(again) == dict(result)
    assert again.signature == result.signature
    assert again.bounds("RR") == result.bounds("RR")
    result.save(tmp_path / "saved.json")
    saved = Evaluation.load(tmp_path / "saved.json").renamed("mine")
    assert (saved.run, saved.worst("RR", 1)[0].query_id, saved.ranks) == ("mine", "3", None)
