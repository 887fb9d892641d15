"""Values of runs if all of their first documents were judged: exact where they are, and near the truth otherwise."""

from __future__ import annotations

import numpy as np
import pytest

from cranfield import Decision, evaluate, modelled_values
from cranfield.errors import CranfieldError, InputError
from tests.judging.decide.test_deciding import collection, everything, first_ten, judged_further


@pytest.mark.parametrize("measure", ["nDCG@10", "P@5", "AP", "RR@10", "RBP", "DCG@10"])
def test_values_of_judged_documents_are_those_of_evaluate(measure: str) -> None:
    qrels, runs = collection(1, {"one": 1.0, "other": 2.0})
    runs = first_ten(runs)
    judged = everything(Decision.of(runs), qrels)
    for value in modelled_values(judged, runs, measure):
        plain = evaluate(judged, runs[value.run], measure)[measure]
        assert value.value == value.low == value.high == pytest.approx(plain)
        assert value.judged == value.documents <= sum(map(len, judged.values()))
        assert (value.measure, value.queries) == (measure, len(qrels))


def test_values_lie_in_their_intervals_on_simulated_collections(examples) -> None:
    """The documents that a decision between the runs has chosen are judged; plain values are too low then."""
    collections, covered, errors, plain_errors = examples(30), [], [], []
    for seed in range(200, 200 + collections):
        skills = np.random.default_rng(seed).uniform(0.5, 1.6, 3)
        qrels, runs = collection(seed, dict(zip("abc", skills, strict=True)), queries=20)
        runs = first_ten(runs)
        decision = judged_further(judged_further(Decision.of(runs), qrels, 50), qrels, 50)
        known = decision._candidates
        judged: dict[str, dict[str, float]] = {query: {} for query in known.query_ids}
        for place in np.flatnonzero(known.judged).tolist():
            query, document = known.names_of(place)
            judged[query][document] = qrels[query][document]
        full = everything(decision, qrels)
        for value in modelled_values(judged, runs, "P@10"):
            truth, plain = (evaluate(grades, runs[value.run], "P@10")["P@10"] for grades in (full, judged))
            assert 0 <= value.low < value.value < value.high <= 1
            covered.append(value.low <= truth <= value.high)
            errors.append(value.value - truth)
            plain_errors.append(plain - truth)
    doubt = 1 / np.sqrt(collections)
    assert np.mean(covered) > 0.95 - 0.3 * doubt
    assert abs(np.mean(errors)) < 0.2 * doubt
    assert np.mean(np.abs(errors)) < 0.3 * np.mean(np.abs(plain_errors))


def test_one_run_is_enough_and_says_what_it_counts() -> None:
    qrels, runs = collection(2, {"one": 1.0})
    some = {query: dict(list(grades.items())[:20]) for query, grades in qrels.items()}
    [value] = modelled_values(some, runs, "nDCG@10", depth=5)
    returned = {(query, document) for query, ranking in runs["one"].items() for document in ranking[:5]}
    assert (value.run, value.depth, value.documents) == ("one", 5, len(returned))
    assert value.judged == sum(document in some[query] for query, document in returned)
    share = f"{value.judged / value.documents:.0%}"
    interval = f"{value.value:.2f} ({value.low:.2f} to {value.high:.2f})"
    assert str(value) == f"one: nDCG@10 {interval}, estimated; {share} judged"
    [wide] = modelled_values(some, runs, "nDCG@10", depth=5, alpha=0.01)
    assert wide.low < value.low < value.value == wide.value < value.high < wide.high
    assert modelled_values(some, runs, "nDCG@10", depth=5) == [value]


def test_what_cannot_be_estimated_is_refused() -> None:
    qrels, runs = collection(2, {"one": 1.0})
    with pytest.raises(InputError, match="none of the documents that these runs return first is judged"):
        modelled_values({"q0": {"of no run": 1}}, runs)
    with pytest.raises(CranfieldError, match=r"Judged@10 cannot be modelled"):
        modelled_values(qrels, runs, "Judged@10")
    with pytest.raises(CranfieldError, match="invalid alpha 2"):
        modelled_values(qrels, runs, alpha=2)
    with pytest.raises(CranfieldError, match="there is no run"):
        modelled_values(qrels, {})


def test_more_grades_than_can_be_modelled_need_a_scale() -> None:
    run = {"q": [f"d{d}" for d in range(90)]}
    qrels = {"q": {f"d{d}": d / 30 for d in range(80)}}
    with pytest.raises(InputError, match="80 different grades, too many to model") as caught:
        modelled_values(qrels, {"run": run}, depth=90)
    assert "scale=[0, 1, 2, 3]" in str(caught.value)
    [value] = modelled_values(qrels, {"run": run}, depth=90, scale=[0, 1, 2, 3])
    assert value.judged == 80
