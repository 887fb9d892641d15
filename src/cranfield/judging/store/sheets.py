"""Files into a store: sheets that people have filled in, and judgments in any format.

A sheet is CSV for a spreadsheet. A cell that a spreadsheet would run as a formula gets an apostrophe in front, and so
does one that begins with an apostrophe: one is removed again when the sheet is read.
"""

from __future__ import annotations

import csv
import io
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from cranfield.errors import InputError, given
from cranfield.io.source import run_name
from cranfield.io.streams import BYTE_ORDER_MARK, Stream
from cranfield.io.target import write_text
from cranfield.judging.store.checked_input import checked_id, checked_text
from cranfield.judging.store.events import StoredDocument, StoredQuery, seen_sha256, stored_fields
from cranfield.judging.store.merging import PERSON
from cranfield.judging.store.scale import GradeScale
from cranfield.judging.store.store import Store, open_store
from cranfield.ranks.judgments import Judgments
from cranfield.words import count

_OF_QUERY, _OF_DOCUMENT = (
    [field.name for field in stored_fields(kind) if field.stored.in_sheet] for kind in (StoredQuery, StoredDocument)
)
UNCLEAR = "unclear"  # who flagged the query, and why
COLUMNS = ("query_id", *_OF_QUERY, UNCLEAR, "doc_id", *_OF_DOCUMENT, "grade", "comment")
NEEDED = ("query_id", "doc_id", "grade")
OWN_COLUMNS = 3  # by which a sheet is known whose ids or grades have lost their names; judgments have no such columns
LONGEST_CELL = 32_000  # characters: spreadsheets hold 32,767, and put the rest into the next row
CUT = " […]"
SEPARATORS = ",;\t"
_SIGNS = "=+@＝＋－＠"
_FORMULAS = (*_SIGNS, "-", "\t", "\r", "\n", "'")
# With semicolons as separators, a spreadsheet splits a text at each of them, and at line breaks: a new cell begins
# there. A list with dashes is left as it is.
_NEW_CELL = r"([;\t\r\n]\s*)"
_BEGINS = re.compile(rf"{_NEW_CELL}(['{_SIGNS}]|-(?! ))")
_ESCAPED = re.compile(rf"{_NEW_CELL}'(['{_SIGNS}]|-(?! ))")
_MARK = "\ufeff"  # by which spreadsheets know UTF-8


@dataclass(frozen=True, slots=True)
class WrittenSheet:
    """A sheet that was written: its path, how many documents wait in it, and how many of their texts were cut.

    parts: how many parts of documents wait, which have no place in a sheet

    >>> WrittenSheet("sheet.csv", documents=12, cut=0, parts=0).documents
    12
    """

    path: str
    documents: int
    cut: int
    parts: int


@dataclass(frozen=True, slots=True)
class ReadSheet:
    """A sheet that was read: the grades that were new, those that were known, and the rows without a grade.

    comments: rows that have a comment and no grade; they are left out, too

    >>> ReadSheet("sheet.csv", new=10, known=0, blank=2, comments=1).new
    10
    """

    path: str
    new: int
    known: int
    blank: int
    comments: int


def save_sheet(
    store: Store, path: str | os.PathLike[str], *, query_ids: Sequence[str] | None = None, force: bool = False
) -> WrittenSheet:
    """Write the waiting documents as CSV: a row for each, in a random order, with room for a grade.

    store: a `Store`.
    path: of the file to write.
    query_ids: only documents of these queries.
    force: replace a file that exists.
    Returns a `WrittenSheet`. The file does not say which run returned a document, nor at which rank.

    >>> import tempfile
    >>> from cranfield import open_store
    >>> with tempfile.TemporaryDirectory() as folder, open_store(f"{folder}/judgments.db", create=True) as store:
    ...     new = store.wait([("q1", "d1"), ("q1", "d2")])
    ...     save_sheet(store, f"{folder}/sheet.csv").documents
    2
    """
    from cranfield.judging.store.flags import flags_by_query, in_a_cell
    from cranfield.judging.store.listing import has_query
    from cranfield.judging.store.schema import WAITING, is_open
    from cranfield.judging.store.waiting import waiting_tasks

    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, COLUMNS, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writeheader()
    documents = cut = parts = 0
    with store._reading() as connection:
        for query in query_ids or ():
            if not has_query(connection, query):
                raise InputError(store.name, f"there is no query '{query}'.")
        unclear = {query: in_a_cell(flags) for query, flags in flags_by_query(connection).items()}
        for task in waiting_tasks(connection, is_open(WAITING.c.remaining)):
            if query_ids is not None and task.query_id not in query_ids:
                continue
            if task.part:
                parts += 1
                continue
            cells = {name: getattr(task, name) for name in COLUMNS[:-2] if name != UNCLEAR}
            cells[UNCLEAR] = unclear.get(task.query_id, "")
            documents += 1
            cut += any(len(text) > LONGEST_CELL for text in cells.values())
            writer.writerow({name: escaped(text) for name, text in cells.items()})
    name = os.fspath(path)
    write_text(name, [_MARK, out.getvalue()], force=force)
    return WrittenSheet(name, documents, cut, parts)


def escaped(text: str) -> str:
    """A cell that no spreadsheet runs as a formula, and that fits into one.

    >>> escaped("=1+1"), escaped("'tis"), escaped("cats"), escaped("a;=1+1")
    ("'=1+1", "''tis", 'cats', "a;'=1+1")
    """
    shown = text if len(text) <= LONGEST_CELL else text[: LONGEST_CELL - len(CUT)] + CUT
    shown = _BEGINS.sub(r"\1'\2", shown)
    return f"'{shown}" if shown.startswith(_FORMULAS) or shown.lstrip().startswith(_FORMULAS) else shown


def plain(cell: str) -> str:
    return _ESCAPED.sub(r"\1\2", cell.removeprefix("'"))


def is_sheet(path: str) -> bool:
    """Whether a file is a sheet, or was one before somebody changed its header: reading it says what is missing."""
    if not os.path.isfile(path):
        return False
    lines = Stream(path).head(1 << 16).removeprefix(BYTE_ORDER_MARK).decode(errors="replace").splitlines()
    names = {name.strip().strip('"').lower() for name in lines[0].split(_separator(lines[0]))} if lines else set()
    own = names & (set(COLUMNS) - set(NEEDED))
    return len(own) >= OWN_COLUMNS or (names >= set(NEEDED) and bool(own))


def read_sheet(store: Store, path: str | os.PathLike[str], assessor: str) -> ReadSheet:
    """Import the grades of a sheet into the store it was written from, as those of an assessor.

    store: a `Store`.
    path: the CSV as filled in; its columns may be in another order, and separated by semicolons or tabs.
    assessor: who filled it in.
    Returns a `ReadSheet`. A row without a grade is left out. A grade that is not on the scale of the store, and a
    document that never waited in it, are errors, and then nothing is imported. Grades that are in the store already are
    not added again.

    >>> import tempfile
    >>> from cranfield import open_store
    >>> with tempfile.TemporaryDirectory() as folder, open_store(f"{folder}/judgments.db", create=True) as store:
    ...     new = store.wait([("q1", "d1"), ("q1", "d2")])
    ...     with open(f"{folder}/sheet.csv", "w") as file:
    ...         characters = file.write("query_id;doc_id;grade\\nq1;d1;3\\nq1;d2;\\n")
    ...     found = read_sheet(store, f"{folder}/sheet.csv", "ann")
    ...     found.new, found.blank, store.view().by_query
    (1, 1, {'q1': {'d1': 3.0}})
    """
    from cranfield.judging.store.contents import import_rows, known_pairs
    from cranfield.judging.store.event_log import now

    name, who = os.fspath(path), checked_id(assessor, store.name, "the assessor")
    cells = list(_cells(name))
    scale = store.scale
    rows = {line: _event_row(row, line, scale, name) for line, row in cells if row["grade"].strip()}
    first: dict[Any, tuple[int, float]] = {}
    for line, row in rows.items():
        query, document, grade = row["query_id"], row["doc_id"], row["grade"]
        before, other = first.setdefault((query, document), (line, grade))
        if other != grade:
            fact = (
                f"document '{document}' of query '{query}' has the grade {other:g} on line {before} and {grade:g} here."
            )
            raise InputError(name, fact, line=line)
    with store._writing(f"what is in {name}") as connection:
        there = known_pairs(connection, {row["query_id"] for row in rows.values()})
        for line, row in rows.items():
            if (row["query_id"], row["doc_id"]) not in there:
                fact = f"document '{row['doc_id']}' was never waiting for query '{row['query_id']}' in {store.name}."
                hint = "has the spreadsheet changed the ids? Open the file again with these columns as text"
                hint += f"; for judgments that are not a sheet: {given('format', 'csv')}"
                raise InputError(name, fact, line=line, hint=hint)
        new = import_rows(connection, rows.values(), {"assessor": who, "kind": PERSON, "at": now()})
    comments = sum(bool(row.get("comment", "").strip()) for _, row in cells if not row["grade"].strip())
    return ReadSheet(name, new, len(rows) - new, len(cells) - len(rows), comments)


def _separator(header: str) -> str:
    return max(SEPARATORS, key=header.count)


def _cells(name: str) -> Iterator[tuple[int, Mapping[str, str]]]:
    try:
        text = bytes(Stream(name).content()).removeprefix(BYTE_ORDER_MARK).decode()
    except UnicodeDecodeError:
        raise InputError(name, "this is not UTF-8 text.", hint="save it as CSV UTF-8") from None
    header = text.partition("\n")[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_separator(header), strict=True)
    try:
        names = [cell.strip().lower() for cell in next(reader, [])]
        for column in NEEDED:
            if names.count(column) != 1:
                fact = f"the column '{column}' {'is missing' if column not in names else 'appears twice'}."
                raise InputError(name, fact, line=1, hint=f"a sheet has the columns {', '.join(COLUMNS)}")
        for cells in reader:
            if any(cell.strip() for cell in cells):
                if len(cells) != len(names):
                    fact = f"a row has {len(cells)} cells, the header has {len(names)}."
                    raise InputError(name, fact, line=reader.line_num)
                yield reader.line_num, dict(zip(names, cells, strict=True))
    except csv.Error as error:
        raise InputError(name, f"this is not CSV: {error}.", line=reader.line_num) from None


def _event_row(row: Mapping[str, str], line: int, scale: GradeScale, source: str) -> dict[str, Any]:
    query, document, title, text = (plain(row.get(name, "")) for name in ("query_id", "doc_id", "title", "text"))
    comment, cell = checked_text(plain(row.get("comment", "")), source, "the comment"), row["grade"].strip()
    try:
        grade = float(plain(cell).replace(",", "."))  # with semicolons as separators, 2,0 is a number
    except ValueError:
        grade = math.nan
    if grade not in scale:
        fact = f"{cell!r:.60} is not a grade of document '{document}' for query '{query}'."
        raise InputError(source, fact, line=line, hint=f"grades are {scale.listed()}")
    sha256 = seen_sha256(title, text, None) if title or text else ""
    return {"query_id": query, "doc_id": document, "grade": grade, "comment": comment, "text_sha256": sha256}


class Imported(NamedTuple):
    store: str
    assessor: str
    new: int
    known: int
    notes: tuple[str, ...]

    def __str__(self) -> str:
        known = f"; {self.known:,} were there already" if self.known else ""
        return f"{self.store}: {count(self.new, 'new judgment')} by {self.assessor}{known}"


def import_file(
    source: Any, where: str, assessor: str | None = None, *, kind: str | None = None, format: str | None = None
) -> Imported:
    """Import a sheet, or what else `Judgments.read` takes, into a store, which is created for judgments.

    assessor: by default the name of the file; kind: by default imported, and for a sheet always a person
    format: a file with a format is never a sheet
    """
    who = assessor or run_name(source)
    if format is None and isinstance(source, str) and is_sheet(source):
        if kind not in (None, PERSON):
            raise InputError(source, f"a sheet is filled in by a person, not by a {kind}.", hint="leave it out")
        with open_store(where) as store:  # in which its documents wait
            sheet = read_sheet(store, source, who)
            notes = _notes(
                (sheet.blank, "row has no grade and was left out", "rows have no grade and were left out"),
                (sheet.comments, "of them has a comment", "of them have a comment"),
            )
            return Imported(store.name, who, sheet.new, sheet.known, notes)
    judgments = Judgments.read(source, format)
    unjudged = int((judgments.grades < 0).sum())
    with open_store(where, create=True) as store:
        new = store.import_qrels(judgments, who, kind=kind or "imported")
        known = len(judgments.grades) - unjudged - new
        notes = _notes((unjudged, "negative grade was left out", "negative grades were left out"))
        return Imported(store.name, who, new, known, notes)


def _notes(*facts: tuple[int, Any, Any]) -> tuple[str, ...]:
    return tuple(count(number, one, many) for number, one, many in facts if number)
