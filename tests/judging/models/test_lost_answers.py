"""PostgreSQL's answers and the lock are lost while a model is asked: no document is paid for twice, no reply lost."""

from collections import Counter
from threading import Event, Thread

import pytest
import sqlalchemy as sa

from cranfield import CranfieldError, InputError, ModelAssessor, OutputError, ask_model, open_store
from tests.judging.lossy_proxy import losing_each
from tests.judging.models.server import ModelServer
from tests.waiting import until

pytestmark = pytest.mark.filterwarnings("ignore:<psycopg.ServerCursor:ResourceWarning")


def asked(server):
    return Counter(request.document.split()[0] for request in server.requests)


def test_each_answer_once(lossy, examples):
    store, proxy, direct = lossy
    step = max(1, 600 // examples(100))  # all take a minute and a half; `make thorough` tries them
    reported = set()

    with ModelServer(lambda request: '{"grade": 2}') as server:
        small = ModelAssessor(name="small", model="m", url=server.url, timeout=20)

        def grade(number):
            with direct._writing("a test") as connection:  # so that every call gets as many answers
                connection.execute(sa.text("truncate waiting, documents, events, replies, queries"))
            direct.add_queries({"q": "question"})
            direct.add_documents({f"d{number}": f"d{number} answers"})
            direct.wait([("q", f"d{number}")])
            return ask_model(store, small, canaries=0, jobs=1).graded

        def continued():
            """Once the server has noticed that the connection with the lock is gone."""
            try:
                return ask_model(direct, small, canaries=0, jobs=1).missing == ()
            except OutputError as error:
                if "another process is asking small" not in str(error):
                    raise
                return False

        for number, result in losing_each(proxy, grade, step):
            reported.add(type(result))
            until(continued)
            assert asked(server)[f"d{number}"] == 1
            assert [event.doc_id for event in direct.events()] == [f"d{number}"]
            with direct._reading() as connection:
                assert connection.execute(sa.text("select doc_id from replies")).scalars().all() == [f"d{number}"]
                assert connection.execute(sa.text("select count(*) from unanswered")).scalar() == 0
    assert reported >= {int, InputError}
    assert step > 1 or OutputError in reported  # where the lock was lost


def test_a_process_that_lost_its_lock(filled, new_database):
    """It stops before its next request; until its last one has ended, nobody else asks."""
    where = new_database()
    store = filled(where=where)
    begun, go_on = Event(), Event()
    errors = []

    def behave(request):
        begun.set()
        assert go_on.wait(60)
        return '{"grade": 2}'

    with ModelServer(behave) as server:
        small = ModelAssessor(name="small", model="m", url=server.url, timeout=60)

        def ask():
            try:
                ask_model(store, small, canaries=0, jobs=1)
            except CranfieldError as error:
                errors.append(error)

        first = Thread(target=ask)
        first.start()
        try:
            assert begun.wait(60)
            with open_store(where) as other:
                end_the_session_with_the_lock(other)
                with pytest.raises(OutputError, match="was asking small may still get 1 reply") as caught:
                    ask_model(other, small, canaries=0)
                assert caught.value.hint.startswith("try again in ")
        finally:
            go_on.set()
            first.join()
        [error] = errors
        assert "the connection was lost that kept other processes from asking small" in str(error)
        assert len(server.requests) == len(list(store.events())) == 1  # what it had asked for is saved
        with open_store(where) as other:
            assert ask_model(other, small, canaries=0).graded == 5
        assert set(asked(server).values()) == {1}


def test_a_function_is_not_called_without_the_lock(filled, new_database):
    store = filled(where=new_database())

    def call(query, document):
        end_the_session_with_the_lock(store)
        return 1

    with pytest.raises(OutputError, match="the connection was lost that kept other processes from asking small"):
        ask_model(store, ModelAssessor(name="small", call=call), canaries=0, jobs=1)
    assert len(list(store.events())) == 1


def test_a_request_that_failed_is_no_longer_under_way(filled, new_database):
    store = filled(where=new_database())
    with ModelServer(lambda request: 500) as server:
        small = ModelAssessor(name="small", model="m", url=server.url, timeout=60)
        failed = [ask_model(store, small, canaries=0, jobs=1, retries=0).failed for _ in range(2)]
        assert failed == [6, 12]


def end_the_session_with_the_lock(store):
    held = (
        "select pid from pg_locks where locktype = 'advisory' and pid <> pg_backend_pid()"
        " and database = (select oid from pg_database where datname = current_database())"
    )
    with store._reading() as connection:
        ended = connection.execute(sa.text(f"select pg_terminate_backend(pid, 10000) from ({held}) held")).scalars()
        assert list(ended) == [True]
