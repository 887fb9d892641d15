"""Policies for unjudged documents: negative grades that count as judgments, and complete judgments.

The oracle adds the missing judgments: junk becomes grade 0, and so does every document without a judgment.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cranfield
from cranfield import InputError, Policy, PolicyError
from cranfield.native import native
from tests import generated
from tests.generated import file, scan_with, trec_qrels, trec_run
from tests.measures.test_catalogue import variants
from tests.ranks.test_scan import scans

JUNK = Policy(negative="nonrelevant")
COMPLETE = Policy(complete=True)
QRELS, RUN = {"q": {"spam": -2, "good": 1, "bad": 0}}, {"q": ["spam", "good", "bad"]}
# Junk is not relevant even where grade 0 is: see below.
MEASURES = [measure for measure in variants("ranks") if dict(measure.parameters).get("rel") != 0]
MEASURES = [measure for measure in MEASURES if measure.definition.name not in ("TBG", "U")]
MEASURES = MEASURES[::3] + [measure for measure in MEASURES if measure.definition.of_holes]
WHOLE = [measure for measure in MEASURES if "judged_only" not in dict(measure.parameters)]
HOLES = "Judged@10 Unjudged@10 Bpref infAP NumNonRelRet RBPResidual AP nDCG@10 P(rel=0)@3"
grades = st.sampled_from([-2, -1, -0.5, 0, 1, 2, 3, 0.5])


def without_negatives(qrels):
    return {query: {d: max(grade, 0) for d, grade in judged.items()} for query, judged in qrels.items()}


def completed(qrels, run):
    return {
        query: {**dict.fromkeys(run.get(query, ()), 0), **judged} for query, judged in without_negatives(qrels).items()
    }


def columns(result):
    return {measure.name: result.column(measure).tolist() for measure in result.measures}


def test_junk_is_judged():
    measures = "RR RR(judged_only=True) Judged@10 NumNonRelRet"
    assert list(cranfield.evaluate(QRELS, RUN, measures).values()) == [0.5, 1.0, 2 / 3, 1]
    assert list(cranfield.evaluate(QRELS, RUN, measures, policy=JUNK).values()) == [0.5, 0.5, 1.0, 2]


@pytest.mark.parametrize("policy", [JUNK, COMPLETE], ids=str)
def test_junk_and_unjudged_documents_are_nonrelevant_at_rel_0(policy):
    found = cranfield.evaluate(QRELS, {"q": ["spam", "new", "bad", "good"]}, "RR(rel=0) NumRel(rel=0)", policy=policy)
    assert list(found.values()) == [1 / 3, 2]


def test_judged_junk_closes_the_bounds():
    result, default = (cranfield.evaluate(QRELS, RUN, "RR AP", policy=policy) for policy in (JUNK, Policy()))
    assert default.bounds("RR")[:2] == (0.5, 1.0)
    assert default.unjudged() == {"q": 1}
    assert result.bounds("RR")[:3] == (0.5, 0.5, True)
    assert result.unjudged() == {"q": 0}
    assert "unjudged" not in result.worst("RR")[0].reason


@settings(max_examples=15, deadline=None)
@given(generated.collections(grades=grades))
def test_junk_is_like_grade_0(collection):
    qrels, run = collection
    found = cranfield.evaluate(qrels, run, MEASURES, policy=JUNK, check_ids=False)
    assert columns(found) == columns(cranfield.evaluate(without_negatives(qrels), run, MEASURES, check_ids=False))


@settings(max_examples=15, deadline=None)
@given(generated.collections(grades=grades))
def test_complete_equals_judging_every_retrieved_document(collection):
    qrels, run = collection
    found = cranfield.evaluate(qrels, run, WHOLE, policy=COMPLETE, check_ids=False)
    wanted = columns(cranfield.evaluate(completed(qrels, run), run, WHOLE, check_ids=False))
    judged = {name for name in wanted if name.startswith("Judged")}
    assert {name: values for name, values in columns(found).items() if name not in judged} == {
        name: values for name, values in wanted.items() if name not in judged
    }
    assert {value for name in judged for value in columns(found)[name]} == {1.0}  # of an empty ranking, too
    assert set(found.unjudged().values()) == {0}
    for measure in found.measures[::9]:
        low, high, exact, *_ = found.bounds(measure)
        assert (low, exact) == (high, True)


@scans
@pytest.mark.parametrize("policy", [JUNK, COMPLETE, Policy(negative="nonrelevant", ties="worst", depth=3)], ids=str)
@settings(max_examples=15, deadline=None)
@given(generated.collections(grades=grades), generated.layouts())
def test_text_dicts_and_frames_give_the_same_values(scan, policy, collection, write):
    polars = pytest.importorskip("polars")
    qrels, run = collection
    rows = [(query, document, score) for query, ranking in run.items() for document, score in ranking.items()]
    frame = polars.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row")
    with scan_with(scan, 100):
        text = cranfield.evaluate(
            *(file(trec_qrels(qrels, write)), file(trec_run(run, write)), HOLES),
            policy=policy,
            check_ids=False,
            format="trec",
            qrels_format="trec",
        )
        memory, table = (
            cranfield.evaluate(qrels, each, HOLES, policy=policy, check_ids=False) for each in (run, frame)
        )
    assert columns(text) == columns(memory) == columns(table)


@pytest.mark.skipif(native is None, reason="the native scan is not built")
def test_complete_and_judged_only_contradict_each_other():
    with pytest.raises(PolicyError, match="judged_only") as caught:
        cranfield.evaluate(QRELS, RUN, "RR(judged_only=True)", policy=COMPLETE)
    assert "complete" in caught.value.hint
    extended = cranfield.evaluate(QRELS, RUN, "RR", policy=COMPLETE)
    with pytest.raises(PolicyError):
        extended.extended("P(judged_only=True)@1")
    subtopics = {"q": {"s": {"a": 1}, "t": {"b": 1}}}
    with pytest.raises(PolicyError):
        cranfield.evaluate(subtopics, {"q": ["a"]}, "StRecall(judged_only=True)@1", policy=COMPLETE)


def test_complete_judgments_refuse_unseen_documents():
    result = cranfield.evaluate(QRELS, {"q": ["x", "good"]}, "RR", policy=COMPLETE)
    with pytest.raises(InputError, match="complete"):
        result.bounds("RR", unseen=1)


def test_judged_junk_counts_in_groups_of_judges():
    qrels = {"q": {"one": {"spam": -2, "good": 1}, "two": {"good": 1, "bad": 0}}}
    measure = "P_avgjg(judged_only=True)@1"
    assert cranfield.evaluate(qrels, RUN, measure)[measure] == 1.0
    assert cranfield.evaluate(qrels, RUN, measure, policy=JUNK)[measure] == 0.5


def test_explanations_follow_the_policy():
    run = {"q": ["spam", "new", "good"]}
    grades = [place.grade for place in cranfield.explain(QRELS, run, "q", policy=COMPLETE).positions]
    assert grades == [-2, 0, 1]
    shown = cranfield.explain(QRELS, run, "q", "Judged Bpref", policy=JUNK)
    assert [place.values["Judged"] for place in shown.positions] == [1, 1 / 2, 2 / 3]
    assert shown.positions[2].values["Bpref"] == cranfield.evaluate(QRELS, run, "Bpref", policy=JUNK)["Bpref"]
