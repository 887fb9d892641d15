"""Flags of unclear queries: appended, by whom and when, withdrawn by a later one, and kept when a store is migrated."""

from datetime import UTC, datetime

import pytest
import sqlalchemy as sa

from cranfield import InputError, OutputError, evaluate, open_store
from cranfield.judging.store import save_sheet
from cranfield.judging.store.schema import FLAGS, VERSION
from tests.judging.store.older import make_older
from tests.program import run


@pytest.fixture
def asked(store):
    store.add_queries({"q1": "jaguar", "q2": "ships"})
    return store


def standing(store, query=None):
    return [(flag.query_id, flag.assessor, flag.comment) for flag in store.flags(query)]


def rows(store):
    with store._reading() as connection:
        columns = (FLAGS.c.assessor, FLAGS.c.comment, FLAGS.c.withdrawn)
        return [tuple(row) for row in connection.execute(sa.select(*columns).order_by(FLAGS.c.number))]


def test_the_last_flag_of_an_assessor_counts_and_all_are_kept(asked):
    before = datetime.now(UTC)
    flag = asked.flag("q1", assessor="ann", comment="the cat?")
    assert before <= flag.at <= datetime.now(UTC)
    asked.flag("q1", assessor="bob")
    asked.flag("q2", assessor="ann")
    assert asked.flag("q1", assessor="ann", comment="the cat or the car?").number > flag.number
    assert standing(asked) == [("q1", "bob", ""), ("q2", "ann", ""), ("q1", "ann", "the cat or the car?")]
    taken_back = asked.flag("q1", assessor="ann", withdrawn=True)
    assert (taken_back.withdrawn, repr(taken_back).endswith("ann withdrew the flag of q1>")) == (True, True)
    assert standing(asked, "q1") == [("q1", "bob", "")]
    assert [row[0] for row in rows(asked)] == ["ann", "bob", "ann", "ann", "ann"]  # nothing was changed or deleted
    asked.flag("q1", assessor="ann", comment="still")
    assert standing(asked, "q1") == [("q1", "bob", ""), ("q1", "ann", "still")]


def test_a_flag_changes_nothing_about_judging(asked):
    asked.wait([("q1", "d1")])
    asked.flag("q1", assessor="ann")
    assert asked.next_for("bob").doc_id == "d1"
    assert (list(asked.events()), asked.progress().by_assessor) == ([], {})
    assert asked.undo("ann") is None


def test_a_flag_that_is_sent_again_is_one_flag(asked):
    first = asked.flag("q1", assessor="ann", comment="?", key="k")
    assert asked.flag("q1", assessor="ann", comment="?", key="k") == first
    assert len(rows(asked)) == 1
    with pytest.raises(InputError, match="the key 'k' was already used for something else"):
        asked.flag("q2", assessor="ann", key="k")


def test_a_flag_of_an_unknown_query_is_an_error(asked):
    with pytest.raises(InputError, match="there is no query 'q3'") as caught:
        asked.flag("q3", assessor="ann")
    assert caught.value.hint
    with pytest.raises(InputError):
        asked.flag("q1", assessor="")
    assert rows(asked) == []


def test_flags_are_a_column_of_sheets(asked, tmp_path):
    asked.wait([("q1", "d1"), ("q2", "d1")])
    asked.flag("q1", assessor="ann", comment="the cat?")
    asked.flag("q1", assessor="bob")
    save_sheet(asked, tmp_path / "sheet.csv")
    lines = (tmp_path / "sheet.csv").read_text(encoding="utf-8-sig").splitlines()
    assert '"unclear"' in lines[0]
    assert sorted(line.split(",")[:3] for line in lines[1:]) == [
        ['"q1"', '"jaguar"', '"ann: the cat?; bob"'],
        ['"q2"', '"ships"', '""'],
    ]


@pytest.mark.parametrize("version", range(1, VERSION))
def test_older_stores_get_flags(where, version):
    with open_store(where, create=True) as store:
        store.add_queries({"q1": "jaguar"})
        store.judge("q1", "d1", 2, assessor="ann")
    make_older(where if "://" in where else f"sqlite:///{where}", version)
    with open_store(where) as store:
        assert store.flags() == []
        store.flag("q1", assessor="ann", comment="the cat?")
    with open_store(where, read_only=True) as store:
        assert standing(store) == [("q1", "ann", "the cat?")]
        assert store.view().by_query == {"q1": {"d1": 2.0}}
        with pytest.raises(OutputError, match="the flag of query 'q1': not saved"):
            store.flag("q1", assessor="ann")


def test_a_query_without_an_answer_is_flagged_and_measured_as_such(asked, tmp_path):
    asked.flag("q2", assessor="ann", unanswerable=True, comment="no such ship")
    asked.flag("q1", assessor="bob")
    assert asked.unanswerable() == ["q2"]
    assert repr(asked.flags("q2")[0]).endswith("ann flagged q2 as having no answer>")
    asked.judge("q1", "d1", 1, assessor="ann")
    result = evaluate(asked, {"q1": ["d1"], "q2": []}, "RR", answerable=asked.name)
    assert (result["RR"], result.answering.unanswerable) == (1.0, ("q2",))
    sheet = tmp_path / "sheet.csv"
    asked.wait([("q2", "d9")])
    save_sheet(asked, sheet)
    assert "ann (no answer): no such ship" in sheet.read_text()
    asked.flag("q2", assessor="ann", unanswerable=True, withdrawn=True)
    assert asked.unanswerable() == []


def test_a_query_is_marked_on_the_command_line(tmp_path):
    with open_store(tmp_path / "judgments.db", create=True) as store:
        store.add_queries({"q1": "jaguar", "q2": "ships"})
    marked = run("judge", "judgments.db", "--no-answer", "q2", "--me", "ann", cwd=tmp_path)
    assert marked.stdout == "judgments.db: 1 query has no answer: q2\n", marked.stderr
    back = run("judge", "judgments.db", "--has-answer", "q2", "--me", "ann", cwd=tmp_path)
    assert back.stdout == "judgments.db: 0 queries have no answer\n"
    refused = run("judge", "judgments.db", "--no-answer", "q7", cwd=tmp_path)
    assert "there is no query 'q7'" in refused.stderr
