"""Values match other tools where the definitions agree. Where they do not, see tests/differences.py."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cranfield
from tests import generated, peers

# What trec_eval 9, inside pytrec_eval, can express: 32-bit scores and whole grades.
peer_scores = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e6, 1e6, width=32))


@st.composite
def trec_collections(draw):
    """trec_eval crashes on queries whose grades are all negative, so each has one that is not."""
    qrels, run = draw(generated.collections(grades=st.integers(-1, 4), scores=peer_scores))
    for judged in qrels.values():
        if max(judged.values()) < 0:
            judged[next(iter(judged))] = draw(st.integers(0, 2))
    return qrels, run


@st.composite
def distinct(draw, highest=4, everything_judged=False, min_size=1):
    """Collections with the same queries in qrels and run, numbered, and no two equal scores in a ranking."""
    qrels, run = {}, {}
    for number in range(draw(st.integers(1, 4))):
        documents = draw(st.permutations("abcdefghij"))
        size = draw(st.integers(min_size, 8))
        kept = documents[:size] if everything_judged else draw(st.lists(st.sampled_from("abcdefghij"), min_size=1))
        qrels[str(number)] = {document: draw(st.integers(0, highest)) for document in dict.fromkeys(kept)}
        run[str(number)] = {document: float(size - place) for place, document in enumerate(documents[:size])}
    return qrels, run


# Name that trec_eval prints: our measure. All its measures of judgments except relstring, runid and num_q.
TREC = {
    "map": "AP",
    **{f"map_cut_{k}": f"AP@{k}" for k in (1, 5, 20)},
    "Rprec": "Rprec",
    **{f"Rprec_mult_{m:.2f}": f"Rprec@{m}" for m in (0.3, 1.0, 2.5)},
    "bpref": "Bpref",
    "recip_rank": "RR",
    **{f"iprec_at_recall_{r:.2f}": f"IPrec(rule=trec9)@{r}" for r in (0.0, 0.1, 0.35, 0.7, 1.0)},
    "11pt_avg": "IAP(rule=trec9)",
    **{f"P_{k}": f"P@{k}" for k in (1, 5, 20)},
    **{f"recall_{k}": f"R@{k}" for k in (1, 5, 20)},
    **{f"relative_P_{k}": f"RelP@{k}" for k in (1, 5, 20)},
    **{f"success_{k}": f"Success@{k}" for k in (1, 5, 10)},
    "infAP": "infAP",
    "utility": "Utility",
    "ndcg": "nDCG",
    **{f"ndcg_cut_{k}": f"nDCG@{k}" for k in (1, 3, 20)},
    "ndcg_rel": "nDCGrel",
    "Rndcg": "RnDCG",
    "binG": "binG",
    "G": "G",
    "set_P": "SetP",
    "set_recall": "SetR",
    "set_relative_P": "SetRelP",
    "set_map": "SetAP",
    "set_F": "SetF",
    "num_ret": "NumRet",
    "num_rel": "NumRel",
    "num_rel_ret": "NumRelRet",
    "num_nonrel_judged_ret": "NumNonRelRet",
}
TREC_REQUESTED = [
    *(
        "map",
        "map_cut.1,5,20",
        "Rprec",
        "Rprec_mult.0.3,1.0,2.5",
        "bpref",
        "recip_rank",
        "11pt_avg",
        "infAP",
        "utility",
    ),
    *("iprec_at_recall.0.0,0.1,0.35,0.7,1.0", "P.1,5,20", "recall.1,5,20", "relative_P.1,5,20", "success.1,5,10"),
    *("ndcg", "ndcg_cut.1,3,20", "ndcg_rel", "Rndcg", "binG", "G"),
    *("set_P", "set_recall", "set_relative_P", "set_map", "set_F"),
    *("num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret"),
]


@settings(max_examples=150, deadline=None)
@given(trec_collections(), st.integers(1, 2), st.booleans())
def test_trec_eval_9(collection, rel, judged_only):
    qrels, run = collection
    theirs = peers.trec_eval_9_values(TREC_REQUESTED, qrels, run, rel=rel, judged_only=judged_only)
    measures = {name: cranfield.parse_measure(ours) for name, ours in TREC.items()}
    for name, measure in measures.items():
        level = {"rel": rel} if "rel" in measure.definition.kinds else {}
        measures[name] = measure.replace(judged_only=judged_only, **level)
    ours = cranfield.evaluate(qrels, run, measures.values(), check_ids=False)
    columns = {name: ours.by_query(measure) for name, measure in measures.items()}
    for query, values in theirs.items():
        assert set(values) == set(TREC)
        for name, value in values.items():
            if name == "Rndcg" and not any(grade >= rel for grade in qrels[query].values()):
                continue  # in tests/differences.py
            if math.isnan(value) and judged_only:
                value = 0.0  # in tests/differences.py
            assert columns[name][query] == pytest.approx(value, abs=1e-9), (query, name)


@settings(max_examples=50, deadline=None)
@given(trec_collections())
def test_geometric_means_of_trec_eval_9(collection):
    """pytrec_eval returns a logarithm for each query, and leaves the geometric mean to its caller."""
    qrels, run = collection
    theirs = peers.trec_eval_9_values(["gm_map", "gm_bpref"], qrels, run)
    ours = cranfield.evaluate(qrels, run, "GMAP GMBpref", policy=cranfield.Policy(missing="skip"), check_ids=False)
    for name, measure in (("gm_map", "GMAP"), ("gm_bpref", "GMBpref")):
        logs = [values[name] for values in theirs.values()]
        if logs:
            assert ours[measure] == pytest.approx(math.exp(math.fsum(logs) / len(logs)), abs=1e-9)


# Measures that ir_measures can compute without further libraries: our name.
IR_MEASURES = {
    **{
        name: name
        for name in (
            *("AP", "AP@5", "AP(rel=2)", "AP(judged_only=True)", "P@3", "P(rel=2)@5", "P(judged_only=True)@3"),
            *("R@5", "R(rel=3)@5", "R(judged_only=True)@5", "RR", "RR@5", "RR(rel=2)@5", "RR(judged_only=True)"),
            *("Rprec", "Rprec(rel=2)", "Rprec(judged_only=True)", "nDCG", "nDCG@5", "nDCG(judged_only=True)@5"),
            *("Bpref", "Bpref(rel=2)", "infAP", "infAP(rel=2)", "Success@3", "Success(rel=2)@3"),
            *("Success(judged_only=True)@3", "SetP", "SetP(rel=2)", "SetP(judged_only=True)", "SetR", "SetR(rel=2)"),
            *("SetF", "SetF(rel=2)", "SetF(judged_only=True)", "SetAP", "SetAP(rel=2)", "SetAP(judged_only=True)"),
            *("NumRet", "Judged@5", "Judged"),
        )
    },
    "SetP(relative=True)": "SetRelP",
    "SetF(beta=4.0)": "SetF(beta=2)",
    "Compat": "Compat(depth=rankings)",
    "Compat(p=0.8)": "Compat(p=0.8, depth=rankings)",
    "Compat(p=0.8,normalize=False)": "Compat(p=0.8, normalize=False, depth=rankings)",
    "NumRet(rel=1)": "NumRelRet",
    "NumRet(rel=2)": "NumRelRet(rel=2)",
    "NumRel": "NumRel",
    "IPrec@0.1": "IPrec(rule=trec9)@0.1",
    "IPrec@0.7": "IPrec(rule=trec9)@0.7",
    "IPrec(rel=2)@0.35": "IPrec(rule=trec9, rel=2)@0.35",
}


@settings(max_examples=60, deadline=None)
@given(distinct())
def test_ir_measures(collection):
    qrels, run = collection
    # In a single call, ir_measures may drop unjudged documents before it counts NumRet.
    condensed = [name for name in IR_MEASURES if "judged_only" in name]
    theirs = peers.ir_measures_values(condensed, qrels, run)
    theirs |= peers.ir_measures_values(IR_MEASURES.keys() - condensed, qrels, run)
    assert len(theirs) == len(IR_MEASURES) * len(qrels)
    ours = cranfield.evaluate(qrels, run, IR_MEASURES.values(), check_ids=False)
    for (name, query), value in theirs.items():
        assert ours.by_query(IR_MEASURES[name])[query] == pytest.approx(value, abs=1e-9), (query, name)


@settings(max_examples=10, deadline=None)
@given(distinct(), st.sampled_from([1, 3, 20]))
def test_gdeval(collection, k):
    qrels, run = collection
    for name, measure in ((f"nDCG(dcg='exp-log2')@{k}", f"nDCG(gain=exponential)@{k}"), (f"ERR@{k}", f"ERR@{k}")):
        theirs = peers.gdeval(name, qrels, run)
        assert cranfield.evaluate(qrels, run, measure, check_ids=False).by_query(measure) == pytest.approx(
            theirs, abs=6e-6
        )


def test_the_mean_of_ir_measures_is_over_all_judged_queries():
    qrels = {"1": {"a": 2, "b": 0, "c": 1}, "2": {"a": 1, "x": 3}, "3": {"z": 1}}
    run = {"1": {"b": 3.5, "a": 2.5, "z": 1.25}, "2": {"z": 2.0, "a": 1.0, "q": 0.5, "x": 0.25}}
    for name, measure in IR_MEASURES.items():
        if name != "NumRel":  # in tests/differences.py
            value = peers.ir_measures_aggregate(name, qrels, run)
            assert cranfield.evaluate(qrels, run, measure, check_ids=False)[measure] == pytest.approx(value), name


# All metrics of ranx; bpref and rbp below, where they mean the same.
RANX = {
    **{
        name: name
        for name in ("hits@3", "hit_rate@3", "precision@3", "recall@3", "f1@3", "mrr", "mrr@3", "map", "map@3")
    },
    **{name: name for name in ("dcg", "dcg@3", "dcg_burges@3", "ndcg", "ndcg@3", "ndcg_burges", "ndcg_burges@3")},
    **{
        name: name
        for name in ("r-precision", "precision@3-l2", "recall@3-l2", "map-l2", "mrr-l3", "hits@3-l2", "f1@3-l2")
    },
    "precision": "SetP",
    "recall": "SetR",
    "f1": "SetF",
    "hits": "NumRelRet",
    "hit_rate": "Success@100",
}


@settings(max_examples=60, deadline=None)
@given(distinct())
def test_ranx(collection):
    qrels, run = collection
    theirs = peers.ranx_values(RANX, qrels, run)
    ours = cranfield.evaluate(qrels, run, RANX.values(), check_ids=False)
    for name, measure in RANX.items():
        assert ours.by_query(measure) == pytest.approx(theirs[name], abs=1e-9), name


@settings(max_examples=60, deadline=None)
@given(distinct(highest=1))
def test_ranx_on_binary_grades(collection):
    qrels, run = collection
    for judged in qrels.values():
        judged |= {"relevant": 1, "not relevant": 0}
    theirs = peers.ranx_values(["bpref", "rbp.90"], qrels, run)
    ours = cranfield.evaluate(qrels, run, "Bpref RBP(p=0.9)", check_ids=False)
    assert ours.by_query("RBP(p=0.9)") == pytest.approx(theirs["rbp.90"], abs=1e-9)
    assert ours.by_query("Bpref") == pytest.approx(theirs["bpref"], abs=1e-9)


SCIKIT_LEARN = [
    ("ndcg_score", {}, "nDCG"),
    ("ndcg_score", {"k": 3}, "nDCG@3"),
    ("dcg_score", {}, "DCG"),
    ("dcg_score", {"k": 3, "log_base": 10}, "DCG(base=10)@3"),
]


@settings(max_examples=30, deadline=None)
@given(distinct(everything_judged=True, min_size=2))
def test_scikit_learn_gains(collection):
    qrels, run = collection
    for name, options, measure in SCIKIT_LEARN:
        ours = cranfield.evaluate(qrels, run, measure, check_ids=False).by_query(measure)
        assert ours == pytest.approx(peers.scikit_learn(name, qrels, run, **options), abs=1e-9), name


@settings(max_examples=30, deadline=None)
@given(distinct(highest=1, everything_judged=True, min_size=2))
def test_scikit_learn_average_precision(collection):
    qrels, run = collection
    for query, ranking in run.items():
        qrels[query][next(iter(reversed(ranking)))] = 1  # it has no value, or 1, where nothing is relevant
    ours = cranfield.evaluate(qrels, run, "AP", check_ids=False).by_query("AP")
    assert ours == pytest.approx(peers.scikit_learn("average_precision_score", qrels, run))
    assert ours == pytest.approx(peers.scikit_learn("label_ranking_average_precision_score", qrels, run))


@settings(max_examples=30, deadline=None)
@given(distinct(highest=1, everything_judged=True, min_size=2), st.sampled_from([0.1, 0.35, 0.7, 1.0]))
def test_scikit_learn_curve(collection, recall):
    metrics = pytest.importorskip("sklearn.metrics")
    qrels, run = collection
    for query, ranking in run.items():
        qrels[query][next(iter(reversed(ranking)))] = 1
    ours = cranfield.evaluate(qrels, run, f"IPrec@{recall}", check_ids=False).by_query(f"IPrec@{recall}")
    for query, ranking in run.items():
        grades = [qrels[query][document] for document in ranking]
        precisions, recalls, _ = metrics.precision_recall_curve(grades, list(ranking.values()))
        assert ours[query] == pytest.approx(max(precisions[recalls >= recall - 1e-9]))


@settings(max_examples=30, deadline=None)
@given(distinct(highest=1))
def test_scikit_learn_sets(collection):
    """A search as a classifier of the whole collection, here the letters from a to j."""
    metrics = pytest.importorskip("sklearn.metrics")
    qrels, run = collection
    ours = cranfield.evaluate(qrels, run, "SetP SetR SetF SetF(beta=2) Accuracy(documents=10)", check_ids=False)
    for query, ranking in run.items():
        relevant = [qrels[query].get(document, 0) for document in "abcdefghij"]
        retrieved = [int(document in ranking) for document in "abcdefghij"]
        for measure, value in (
            ("SetP", metrics.precision_score(relevant, retrieved, zero_division=0)),
            ("SetR", metrics.recall_score(relevant, retrieved, zero_division=0)),
            ("SetF", metrics.f1_score(relevant, retrieved, zero_division=0)),
            ("SetF(beta=2)", metrics.fbeta_score(relevant, retrieved, beta=2, zero_division=0)),
            ("Accuracy(documents=10)", metrics.accuracy_score(relevant, retrieved)),
        ):
            assert ours.by_query(measure)[query] == pytest.approx(value), measure
