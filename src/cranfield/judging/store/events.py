"""The contents of a store as plain data: events, texts, tasks, progress.

The fields of `StoredEvent`, `StoredFlag`, `StoredQuery` and `StoredDocument` declare the columns. The tables, the
migration of older stores, what `add_queries` and `add_documents` take, sheets and the page follow from them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import cache
from typing import Annotated, Any, NamedTuple, get_args, get_type_hints

DocumentPart = tuple[int, int]
WaitingItem = tuple[str, str, int, int]  # query, document, and the part from 0 to 0 for all of it


class Stored(NamedTuple):
    """How a field is kept in a store."""

    column: str = ""  # by default the name of the field
    since: int = 1  # the version of the store that has it first
    is_key: bool = False  # the number of the row
    is_id: bool = False  # compared by its bytes
    in_sheet: bool = False


Id = Annotated[str, Stored(is_id=True)]


class StoredField(NamedTuple):
    """A field of a class that declares columns; its type is that of a value that is there."""

    name: str
    type: Any
    optional: bool
    default: Any
    stored: Stored


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Who gave which grade to which document for which query, when, and seeing which text.

    grade: None where the assessor could not judge it, and where `undoes` says which event is taken back
    part: the characters from start to end of the document's text; None for all of it
    adjudicates: this grade settles a disagreement of assessors
    impressions, clicks: of a grade by clicks, how often the document was shown and clicked
    examined: of a grade by clicks, how many people looked at the document, as far as its ranks tell
    """

    number: Annotated[int, Stored(is_key=True)]
    query_id: Id
    doc_id: Id
    part: Annotated[DocumentPart | None, Stored(since=2)] = None
    assessor: Id
    kind: str
    grade: float | None
    undoes: int | None = None
    adjudicates: bool = False
    comment: str = ""
    at: datetime
    seconds: float | None = None
    text_sha256: str = ""
    impressions: Annotated[int | None, Stored(since=8)] = None
    clicks: Annotated[int | None, Stored(since=8)] = None
    examined: Annotated[float | None, Stored(since=8)] = None

    def __repr__(self) -> str:
        grade = "no grade" if self.grade is None else f"grade {self.grade:g}"
        return f"<Event {self.number}: {self.assessor} gave {grade} to {self.doc_id} for {self.query_id}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEvent(Event):
    key: Annotated[str | None, Stored(since=3)] = None  # an event that was sent again after a lost answer counts once
    judge: Annotated[str, Stored(since=5)] = ""  # how a model was asked: the fingerprint in the table of judges


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """Who flagged a query as unclear or as having no answer, when, and what they say about it.

    withdrawn: it takes the assessor's flag back
    unanswerable: it says that the query has no answer, not that it is unclear
    """

    number: Annotated[int, Stored(is_key=True)]
    query_id: Id
    assessor: Id
    comment: str = ""
    withdrawn: bool = False
    unanswerable: Annotated[bool, Stored(since=8)] = False
    at: datetime

    def __repr__(self) -> str:
        done = "withdrew the flag of" if self.withdrawn else "flagged"
        what = " as having no answer" if self.unanswerable and not self.withdrawn else ""
        return f"<Flag {self.number}: {self.assessor} {done} {self.query_id}{what}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFlag(Flag):
    key: str | None = None  # as of an event


@dataclass(frozen=True, kw_only=True)
class StoredQuery:
    query: Annotated[str, Stored(column="text", in_sheet=True)] = ""
    narrative: str = ""


@dataclass(frozen=True, kw_only=True)
class StoredDocument:
    title: Annotated[str, Stored(in_sheet=True)] = ""
    text: Annotated[str, Stored(in_sheet=True)] = ""
    url: Annotated[str, Stored(in_sheet=True)] = ""
    image: str = ""


@dataclass(frozen=True, kw_only=True)
class Task(StoredQuery, StoredDocument):
    """A document that an assessor is to judge for a query. It does not say who returned it, nor at which rank."""

    number: int
    query_id: str
    doc_id: str
    part: DocumentPart | None

    def __repr__(self) -> str:
        return f"<Task {self.number}: judge {self.doc_id} for {self.query_id}>"

    @property
    def text_sha256(self) -> str:
        return seen_sha256(self.title, self.text, self.part)


@cache
def stored_fields(kind: type) -> tuple[StoredField, ...]:
    hints = get_type_hints(kind, include_extras=True)
    return tuple(_stored(declared.name, hints[declared.name], declared.default) for declared in fields(kind))


def _stored(name: str, hint: Any, default: Any) -> StoredField:
    told = next((note for note in getattr(hint, "__metadata__", ()) if isinstance(note, Stored)), Stored())
    plain = hint.__origin__ if hasattr(hint, "__metadata__") else hint
    kinds = [kind for kind in get_args(plain) or (plain,) if kind is not type(None)]
    told = told._replace(column=told.column or name)
    return StoredField(name, kinds[0], type(None) in get_args(plain), default, told)


def text_names(kind: type) -> tuple[str, ...]:
    """The columns of texts, in the order in which rows give them."""
    return tuple(field.stored.column for field in stored_fields(kind))


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


def item_of(thing: Event | Task) -> WaitingItem:
    return thing.query_id, thing.doc_id, *(thing.part or (0, 0))


def seen_sha256(title: str, text: str, part: DocumentPart | None) -> str:
    """The SHA-256 of a document as it is shown: its title, a line break, and its text or a part of that."""
    shown = text[part[0] : part[1]] if part else text
    return hashlib.sha256(f"{title}\n{shown}".encode(errors="surrogatepass")).hexdigest()
