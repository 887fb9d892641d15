"""Sheets: waiting documents as a CSV file, and grades read back from it."""

import csv
import io
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cranfield import InputError, OutputError, open_store, read_sheet, save_sheet
from cranfield.judging.store.sheets import COLUMNS, LONGEST_CELL, escaped, is_sheet, plain

HOSTILE = [
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "'quoted",
    "''=x",
    "\t=1",
    "a;b",
    "a;=1+1",
    "a;'=1",
    "a; \n@x",
    "a\n- list",
    "a\n-1",
    'say "hi"',
    "two\nlines",
    "two\r\nlines",
    "naïve 検索",
    "＝1",
    " =1",
    "007",
    "1E5",
    "3-4",
    ",",
    "﻿x",
]


def rows_of(path):
    text = path.read_bytes().decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline="")))


def filled(path, grades, separator=",", encoding="utf-8-sig", end="\r\n"):
    """Fill in the sheet as a person would: {document: (grade, comment)}."""
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, COLUMNS, delimiter=separator, lineterminator=end)
    writer.writeheader()
    for row in rows_of(path):
        grade, comment = grades.get(plain(row["doc_id"]), ("", ""))
        writer.writerow({**row, "grade": grade, "comment": comment})
    path.write_bytes(out.getvalue().encode(encoding))


@pytest.fixture
def sheet(store, tmp_path):
    store.add_queries({"q1": "cats"})
    store.add_documents({"a": {"title": "Cats", "text": "Cats sleep.", "url": "https://x"}})
    store.wait([("q1", "a"), ("q1", "b"), ("q1", "c")], why="first 10 of bm25")
    path = tmp_path / "sheet.csv"
    save_sheet(store, path)
    return path


def test_a_sheet_has_waiting_documents_with_texts_but_without_runs(store, sheet, tmp_path):
    rows = rows_of(sheet)
    assert list(rows[0]) == list(COLUMNS)
    assert {row["doc_id"] for row in rows} == {"a", "b", "c"}
    [cats] = [row for row in rows if row["doc_id"] == "a"]
    assert cats == {
        "query_id": "q1",
        "query": "cats",
        "unclear": "",
        "doc_id": "a",
        "title": "Cats",
        "text": "Cats sleep.",
        "url": "https://x",
        "grade": "",
        "comment": "",
    }
    assert b"bm25" not in sheet.read_bytes()
    save_sheet(store, tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == sheet.read_bytes()
    with pytest.raises(OutputError, match="already exists"):
        save_sheet(store, sheet)
    store.judge("q1", "a", 1, assessor="ann")
    assert save_sheet(store, sheet, force=True).documents == 2


def test_a_sheet_is_not_in_the_order_of_the_pool(store, tmp_path):
    documents = [f"d{n:03}" for n in range(40)]
    store.wait([("q", document) for document in documents])
    save_sheet(store, tmp_path / "sheet.csv")
    order = [row["doc_id"] for row in rows_of(tmp_path / "sheet.csv")]
    assert sorted(order) == documents
    assert order != documents


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize(("encoding", "end"), [("utf-8-sig", "\r\n"), ("utf-8", "\n")])
def test_a_sheet_is_imported_only_once(store, sheet, separator, encoding, end):
    filled(sheet, {"a": ("3", "good"), "b": ("0", "")}, separator, encoding, end)
    found = read_sheet(store, sheet, "ann")
    assert (found.new, found.known, found.blank, found.comments) == (2, 0, 1, 0)
    assert store.view().by_query == {"q1": {"a": 3.0, "b": 0.0}}
    [event, _] = sorted(store.events(), key=lambda each: each.doc_id)
    assert (event.assessor, event.kind, event.comment) == ("ann", "person", "good")
    assert event.text_sha256 == store.judge("q1", "a", 3, assessor="bob").text_sha256
    again = read_sheet(store, sheet, "ann")
    assert (again.new, again.known) == (0, 2)
    assert len(list(store.events())) == 3
    sheet.write_bytes(sheet.read_bytes().replace(b"good", b"better"))
    assert read_sheet(store, sheet, "ann").new == 1


def test_a_decimal_comma(store, sheet):
    filled(sheet, {"a": ("2,0", "")}, ";")
    assert read_sheet(store, sheet, "ann").new == 1
    assert store.view().by_query == {"q1": {"a": 2.0}}


def test_a_comment_without_a_grade_is_counted(store, sheet):
    filled(sheet, {"a": ("", "in Finnish"), "b": (" ", "")})
    found = read_sheet(store, sheet, "ann")
    assert (found.new, found.blank, found.comments) == (0, 3, 1)
    assert list(store.events()) == []


@pytest.mark.parametrize("wrong", ["good", "4", "-1", "2.5", "nan", "inf", "1e400"])
def test_an_unknown_grade_is_an_error_with_its_row_and_nothing_is_written(store, sheet, wrong):
    last = [row["doc_id"] for row in rows_of(sheet)][-1]
    grades = dict.fromkeys("abc", ("1", ""))
    filled(sheet, {**grades, last: (wrong, "")})
    with pytest.raises(InputError, match=rf"sheet\.csv:4: '{wrong}' is not a grade of document '{last}'") as caught:
        read_sheet(store, sheet, "ann")
    assert "0, 1, 2, 3" in caught.value.hint
    assert list(store.events()) == []


def test_the_scale_is_that_of_the_project(store, sheet):
    store.set_scale({0: "No", 5: "Yes"})
    filled(sheet, {"a": ("5", "")})
    assert read_sheet(store, sheet, "ann").new == 1
    filled(sheet, {"a": ("1", "")})
    with pytest.raises(InputError, match="is not a grade"):
        read_sheet(store, sheet, "ann")


def test_ids_that_a_spreadsheet_has_changed(store, tmp_path):
    store.wait([("007", "d")])
    path = tmp_path / "sheet.csv"
    path.write_text("query_id,doc_id,grade\n7,d,1\n")
    with pytest.raises(InputError, match=r"sheet\.csv:2: document 'd' was never waiting for query '7'") as caught:
        read_sheet(store, path, "ann")
    assert "as text" in caught.value.hint
    assert list(store.events()) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "empty|missing"),
        ("query_id,doc_id\nq1,a\n", "the column 'grade' is missing"),
        ("query_id,doc_id,grade,grade\nq1,a,1,1\n", "the column 'grade' appears twice"),
        ("query_id,doc_id,grade\nq1,a\n", "sheet.csv:2: a row has 2 cells, the header has 3"),
        ('query_id,doc_id,grade\nq1,"a,1\n', "this is not CSV"),
        ("query_id,doc_id,grade\nq1,a,1\nq1,a,2\n", "sheet.csv:3: .* has the grade 1 on line 2 and 2 here"),
        (b"query_id,doc_id,grade\nq1,\xff,1\n", "not UTF-8"),
    ],
)
def test_invalid_sheets_are_refused(store, sheet, content, message):
    sheet.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=message):
        read_sheet(store, sheet, "ann")
    assert list(store.events()) == []


def test_hostile_ids_and_texts_are_kept_but_never_run_as_formulas(store, tmp_path):
    store.add_queries({text: text for text in HOSTILE})
    store.add_documents({text: {"title": text, "text": text, "url": text} for text in HOSTILE})
    store.wait([(text, text) for text in HOSTILE])
    for text in HOSTILE:
        store.flag(text, assessor=text)
    path = tmp_path / "sheet.csv"
    save_sheet(store, path)
    for row in rows_of(path):
        for name in COLUMNS[:-2]:
            assert not row[name].startswith(("=", "+", "-", "@", "\t", "\r", "\n", "＝"))
            assert plain(row[name]) in HOSTILE
    filled(path, {text: ("2", escaped(text)) for text in HOSTILE})
    assert read_sheet(store, path, "ann").new == len(HOSTILE)
    assert store.view().by_query == {text: {text: 2.0} for text in HOSTILE}
    assert {event.comment for event in store.events()} == set(HOSTILE)
    seen = {event.query_id: event.text_sha256 for event in store.events()}
    for text in HOSTILE:
        assert store.judge(text, text, 1, assessor="bob").text_sha256 == seen[text]


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=20) | st.text("';=-+@ \t\r\nax", max_size=12))
def test_escaping_can_be_undone(text):
    assert plain(escaped(text)) == text
    assert not escaped(text).startswith(("=", "+", "-", "@", "\t", "\r"))
    # A spreadsheet with another separator sees no formula either.
    for cell in re.split(r"[;\t\r\n]", escaped(text)):
        assert not cell.strip().startswith(("=", "+", "@"))


def test_a_text_too_long_for_a_cell_is_cut_and_reported(store, tmp_path):
    store.add_documents({"d": "x" * 40_000})
    store.wait([("q", "d"), ("q", "d", (0, 5))])
    found = save_sheet(store, tmp_path / "sheet.csv")
    assert (found.documents, found.cut, found.parts) == (1, 1, 1)
    assert len(rows_of(tmp_path / "sheet.csv")[0]["text"]) == LONGEST_CELL


def test_which_files_are_sheets(store, sheet, tmp_path):
    assert is_sheet(str(sheet))
    qrels = tmp_path / "qrels.csv"
    qrels.write_text("query_id,doc_id,grade\nq1,a,1\n")
    assert not is_sheet(str(qrels))
    qrels.write_text("q1 0 a 1\n")
    assert not is_sheet(str(qrels))
    assert not is_sheet("nothing.csv")


def test_a_sheet_of_another_store_is_refused(sheet, tmp_path):
    filled(sheet, {"a": ("1", "")})
    with open_store(tmp_path / "other.db", create=True) as other, pytest.raises(InputError, match="was never waiting"):
        read_sheet(other, sheet, "ann")
