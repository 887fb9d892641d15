"""The contents of a store as plain data: events, tasks, progress."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

DocumentPart = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Event:
    """Who gave which grade to which document for which query, when, and seeing which text.

    grade: None where the assessor could not judge it, and where `undoes` says which event is taken back
    part: the characters from start to end of the document's text; None for all of it
    adjudicates: this grade settles a disagreement of assessors
    """

    number: int
    query_id: str
    doc_id: str
    assessor: str
    kind: str
    grade: float | None
    at: datetime
    part: DocumentPart | None = None
    undoes: int | None = None
    adjudicates: bool = False
    comment: str = ""
    seconds: float | None = None
    text_sha256: str = ""

    def __repr__(self) -> str:
        grade = "no grade" if self.grade is None else f"grade {self.grade:g}"
        return f"<Event {self.number}: {self.assessor} gave {grade} to {self.doc_id} for {self.query_id}>"


@dataclass(frozen=True, slots=True)
class Task:
    """A document that an assessor is to judge for a query. It does not say who returned it, nor at which rank."""

    number: int
    query_id: str
    doc_id: str
    part: DocumentPart | None
    query: str
    narrative: str
    title: str
    text: str
    url: str
    image: str

    def __repr__(self) -> str:
        return f"<Task {self.number}: judge {self.doc_id} for {self.query_id}>"

    @property
    def text_sha256(self) -> str:
        """The SHA-256 of what the assessor sees."""
        return seen_sha256(self.title, self.text, self.part)


@dataclass(frozen=True, slots=True)
class Work:
    """What one assessor has done: documents judged and not judgeable, and the seconds spent on those timed."""

    judged: int
    cannot_judge: int
    seconds: float
    timed: int


@dataclass(frozen=True, slots=True)
class StoreProgress:
    """The progress of judging: documents pooled and left, the same in queries, and the work of each assessor."""

    documents: int
    left: int
    queries: int = 0
    queries_done: int = 0  # nothing is left of these
    by_query: Mapping[str, tuple[int, int]] = field(default_factory=dict, repr=False)  # documents and those left
    by_assessor: Mapping[str, Work] = field(default_factory=dict, repr=False)


def seen_sha256(title: str, text: str, part: DocumentPart | None) -> str:
    """The SHA-256 of a document as it is shown: its title, a line break, and its text or a part of that."""
    shown = text[part[0] : part[1]] if part else text
    return hashlib.sha256(f"{title}\n{shown}".encode(errors="surrogatepass")).hexdigest()
