"""Worked examples that people learn from."""

import pytest

from cranfield import evaluate, value


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
    without = [None if rank == 6 else grade for rank, grade in enumerate(relevant, 1)]
    assert value("AP", without, missed) == close(0.2481)


def test_five_retrieved_three_relevant_four_left_behind():
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
    qrels, run = {"q": {"a": 2, "b": 0, "c": 1}}, {"q": ["c", "b", "a"]}
    for measure, expected in {"Compat": 0.421946, "Compat(p=0.8, normalize=False)": 0.338798}.items():
        assert evaluate(qrels, run, [measure])[measure] == pytest.approx(expected, abs=5e-7)


def test_gains_agree_on_binary_grades():
    assert value("nDCG", [0, 1, 0, 1]) == value("nDCG(gain=exponential)", [0, 1, 0, 1])
