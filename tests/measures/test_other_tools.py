"""Names of other tools: ambiguous ones, those of ir_measures, similar ones, and those that need a model."""

import re

import pytest

from cranfield import MeasureError, catalogue, evaluate, parse_measure
from tests import peers

AMBIGUOUS = {
    "rbp.50": ("RBP(p=0.5)", "RBP@50"),
    "RBP.50": ("RBP(p=0.5)", "RBP@50"),
    "rbp@50": ("RBP(p=0.5)", "RBP@50"),
    "rbp.95": ("RBP(p=0.95)", "RBP@95"),
    "rbp_7": ("RBP(p=0.7)", "RBP@7"),
    "accuracy@5": ("Success@5", "PairAccuracy@5"),
    "Accuracy@10": ("Success@10", "PairAccuracy@10"),
    "accuracy_at_10": ("Success@10", "PairAccuracy@10"),
}


@pytest.mark.parametrize("name", AMBIGUOUS)
def test_ambiguous_names_are_an_error_with_alternatives(name):
    with pytest.raises(MeasureError, match=rf"^'{re.escape(name)}' means different things") as error:
        parse_measure(name)
    for meaning in AMBIGUOUS[name]:
        assert meaning in error.value.hint
        assert parse_measure(meaning).name == meaning


@pytest.mark.parametrize("name", ["RBP@50", "RBP(p=0.5)@50", "rbp", "rbp.p=0.5", "rbp_p=0.5", "rbp_resid"])
def test_unambiguous_names_are_parsed(name):
    assert parse_measure(name).definition.name.startswith("RBP")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("faithfulness", "takes a model"),
        ("answer_relevancy", "takes a model"),
        ("context_relevancy@3", "takes a model"),
        ("hit_ratio@5", "Success@5"),
        ("HR@10", "Success@10"),
        ("mean_reciprocal_rank@10", "RR@10"),
        ("mean_average_precision", "AP"),
        ("normalized_dcg@10", "nDCG@10"),
        ("cosine_ndcg@10", "nDCG@10"),
        ("dot_map@100", "AP@100"),
        ("pre@5", "P@5"),
        ("ndcg@5-", "nDCG(gain=exponential)@5"),
        ("map@5-", "AP(denominator=min)@5"),
        ("Hole@10", "Unjudged@10"),
        ("precision", "P@10, or SetP for the whole ranking"),
        ("recall", "R@10, or SetR for the whole ranking"),
        ("f1", "F@10, or SetF for the whole ranking"),
    ],
)
def test_names_of_other_tools_get_a_hint(name, hint):
    with pytest.raises(MeasureError) as error:
        parse_measure(name)
    assert hint in error.value.hint
    for word in re.findall(r"[A-Z]\w*(?:\(\w+=\w+\))?@\d+", error.value.hint):
        assert parse_measure(word)


@pytest.mark.parametrize(
    "name", ["context_preciseness@5", "top_5_accuracy", "MR", "ndcg_exp@5", "roc_auc", "xyz@5", "recall_any"]
)
def test_no_nonsense_is_suggested(name):
    with pytest.raises(MeasureError) as error:
        parse_measure(name)
    assert "did you mean" not in error.value.hint


@pytest.mark.parametrize(
    ("typo", "meant"),
    [
        ("nDGC@10", "nDCG@10"),
        ("iprek@5", "IPrec@0.5"),
        ("Precison@5", "P@5"),
        ("contex_recall", "context_recall"),
        ("context_percision@5", "context_precision@5"),
        ("hit_rat", "hit_rate@10"),
        ("TextRecal@3", "TextR@3"),
    ],
)
def test_suggestions_can_be_parsed(typo, meant):
    with pytest.raises(MeasureError, match=f"did you mean {meant}\\?"):
        parse_measure(typo)
    assert parse_measure(meant)


@pytest.mark.parametrize("definition", catalogue().values(), ids=lambda definition: definition.name)
def test_the_example_of_every_measure_can_be_parsed(definition):
    assert parse_measure(definition.example).definition is definition
    if definition.example != definition.name:
        with pytest.raises(MeasureError, match=f"for instance {re.escape(definition.example)}"):
            parse_measure(definition.name)


# Every name of ir_measures, with its required parameters and with each optional one.
NEEDED = {"cutoff": 3, "recall": 0.5, "max_rel": 3}
TRIED = {"rel": 2, "judged_only": True, "T": 2.0, "p": 0.7, "alpha": 0.3, "beta": 0.4, "min_rel": 0, "relative": True}
TRIED |= {"normalize": False, "dcg": "exp-log2", "gains": {1: 3, 2: 9}, "cutoff": 3}
QRELS = {"1": {"a": 3, "b": 0, "c": 1, "d": 2, "e": 1}, "2": {"b": 2, "c": 1, "f": 3, "g": 0}}
RUN = {
    "1": {"b": 9.0, "a": 8.0, "u": 7.0, "c": 6.0, "v": 5.0, "e": 4.0},
    "2": {"u": 9.0, "f": 8.0, "b": 7.0, "v": 6.0, "g": 5.0, "c": 4.0},
}


def spelled(name, parameters, at):
    inside = ",".join(f"{key}={value!r}" for key, value in parameters.items() if key != at)
    return f"{name}{f'({inside})' if inside else ''}{f'@{parameters[at]}' if at in parameters else ''}"


def names_of_ir_measures():
    ir_measures = pytest.importorskip("ir_measures")
    for name, measure in ir_measures.measures.registry.items():
        known = measure.SUPPORTED_PARAMS
        needed = {key: NEEDED[key] for key, kind in known.items() if kind.required}
        yield spelled(name, needed, measure.AT_PARAM)
        for key in known:
            yield spelled(name, needed | {key: NEEDED[key] if key in needed else TRIED[key]}, measure.AT_PARAM)


# rows of the differences: beta is squared there, and overlaps end with the rankings
DIFFERENT = ("SetF(beta=0.4)", "Compat", "Compat(p=0.7)", "Compat(normalize=False)")


@pytest.mark.parametrize("name", dict.fromkeys(names_of_ir_measures()))
def test_every_ir_measures_name_is_parsed_or_suggests_another(name):
    try:
        measure = parse_measure(name)
    except MeasureError as error:
        written = re.findall(r"\b[A-Z]\w*(?:\(\w+=\w+\))?(?:@\d+)?|alpha_DCG@10|leave dcg out", error.hint)
        assert written
        assert all(parse_measure(word) for word in written if word[0] in "APSa" and word != "Accuracy")
        return
    assert parse_measure(measure.name) == measure
    if measure.definition.table != "ranks" or name in DIFFERENT:
        return
    try:
        theirs = peers.ir_measures(name, QRELS, RUN)
    except Exception:
        return  # ir_measures cannot compute every measure that it can name
    assert theirs == pytest.approx(evaluate(QRELS, RUN, measure).by_query(measure), abs=1e-5)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        *(("NumRet(rel=1)", "NumRelRet"), ("NumRet(rel=2)", "NumRelRet(rel=2)"), ("SetP(relative=True)", "SetRelP")),
        *(("SetRelP(relative=False)", "SetP"), ("SetP(relative=true,rel=2)", "SetRelP(rel=2)")),
        *(("INST(min_rel=0,max_rel=3)", "INST(max_grade=3)"), ("SDCG(dcg='log2',max_rel=3)@5", "SDCG(max_grade=3)@5")),
    ],
)
def test_parameters_of_ir_measures_are_translated(theirs, ours):
    assert parse_measure(theirs).name == ours


def test_unsupported_parameters_of_ir_measures_get_a_hint():
    for name, hint in (("INST(min_rel=1)", "leave it out"), ("SDCG(dcg=exp-log2)@5", "leave dcg out")):
        with pytest.raises(MeasureError) as error:
            parse_measure(name)
        assert hint in error.value.hint


@pytest.mark.parametrize(
    ("typed", "ours"),
    [
        ("context_precision@5", "AP(denominator=found)@5"),
        ("context_precision", "AP(denominator=found)"),
        ("context_precision(rel=2)@5", "AP(rel=2, denominator=found)@5"),
        ("Context_Recall_at_5", "R@5"),
        ("context_recall", "SetR"),
        ("contextual_precision", "AP(denominator=found)"),
        ("contextual_recall@3", "R@3"),
        ("hit_rate@5", "Success@5"),
        ("hit_rate_5", "Success@5"),
        ("MRR", "RR"),
        ("mrr@10", "RR@10"),
    ],
)
def test_results_keep_the_names_of_rag_tools(typed, ours):
    result = evaluate({"q": {"a": 2, "b": 1}}, {"q": ["x", "a"]}, typed)
    assert list(result) == [typed]
    assert [measure.canonical for measure in result.measures] == [ours]
    assert result[typed] == result[ours] == evaluate({"q": {"a": 2, "b": 1}}, {"q": ["x", "a"]}, ours)[ours]


def test_a_measure_under_two_names_is_measured_once():
    assert list(evaluate({"q": {"a": 1}}, {"q": ["x", "a"]}, "MRR RR")) == ["MRR"]


def test_a_hit_rate_needs_a_cutoff():
    with pytest.raises(MeasureError, match="hit_rate needs a cutoff") as error:
        parse_measure("hit_rate")
    assert error.value.hint == "for instance hit_rate@10"


def test_context_precision_matches_ragas():
    """ragas: the mean of the precisions at the relevant contexts retrieved, divided by their number."""
    relevant = [False, True, True, False, True]
    precisions = [sum(relevant[: i + 1]) / (i + 1) for i, hit in enumerate(relevant) if hit]
    run = {"q": [f"d{i}" for i in range(5)]}
    qrels = {"q": {**{f"d{i}": int(hit) for i, hit in enumerate(relevant)}, "not retrieved": 1}}
    assert evaluate(qrels, run, "context_precision")["context_precision"] == pytest.approx(sum(precisions) / 3)
    assert evaluate(qrels, run, "context_recall")["context_recall"] == pytest.approx(3 / 4)
