"""Judge until decided: the verdicts, when they become final, and how many judgments are saved."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from cranfield import compare, open_store
from cranfield.errors import CranfieldError, InputError
from cranfield.judging.decide.decide import decide
from cranfield.judging.decide.decision import Decision
from cranfield.judging.decide.looks import ALL_JUDGED, NOT_WORTH, OPEN, decision_summary
from cranfield.judging.store.schema import WAITING

Qrels = dict[str, dict[str, float]]
Rankings = dict[str, list[str]]
VERDICT_OF = {"significantly better": "better", "significantly worse": "worse", "no significant difference": "neither"}
QUERIES = 25


def collection(seed: int, skills: Mapping[str, float], queries: int = QUERIES) -> tuple[Qrels, dict[str, Rankings]]:
    """Grades of 40 documents for each query, and systems that see them through noise."""
    chance = np.random.default_rng(seed)
    quality = chance.normal(0, 1, (queries, 40)) + chance.normal(0, 0.5, (queries, 1))
    grades = np.searchsorted([0.3, 1.0, 1.7], quality)
    qrels = {f"q{q}": {f"d{d}": float(grade) for d, grade in enumerate(line)} for q, line in enumerate(grades)}
    runs = {}
    for name, skill in skills.items():
        order = np.argsort(-(skill * quality + chance.normal(0, 1, quality.shape)), axis=1)
        runs[name] = {f"q{q}": [f"d{d}" for d in line] for q, line in enumerate(order)}
    return qrels, runs


def everything(decision: Decision, qrels: Qrels) -> dict[str, dict[str, float | None]]:
    """The grade of each document that some run returns."""
    found: dict[str, dict[str, float | None]] = {}
    for place in range(len(decision._candidates.doc_ids)):
        query, document = decision._candidates.names_of(place)
        found.setdefault(query, {})[document] = qrels[query][document]
    return found


def replayed(decision: Decision, qrels: Qrels) -> Decision:
    while not decision.look().done:
        grades: dict[str, dict[str, float | None]] = {}
        for query, document in decision.next(10):
            grades.setdefault(query, {})[document] = qrels[query][document]
        decision = decision.with_grades(grades)
    return decision


MEASURES = ("nDCG@10", "P@10", "RBP", "nDCG(gain=exponential)@5", "AP", "RR@10", "ERR@10", "DCG@10")


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("skill", [0.2, 0.9, 3.0])
def test_a_fully_judged_decision_equals_the_paired_t_test(measure: str, skill: float) -> None:
    qrels, runs = collection(1, {"one": 1.0, "other": skill})
    runs = {name: {query: ranking[:10] for query, ranking in run.items()} for name, run in runs.items()}
    decision = Decision.of(runs, measure)
    judged = everything(decision, qrels)
    look = decision.with_grades(judged).look()
    [pair] = look.pairs
    [difference] = compare(judged, runs, measure, baseline="one", bounds=False)
    assert (look.state, look.left, look.likely_needed) == (ALL_JUDGED, 0, 0)
    assert pair.difference == pytest.approx(difference.difference)
    assert (pair.low, pair.high) == pytest.approx((difference.low, difference.high))
    assert pair.verdict == VERDICT_OF[difference.verdict]
    assert max(pair.better, pair.worse, pair.neither) == 1
    assert (pair.from_judging, pair.from_queries) == (0, 1)


def test_runs_that_are_the_same_are_not_worth_judging() -> None:
    _, runs = collection(0, {"one": 1.0})
    decision = Decision.of({"one": runs["one"], "copy": runs["one"]})
    look = decision.look()
    assert (look.state, look.left, decision.next(10)) == (NOT_WORTH, 0, [])
    assert "the same documents in the same order" in look.reason
    assert look.pairs[0].neither == 1


def test_queries_with_identical_rankings_are_never_judged() -> None:
    qrels, runs = collection(0, {"one": 1.0, "other": 1.0})
    alike = {f"q{q}" for q in range(0, QUERIES, 2)}
    mixed = {query: runs["one" if query in alike else "other"][query] for query in runs["one"]}
    decision = Decision.of({"one": runs["one"], "mixed": mixed})
    judged = replayed(decision, qrels)._candidates
    assert not {judged.query_ids[query] for query in judged.query[judged.judged]} & alike


@pytest.mark.parametrize("seed", range(3))
def test_equally_good_runs_never_get_the_opposite_verdict(seed: int) -> None:
    qrels, runs = collection(seed, {"one": 1.0, "other": 1.0})
    start = Decision.of(runs)
    truth = start.with_grades(everything(start, qrels)).look().pairs[0].verdict
    found = replayed(start, qrels).look()
    assert {found.pairs[0].verdict, truth} != {"better", "worse"}


def test_a_clear_difference_takes_few_judgments_and_gives_a_reason_to_stop() -> None:
    qrels, runs = collection(3, {"bad": 0.2, "good": 3.0})
    look = replayed(Decision.of(runs), qrels).look()
    assert look.state == "better"
    assert 50 <= look.judged <= 0.3 * (look.judged + look.left)
    assert look.pairs[0].low > 0
    assert "twice in a row" in look.reason
    swapped = replayed(Decision.of({"good": runs["good"], "bad": runs["bad"]}), qrels).look()
    assert (swapped.state, swapped.pairs[0].high < 0) == ("worse", True)


def test_a_final_verdict_needs_fifty_judgments_and_two_looks_ten_apart() -> None:
    qrels, runs = collection(3, {"bad": 0.2, "good": 3.0})
    decision, states = Decision.of(runs), {}
    for _ in range(70):
        [(query, document)] = decision.next(1)
        decision = decision.judge(query, document, qrels[query][document])
        look = decision.look()
        states[look.judged] = (look.state, look.pairs[0].better)
    assert {state for judged, (state, _) in states.items() if judged < 50} == {OPEN}
    first = min(judged for judged, (state, _) in states.items() if state == "better")
    assert all(states[judged][1] >= 0.95 for judged in (first, first - 10))
    assert {state for judged, (state, _) in states.items() if judged > first + 10} == {"better"}


def test_stopping_early_saves_judgments_and_keeps_the_verdict() -> None:
    same, shares = [], []
    for seed in range(8):
        qrels, runs = collection(seed, {"one": 0.7, "other": 0.7 + 0.35 * (seed % 4)}, queries=40)
        start = Decision.of(runs)
        truth = start.with_grades(everything(start, qrels)).look().pairs[0].verdict
        look = replayed(start, qrels).look()
        same.append(look.pairs[0].verdict == truth)
        shares.append(look.judged / len(start._candidates.doc_ids))
    assert sum(same) >= 7
    assert np.mean(shares) < 0.5


def test_the_interval_covers_the_difference_over_many_queries() -> None:
    """Intervals from 25 queries, with an eighth of their documents judged, cover the mean of 2,000 queries."""
    qrels, runs = collection(0, {"one": 0.8, "other": 1.2}, queries=2_000)
    truth = {each.difference for each in compare(qrels, _first(runs), "DCG@10", baseline="one", bounds=False)}.pop()
    covered = 0
    for part in range(60):
        queries = [f"q{q}" for q in range(part * 25, part * 25 + 25)]
        some = {name: {query: run[query] for query in queries} for name, run in runs.items()}
        decision = Decision.of(some, "DCG@10")
        for _ in range(5):
            grades: dict[str, dict[str, float | None]] = {}
            for query, document in decision.next(10):
                grades.setdefault(query, {})[document] = qrels[query][document]
            decision = decision.with_grades(grades)
        [pair] = decision.look().pairs
        assert pair.from_judging > 0.05
        covered += pair.low <= truth <= pair.high
    assert covered >= 52  # of 60; 57 would be 95%


def _first(runs: Mapping[str, Rankings]) -> dict[str, Rankings]:
    return {name: {query: ranking[:10] for query, ranking in run.items()} for name, run in runs.items()}


def test_several_runs_are_decided_when_all_pairs_are() -> None:
    qrels, runs = collection(5, {"base": 0.7, "bad": 0.1, "good": 3.0, "copy": 0.7})
    runs["copy"] = runs["base"]
    look = replayed(Decision.of(runs), qrels).look()
    assert [(pair.run, pair.state) for pair in look.pairs] == [
        ("bad", "worse"),
        ("good", "better"),
        ("copy", NOT_WORTH),
    ]
    assert look.state == "decided"
    assert look.judged < look.left


def test_the_order_of_all_runs_is_decided_pair_by_pair() -> None:
    qrels, runs = collection(5, {"middle": 0.8, "bad": 0.1, "good": 3.0})
    against_the_first = Decision.of(runs).look()
    start = Decision.of(runs, all_pairs=True)
    assert start.look().pairs[:2] == against_the_first.pairs
    truth = [pair.verdict for pair in start.with_grades(everything(start, qrels)).look().pairs]
    look = replayed(start, qrels).look()
    assert [(pair.baseline, pair.run) for pair in look.pairs] == [
        ("middle", "bad"),
        ("middle", "good"),
        ("bad", "good"),
    ]
    assert look.state == "decided"
    assert [pair.verdict for pair in look.pairs] == truth == ["worse", "better", "better"]
    assert look.ranks == {"good": 1, "middle": 2, "bad": 3}
    # A document is judged once for all pairs, and only for pairs that are still open.
    alone = [
        replayed(Decision.of({one: runs[one], other: runs[other]}), qrels).look().judged
        for one, other in (("middle", "bad"), ("middle", "good"), ("bad", "good"))
    ]
    assert look.judged < sum(alone)
    assert look.judged < look.left
    assert look.reason.endswith("\nEach pair is tested by itself, without a correction for their number.")


def test_a_pair_too_close_to_call_is_reported_early() -> None:
    qrels, runs = collection(7, {"one": 1.0, "other": 1.0}, queries=40)
    decision, headings = Decision.of(runs), {}
    while not (look := decision.look()).done:
        [pair] = look.pairs
        headings[look.judged] = pair.heading
        assert (pair.heading == NOT_WORTH) == ("heading for not worth judging further" in look.reason)
        assert (pair.heading == NOT_WORTH and pair.from_queries > 0.5) == ("more queries would help" in look.reason)
        likely = max(pair.better, pair.worse, pair.neither) > 0.5
        assert likely or "is the most likely verdict so far" in look.reason
        sentence = decision_summary(look, "nDCG@10")["pairs"][0]["told"]
        assert (pair.heading == NOT_WORTH) == sentence.startswith("heading for not worth judging further; ")
        grades: dict[str, dict[str, float | None]] = {}
        for query, document in decision.next(10):
            grades.setdefault(query, {})[document] = qrels[query][document]
        decision = decision.with_grades(grades)
    assert look.state == NOT_WORTH
    assert look.pairs[0].heading == ""  # the verdict is reached
    assert {heading for judged, heading in headings.items() if judged < 50} == {""}
    early = min(judged for judged, heading in headings.items() if heading == NOT_WORTH)
    assert early <= 0.7 * look.judged


def test_judged_documents_outside_the_runs_count_only_in_the_ideal_ranking() -> None:
    qrels, runs = collection(2, {"one": 1.0, "other": 2.0})
    runs = _first(runs)
    decision = Decision.of(runs, grades=qrels)
    [difference] = compare(qrels, runs, "nDCG@10", baseline="one", bounds=False)
    look = decision.look()
    assert look.pairs[0].difference == pytest.approx(difference.difference)
    assert look.judged < sum(map(len, qrels.values()))


def test_a_document_that_cannot_be_judged_is_not_requested_again() -> None:
    _, runs = collection(2, {"one": 1.0, "other": 2.0})
    decision = Decision.of(runs)
    [(query, document), _] = decision.next(2)
    later = decision.judge(query, document, None)
    assert (query, document) not in later.next(later.look().left)
    assert later.judged == 0


def test_a_decision_never_changes() -> None:
    _, runs = collection(2, {"one": 1.0, "other": 2.0})
    decision = Decision.of(runs, seed=4)
    before, chosen = decision.look(), decision.next(5)
    decision.with_grades({query: {document: 3.0} for query, document in chosen})
    assert (decision.look(), decision.next(5)) == (before, chosen)
    assert Decision.of(runs, seed=4).next(5) == chosen


def test_decide_stores_exactly_the_requested_grades(tmp_path: Path) -> None:
    qrels, runs = collection(3, {"bad": 0.2, "good": 3.0})
    requested = []

    def assessor(query: str, document: str) -> float:
        requested.append((query, document))
        return qrels[query][document]

    with open_store(tmp_path / "judgments.db", create=True) as store:
        store.judge("q0", runs["good"]["q0"][0], 3, assessor="ann")
        look = decide(store, runs, assessor=assessor, name="oracle", most=20)
        assert (look.state, len(requested), look.judged) == (OPEN, 20, 21)
        look = decide(store, runs, assessor=assessor, name="oracle")
        assert look.state == "better"
        assert decide(store, runs, assessor=assessor, name="oracle") == look  # no further grade is needed
        events = [(event.query_id, event.doc_id, event.grade) for event in store.events(assessor="oracle")]
        assert store.next_for("bob") is None
        with store._reading() as connection:
            noted = connection.execute(WAITING.select()).all()
    assert {(row.query_id, row.doc_id): (row.chosen_by, row.assessors) for row in noted} == dict.fromkeys(
        requested, ("decide", 0)
    )
    assert events == [(query, document, qrels[query][document]) for query, document in requested]
    assert len(set(requested)) == len(requested) == look.judged - 1
    with open_store(tmp_path / "judgments.db") as store:
        assert sum(map(len, store.view().by_query.values())) == look.judged


@pytest.mark.parametrize(
    ("measure", "options", "message"),
    [
        ("Judged@10", {}, "cannot be decided"),
        ("nDCG(judged_only=True)@10", {}, "it is about unjudged documents"),
        ("infAP", {}, "estimated from a random sample"),
        ("xinfAP", {}, "estimated from a random sample"),
        ("nDCG@10", {"confidence": 1.0}, "invalid confidence 1.0"),
        ("nDCG@10", {"depth": 0}, "depth=0 is not a rank"),
        ("nDCG@10", {"scale": [1]}, "is not a scale"),
        ("nDCG@10", {"queries": ["q1"]}, "at least two queries"),
    ],
)
def test_measures_and_options_that_cannot_be_decided_are_refused(
    measure: str, options: dict[str, object], message: str
) -> None:
    _, runs = collection(2, {"one": 1.0, "other": 2.0})
    with pytest.raises(CranfieldError, match=message):
        Decision.of(runs, measure, **options)  # type: ignore[arg-type]


def test_one_run_and_unknown_documents_are_errors() -> None:
    _, runs = collection(2, {"one": 1.0, "other": 2.0})
    with pytest.raises(CranfieldError, match="at least two runs"):
        Decision.of({"one": runs["one"]})
    with pytest.raises(InputError, match="document 'x' of query 'q1' is not among the first documents"):
        Decision.of(runs).judge("q1", "x", 1)
    query, document = Decision.of(runs).next(1)[0]
    with pytest.raises(InputError, match="is not a grade"):
        Decision.of(runs).judge(query, document, float("nan"))
