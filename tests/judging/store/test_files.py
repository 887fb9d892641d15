"""The file of a store: older versions, files that are no store, failed writes, and processes that are killed."""

import os
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa

from cranfield import InputError, OutputError, evaluate, open_store
from cranfield.errors import MissingLibrary
from cranfield.io import database
from cranfield.judging.store import schema
from tests.judging.store.older import make_older
from tests.program import run

# A store as version 1 made it.
VERSION_1 = """
CREATE TABLE cranfield_store (version INTEGER NOT NULL);
CREATE TABLE queries (query_id TEXT NOT NULL, text TEXT DEFAULT '' NOT NULL, narrative TEXT DEFAULT '' NOT NULL,
  place BIGINT NOT NULL, open INTEGER DEFAULT '0' NOT NULL, PRIMARY KEY (query_id));
CREATE INDEX open_queries ON queries (place) WHERE open > 0;
CREATE TABLE documents (doc_id TEXT NOT NULL, title TEXT DEFAULT '' NOT NULL, text TEXT DEFAULT '' NOT NULL,
  url TEXT DEFAULT '' NOT NULL, image TEXT DEFAULT '' NOT NULL, PRIMARY KEY (doc_id));
CREATE TABLE waiting (number INTEGER NOT NULL, query_id TEXT NOT NULL, doc_id TEXT NOT NULL,
  why TEXT DEFAULT '' NOT NULL, assessors INTEGER DEFAULT '1' NOT NULL, remaining INTEGER DEFAULT '1' NOT NULL,
  place BIGINT NOT NULL, PRIMARY KEY (number));
CREATE UNIQUE INDEX waiting_items ON waiting (query_id, doc_id);
CREATE INDEX open_items ON waiting (query_id, place) WHERE remaining > 0;
CREATE TABLE events (number INTEGER NOT NULL, query_id TEXT NOT NULL, doc_id TEXT NOT NULL, assessor TEXT NOT NULL,
  kind TEXT NOT NULL, grade FLOAT, undoes BIGINT, adjudicates BOOLEAN DEFAULT 0 NOT NULL, comment TEXT DEFAULT '' NOT
  NULL, at TEXT NOT NULL, seconds FLOAT, text_sha256 TEXT DEFAULT '' NOT NULL, PRIMARY KEY (number));
CREATE INDEX events_of_items ON events (query_id, doc_id, number);
CREATE INDEX events_of_assessors ON events (assessor, number);
CREATE UNIQUE INDEX undone ON events (undoes) WHERE undoes IS NOT NULL;
CREATE TABLE leases (waiting BIGINT NOT NULL, assessor TEXT NOT NULL, until FLOAT NOT NULL,
  PRIMARY KEY (waiting, assessor));
CREATE TABLE passed (assessor TEXT NOT NULL, query_id TEXT NOT NULL, PRIMARY KEY (assessor, query_id));
INSERT INTO cranfield_store VALUES (1);
INSERT INTO queries VALUES ('q1', 'cats', '', 7, 1);
INSERT INTO documents VALUES ('d2', 'Dogs', 'Dogs bark.', '', '');
INSERT INTO waiting VALUES (1, 'q1', 'd1', 'bm25', 1, 0, 3), (2, 'q1', 'd2', 'bm25', 1, 1, 5);
INSERT INTO events VALUES (1, 'q1', 'd1', 'ann', 'person', 2, NULL, 0, 'good', '2026-01-31T09:30:00.000000Z', 4.5, '');
"""


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "old.db"
    connection = sqlite3.connect(path)
    connection.executescript(VERSION_1)
    connection.close()
    return path


def check_migrated(store):
    [event] = store.events()
    assert (event.grade, event.part, event.comment, event.at.year) == (2.0, None, "good", 2026)
    assert store.next_for("bob").doc_id == "d2"
    assert store.progress().by_query == {"q1": (2, 1)}
    assert [each.grade for each in store.scale] == [0, 1, 2, 3]
    assert store.wait([("q1", "d1", (0, 4))]) == 1
    store.judge("q1", "d1", 1, assessor="ann", part=(0, 4))
    assert store.view().by_query == {"q1": {"d1": 2.0}}


def test_a_store_of_version_1_opens_and_holds_parts(old):
    with open_store(old) as store:
        check_migrated(store)
    with open_store(old) as store:
        assert len(list(store.events())) == 2


def test_an_opened_store_of_version_1_has_the_tables_of_a_new_one(old, tmp_path):
    open_store(old).close()
    open_store(tmp_path / "new.db", create=True).close()

    def described(path):
        engine = sa.create_engine(f"sqlite:///{path}")
        seen = sa.inspect(engine)
        found = {
            table: (
                sorted(column["name"] for column in seen.get_columns(table)),
                sorted((index["name"], *index["column_names"]) for index in seen.get_indexes(table)),
            )
            for table in seen.get_table_names()
        }
        engine.dispose()
        return found

    assert described(old) == described(tmp_path / "new.db")


def test_a_store_of_version_1_can_be_evaluated_with_and_is_not_changed(old):
    before, beside = old.read_bytes(), sorted(old.parent.iterdir())
    assert evaluate(old, {"q1": ["d1"]}, "RR")["RR"] == 1.0
    with open_store(old, read_only=True) as store:
        assert [event.doc_id for event in store.events()] == ["d1"]
        assert store.name == str(old)
        copy = Path(store._database._copy.name)
        assert copy.is_dir()
    assert not copy.exists()
    assert (old.read_bytes(), sorted(old.parent.iterdir())) == (before, beside)


def test_a_store_of_version_1_in_postgresql(new_database):
    url = new_database()
    with open_store(url, create=True) as store:
        store.add_queries({"q1": "cats"})
        store.wait([("q1", "d1"), ("q1", "d2")])
        store.judge("q1", "d1", 2, assessor="ann", comment="good")
    make_older(url, 1)
    with pytest.raises(InputError, match="this store has version 1; to be read, it must be changed to version"):
        open_store(url, read_only=True)
    with open_store(url) as store:
        check_migrated(store)
    with open_store(url, read_only=True) as store:
        assert len(list(store.events())) == 2


def test_a_newer_store_is_refused(where):
    with open_store(where, create=True) as store, store._database.writing("the version") as connection:
        connection.execute(schema.ABOUT.update().values(version=schema.VERSION + 1))
    with pytest.raises(InputError, match=r"this store has version 9, but this cranfield reads only up to 8") as caught:
        open_store(where)
    assert "upgrade" in caught.value.hint


def test_anything_but_a_store_is_refused(tmp_path):
    text, other, folder = tmp_path / "qrels.txt", tmp_path / "other.db", tmp_path / "folder"
    text.write_text("q1 0 d1 1\n")
    connection = sqlite3.connect(other)
    connection.execute("create table t (x)")
    connection.close()
    folder.mkdir()
    for path in (text, other):
        for create in (False, True):
            with pytest.raises(InputError, match="this is not a store of judgments"):
                open_store(path, create=create)
    assert text.read_text() == "q1 0 d1 1\n"
    with pytest.raises(InputError, match="this is a folder"):
        open_store(folder)
    with pytest.raises(InputError, match="there is no such store") as caught:
        open_store(tmp_path / "nothing.db")
    assert "create=True" in caught.value.hint
    assert not (tmp_path / "nothing.db").exists()
    with pytest.raises(InputError, match="a store is a file or in PostgreSQL"):
        open_store("mysql://me:secret@host/x")
    with pytest.raises(InputError, match="this is not a store of judgments"):
        evaluate(other, {"q1": ["d1"]}, "RR")
    (tmp_path / "empty.db").touch()
    with pytest.raises(InputError, match="this is not a store of judgments"):
        open_store(tmp_path / "empty.db")
    assert (tmp_path / "empty.db").read_bytes() == b""
    with open_store(tmp_path / "empty.db", create=True) as store:
        assert store.progress().documents == 0


@pytest.mark.fault("a damaged store", "An error that names the file.")
def test_a_damaged_file(tmp_path):
    path = tmp_path / "judgments.db"
    with open_store(path, create=True) as store:
        store.import_qrels({"q": {f"d{n}": 1 for n in range(3000)}}, "ann")
    content = bytearray(path.read_bytes())
    content[4096:] = b"\x07" * (len(content) - 4096)
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"judgments\.db"):
        open_store(path).view()


def test_a_store_cannot_be_created_in_a_missing_folder(tmp_path):
    with pytest.raises((InputError, OutputError), match="unable to open database file") as caught:
        open_store(tmp_path / "nowhere" / "judgments.db", create=True)
    assert "folder" in caught.value.hint


def test_connection_errors_do_not_show_the_password():
    pytest.importorskip("psycopg")
    with pytest.raises(InputError, match="refused") as caught:
        open_store("postgresql://me:topsecret@127.0.0.1:1/x")
    assert "topsecret" not in str(caught.value)
    with pytest.raises(InputError) as caught:
        evaluate("postgresql+psycopg://me:topsecret@127.0.0.1:1/x", {"q": ["d"]}, "RR")
    assert "topsecret" not in str(caught.value)


@pytest.mark.fault("a store on a full or read-only disk", "The error says what was not saved; what was saved stays.")
@pytest.mark.parametrize(
    ("pragma", "reason"),
    [("PRAGMA max_page_count=1", "database or disk is full"), ("PRAGMA query_only=ON", "readonly database")],
)
def test_a_full_disk_and_a_file_that_cannot_be_written(tmp_path, pragma, reason):
    with open_store(tmp_path / "judgments.db", create=True) as store:
        store.judge("q", "d0", 1, assessor="ann")
        with store._database._engine.connect() as connection:
            connection.exec_driver_sql(pragma)
        comment = "x" * 20_000
        with pytest.raises(OutputError, match=reason) as caught:
            store.judge("q", "d1", 1, assessor="ann", comment=comment)
        assert "the grade of document 'd1' for query 'q': not saved" in str(caught.value)
        assert caught.value.hint
        with pytest.raises(OutputError, match="the queries: not saved"):
            store.add_queries({f"q{n}": comment for n in range(10)})
    with open_store(tmp_path / "judgments.db") as store:
        assert [event.doc_id for event in store.events()] == ["d0"]


def test_a_writer_waits_for_another_only_until_the_timeout(tmp_path, monkeypatch):
    monkeypatch.setattr(database, "PATIENCE", 0.1)
    path = tmp_path / "judgments.db"
    with open_store(path, create=True) as one, open_store(path) as other:
        with (
            one._database.writing("a test"),
            pytest.raises(OutputError, match=r"not saved \(database is locked") as caught,
        ):
            other.judge("q", "d", 1, assessor="ann")
        assert "another process" in caught.value.hint
        assert list(other.events()) == []
        other.judge("q", "d", 1, assessor="ann")


@pytest.mark.fault("a process that judges is killed", "A grade that was reported as saved is in the store.", tries=5)
def test_a_grade_is_on_disk_when_the_call_returns(tmp_path, tries):
    path = tmp_path / "judgments.db"
    with open_store(path, create=True) as store:
        store.next_for("ann")
        with store._database.writing("a test") as connection:
            assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
            assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
    code = (
        "import sys; from cranfield import open_store; store = open_store(sys.argv[1])\n"
        "for n in range(10**6):\n    store.judge('q', f'd{n}', 1, assessor='ann'); print(n, flush=True)"
    )
    saved = 0
    for _ in range(tries):
        with subprocess.Popen([sys.executable, "-c", code, path], stdout=subprocess.PIPE, text=True) as process:
            for _ in range(7):
                process.stdout.readline()
            os.kill(process.pid, signal.SIGKILL)
            rest = process.stdout.read()
        saved += 7 + rest.count("\n")
        with open_store(path) as store:
            found = len(list(store.events()))
        assert 0 <= found - saved <= 1  # one more may be saved than was reported
        saved = found


def test_several_processes_judge_at_once(where):
    with open_store(where, create=True) as store:
        store.wait([("q", f"d{n}") for n in range(40)])
    code = (
        "import sys; from cranfield import open_store; store = open_store(sys.argv[1]); who = sys.argv[2]\n"
        "while task := store.next_for(who):\n    store.judge(task.query_id, task.doc_id, 1, assessor=who)"
    )
    with ThreadPoolExecutor() as threads:
        processes = list(threads.map(lambda who: run(code, where, who, program="script"), ("a0", "a1", "a2")))
    assert [(process.returncode, process.stderr) for process in processes] == [(0, "")] * 3
    with open_store(where) as store:
        assert sorted(event.doc_id for event in store.events()) == sorted(f"d{n}" for n in range(40))


def test_a_reader_leaves_nothing_beside_the_file(tmp_path):
    with open_store(tmp_path / "judgments.db", create=True) as store:
        store.judge("q", "d", 1, assessor="ann")
    evaluate(tmp_path / "judgments.db", {"q": ["d"]}, "RR")
    assert os.listdir(tmp_path) == ["judgments.db"]


def test_the_error_without_sqlalchemy_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    with pytest.raises(MissingLibrary, match=r"pip install 'cranfield\[judge\]'"):
        open_store(tmp_path / "judgments.db", create=True)


def test_public_names_can_be_imported_without_sqlalchemy():
    code = (
        "import sys; sys.modules['sqlalchemy'] = None\n"
        "from cranfield import *\n"
        "print(agreement([('q', 'd', 'ann', 1), ('q', 'd', 'bob', 1)]).documents, Store.__name__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "1 Store\n", done.stderr
