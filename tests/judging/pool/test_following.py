"""A decision that follows a store: people judge the most informative documents, and see when to stop."""

import re
from random import Random

import pytest

from cranfield.judging.decide.decide import FollowedDecision
from cranfield.judging.decide.decision import Decision
from cranfield.judging.page.desk import Desk
from cranfield.judging.pool import order as ordering
from cranfield.judging.pool.order import TURN, FollowPlan, pool_of_runs
from cranfield.judging.pool.orders import find_order
from cranfield.ranks.run import open_run

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
    # A new decision on the same store finds the same grades and the same verdict.
    assert followed(store).look() == look


def test_an_undone_document_is_requested_again(store):
    decision = followed(store)
    judge(store, decision.next("ann", 4))
    before = followed(store).look()
    query, document = decision.next("ann", 4)[0]
    store.judge(query, document, 0, assessor="ann")
    store.undo("ann")
    assert (query, document) in decision.next("ann", 10)
    assert decision.look().judged == before.judged == 10
    assert decision.look().pairs[0].difference == pytest.approx(before.pairs[0].difference)


def test_no_assessor_sees_a_document_twice_and_one_that_cannot_be_judged_goes_to_another(store):
    decision = followed(store)
    first, second, *_ = decision.next("ann", 4)
    store.judge(*first, None, assessor="ann")
    store.judge(*second, 1, assessor="ann")
    assert not {first, second} & {*decision.next("ann", 2)}
    assert first in decision.next("bob", 2)
    assert second not in decision.next("bob", 2)


def test_model_grades_do_not_count_as_those_of_people(store):
    decision = followed(store)
    first, *_ = decision.next("ann", 4)
    store.judge(*first, 3, assessor="gpt", kind="model")
    assert first in decision.next("ann", 4)
    assert followed(store).look().judged == 0


def test_the_page_shows_the_most_informative_documents_and_when_to_stop(store):
    pytest.importorskip("starlette")
    decision = followed(store)
    decision.wait("order decide: bad, good")
    assert store.progress().documents == 10  # only the chosen documents, not all candidates
    desk = Desk(store, "ann", decision)
    answer = desk.next({"assessor": "ann", "count": 3})
    shown = [(task["query_id"], task["doc_id"]) for task in answer["tasks"]]
    assert shown == decision.next("ann", 3)[:3]
    [pair] = answer["decision"]["pairs"]
    assert (pair["name"], pair["state"], answer["decision"]["done"]) == ("good vs bad", "open", False)
    few, many = answer["decision"]["needed"]
    assert 40 <= few <= many <= answer["decision"]["left"] <= answer["decision"]["documents"]
    assert pair["told"] == f"too early to tell; a verdict probably takes {few} to {many} judgments"
    assert (pair["difference"], pair["interval"], pair["full"]) == (None, None, None)
    # Documents that someone else has open are not handed out, and skipped documents wait.
    assert not {*shown} & {
        (task["query_id"], task["doc_id"]) for task in desk.next({"assessor": "bob", "count": 3})["tasks"]
    }
    later = answer["tasks"][0]["number"]
    assert later not in {
        task["number"] for task in desk.next({"assessor": "ann", "count": 3, "without": [later]})["tasks"]
    }
    while tasks := desk.next({"assessor": "ann", "count": 4})["tasks"]:
        judge(store, [(task["query_id"], task["doc_id"]) for task in tasks])
    answer = desk.next({"assessor": "ann", "count": 3})
    assert answer["decision"]["done"]
    assert answer["decision"]["needed"] == [0, 0]
    [pair] = answer["decision"]["pairs"]
    assert (pair["runs"], pair["verdict"]) == (["bad", "good"], "better")
    assert pair["difference"].startswith("+")
    assert re.fullmatch(r"\+0\.\d{3} to \+0\.\d{3}", pair["full"])
    assert "better" in answer["decision"]["pairs"][0]["reason"]
    assert len(desk.next({"assessor": "ann", "count": 3, "all": True})["tasks"]) == 3  # for assessors who want to go on


def in_order(store, name, depth=20):
    return find_order(name).follow(store, {"bad": BAD, "good": GOOD}, FollowPlan(depth))


def expected(name, grades):
    """The next document of each query in an order, given grades."""
    return find_order(name).begin(pool_of_runs({"bad": BAD, "good": GOOD}, 20, 0), grades).next_of_each(1)


@pytest.mark.parametrize("name", ["mtf", "mm", "mm-ns", "hedge", "depth", "uniform"])
def test_an_order_is_followed_document_by_document(store, name):
    followed, grades, turns = in_order(store, name), {}, []
    assert followed.summary() is None
    for _ in range(25):
        query, document = followed.next("ann", 1)[0]
        assert [document] == expected(name, grades)[query]
        store.judge(query, document, TRUTH[query][document], assessor="ann")
        grades.setdefault(query, {})[document] = TRUTH[query][document]
        turns.append(query)
    # Ten documents of one query, then ten of another.
    assert [turns[start] for start in (0, TURN, 2 * TURN)] == list(dict.fromkeys(turns))
    followed.next("ann", 1)
    assert len(followed.unjudged()) == 30 * 20 - 25


def test_queries_take_turns_until_everything_is_judged(store):
    followed = find_order("mtf").follow(store, {"one": {"p": ["a", "b"], "q": list("abcdefghijklm")}}, FollowPlan(13))
    judged = []
    while pairs := followed.next("ann", 1):
        store.judge(*pairs[0], 1, assessor="ann")
        judged.append(pairs[0][0])
    assert sorted(judged) == ["p"] * 2 + ["q"] * 13
    assert judged[-3:] == ["q"] * 3


def test_a_document_that_one_assessor_cannot_judge_counts_as_not_relevant_and_goes_to_others(store):
    runs = {"one": {"q": ["a", "b", "c"]}, "two": {"q": ["x", "y", "z"]}}
    followed = find_order("mm").follow(store, runs, FollowPlan(3))
    (query, first), *_ = followed.next("ann", 1)
    store.judge(query, first, None, assessor="ann")
    other = {"a": "x", "x": "a"}[first]
    assert followed.next("ann", 1)[0] == ("q", other)
    assert (query, first) in followed.next("bob", 6)


def test_judgments_chosen_by_a_decision_stay_marked_when_no_document_waits(store):
    decision = followed(store)
    waited = decision.next("ann", 1)[0]
    store.wait([waited, ("q0", "of no run")])
    decision.wait("order decide: bad, good")
    judge(store, decision.next("ann", 10)[:10])
    assert "chosen:decide=9" in store.view().provenance  # the tenth was already waiting
    store.judge("q0", "of no run", 0, assessor="ann")
    assert store.progress().left == 0
    assert "chosen:decide=9" in store.view().provenance


def test_the_page_hands_documents_out_in_the_order(store):
    pytest.importorskip("starlette")
    followed = in_order(store, "mm-ns")
    followed.wait("order mm-ns: bad, good")
    assert store.progress().documents == len(followed.unjudged())
    desk = Desk(store, "ann", followed)
    answer = desk.next({"assessor": "ann", "count": 3})
    assert answer["decision"] is None
    assert [(task["query_id"], task["doc_id"]) for task in answer["tasks"]] == followed.next("ann", 3)[:3]
    others = desk.next({"assessor": "bob", "count": 3})["tasks"]
    assert len({(task["query_id"], task["doc_id"]) for task in (*answer["tasks"], *others)}) == 6


@pytest.mark.parametrize("order", ["decide", "mtf"])
def test_runs_are_opened_once_also_after_an_undo(store, order, monkeypatch):
    opened = []
    monkeypatch.setattr(ordering, "open_run", lambda run, format: opened.append(run) or open_run(run, format))
    following = find_order(order).follow(store, {"bad": BAD, "good": GOOD}, FollowPlan())
    judge(store, following.next("ann", 4))
    store.undo("ann")
    assert following.next("ann", 4)
    assert opened == [BAD, GOOD]
