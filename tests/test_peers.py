"""The same numbers as other tools, where they mean the same."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cranfield
from tests import generated

# What trec_eval 9, inside pytrec_eval, can express: 32-bit scores and whole grades. It crashes on queries whose
# grades are all negative, so there are no negative ones here.
peer_scores = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e6, 1e6, width=32))
peer_collections = generated.collections(grades=st.integers(0, 4), scores=peer_scores)

TREC_NAMES = {
    "map": "AP",
    "map_cut_5": "AP@5",
    "ndcg": "nDCG",
    "ndcg_cut_3": "nDCG@3",
    "recip_rank": "RR",
    "P_5": "P@5",
    "recall_5": "R@5",
    "Rprec": "Rprec",
    "success_5": "Success@5",
    "num_ret": "NumRet",
    "num_rel": "NumRel",
    "num_rel_ret": "NumRelRet",
}


@settings(max_examples=150, deadline=None)
@given(peer_collections)
def test_pytrec_eval(collection):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels, run = collection
    wanted = {name.replace("_cut_", "_cut.").replace("P_", "P.").replace("recall_", "recall.") for name in TREC_NAMES}
    wanted = {name.replace("success_", "success.") for name in wanted}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, wanted).evaluate(run)
    ours = cranfield.evaluate(qrels, run, list(TREC_NAMES.values()))
    for query, values in theirs.items():
        for name, value in values.items():
            assert ours.by_query(name)[query] == pytest.approx(value, abs=1e-9), (query, name)


def test_32_bit_scores_are_told_apart():
    """trec_eval 9 keeps 32 bits of a score; we keep 64, as trec_eval 10 does."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 16777217.0, "b": 16777216.0}}
    assert pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(run)["q"]["recip_rank"] == 0.5
    assert cranfield.evaluate(qrels, run, "RR")["RR"] == 1.0


@pytest.mark.parametrize(
    "measure", ["nDCG@10", "nDCG", "AP", "AP@5", "P@5", "R@5", "RR", "Rprec", "Success@5", "P(rel=2)@5", "Judged@5"]
)
def test_ir_measures(measure):
    ir_measures = pytest.importorskip("ir_measures")
    qrels = {"1": {"a": 2, "b": 0, "c": 1}, "2": {"a": 1, "x": 3}, "3": {"z": 1}}
    run = {"1": {"b": 3.5, "a": 2.5, "z": 1.25}, "2": {"z": 2.0, "a": 1.0, "q": 0.5, "x": 0.25}}
    theirs = ir_measures.calc_aggregate([ir_measures.parse_measure(measure)], qrels, run)
    assert cranfield.evaluate(qrels, run, measure)[measure] == pytest.approx(next(iter(theirs.values())))


def test_scikit_learn_ndcg():
    metrics = pytest.importorskip("sklearn.metrics")
    grades, scores = [3, 0, 2, 1, 0, 3], [0.9, 0.8, 0.7, 0.6, 0.5, 0.4]
    assert cranfield.value("nDCG", grades) == pytest.approx(metrics.ndcg_score([grades], [scores]))
    assert cranfield.value("nDCG@3", grades) == pytest.approx(metrics.ndcg_score([grades], [scores], k=3))
