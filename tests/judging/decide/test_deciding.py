"""Judge until decided: the verdicts, when they become final, and how many judgments are saved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest

from cranfield import compare, open_store
from cranfield.errors import CranfieldError, InputError
from cranfield.judging.decide.decide import decide
from cranfield.judging.decide.decision import CONFIDENCE, LEAST, Decision
from cranfield.judging.decide.looks import ALL_JUDGED, NOT_WORTH, OPEN, Look, PairLook, decision_summary
from cranfield.judging.decide.outlook import MUCH
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


def judged_further(decision: Decision, qrels: Qrels, count: int = 10) -> Decision:
    grades: dict[str, dict[str, float | None]] = {}
    for query, document in decision.next(count):
        grades.setdefault(query, {})[document] = qrels[query][document]
    return decision.with_grades(grades)


def looks(decision: Decision, qrels: Qrels, count: int) -> Iterator[Look]:
    """Until it is done, the last look too."""
    while not decision.look().done:
        yield decision.look()
        decision = judged_further(decision, qrels, count)
    yield decision.look()


def replayed(decision: Decision, qrels: Qrels) -> Decision:
    while not decision.look().done:
        decision = judged_further(decision, qrels)
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
    assert (look.state, look.left, look.likely_needed) == (ALL_JUDGED, 0, (0, 0))
    assert pair.difference == pytest.approx(difference.difference)
    assert (pair.low, pair.high) == pytest.approx((difference.low, difference.high))
    assert pair.verdict == VERDICT_OF[difference.verdict]
    assert max(pair.better, pair.worse, pair.neither) == 1
    assert (pair.from_judging, pair.from_queries) == (0, 1)
    assert pair.full_low == pair.full_high == pair.difference


def test_runs_that_are_the_same_are_not_worth_judging() -> None:
    _, runs = collection(0, {"one": 1.0})
    decision = Decision.of({"one": runs["one"], "copy": runs["one"]})
    look = decision.look()
    assert (look.state, look.left, decision.next(10)) == (NOT_WORTH, 0, [])
    assert "the same documents in the same order" in look.reason
    assert look.pairs[0].neither == 1
    assert look.pairs[0].likely_needed == (0, 0)


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
    assert LEAST <= look.judged <= 0.3 * (look.judged + look.left)
    assert look.pairs[0].low > 0
    sure = f"{100 * look.pairs[0].better:.0f}%" if look.pairs[0].better < 0.995 else "more than 99%"
    assert look.reason == f"good beside bad: better; judging the rest is unlikely to change that ({sure} sure)."
    swapped = replayed(Decision.of({"good": runs["good"], "bad": runs["bad"]}), qrels).look()
    assert (swapped.state, swapped.pairs[0].high < 0) == ("worse", True)


@pytest.mark.parametrize("confidence", [0.9, 0.97])
def test_a_verdict_is_final_while_enough_documents_are_judged_and_it_is_probable(confidence: float) -> None:
    """Each look follows from its own numbers alone: an earlier one neither delays nor keeps a verdict."""
    qrels, runs = collection(3, {"bad": 0.3, "good": 1.5})
    decision, states = Decision.of(runs, confidence=confidence), []
    for _ in range(60):
        decision = judged_further(decision, qrels, 2)
        look = decision.look()
        [pair] = look.pairs
        sure = pair.probability >= confidence and not (pair.verdict == "neither" and pair.from_judging > MUCH)
        final = NOT_WORTH if pair.verdict == "neither" else pair.verdict
        assert look.state == (final if sure and look.judged >= LEAST else OPEN)
        assert look.done == (look.state != OPEN)
        states.append((look.judged, look.state))
    assert {state for judged, state in states if judged < LEAST} == {OPEN}
    assert "better" in dict(states).values()


def test_several_pairs_are_final_together_once_hardly_any_verdict_is_expected_to_be_wrong() -> None:
    """Each pair by itself, or all at once, from 80% on, if half as many wrong verdicts are expected."""
    together = 0
    for seed in range(3):
        qrels, runs = collection(seed, dict(zip("abcd", (0.3, 0.8, 1.5, 3.0), strict=True)), queries=20)
        for look in looks(Decision.of(runs, all_pairs=True), qrels, 10):
            if look.judged < LEAST:
                assert {pair.state for pair in look.pairs} == {OPEN}
                continue
            held = [pair.verdict == "neither" and pair.from_judging > MUCH for pair in look.pairs]
            chances = [pair.probability * (not much) for pair, much in zip(look.pairs, held, strict=True)]
            mean = np.mean([pair.probability for pair in look.pairs])
            all_at_once = min(chances) >= 0.8 and mean >= (1 + CONFIDENCE) / 2
            together += all_at_once and min(chances) < CONFIDENCE
            for pair, chance in zip(look.pairs, chances, strict=True):
                final = NOT_WORTH if pair.verdict == "neither" else pair.verdict
                assert pair.state == (final if chance >= CONFIDENCE or all_at_once else OPEN)
            assert look.done == (all_at_once or min(chances) >= CONFIDENCE)
    assert together


def test_neither_is_never_final_while_much_of_the_uncertainty_is_not_judged() -> None:
    held = ended = 0
    for seed in (4, 5, 7, 9, 14):
        qrels, runs = collection(seed, {"one": 1.0, "other": 1.0}, queries=20)
        for look in looks(Decision.of(runs), qrels, 5):
            [pair] = look.pairs
            if look.judged >= LEAST and pair.neither >= CONFIDENCE:
                assert (pair.state == NOT_WORTH) == (pair.from_judging <= MUCH)
                held += pair.state == OPEN
        ended += look.state == NOT_WORTH
    assert held >= 5  # it was sure that no difference is significant, and did not call that final yet
    assert ended >= 4


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
    truth = {each.difference for each in compare(qrels, first_ten(runs), "DCG@10", baseline="one", bounds=False)}.pop()
    covered = 0
    for part in range(60):
        queries = [f"q{q}" for q in range(part * 25, part * 25 + 25)]
        some = {name: {query: run[query] for query in queries} for name, run in runs.items()}
        decision = Decision.of(some, "DCG@10")
        for _ in range(5):
            decision = judged_further(decision, qrels)
        [pair] = decision.look().pairs
        assert pair.from_judging > 0.05
        covered += pair.low <= truth <= pair.high
    assert covered >= 52  # of 60; 57 would be 95%


def first_ten(runs: Mapping[str, Rankings]) -> dict[str, Rankings]:
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
    qrels, runs = collection(12, {"one": 1.0, "other": 1.0}, queries=20)
    headings = {}
    for look in looks(Decision.of(runs), qrels, 10):
        [pair] = look.pairs
        headings[look.judged] = pair.heading
        if look.done or not look.judged:
            assert pair.heading == ""
            continue
        sure = pair.neither >= 0.8 and pair.from_judging <= MUCH
        assert (pair.heading == NOT_WORTH) == (sure and look.judged >= LEAST)
        assert (pair.heading == NOT_WORTH) == ("likely outcome: no significant difference" in look.reason)
        assert (pair.heading == NOT_WORTH) == pair.outlook.startswith("likely outcome: no significant difference")
    assert look.state == NOT_WORTH
    assert {heading for judged, heading in headings.items() if judged < LEAST} == {""}
    assert min(judged for judged, heading in headings.items() if heading == NOT_WORTH) < look.judged


# Before the first grade


@pytest.mark.parametrize("number", [2, 3])
@pytest.mark.parametrize("measure", ["nDCG@10", "P@10", "AP"])
def test_nothing_is_claimed_before_the_first_grade(number: int, measure: str) -> None:
    _, runs = collection(2, dict(zip(("one", "other", "third"), (1.0, 2.0, 0.5), strict=True)))
    start = Decision.of(dict(list(runs.items())[:number]), measure, all_pairs=True)
    query, document = start.next(1)[0]
    outside = {"q1": {"of no run": 3.0}}
    ungraded = start.judge(query, document, None)  # seen, but it tells nothing about the runs
    for decision in (start, ungraded, Decision.of(dict(list(runs.items())[:number]), measure, outside, all_pairs=True)):
        look = decision.look()
        assert (look.state, look.judged) == (OPEN, 0)
        assert look.ranks == dict.fromkeys(list(runs)[:number], 1)
        for pair, told in zip(look.pairs, decision_summary(look, measure, 0.05)["pairs"], strict=True):
            assert pair[6:] == (None,) * 10 + ("", "")
            assert pair.probability is None
            few, many = pair.likely_needed
            assert pair.outlook == f"too early to tell; a verdict probably takes {few:,} to {many:,} judgments"
            assert pair.reason == f"{pair.run} beside {pair.baseline}: {pair.outlook}."
            assert (told["difference"], told["interval"], told["full"], told["verdict"]) == (None, None, None, "")
            assert told["told"] == pair.outlook


def test_the_first_grade_brings_an_estimate() -> None:
    qrels, runs = collection(2, {"one": 1.0, "other": 2.0})
    decision = Decision.of(runs)
    query, document = decision.next(1)[0]
    look = decision.judge(query, document, qrels[query][document]).look()
    [pair] = look.pairs
    assert (look.judged, look.state, pair.heading) == (1, OPEN, "")
    assert pair.low < pair.full_low < pair.difference < pair.full_high < pair.high
    assert pair.better + pair.worse + pair.neither == pytest.approx(1)
    assert pair.from_judging + pair.from_queries == pytest.approx(1)
    assert pair.verdict == max(("better", "worse", "neither"), key=lambda name: getattr(pair, name))


# What a look says


@pytest.mark.parametrize("skills", [(0.2, 3.0), (1.0, 1.0), (0.8, 1.2)])
def test_the_judgments_needed_are_a_range_within_what_is_left(skills: tuple[float, float]) -> None:
    qrels, runs = collection(4, dict(zip(("one", "other"), skills, strict=True)))
    for look in looks(Decision.of(runs), qrels, 10):
        [pair] = look.pairs
        few, many = pair.likely_needed
        assert look.likely_needed == (few, many)
        if look.done:
            assert (few, many) == (0, 0)
        else:
            assert 1 <= few <= many <= pair.left
            assert few >= min(LEAST - look.judged, pair.left)


def test_several_pairs_need_as_many_as_the_one_that_needs_most_and_at_most_all_together() -> None:
    qrels, runs = collection(5, {"base": 0.7, "bad": 0.1, "good": 3.0})
    for look in looks(Decision.of(runs), qrels, 20):
        few, many = zip(*(pair.likely_needed for pair in look.pairs), strict=True)
        assert look.likely_needed == (max(few), min(sum(many), look.left))
        assert look.likely_needed[1] <= look.left


PAIR_STATES = [OPEN, ALL_JUDGED, NOT_WORTH, "better", "worse"]


@pytest.mark.parametrize("state", PAIR_STATES)
@pytest.mark.parametrize("verdict", ["better", "worse", "neither"])
@pytest.mark.parametrize("from_judging", [0.0, 0.2, MUCH, 0.41, 0.6, 1.0])
def test_sentences_advise_more_queries_only_where_these_are_the_greater_uncertainty(
    state: str, verdict: str, from_judging: float
) -> None:
    if state != OPEN and {NOT_WORTH: "neither"}.get(state, verdict if state == ALL_JUDGED else state) != verdict:
        return  # a final state is that of its verdict
    if state == NOT_WORTH and from_judging > MUCH:
        return
    chances = {name: 0.9 if name == verdict else 0.05 for name in ("better", "worse", "neither")}
    ends = dict.fromkeys(("difference", "low", "high", "full_low", "full_high"), 0.1)
    left = 0 if state == ALL_JUDGED else 7
    needed = (3, 7) if state == OPEN else (0, 0)
    for heading in ("", {"neither": NOT_WORTH}.get(verdict, verdict)) if state == OPEN else ("",):
        shares = {"from_judging": from_judging, "from_queries": 1 - from_judging}
        pair = PairLook(
            "a", "b", "P", left, needed, state, **ends, **shares, **chances, verdict=verdict, heading=heading
        )
        look = Look(state, 60, 100, left, needed, (pair,))
        [told] = decision_summary(look, "P", 0.05)["pairs"]
        for text in (pair.reason, pair.outlook, look.reason, str(look), told["told"], told["reason"]):
            if "more queries" in text:
                assert state == NOT_WORTH or (state == OPEN and from_judging <= MUCH)
            elif text == pair.reason:
                assert state not in (OPEN, NOT_WORTH) or from_judging > MUCH
            assert text.count("more queries") <= 1
            assert text.count("unjudged documents") <= 1
            assert "None" not in text
        if state == OPEN:
            assert f"{from_judging:.0%} of the uncertainty comes from unjudged documents" in pair.reason
            assert "probably 3 to 7 more judgments" in pair.reason
            assert ("likely outcome" in pair.reason) == (heading != "") == ("too early" not in pair.reason)
        else:
            assert "more judgment" not in pair.reason


@pytest.mark.parametrize(("needed", "text"), [((1, 1), "1 more judgment"), ((2, 2), "2 more judgments")])
def test_a_range_of_one_number_is_one_number(needed: tuple[int, int], text: str) -> None:
    shares = {"from_judging": 0.5, "from_queries": 0.5, "better": 0.9, "worse": 0.0, "neither": 0.1}
    pair = PairLook("a", "b", "P", 9, needed, OPEN, **shares, verdict="better")
    assert f"probably {text};" in pair.reason
    assert f"takes {text.replace('more ', '')}." in PairLook("a", "b", "P", 9, needed, OPEN).reason


# A look depends on the grades alone


def test_a_look_depends_neither_on_the_order_of_grades_nor_on_how_the_decision_was_resumed() -> None:
    qrels, runs = collection(6, {"one": 0.8, "other": 1.2, "third": 1.0})
    decision = Decision.of(runs)
    chosen = []
    for _ in range(6):
        batch = decision.next(10)
        chosen += batch
        grades: dict[str, dict[str, float | None]] = {}
        for query, document in batch:
            grades.setdefault(query, {})[document] = qrels[query][document]
        decision = decision.with_grades(grades)
    again, known = Decision.of(runs), {}
    for place in np.random.default_rng(0).permutation(len(chosen)):
        query, document = chosen[place]
        again = again.judge(query, document, qrels[query][document])
        known.setdefault(query, {})[document] = qrels[query][document]
    for other in (again, Decision.of(runs, grades=known), Decision.of(runs).with_grades(known)):
        assert other.look() == decision.look()
        assert other.next(10) == decision.next(10)


def test_a_grade_given_twice_counts_as_the_last_one() -> None:
    qrels, runs = collection(6, {"one": 0.8, "other": 1.2})
    decision = Decision.of(runs)
    for query, document in decision.next(20):
        decision = decision.judge(query, document, qrels[query][document])
    query, document = decision.next(1)[0]
    changed = decision.judge(query, document, 3).judge(query, document, None).judge(query, document, 1)
    assert changed.look() == decision.judge(query, document, 1).look()


# Whether it is as sure as it says


def test_intervals_and_probabilities_hold_on_simulated_collections(examples) -> None:
    """Of the difference of the queries at hand, if everything were judged, and of the verdict on it."""
    collections, covered, sure, squares, expected = examples(40), [], [], [], []
    for seed in range(100, 100 + collections):
        skills = np.random.default_rng(seed).uniform(0.5, 1.6, 3)
        qrels, runs = collection(seed, dict(zip("abc", skills, strict=True)), queries=20)
        decision = Decision.of(runs, all_pairs=True)
        truth = decision.with_grades(everything(decision, qrels)).look().pairs
        for count in (25, 50, 50):
            decision = judged_further(decision, qrels, count)
            for pair, true in zip(decision.look().pairs, truth, strict=True):
                covered.append(pair.full_low <= true.difference <= pair.full_high)
                chances = {name: getattr(pair, name) for name in ("better", "worse", "neither")}
                squares.append(sum((chance - (true.verdict == name)) ** 2 for name, chance in chances.items()))
                expected.append(1 - sum(chance**2 for chance in chances.values()))
                if max(chances.values()) >= 0.95:
                    sure.append(pair.verdict == true.verdict)
    doubt = 1 / np.sqrt(collections)  # the looks at a collection resemble each other
    assert abs(np.mean(covered) - 0.95) < 0.3 * doubt
    assert np.mean(sure) > 1 - 0.3 * doubt
    assert len(sure) > collections
    # The squared error of probabilities is as large as these themselves say, on average.
    assert abs(np.mean(squares) - np.mean(expected)) < 0.4 * doubt


def test_judged_documents_outside_the_runs_count_only_in_the_ideal_ranking() -> None:
    qrels, runs = collection(2, {"one": 1.0, "other": 2.0})
    runs = first_ten(runs)
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
        ("Judged@10", {}, "cannot be modelled"),
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
