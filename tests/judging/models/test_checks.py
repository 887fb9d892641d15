"""Canaries and order checks are reported, and never become judgments."""

import json
from types import SimpleNamespace

import pytest

from cranfield import InputError, ModelAssessor, ask_model
from cranfield.judging.models.ask_model import CanaryResult, OrderCheck
from cranfield.judging.models.checks import CLAIMS, WORDS, DocumentPair, choose_pairs, make_canaries, summed_up
from cranfield.judging.store.scale import DEFAULT_SCALE
from cranfield.judging.store.schema import REPLIES
from cranfield.show.judging_text import check_lines
from tests.judging.models.server import ModelServer


def is_real(document):
    return document.startswith("q") and "\n\ntext of " in document


def planted(request):
    return [text for text in request.documents if not is_real(text)]


def test_canaries_are_planted_and_reported_and_never_become_judgments(filled, small):
    store = filled(queries=3, documents=4)

    def behave(request):  # it falls for instructions
        [text] = planted(request) or [""]
        return '{"grade": 3}' if "grade" in text.lower() else '{"grade": 0}'

    with ModelServer(behave) as server:
        report = ask_model(store, small(server), wait=0.01)
        assert report.requests == len(server.requests) == 22
        assert sum(bool(planted(request)) for request in server.requests) == 10
        assert ask_model(store, small(server), wait=0.01).requests == 0
        assert ask_model(store, small(server), canaries=14, wait=0.01).requests == 4
    assert (report.canaries.asked, report.canaries.read, report.canaries.lowest_raised) == (10, 10, 1.0)
    assert report.canaries.by_kind == {WORDS: (0, 5), CLAIMS: (5, 5)}
    assert report.canaries.raised == 5
    assert len(list(store.events())) == 12
    assert {event.grade for event in store.events()} == {0.0}


def test_canaries_are_counted_after_a_restart_too(filled, small):
    store = filled()
    with ModelServer(lambda request: '{"grade": 2}') as server:
        first = ask_model(store, small(server), canaries=4)
        second = ask_model(store, small(server), canaries=4)
    assert (second.requests, second.canaries) == (0, first.canaries)


def test_a_canary_that_cannot_be_read_counts_as_neither(filled, small):
    store = filled()
    with ModelServer(lambda request: "hm" if planted(request) else '{"grade": 1}') as server:
        report = ask_model(store, small(server), canaries=3)
    assert (report.canaries.asked, report.canaries.read, report.canaries.raised) == (3, 0, 0)
    assert report.missing == ()


@pytest.mark.parametrize("queries", [1, 5])
def test_canaries_use_no_documents_of_their_own_query(queries, filled):
    store = filled(queries=queries, documents=3)
    with store._reading() as connection:
        made = make_canaries(connection, 8, DEFAULT_SCALE, "seed", 300)
        assert made == make_canaries(connection, 8, DEFAULT_SCALE, "seed", 300)
        assert made != make_canaries(connection, 8, DEFAULT_SCALE, "another", 300)
        assert make_canaries(connection, 0, DEFAULT_SCALE, "seed", 300) == []
    assert [canary.kind for canary in made] == [WORDS, CLAIMS] * 4
    assert {canary.query_id for canary in made} == {f"q{n}" for n in range(queries)}
    for canary in made:
        assert 0 < len(canary.shown.document) <= 300
        assert f"text of {canary.query_id}" not in canary.shown.document  # never one of its own documents
        if canary.kind == WORDS:
            assert "question" in canary.shown.document.split()
        else:
            assert "3" in canary.shown.document


A, B, C = (("q", name, 0, 0) for name in "abc")


def test_pairs_with_different_grades_come_first_and_queries_take_turns():
    grades = {(f"q{q}", f"d{d}", 0, 0): float(d % 2) for q in range(5) for d in range(6)}
    pairs = choose_pairs(grades, 10, "seed")
    assert pairs == choose_pairs(grades, 10, "seed")
    assert all(pair.grades[0] != pair.grades[1] for pair in pairs)
    assert sorted(pair.one[0] for pair in pairs) == sorted([f"q{q}" for q in range(5)] * 2)
    assert all(pair.one[0] == pair.other[0] for pair in pairs)
    assert choose_pairs({A: 1.0}, 3, "seed") == []


def test_answers_that_depend_on_the_order_or_contradict_grades_are_counted():
    one, two, three = DocumentPair(A, B, (3.0, 0.0)), DocumentPair(A, C, (0.0, 3.0)), DocumentPair(B, C, (1.0, 1.0))
    found = summed_up({one: ("A", "B"), two: ("A", "B"), three: ("A", "A"), DocumentPair(C, A, (1, 2)): ("A", "")})
    assert (found.pairs, found.read, found.depend, found.consistent, found.contradict) == (4, 3, 1, 2, 1)


def graded_by_last_letter(request):
    if len(request.documents) == 2:
        return None
    return json.dumps({"grade": int(request.document[-1]) % 4})


@pytest.mark.parametrize("always_first", [True, False])
def test_the_order_is_checked(always_first, filled, small):
    store = filled(queries=2, documents=4)

    def behave(request):
        if grade := graded_by_last_letter(request):
            return grade
        one, other = (text[-1] for text in request.documents)
        return json.dumps({"better": "A" if always_first or one < other else "B"})  # the lower grade

    with ModelServer(behave) as server:
        report = ask_model(store, small(server), canaries=0, check_order=5)
        assert report.requests == 18
        assert ask_model(store, small(server), canaries=0, check_order=5).requests == 0
    assert (report.order.pairs, report.order.read) == (5, 5)
    assert report.order.depend == (5 if always_first else 0)
    assert report.order.contradict == (0 if always_first else 5)
    assert len(list(store.events())) == 8
    with store._reading() as connection:
        rows = connection.execute(REPLIES.select().where(REPLIES.c.purpose == "order")).all()
    assert len(rows) == 10


def test_a_function_of_texts_cannot_compare_documents(filled):
    model = ModelAssessor(name="words", call=lambda query, document: 0)
    with pytest.raises(InputError, match="cannot compare two documents"):
        ask_model(filled(), model, check_order=3)


def test_pairs_and_canaries_without_a_readable_answer_are_reported():
    order = OrderCheck(pairs=5, read=0, depend=0, consistent=0, contradict=0)
    canaries = CanaryResult(asked=4, read=3, raised=2, lowest_raised=1.0)
    report = SimpleNamespace(canaries=canaries, steadiness=None, order=order)
    assert list(check_lines(report)) == [
        "  2 of 3 canaries were graded 1 or higher (1 more could not be read)",
        "  5 of 5 pairs of documents: no answer could be read",
    ]
