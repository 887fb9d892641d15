"""PostgreSQL's answers are lost, one at a time and each of them once: what is reported as saved is, and once."""

import pytest
import sqlalchemy as sa

from cranfield import CranfieldError, OutputError
from cranfield.io import database
from cranfield.io.commits import LostError, UnknownError
from tests.judging.lossy_proxy import losing_each

# A cursor cannot be closed when its connection has broken.
pytestmark = pytest.mark.filterwarnings("ignore:<psycopg.ServerCursor:ResourceWarning")


def test_a_grade(lossy):
    store, proxy, direct = lossy
    saved = []
    for number, result in losing_each(proxy, lambda number: store.judge("q", f"d{number}", 1, assessor="ann")):
        if isinstance(result, CranfieldError):
            assert "not saved" in str(result)
        else:
            saved.append(f"d{number}")
        assert [event.doc_id for event in direct.events()] == saved
    assert len(saved) > 0.9 * number, "a grade that was not saved is saved over a new connection"


def test_an_undo(lossy):
    store, proxy, direct = lossy
    direct.import_qrels({"q": {f"d{number}": 1 for number in range(500)}}, "ann")
    undone = 0
    for _, result in losing_each(proxy, lambda number: store.undo("ann")):
        undone += not isinstance(result, CranfieldError)
        taken = [event.undoes for event in direct.events() if event.undoes]
        assert len(taken) == len(set(taken)) == undone
        assert isinstance(result, CranfieldError) or result.undoes == taken[-1]


def test_an_import(lossy):
    store, proxy, direct = lossy
    saved, documents = [], 0
    reported = set()
    for number, result in losing_each(
        proxy, lambda number: store.import_qrels({"q": {f"d{number}": 1, f"e{number}": 0}}, "ann")
    ):
        saved += [] if isinstance(result, CranfieldError) else [f"d{number}", f"e{number}"]
        documents += 0 if isinstance(result, CranfieldError) else result
        reported.add(type(result))
        assert [event.doc_id for event in direct.events()] == saved
    assert documents == len(saved)
    assert reported == {int, LostError}


def test_nobody_knows_whether_a_grade_was_saved(lossy, monkeypatch):
    """The answer to COMMIT is lost, and the server cannot be asked."""
    store, proxy, direct = lossy

    def unreachable(self, number):
        raise sa.exc.OperationalError("", {}, Exception("unreachable"))

    monkeypatch.setattr(database.Database, "_was_committed", unreachable)
    graded = losing_each(proxy, lambda number: store.judge("q", f"d{number}", 1, assessor="ann"))
    results = [result for _, result in graded]
    unknown = [result for result in results if isinstance(result, UnknownError)]
    assert 1 <= len(unknown) <= 2  # of COMMIT: that it is complete, and that the server is ready
    assert all("it is not known whether this was saved (unreachable)" in str(error) for error in unknown)
    saved = sum(not isinstance(result, OutputError) for result in results)
    assert len(list(direct.events())) == saved + len(unknown)
