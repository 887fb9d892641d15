"""The kinds of assessors."""

from __future__ import annotations

from typing import NamedTuple


class AssessorKind(NamedTuple):
    """A kind of assessor. By default only people's judgments count."""

    meaning: str
    people: bool


PERSON = "person"  # who judges on the page and in a sheet
KINDS: dict[str, AssessorKind] = {
    PERSON: AssessorKind("a person who read the document", people=True),
    "imported": AssessorKind("judgments from a file", people=True),
    "model": AssessorKind("a model that was asked", people=False),
    "clicks": AssessorKind("what users of the system clicked on", people=False),
}
BY_PEOPLE = tuple(name for name, kind in KINDS.items() if kind.people)
