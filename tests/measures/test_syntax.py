"""The language of measure names."""

import pytest

import cranfield
from cranfield import MeasureError, parse_measure, parse_measures
from cranfield.measures import known_measure
from cranfield.measures.scope import Scope
from cranfield.measures.trec_eval_names import requested, single

SAME = {
    "nDCG@10": ["nDCG@10", "ndcg_cut_10", "ndcg_cut.10", "ndcg@10", "NDCG@10", "ndcg_at_10", "nDCG(cutoff=10)"],
    "nDCG": ["nDCG", "ndcg", "NDCG", "nDCG(gain=linear)"],
    "nDCG(gain=exponential)@5": ["nDCG(gain=exponential)@5", "nDCG(gain='exponential')@5", "ndcg_burges@5"],
    "AP": ["AP", "MAP", "map", "ap"],
    "AP@100": ["AP@100", "map_cut_100", "map@100", "map_at_100"],
    "AP(rel=2)": ["AP(rel=2)", "AP( rel = 2 )", "map-l2", "MAP(rel=2.0)"],
    "P@5": ["P@5", "P_5", "P.5", "precision@5", "Precision@5", "precision_at_5"],
    "P(rel=2)@5": ["P(rel=2)@5", "precision@5-l2", "P(cutoff=5,rel=2)"],
    "R@1000": ["R@1000", "recall_1000", "Recall@1000", "recall_at_1000"],
    "RR": ["RR", "MRR", "mrr", "recip_rank"],
    "RR@10": ["RR@10", "MRR@10", "mrr_at_10"],
    "Rprec": ["Rprec", "RPrec", "R-Precision", "r-precision"],
    "Success@5": ["Success@5", "success_5", "hit_rate@5", "HitRate@5"],
    "F(beta=2)@3": ["F(beta=2)@3", "F1(beta=2)@3"],
    "F@3": ["f1@3", "F(beta=1)@3"],
    "NumRet": ["NumRet", "num_ret"],
    "RBP": ["RBP", "RBP(p=0.8)"],
    "RBP(p=0.9, max_grade=query)": ["rbp"],
    "IPrec@0.1": ["IPrec@0.1", "IPrec@0.10"],
    "IPrec(rule=trec10)@0.1": ["iprec_at_recall_0.10", "iprec_at_recall.0.1"],
    "IAP(rule=trec10)": ["11pt_avg"],
    "Rprec@0.4": ["Rprec_mult_0.40"],
    "RelP@5": ["relative_P_5"],
    "Unjudged@5": ["unj_5"],
    "GMAP": ["gm_map"],
    "SetF(beta=2)": ["set_F.4", "set_F_4", "set_F_4.0"],
    "Utility(a=2)": ["utility.2,-1,0,0", "utility_2,-1,0,0"],
    "nDCG(gain={1:3,2:9})": ["ndcg.1=3,2=9", "ndcg_1=3,2=9", "nDCG(gain={1:3,2:9})"],
    "RBP(p=0.5, max_grade=query)": ["rbp.p=0.5", "rbp_p=0.5"],
    "RBPResidual(p=0.9, tail=unjudged)": ["rbp_resid"],
    "RBPResidual(p=0.5, tail=unjudged)": ["rbp_resid.p=0.5", "rbp_resid_p=.5"],
    "Bpref": ["bpref", "BPref"],
    "P(judged_only=True)@5": ["P(judged_only=True)@5", "P(judged_only=true)@5"],
}


@pytest.mark.parametrize(("name", "spelling"), [(name, word) for name, words in SAME.items() for word in words])
def test_every_spelling_gives_the_same_measure(name, spelling):
    assert parse_measure(spelling).canonical == name
    assert parse_measure(parse_measure(spelling).name) == parse_measure(spelling)


@pytest.mark.parametrize(
    ("name", "fact"),
    [
        ("nDGC@10", "there is no measure 'nDGC'.\nHint: did you mean nDCG@10?"),
        (
            "xyzzy",
            "there is no measure 'xyzzy'.\nHint: cranfield.catalogue() lists them",
        ),
        ("P", "P needs a cutoff.\nHint: for instance P@10"),
        ("P@0", "invalid cutoff '0' for P.\nHint: cutoff is a whole number from 1"),
        ("P@-1", "invalid cutoff '-1' for P."),
        ("P@5.0", "invalid cutoff '5.0' for P."),
        ("P@ten", "invalid cutoff 'ten' for P."),
        ("P(rel=-1)@5", "invalid rel '-1' for P.\nHint: rel is a number from 0"),
        ("AP(rel=nan)", "invalid rel 'nan' for AP."),
        ("F(beta=0)@5", "invalid beta '0' for F.\nHint: beta is a number above 0"),
        (
            "nDCG(gain=cubic)",
            "invalid gain 'cubic' for nDCG.\nHint: gain is linear, exponential, binary, or gains by grade",
        ),
        ("AP(depth=3)", "AP has no parameter 'depth'.\nHint: it has cutoff, rel, denominator, judged_only"),
        ("AP(3)", "'3' is not a parameter of AP.\nHint: write name=value"),
        ("AP(judged_only=maybe)", "invalid judged_only 'maybe' for AP."),
        ("P@5@6", "'P@5@6' is not a measure."),
        ("ndcg@10-l2", "nDCG@10 has no threshold, so '-l2' has no effect on it."),
        ("", "no measure is named."),
    ],
)
def test_errors_list_what_is_allowed(name, fact):
    with pytest.raises(MeasureError) as error:
        parse_measures(name)
    assert str(error.value).startswith(fact)


def test_several_measures_in_one_string():
    assert [m.name for m in parse_measures("AP nDCG@10,RR\nP(rel=2, judged_only=True)@5 AP P_5,10,20")] == [
        *("AP", "nDCG@10", "RR", "P(rel=2, judged_only=True)@5", "P@5", "P@10", "P@20")
    ]
    assert [m.name for m in parse_measures(["AP", parse_measure("RR"), "ndcg_cut.5,10"])] == [
        *("AP", "RR", "nDCG@5", "nDCG@10")
    ]
    with pytest.raises(MeasureError, match="3 is not a measure"):
        parse_measures([3])


def test_lists_of_trec_eval_are_parsed():
    names = "set_F.4 utility.2,-1,0,0 ndcg.1=3,2=9, AP utility_1,1,1,1,RR iprec_at_recall.0.15,0.5"
    assert [m.name for m in parse_measures(names)] == [
        *("SetF(beta=2)", "Utility(a=2)", "nDCG(gain={1:3,2:9})", "AP", "Utility(b=1, c=1, d=1)", "RR"),
        *("IPrec(rule=trec10)@0.15", "IPrec(rule=trec10)@0.5"),
    ]
    values = cranfield.evaluate({"q": {"a": 1, "b": 1, "z": 1}}, {"q": ["a", "b", "d", "c", "u"]}, "set_F.4 set_F_0.5")
    assert {name: round(value, 4) for name, value in values.items()} == {
        "SetF(beta=2)": 0.5882,
        "SetF(beta=0.7071067811865476)": 0.4615,
    }


def test_measures_are_values():
    assert {parse_measure("P_5"), parse_measure("P@5")} == {parse_measure("precision@5")}
    assert parse_measure("P@5").replace(rel=2).name == "P(rel=2)@5"
    assert cranfield.catalogue()["P"](cutoff=5) == parse_measure("P@5")


def test_known_measures_are_found_by_any_name():
    assert known_measure("mrr", parse_measures("RR AP")).name == "RR"
    assert known_measure("P_5", ()).name == "P@5"


def test_parameters_of_trec_eval():
    assert [single(name).name for name in ("set_F.4", "ndcg_1=3,2=9")] == ["SetF(beta=2)", "nDCG(gain={1:3,2:9})"]
    assert single("P_5") is None
    assert requested(["P.5,10", "map", "P.20"]) == {"map": None, "P": "5,10"}


def test_relevant_documents_the_best_first():
    assert Scope.of(parse_measure("P(rel=2)@5")).best_first({"a": 1, "b": 2, "c": 3}) == ["c", "b"]
