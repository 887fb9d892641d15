"""A store: events are appended and never changed, and assessors do not get documents that others have open."""

import threading
from collections import Counter
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import pairwise

import pytest

from cranfield import InputError, OutputError, open_store
from cranfield.judging.store import listing, waiting
from cranfield.judging.store.schema import EVENTS


def judged(store):
    return {(e.query_id, e.doc_id): e.grade for e in store.events()}


def test_an_event_records_assessor_grade_time_and_text_hash(store):
    store.add_documents({"d1": {"title": "Cats", "text": "Cats sleep.", "url": "https://x", "image": "c.png"}})
    before = datetime.now(UTC)
    event = store.judge("q1", "d1", 2, assessor="ann", comment="naïve 検索", seconds=3.5)
    assert store.judge("q1", "d1", 1, assessor="bob", kind="model", part=(5, 10)).part == (5, 10)
    first, second = store.events()
    assert first == event
    assert (first.query_id, first.doc_id, first.assessor, first.kind, first.grade) == ("q1", "d1", "ann", "person", 2.0)
    assert (first.comment, first.seconds, first.part, first.undoes) == ("naïve 検索", 3.5, None, None)
    assert before - timedelta(seconds=1) <= first.at <= datetime.now(UTC)
    assert first.text_sha256 == sha256(b"Cats\nCats sleep.").hexdigest()
    assert second.text_sha256 == sha256(b"Cats\nsleep").hexdigest()


def test_a_given_text_hash_is_kept_and_an_unknown_document_has_none(store):
    assert store.judge("q", "d", 1, assessor="ann", text_sha256="ab").text_sha256 == "ab"
    assert store.judge("q", "d", 1, assessor="ann").text_sha256 == ""


def test_a_correction_and_an_undo_are_later_events(store):
    store.judge("q", "d", 0, assessor="ann")
    store.judge("q", "d", 3, assessor="ann")
    assert store.view().by_query == {"q": {"d": 3.0}}
    assert store.undo("ann").undoes == 2
    assert store.view().by_query == {"q": {"d": 0.0}}
    assert store.undo("ann").undoes == 1
    assert store.undo("ann") is None
    with pytest.raises(InputError, match="no judgments"):
        store.view()
    store.judge("q", "d", 2, assessor="ann")
    assert store.view().by_query == {"q": {"d": 2.0}}
    assert [(e.number, e.grade, e.undoes) for e in store.events()] == [
        (1, 0.0, None),
        (2, 3.0, None),
        (3, None, 2),
        (4, None, 1),
        (5, 2.0, None),
    ]


def test_an_undo_may_name_its_document(store):
    store.judge("q", "a", 1, assessor="ann")
    store.judge("q", "b", 1, assessor="ann")
    assert store.undo("ann", query_id="q", doc_id="a").doc_id == "a"
    assert store.undo("bob") is None
    assert store.view().by_query == {"q": {"b": 1.0}}


def test_events_can_be_filtered(store):
    for who in ("ann", "bob"):
        for document in "ab":
            store.judge("q", document, 1, assessor=who)
    assert [e.number for e in store.events(assessor="bob")] == [3, 4]
    assert [e.number for e in store.events(doc_id="a", query_id="q")] == [1, 3]
    assert [e.number for e in store.events(after=3)] == [4]


def test_a_task_shows_query_and_document_and_not_why(store):
    store.add_queries({"q1": {"text": "cats", "narrative": "Pet cats."}})
    store.add_documents([("d1", "Cats", "Cats sleep.", "https://x", "c.png")])
    assert store.wait([("q1", "d1", (0, 4))], why="rank 1 of bm25") == 1
    task = store.next_for("ann")
    assert (task.query, task.narrative, task.title, task.text) == ("cats", "Pet cats.", "Cats", "Cats sleep.")
    assert (task.url, task.image, task.part) == ("https://x", "c.png", (0, 4))
    assert task.text_sha256 == sha256(b"Cats\nCats").hexdigest()
    assert "bm25" not in repr(task)


def test_assessors_do_not_get_documents_that_others_have_open(store):
    store.wait([("q", str(n)) for n in range(4)])
    first = store.next_for("ann")
    others = {store.next_for("bob").doc_id, store.next_for("cid").doc_id, store.next_for("dan").doc_id}
    assert {first.doc_id, *others} == set("0123")
    assert store.next_for("eve") is None
    assert store.next_for("ann") == first  # a reloaded page shows the same document
    store.give_back("bob")
    assert store.next_for("eve").doc_id in others


def test_a_lease_ends(store, monkeypatch):
    store.wait([("q", "d")])
    assert store.next_for("ann").doc_id == "d"
    assert store.next_for("bob") is None
    clock = waiting.time.time
    monkeypatch.setattr(waiting.time, "time", lambda: clock() + waiting.LEASE + 1)
    assert store.next_for("bob").doc_id == "d"


def test_a_lease_by_a_clock_that_is_a_week_ahead_ends_when_the_clock_is_right(store, monkeypatch):
    store.wait([("q", "d")])
    with monkeypatch.context() as wrong:
        clock = waiting.time.time
        wrong.setattr(waiting.time, "time", lambda: clock() + 7 * 86_400)
        assert store.next_for("ann").doc_id == "d"
    assert store.next_for("bob").doc_id == "d"


def test_seconds_that_nobody_can_have_spent_are_refused_and_not_counted(store):
    store.wait([("q", "d"), ("q", "e"), ("q", "f")])
    for wrong in (1.7e308, 366 * 86_400 + 1, -1, float("nan"), True):
        with pytest.raises(InputError, match="is not a number of seconds"):
            store.judge("q", "d", 1, assessor="ann", seconds=wrong)
    for document in "def":
        store.judge("q", document, 1, assessor="ann", seconds=10)
    with store._database._engine.begin() as connection:
        earlier = EVENTS.update().where(EVENTS.c.doc_id.in_(["d", "e"])).values(seconds=1.7e308)
        connection.execute(earlier)  # an earlier version took them
        assert listing.pace(connection, "ann") == 10
        assert listing._work(connection)["ann"].seconds == 10


def test_a_document_for_two_assessors_is_given_to_exactly_two(store):
    store.wait([("q", "d")], assessors=2)
    assert store.next_for("ann").doc_id == "d"
    assert store.next_for("bob").doc_id == "d"
    assert store.next_for("cid") is None
    store.judge("q", "d", 1, assessor="ann")
    assert store.next_for("ann") is None
    assert store.next_for("cid") is None
    store.judge("q", "d", 1, assessor="ann")  # a correction is not a second assessor
    assert store.progress().left == 1
    store.judge("q", "d", 0, assessor="bob")
    assert store.progress().left == 0
    assert store.next_for("cid") is None


def test_a_document_that_one_assessor_cannot_judge_goes_to_another(store):
    store.wait([("q", "d")])
    store.judge("q", "d", None, assessor="ann")
    assert store.next_for("ann") is None
    assert store.next_for("bob").doc_id == "d"
    store.undo("ann")
    store.give_back("bob")
    assert store.next_for("ann").doc_id == "d"


def test_a_model_does_not_take_the_place_of_a_person(store):
    store.wait([("q", "d")])
    store.judge("q", "d", 1, assessor="gpt", kind="model")
    assert store.next_for("ann").doc_id == "d"
    store.import_qrels({"q": {"d": 1}}, "trec")
    assert store.next_for("ann") is None


def test_an_adjudicated_document_needs_no_more_assessors(store):
    store.wait([("q", "d")], assessors=3)
    store.judge("q", "d", 1, assessor="eve", adjudicates=True)
    assert store.progress().left == 0
    store.undo("eve")
    assert store.progress().left == 1


def test_an_undone_document_waits_again(store):
    store.wait([("q", "a"), ("q", "b")])
    done = store.next_for("ann")
    store.judge("q", done.doc_id, 1, assessor="ann")
    assert store.next_for("ann").doc_id != done.doc_id
    store.undo("ann")
    assert store.progress().left == 2
    assert {task.doc_id for task in store.next_several("ann", 5)} == {"a", "b"}


def test_a_document_waits_once_and_may_later_need_more_assessors(store):
    assert store.wait([("q", "a"), ("q", "b")], why="first") == 2
    store.judge("q", "a", 1, assessor="ann")
    assert store.wait([("q", "a"), ("q", "c")], why="second", assessors=2) == 1
    assert store.progress().by_query == {"q": (3, 3)}
    assert {task.doc_id for task in store.next_several("ann", 5)} == {"b", "c"}
    assert {task.doc_id for task in store.next_several("bob", 5)} == {"a", "c"}  # ann has b open


def test_a_document_judged_before_it_waits_is_done(store):
    store.judge("q", "a", 1, assessor="ann")
    store.wait([("q", "a"), ("q", "b")])
    assert store.progress().by_query == {"q": (2, 1)}
    assert store.next_for("bob").doc_id == "b"


def test_parts_of_a_document_wait_separately(store):
    store.wait([("q", "d", (0, 5)), ("q", "d", (5, 9)), ("q", "d")])
    store.judge("q", "d", 1, assessor="ann", part=(0, 5))
    assert {task.part for task in store.next_several("ann", 5)} == {(5, 9), None}


def test_the_order_is_random_stable_and_differs_between_assessors(store):
    items = [(f"q{q}", f"d{n:02}") for q in range(8) for n in range(12)]
    store.wait(items, assessors=9)
    orders = {}
    for who in ("ann", "bob", "cid"):
        orders[who] = [(task.query_id, task.doc_id) for task in store.next_several(who, 100)]
        assert orders[who] == [(task.query_id, task.doc_id) for task in store.next_several(who, 100)]
        assert sorted(orders[who]) == items
        queries = [query for query, _ in orders[who]]
        assert sum(a != b for a, b in pairwise(queries)) == 7  # one query at a time
        assert orders[who] != items
    assert len({tuple(order) for order in orders.values()}) == 3


def test_an_assessor_continues_in_the_same_order(store):
    store.wait([(f"q{n % 3}", f"d{n}") for n in range(30)])
    order = [(task.query_id, task.doc_id) for task in store.next_several("ann", 30)]
    for query, document in order:
        task = store.next_for("ann")
        assert (task.query_id, task.doc_id) == (query, document)
        store.judge(query, document, 1, assessor="ann")
    assert store.next_for("ann") is None


def test_a_query_still_open_for_others_is_searched_again_for_new_documents(store):
    store.wait([("q1", "a"), ("q2", "b")], assessors=2)
    for query, document in [("q1", "a"), ("q2", "b")]:
        store.judge(query, document, 1, assessor="ann")
    assert store.next_for("ann") is None
    store.wait([("q1", "c")])
    assert store.next_for("ann").doc_id == "c"


def test_progress_counts_documents_queries_and_people(store):
    store.wait([("q1", "a"), ("q1", "b"), ("q2", "a")])
    store.judge("q1", "a", 1, assessor="ann", seconds=2)
    store.judge("q1", "a", 2, assessor="ann", seconds=3)
    store.judge("q2", "a", None, assessor="ann")
    store.judge("q2", "a", 1, assessor="bob", seconds=1)
    progress = store.progress()
    assert (progress.documents, progress.left, progress.queries_done) == (3, 1, 1)
    assert progress.by_query == {"q1": (2, 1), "q2": (1, 0)}
    ann, bob = progress.by_assessor["ann"], progress.by_assessor["bob"]
    assert (ann.judged, ann.cannot_judge, ann.seconds, ann.timed) == (1, 1, 5.0, 2)
    assert (bob.judged, bob.cannot_judge) == (1, 0)


def test_texts_are_brought_up_to_date_and_never_emptied(store):
    assert store.add_queries({"q1": "cats", "q2": {"text": "dogs", "narrative": "All dogs."}}) == 2
    assert store.add_queries([("q1", "big cats"), ("q2", "", "Pet dogs."), "q3"]) == 1
    store.wait([("q1", "d"), ("q2", "d")])
    texts = {task.query_id: (task.query, task.narrative) for task in store.next_several("ann", 5)}
    assert texts == {"q1": ("big cats", ""), "q2": ("dogs", "Pet dogs.")}
    assert store.add_documents({"d": "text\0with a zero", 7: "seven"}) == 2
    assert store.next_for("ann").text == "text\N{REPLACEMENT CHARACTER}with a zero"


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ({"d": {"body": "x"}}, "document 'd': there is no field 'body'"),
        ([("d", "t", "x", "u", "i", "more")], "there is no field 'more'"),
        ({"d": 7}, "7 is not text"),
        ({"": "x"}, "the id is empty"),
    ],
)
def test_invalid_documents_are_refused(tmp_path, documents, message):
    with open_store(tmp_path / "judgments.db", create=True) as store:
        with pytest.raises(InputError, match=message):
            store.add_documents(documents)
        assert store.add_documents({"d": "x"}) == 1


def test_imported_judgments_are_marked_and_not_imported_twice(store, tmp_path):
    path = tmp_path / "qrels.txt"
    path.write_text("q1 0 a 2\nq1 0 b 0\nq2 0 a -1\n")
    assert store.import_qrels(path, "trec", comment="2021") == 2
    assert store.import_qrels(path, "trec") == 0
    path.write_text("q1 0 a 1\nq1 0 b 0\n")
    assert store.import_qrels(path, "trec") == 1
    first = next(store.events())
    assert (first.kind, first.assessor, first.comment) == ("imported", "trec", "2021")
    assert store.view().by_query == {"q1": {"a": 1.0, "b": 0.0}}


def test_no_document_waits_after_a_failed_call(store):
    with pytest.raises(InputError):
        store.wait([("q", "a"), ("q", "")])
    assert store.progress().documents == 0


def test_hostile_ids_and_texts_are_kept_as_they_are(store):
    query, document, who = "q'; DROP TABLE events; --", "<script>\u202e💥\n\t\\", "änn %s :x {}"
    store.wait([(query, document)], why="'")
    task = store.next_for(who)
    assert (task.query_id, task.doc_id) == (query, document)
    store.judge(query, document, 1, assessor=who, comment='"; --')
    assert store.view([who]).by_query == {query: {document: 1.0}}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"grade": "2"}, "'2' is not a grade"),
        ({"grade": float("nan")}, "nan is not a grade"),
        ({"grade": True}, "True is not a grade"),
        ({"assessor": ""}, "the id is empty"),
        ({"assessor": "a\0b"}, "NUL character"),
        ({"query_id": ""}, "the id is empty"),
        ({"doc_id": None}, "None is not an id"),
        ({"kind": "robot"}, "there is no kind of assessor 'robot'"),
        ({"part": (5, 5)}, "is not a part of a text"),
        ({"part": (-1, 5)}, "is not a part of a text"),
        ({"seconds": -1}, "is not a number of seconds"),
    ],
)
def test_invalid_judgments_are_refused(tmp_path, arguments, message):
    with open_store(tmp_path / "judgments.db", create=True) as store:
        good = {"query_id": "q", "doc_id": "d", "grade": 1, "assessor": "ann"}
        with pytest.raises(InputError, match=message):
            store.judge(**{**good, **arguments})
        assert list(store.events()) == []


def test_threads_share_a_store_and_get_different_documents(store):
    store.wait([(f"q{n % 5}", f"d{n}") for n in range(60)])
    given, failures = Counter(), []

    def work(name):
        try:
            while task := store.next_for(name):
                given[task.query_id, task.doc_id] += 1
                store.judge(task.query_id, task.doc_id, 1, assessor=name)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(f"a{n}",)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(given) == 60
    assert set(given.values()) == {1}
    assert len(list(store.events())) == 60
    assert store.progress().left == 0


def test_a_store_that_is_only_read_is_not_written(where):
    with open_store(where, create=True) as store:
        store.judge("q", "d", 1, assessor="ann")
    with open_store(where, read_only=True) as store:
        assert store.view().by_query == {"q": {"d": 1.0}}
        with pytest.raises(OutputError, match="the grade of document 'd' for query 'q': not saved"):
            store.judge("q", "d", 2, assessor="ann")


def test_a_change_sent_twice_with_one_key_is_recorded_once(store):
    store.wait([("q", "d"), ("q", "e")])
    first = store.judge("q", "d", 2, assessor="ann", key="k1")
    assert store.judge("q", "d", 2, assessor="ann", key="k1") == first
    undone = store.undo("ann", key="k2")
    assert store.undo("ann", key="k2") == undone
    assert [event.undoes for event in store.events()] == [None, 1]
    with pytest.raises(InputError, match="was already used for something else"):
        store.judge("q", "e", 2, assessor="ann", key="k1")
    assert len(list(store.events())) == 2


def test_grades_of_many_threads_share_commits_and_each_has_its_own_error(store):
    from concurrent.futures import ThreadPoolExecutor

    store.wait([("q", f"d{number}") for number in range(60)])
    store.judge("q", "d0", 3, assessor="ann", key="taken")

    def judge(number):
        try:
            return store.judge("q", f"d{number}", number % 4, assessor="ann", key="taken" if number % 20 == 7 else None)
        except InputError as error:
            return str(error)

    with ThreadPoolExecutor(20) as pool:
        found = list(pool.map(judge, range(1, 60)))
    failed = [number for number, result in enumerate(found, 1) if isinstance(result, str)]
    assert failed == [7, 27, 47]
    grades = {f"d{number}": float(number % 4) for number in range(1, 60) if number not in failed}
    assert store.view().by_query["q"] == {"d0": 3.0, **grades}
    assert store.progress().left == 3


def test_a_project_can_set_its_own_scale(store):
    assert store.scale.names[3] == "Perfect"
    store.set_scale({1: "yes", 0: ("no", "It is not.")})
    assert [tuple(each) for each in store.scale] == [(0.0, "no", "It is not."), (1.0, "yes", "")]


@pytest.mark.parametrize(
    ("scale", "message"),
    [
        ({0: "only"}, "a scale has 2 to 11 grades, not 1"),
        ([(0, "a"), (0.0, "b")], "the grade 0 appears twice"),
        ({0: "a", -1: "b"}, "-1 is not a grade"),
        ({0: "a", float("nan"): "b"}, "nan is not a grade"),
        ({0: "a", 1: " "}, "the grade 1 has no name"),
        ([(0, "a"), 7], "7 is not a grade and its name"),
        (dict.fromkeys(range(12), "x"), "a scale has 2 to 11 grades, not 12"),
    ],
)
def test_invalid_scales_are_refused(store, scale, message):
    with pytest.raises(InputError, match=message):
        store.set_scale(scale)
    assert len(store.scale.grades) == 4
