"""Files into a store: sheets that people have filled in, and judgments in any format."""

from __future__ import annotations

from typing import Any, NamedTuple

from cranfield.errors import InputError
from cranfield.judging.kinds import PERSON
from cranfield.judging.sheets import is_sheet, read_sheet
from cranfield.judging.store import open_store
from cranfield.layout import count
from cranfield.ranks.judgments import Judgments
from cranfield.read.source import run_name


class Imported(NamedTuple):
    """What was imported from a file into a store, and what was left out, in words."""

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
    """Import a file into a store, which is created for judgments if there is none.

    source: the name of the file, or what else `Judgments.read` takes
    assessor: whose judgments these are; by default the name of the file
    kind: of assessor; by default imported. A sheet is always that of a person
    format: of judgments; a file with a format is never a sheet
    """
    who = assessor or run_name(source)
    if format is None and isinstance(source, str) and is_sheet(source):
        if kind not in (None, PERSON):
            raise InputError(source, f"a sheet is filled in by a person, not by a {kind}.", hint="leave it out")
        with open_store(where) as store:  # in which its documents wait
            found = read_sheet(store, source, who)
            notes = _notes(
                (found.blank, "row has no grade and was left out", "rows have no grade and were left out"),
                (found.comments, "of them has a comment", "of them have a comment"),
            )
            return Imported(store.name, who, found.new, found.known, notes)
    judgments = Judgments.read(source, format)
    unjudged = int((judgments.grades < 0).sum())
    with open_store(where, create=True) as store:
        new = store.import_qrels(judgments, who, kind=kind or "imported")
        known = len(judgments.grades) - unjudged - new
        notes = _notes((unjudged, "negative grade was left out", "negative grades were left out"))
        return Imported(store.name, who, new, known, notes)


def _notes(*facts: tuple[int, Any, Any]) -> tuple[str, ...]:
    return tuple(count(number, one, many) for number, one, many in facts if number)
