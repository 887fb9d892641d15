"""A column is declared in one place: one line added there, and it is found everywhere."""

import json
import subprocess
import sys
from dataclasses import fields

import pytest

from cranfield import open_store
from cranfield.judging.store.events import StoredEvent
from cranfield.judging.store.schema import EVENTS
from tests.judging.store.older import make_older

# The line is added to the source of the declaring module before anything imports it.
SCRIPT = """
import importlib.util, json, sys

where, folder, after, line = sys.argv[1:]
spec = importlib.util.find_spec("cranfield.judging.store.events")
source = spec.loader.get_source(spec.name)
assert source.count(after) == 1
module = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = module
exec(compile(source.replace(after, after + line), spec.origin, "exec"), vars(module))

from cranfield import open_store, save_sheet
from cranfield.judging.page.desk import Desk
from cranfield.judging.store.event_log import append, now
from cranfield.judging.store.schema import VERSION

with open_store(where, create=True) as store:
    if "author" in line:
        store.add_documents({"d1": {"text": "cats", "author": "Ann"}, "d2": "dogs"})
        store.add_documents([("d3", "", "birds", "", "", "Bob")])
    store.wait([("q1", "d1")])
    [task] = store.next_several("me", 1)
    sheet = save_sheet(store, f"{folder}/sheet.csv", force=True).path
    event = store.judge("q1", "d1", 1, assessor="me")
    if "confidence" in line:
        with store._writing("an event") as connection:
            row = {"query_id": "q1", "doc_id": "d1", "assessor": "me", "kind": "person", "grade": 2, "at": now()}
            append(connection, {**row, "confidence": 0.5})
    found = {
        "version": VERSION,
        "task": getattr(task, "author", None),
        "page": Desk(store)._task(task).get("author"),
        "sheet": open(sheet, encoding="utf-8-sig").read().splitlines()[:2],
        "event": getattr(event, "confidence", "there is none"),
        "events": [getattr(event, "confidence", "there is none") for event in store.events()],
    }
print(json.dumps(found))
"""
DOCUMENT = ('    image: str = ""\n', '    author: Annotated[str, Stored(since=8, in_sheet=True)] = ""\n')
EVENT = (
    '    text_sha256: str = ""\n',
    "    confidence: Annotated[float | None, Stored(since=8)] = None\n",
)


def with_column(where, tmp_path, after, line):
    command = [sys.executable, "-c", SCRIPT, str(where), str(tmp_path), after, line]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def check_document(found):
    assert found["version"] == 8
    assert found["task"] == found["page"] == "Ann"
    assert found["sheet"] == [
        '"query_id","query","unclear","doc_id","title","text","url","author","grade","comment"',
        '"q1","","","d1","","cats","","Ann","",""',
    ]


def test_a_new_column_of_documents_is_in_new_stores_tasks_sheets_and_on_the_page(tmp_path):
    check_document(with_column(tmp_path / "judgments.db", tmp_path, *DOCUMENT))


def test_a_new_column_of_events_can_be_written_to_and_read_from_a_new_store(tmp_path):
    found = with_column(tmp_path / "judgments.db", tmp_path, *EVENT)
    assert found["version"] == 8
    assert found["event"] is None
    assert found["events"] == [None, 0.5]


@pytest.mark.parametrize("version", [1, 2, 3, 4, 5, 6, 7])
def test_older_stores_get_a_new_column(tmp_path, version):
    where = tmp_path / "judgments.db"
    with open_store(where, create=True) as store:
        store.judge("q0", "d0", 2, assessor="me")
    make_older(f"sqlite:///{where}", version)
    check_document(with_column(where, tmp_path, *DOCUMENT))


def test_events_of_an_older_store_get_a_new_column(tmp_path):
    where = tmp_path / "judgments.db"
    with open_store(where, create=True) as store:
        store.judge("q0", "d0", 2, assessor="me")
    make_older(f"sqlite:///{where}", 5)
    assert with_column(where, tmp_path, *EVENT)["events"] == [None, None, 0.5]


def test_all_columns_of_events_are_declared_in_one_class():
    names = {field.name for field in fields(StoredEvent)} - {"part"}
    assert set(EVENTS.c.keys()) == {*names, "part_start", "part_end"}
