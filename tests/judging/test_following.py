"""A decision that follows a store: people judge what tells most, take back, cannot judge, and are told when to stop."""

from random import Random

import pytest

from cranfield.judging.deciding.decision import Decision
from cranfield.judging.deciding.following import FollowedDecision
from cranfield.judging.page.desk import Desk

CHANCE = Random(3)
TRUTH = {f"q{q}": {f"d{d}": float(CHANCE.randrange(4)) for d in range(20)} for q in range(30)}
GOOD = {q: sorted(grades, key=lambda d: -grades[d] + CHANCE.gauss(0, 1)) for q, grades in TRUTH.items()}
BAD = {q: sorted(grades, key=lambda d: -grades[d] + CHANCE.gauss(0, 5)) for q, grades in TRUTH.items()}


def followed(store):
    return FollowedDecision(store, lambda grades: Decision.of({"bad": BAD, "good": GOOD}, "nDCG@10", grades))


def judge(store, pairs, assessor="ann"):
    for query, document in pairs:
        store.judge(query, document, TRUTH[query][document], assessor=assessor)


def test_people_judge_until_it_is_decided(store):
    decision = followed(store)
    every = len(decision.unjudged())
    while pairs := decision.next("ann", 4):
        judge(store, pairs[:4])
    look = decision.look()
    assert (look.done, look.state) == (True, "better")
    assert look.judged == len(list(store.events())) < every / 2
    assert len(decision.unjudged()) == every - look.judged
    # Whoever begins with the store as it is finds the same grades, and must see the verdict twice again.
    assert followed(store).look().judged == look.judged


def test_what_was_taken_back_is_asked_for_again(store):
    decision = followed(store)
    judge(store, decision.next("ann", 4))
    before = followed(store).look()
    query, document = decision.next("ann", 4)[0]
    store.judge(query, document, 0, assessor="ann")
    store.undo("ann")
    assert (query, document) in decision.next("ann", 10)
    assert decision.look().judged == before.judged == 10
    assert decision.look().pairs[0].difference == pytest.approx(before.pairs[0].difference)


def test_nobody_is_asked_twice_and_what_cannot_be_judged_goes_to_another(store):
    decision = followed(store)
    first, second, *_ = decision.next("ann", 4)
    store.judge(*first, None, assessor="ann")
    store.judge(*second, 1, assessor="ann")
    assert not {first, second} & {*decision.next("ann", 2)}
    assert first in decision.next("bob", 2)
    assert second not in decision.next("bob", 2)


def test_what_a_model_says_is_not_what_people_say(store):
    decision = followed(store)
    first, *_ = decision.next("ann", 4)
    store.judge(*first, 3, assessor="gpt", kind="model")
    assert first in decision.next("ann", 4)
    assert followed(store).look().judged == 0


def test_the_page_asks_for_what_tells_most_and_says_when_to_stop(store):
    pytest.importorskip("starlette")
    decision = followed(store)
    store.wait(decision.unjudged())
    desk = Desk(store, "ann", decision)
    told = desk.next({"assessor": "ann", "count": 3})
    asked = [(task["query_id"], task["doc_id"]) for task in told["tasks"]]
    assert asked == decision.next("ann", 3)[:3]
    [pair] = told["decision"]["pairs"]
    assert (pair["name"], pair["state"], told["decision"]["done"]) == ("good vs bad", "open", False)
    assert "to decide" in pair["told"]
    # What another has open is not handed out twice, and what is left for later waits.
    assert not {*asked} & {
        (task["query_id"], task["doc_id"]) for task in desk.next({"assessor": "bob", "count": 3})["tasks"]
    }
    later = told["tasks"][0]["number"]
    assert later not in {
        task["number"] for task in desk.next({"assessor": "ann", "count": 3, "without": [later]})["tasks"]
    }
    while tasks := desk.next({"assessor": "ann", "count": 4})["tasks"]:
        judge(store, [(task["query_id"], task["doc_id"]) for task in tasks])
    told = desk.next({"assessor": "ann", "count": 3})
    assert told["decision"]["done"]
    assert "better" in told["decision"]["pairs"][0]["reason"]
    assert len(desk.next({"assessor": "ann", "count": 3, "all": True})["tasks"]) == 3  # whoever wants to go on
