"""Worked examples that people learn from."""

import re

import pytest

from cranfield import Policy, evaluate, value


def close(expected):
    return pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize(
    ("ranking", "ap"), [("1 5 4 6 7 2", 0.8333), ("1 2 5 3 4", 1.0), ("6 7 1 2 3 4 5", (1 / 3 + 2 / 4 + 3 / 7) / 3)]
)
def test_average_precision_of_three_systems(ranking, ap):
    qrels = {"q": {"1": 1, "2": 1, "5": 1}}
    assert evaluate(qrels, {"q": ranking.split()}, "AP")["AP"] == close(ap)


def test_ndcg_in_both_gains():
    assert value("nDCG(gain=exponential)@5", [2, 1, 2, 0, 1]) == close(0.9475)
    assert value("nDCG@5", [2, 1, 2, 0, 1]) == close(0.9583)
    assert value("nDCG", [2, 3, 3, 1, 2]) == close(0.9238)
    assert value("DCG", [2, 3, 3, 1, 2]) == close(6.5972)
    assert value("IDCG", [2, 3, 3, 1, 2]) == close(7.1410)


def test_800_documents_10_relevant_15_retrieved():
    relevant = [1 if rank in (1, 3, 6, 10, 15) else 0 for rank in range(1, 16)]
    missed = [1] * 5
    for measure, expected in {
        "P@3": 2 / 3,
        "AP": 0.29,
        "Rprec": 0.4,
        "P@15": 1 / 3,
        "R@15": 1 / 2,
        "F@15": 0.4,
    }.items():
        assert value(measure, relevant, missed) == pytest.approx(expected, abs=5e-5), measure
    for measure, expected in {
        "PrecAtRecall@0.3": 0.5,
        "SetP": 1 / 3,
        "SetR": 1 / 2,
        "SetF": 0.4,
        "E": 0.6,
        "Accuracy(documents=800)": (5 + 800 - 15 - 5) / 800,
    }.items():
        assert value(measure, relevant, missed) == pytest.approx(expected, abs=5e-5), measure


def test_ap_and_bpref_without_one_judgment():
    # A high-ranked relevant document loses its judgment: for a single query, bpref then falls at least as much as AP.
    # bpref is more stable only in the mean over queries, when judgments of all grades are removed.
    relevant = [1 if rank in (1, 3, 6, 10, 15) else 0 for rank in range(1, 16)]
    without = [None if rank == 6 else grade for rank, grade in enumerate(relevant, 1)]
    missed = [1] * 5
    for measure, (before, after) in {
        "AP": (0.29, 0.2481),
        "Bpref(variant=2004)": ((5 - 20 / 10) / 10, (4 - 16 / 9) / 9),
        "Bpref10": ((5 - 20 / 20) / 10, (4 - 17 / 19) / 9),
    }.items():
        assert value(measure, relevant, missed) == close(before), measure
        assert value(measure, without, missed) == close(after), measure


def test_bpref_and_bpref_10_as_published():
    # relevant at 1, 3 and 6 of 4 in all; judged irrelevant at 2, 4, 5 and 7
    grades, missed = [1, 0, 1, 0, 0, 1, 0], [1]
    assert value("Bpref(variant=2004)", grades, missed) == ((1 - 0 / 4) + (1 - 1 / 4) + (1 - 3 / 4)) / 4
    assert value("Bpref10", grades, missed) == pytest.approx(((1 - 0 / 14) + (1 - 1 / 14) + (1 - 3 / 14)) / 4)


def test_map_is_the_mean_over_queries():
    result = evaluate({"1": {"a": 1}, "2": {"b": 1, "c": 1}}, {"1": ["a"], "2": ["x", "b", "c"]}, "MAP AP@2")
    assert result["MAP"] == (1 + (1 / 2 + 2 / 3) / 2) / 2
    assert result["AP@2"] == (1 + (1 / 2) / 2) / 2


def test_eleven_points_and_the_curve():
    grades, missed = [1, 0, 1, 0, 1], [1]
    curve = [value(f"IPrec@{level / 10}", grades, missed) for level in range(11)]
    assert curve == close([1, 1, 1, 2 / 3, 2 / 3, 2 / 3, 0.6, 0.6, 0, 0, 0])
    assert value("IAP", grades, missed) == pytest.approx(sum(curve) / 11)
    assert value("F(beta=2)@5", grades, missed) == pytest.approx(5 * 0.6 * 0.75 / (4 * 0.6 + 0.75))


def test_five_retrieved_three_relevant_four_missed():
    grades, missed = [1, 1, 1, 0, 0], [1, 1, 1, 1]
    assert (value("P@5", grades, missed), value("R@5", grades, missed)) == (3 / 5, 3 / 7)


def test_binary_cutoff_by_cutoff():
    grades = [1, 0, 1, 0, 1]
    tables = {
        "P": [1, 0.5, 0.6667, 0.5, 0.6],
        "R": [0.3333, 0.3333, 0.6667, 0.6667, 1],
        "F": [0.5, 0.4, 0.6667, 0.5714, 0.75],
    }
    for name, expected in tables.items():
        assert [value(f"{name}@{k}", grades) for k in range(1, 6)] == close(expected)
    assert value("RR", grades) == 1
    assert value("AP", grades) == close(0.7556)
    assert value("RR", [0, 0, 0, 0, 1]) == 0.2
    assert value("RR", [0, 0, 0]) == 0


def test_graded_cutoff_by_cutoff():
    grades = [3, 2, 3, 0, 1]
    assert [value(f"CG@{k}", grades) for k in range(1, 6)] == [3, 5, 8, 8, 9]
    assert [value(f"DCG@{k}", grades) for k in range(1, 6)] == close([3, 4.2619, 5.7619, 5.7619, 6.1487])
    assert [value(f"IDCG@{k}", grades) for k in range(1, 6)] == close([3, 4.8928, 5.8928, 6.3235, 6.3235])
    linear, exponential = [1, 0.8710, 0.9778, 0.9112, 0.9724], [1, 0.7789, 0.9595, 0.9285, 0.9575]
    assert [value(f"nDCG@{k}", grades) for k in range(1, 6)] == close(linear)
    assert [value(f"nDCG(gain=exponential)@{k}", grades) for k in range(1, 6)] == close(exponential)


def test_user_models():
    for measure, expected in {
        "INST": 0.723289,
        "INSQ": 0.485297,
        "SDCG@5": 0.508740,
        "RBP(p=0.8)": 0.328,
    }.items():
        assert value(measure, [1, 0, 1]) == pytest.approx(expected, abs=5e-7), measure


def test_compatibility():
    # as ir_measures has it, and as the program of the authors does
    qrels, run = {"q": {"a": 2, "b": 0, "c": 1}}, {"q": ["c", "b", "a"]}
    shallow = {"Compat(depth=rankings)": 0.421946, "Compat(p=0.8, normalize=False, depth=rankings)": 0.338798}
    for measure, expected in shallow.items():
        assert evaluate(qrels, run, [measure])[measure] == pytest.approx(expected, abs=5e-7)
    assert value("Compat", [1, 0], missed=[1]) == pytest.approx(0.594, abs=5e-4)
    assert value("Compat(depth=rankings)", [1, 0], missed=[1]) == pytest.approx(0.756, abs=5e-4)


def test_gains_agree_on_binary_grades():
    assert value("nDCG", [0, 1, 0, 1]) == value("nDCG(gain=exponential)", [0, 1, 0, 1])


# Values of trec_eval 10, unless a row says otherwise: judgments, ranking with scores, values.
VECTORS = [
    ("a1 b0 c0", "a1 b1 c1", {"recip_rank": 0.3333}),
    (
        "a1 b1 z1 d0",
        "a9 b8 d7 c6 u5",
        {"set_P": 0.4, "set_recall": 0.6667, "set_F": 0.5, "set_F.4": 0.5882, "set_F.0.5": 0.4615, "map": 0.6667},
    ),
    (
        "a1 b1 c1 x0",
        "a9 x8 y7 b6 w5 v4 c3",
        {f"IPrec(rule=trec10)@{level / 10}": 1.0 for level in range(5)}
        | {f"IPrec(rule=trec10)@{level / 10}": 0.5 for level in range(5, 9)}
        | {f"IPrec(rule=trec10)@{level / 10}": 0.4286 for level in (9, 10)}
        | {"IAP(rule=trec10)": 0.7143, "IAP(rule=trec9)": 0.6623}
        | {"IPrec(rule=trec9)@0.4": 0.5, "IPrec(rule=trec9)@0.8": 0.4286},
    ),
    ("a1 b2 c3 d0", "a9 b8 d7 c6 u5", {"rbp": 0.1662, "rbp_resid": 0.6561}),
    ("n10 n20 n30 n40 r11 r21 r31 r41 r51 r61", "n15 r14 r23 r32 r41", {"bpref": 0.5}),
    ("r11 r21 r31 n10", "n19 r18 r27 r36", {"bpref": 0.0}),
    ("a1 b0 c-1 d1 e-1", "u9 a8 c7 b6 d5", {"infAP": 0.5}),
    (
        "a1 b0 d-1",
        "u5 d4 a3 b2",
        {"map": 0.3333, "rbp_resid": 0.8461, "AP(judged_only=True)": 1, "NumRet(judged_only=True)": 2}
        | {"RBPResidual(p=0.9, tail=unjudged, judged_only=True)": 0},
    ),
    ("a1 b3", "a2 b1", {"ndcg": 0.7967, "ndcg_burges@20": 0.70981, "ERR@20": 0.26758}),  # the last two: gdeval
]


def _documents(text):
    # "r61" is document r6 with 1; "a9" is document a with 9.
    found = re.findall(r"([a-z]\d?)(-?\d)(?= |$)", text)
    return {document: int(number) for document, number in found}


@pytest.mark.parametrize(("judged", "ranking", "values"), VECTORS, ids=[judged for judged, _, _ in VECTORS])
def test_values_match_trec_eval(judged, ranking, values):
    qrels, run = {"q1": _documents(judged)}, {"q1": _documents(ranking)}
    assert len(qrels["q1"]) == len(judged.split())
    assert len(run["q1"]) == len(ranking.split())
    result = evaluate(qrels, run, list(values))
    for measure, expected in values.items():
        assert result[measure] == close(expected), measure


def test_a_truncated_ranking_is_measured_against_all_judgments():
    qrels, run = {"q1": {"a": 3, "b": 1, "z": 2}}, {"q1": {"a": 0.9, "b": 0.8}}
    result = evaluate(qrels, run, "ndcg ndcg_cut_1 ndcg_cut_2", policy=Policy(depth=1))
    assert [result[name] for name in result] == close([0.63, 1, 0.7039])
