"""Typical mistakes of newcomers raise an error that says what to do, and never give a wrong value."""

import pandas as pd
import pytest

import cranfield
from cranfield import ComparisonError, InputError, MeasureError, Policy, evaluate

QRELS = {"1": {"a": 1, "b": 0}, "2": {"c": 1}}
RUN = {"1": {"b": 2.0, "a": 1.0}, "2": {"c": 0.5}}


def test_a_user_of_pytrec_eval_passes_a_set_of_its_names():
    result = evaluate(QRELS, RUN, {"map", "ndcg", "ndcg_cut.5,10", "recip_rank"})
    assert set(result) == {"AP", "nDCG", "nDCG@5", "nDCG@10", "RR"}
    assert {row.query_id for row in result.per_query} == {"1", "2"}


def test_a_user_of_ranx_passes_lists():
    result = evaluate(QRELS, RUN, ["map@100", "mrr@10", "hit_rate@5", "precision@5-l2"])
    assert list(result) == ["AP@100", "mrr@10", "hit_rate@5", "P(rel=2)@5"]


def test_a_user_of_ir_measures_passes_rows_and_frames():
    qrels = pd.DataFrame({"query_id": ["1", "2"], "doc_id": ["a", "c"], "relevance": [1, 1]})
    run = [{"query_id": "1", "doc_id": "a", "score": 1.0}, {"query_id": "2", "doc_id": "x", "score": 1.0}]
    assert evaluate(qrels, run, "P(rel=1)@1")["P@1"] == 0.5


def test_a_measure_that_was_not_requested_is_a_key_error():
    with pytest.raises(KeyError, match=r"AP was not measured; available: RR, nDCG@10"):
        evaluate(QRELS, RUN, "RR nDCG@10")["AP"]


def test_an_unknown_aggregate_is_an_error():
    with pytest.raises(MeasureError, match="there is no aggregate 'harmonic'"):
        evaluate(QRELS, RUN, "RR").aggregate("RR", "harmonic")


def test_a_query_that_was_not_evaluated_is_an_error():
    with pytest.raises(InputError, match="query 'x' was not evaluated"):
        evaluate(QRELS, RUN, "RR").queries("RR", ["1", "x"])


@pytest.mark.parametrize("grades", ["10", [[1, 0]], ["1", "0"], [True]])
def test_bad_grades_are_an_error(grades):
    with pytest.raises(InputError, match="the grades: "):
        cranfield.value("P@2", grades)


def test_swapped_arguments_are_an_error():
    with pytest.raises(MeasureError, match=r"\[1, 0\] is not a measure"):
        cranfield.value([1, 0], "P@2")
    with pytest.raises(MeasureError, match="the order is: qrels, run, measures"):
        evaluate(["AP"], QRELS, RUN)


def test_explain_needs_a_query():
    with pytest.raises(InputError, match=r"no query given.\nHint: it has 1, 2"):
        cranfield.explain(QRELS, RUN)


def test_explain_takes_formats(tmp_path):
    (tmp_path / "qrels").write_text("1 0 a 1\n")
    (tmp_path / "run").write_text("1\ta\t0.5\n")
    with pytest.raises(InputError):
        cranfield.explain(tmp_path / "qrels", tmp_path / "run", "1", qrels_format="msmarco")
    shown = cranfield.explain(tmp_path / "qrels", tmp_path / "run", "1", qrels_format="trec", format="tsv")
    assert [place.doc_id for place in shown.positions] == ["a"]


def test_the_decorator_needs_a_name():
    with pytest.raises(MeasureError, match="a measure needs a name"):

        @cranfield.measure
        def mine(judged):
            return judged.retrieved


@pytest.mark.parametrize("name", ["AP", "map", "hit"])
def test_names_of_built_in_measures_are_reserved(name):
    before = cranfield.value("AP", [0, 1])
    with pytest.raises(MeasureError, match=f"'{name}' is a name of"):

        @cranfield.measure(name)
        def mine(judged):
            return judged.retrieved

    assert cranfield.value("AP", [0, 1]) == before


def test_a_user_defined_measure_may_be_redefined():
    for factor in (1, 2):

        @cranfield.measure("Mine")
        def mine(judged, factor=factor):
            return judged.retrieved * factor

        assert cranfield.value("Mine", [0, 1, 0]) == 3 * factor


def test_a_comparison_accepts_any_spelling_and_refuses_unknown_measures():
    found = cranfield.compare(QRELS, {"one": RUN, "other": {"1": ["a"], "2": ["c"]}}, "AP RR")
    assert found.of("map") == found.of("AP") == [found.find("map", "other", "one")]
    with pytest.raises(ComparisonError, match=r"not compared by P@5.\nHint: the measures are AP, RR"):
        found.of("P@5")


def test_a_comparison_prints_its_verdict():
    found = cranfield.compare(QRELS, {"one": RUN, "other": {"1": ["a"], "2": ["c"]}}, "AP")
    assert repr(found) == "<Comparison of one, other by AP: 2 queries>"
    warning, verdict, *_ = str(found).splitlines()
    assert warning.startswith("warning: only 1 of 2 queries differs by AP")
    assert verdict.startswith("Too close to call: other vs one, AP +0.250 (95% interval ")


def test_a_single_run_can_be_checked(tmp_path):
    (tmp_path / "qrels").write_text("1 0 a 1\n")
    (tmp_path / "run").write_text("1 Q0 a 1 0.5 x\n")
    assert [run.rows for run in cranfield.check_files(tmp_path / "qrels", tmp_path / "run").runs] == [1]


def test_options_reach_every_run():
    twice = {"1": ["a", "a"], "2": ["c"]}
    with pytest.raises(InputError, match="appears twice"):
        cranfield.compare(QRELS, {"one": RUN, "other": twice}, "RR")
    found = cranfield.compare(QRELS, {"one": RUN, "other": twice}, "RR", policy=Policy(duplicates="first"))
    assert found.means["RR"]["other"] == 1
