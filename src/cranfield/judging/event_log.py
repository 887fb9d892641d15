"""Events: appending them, taking them back, and reading what stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain, groupby, islice
from operator import itemgetter
from typing import Any, NamedTuple

import sqlalchemy as sa

from cranfield.judging.events import Event, seen_sha256
from cranfield.judging.schema import DOCUMENTS, EVENTS

BATCH = 10_000  # rows read or written at a time
_PIECES = {"yield_per": BATCH}
NAMES = 500  # ids named in one statement: SQLite once took 999 parameters at most


class Said(NamedTuple):
    """What an assessor says now of a document or a part of it: the last event that was not taken back."""

    number: int
    query_id: str
    doc_id: str
    part_start: int
    part_end: int
    assessor: str
    kind: str
    grade: float | None
    adjudicates: bool


def now() -> str:
    """This moment in UTC, as events hold it: texts in this form are in the order of time."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def batches(rows: Iterable[Any], size: int = BATCH) -> Iterator[list[Any]]:
    """Rows, so many at a time."""
    rows = iter(rows)
    while batch := list(islice(rows, size)):
        yield batch


def append(connection: sa.Connection, row: Mapping[str, Any]) -> Event:
    """Append one event."""
    return event_of(connection.execute(_APPEND, dict(row)).one())


_APPEND = EVENTS.insert().returning(*EVENTS.c)


def append_many(connection: sa.Connection, rows: Iterable[Mapping[str, Any]]) -> int:
    """Append events that all say the same kinds of things."""
    count = 0
    for batch in batches(rows):
        connection.execute(EVENTS.insert(), batch)
        count += len(batch)
    return count


def event_of(row: Any) -> Event:
    """A row as an event."""
    part = (row.part_start, row.part_end) if row.part_end else None
    return Event(
        number=row.number,
        query_id=row.query_id,
        doc_id=row.doc_id,
        assessor=row.assessor,
        kind=row.kind,
        grade=None if row.grade is None else float(row.grade),  # SQLite returns what it was given
        at=datetime.fromisoformat(row.at.replace("Z", "+00:00")),
        part=part,
        undoes=row.undoes,
        adjudicates=bool(row.adjudicates),
        comment=row.comment,
        seconds=row.seconds,
        text_sha256=row.text_sha256,
    )


def found_by_item(column: Any) -> Any:
    """A column to compare with once the events of a document are found, of which there are few.

    SQLite, which knows nothing about how often a value occurs, would search all events of the assessor instead.
    """
    return column.concat("")


def not_undone() -> Any:
    """The condition that an event says something, and was not taken back."""
    later = EVENTS.alias("undo")
    return sa.and_(
        EVENTS.c.undoes.is_(None), ~sa.exists(sa.select(later.c.number).where(later.c.undoes == EVENTS.c.number))
    )


def last_of(
    connection: sa.Connection, assessor: str, query_id: str | None, doc_id: str | None, adjudicates: bool | None
) -> Event | None:
    """The last event of an assessor that stands, of all or of one query or document, and of one kind or both."""
    statement = EVENTS.select().where(EVENTS.c.assessor == assessor, not_undone())
    if query_id is not None:
        statement = statement.where(EVENTS.c.query_id == query_id)
    if doc_id is not None:
        statement = statement.where(EVENTS.c.doc_id == doc_id)
    if adjudicates is not None:
        statement = statement.where(EVENTS.c.adjudicates.is_(sa.true() if adjudicates else sa.false()))
    row = connection.execute(statement.order_by(EVENTS.c.number.desc()).limit(1)).one_or_none()
    return event_of(row) if row is not None else None


def read_events(connection: sa.Connection, conditions: Sequence[Any]) -> Iterator[Event]:
    """Events in the order in which they were appended, a batch at a time."""
    statement = EVENTS.select().where(*conditions).order_by(EVENTS.c.number)
    with connection.execute(statement, execution_options=_PIECES) as result:
        yield from map(event_of, result)


class StandingEvents:
    """A statement that reads what is said now; it is made once, because that takes longer than running it.

    more: further columns of events, behind those of `Said`
    """

    def __init__(self, *conditions: Any, more: Sequence[Any] = ()) -> None:
        self._statement = (
            sa.select(*(EVENTS.c[name] for name in Said._fields), *more)
            .where(not_undone(), *conditions)
            .order_by(EVENTS.c.query_id, EVENTS.c.doc_id, EVENTS.c.number)
        )

    def read(
        self, connection: sa.Connection, values: Mapping[str, Any] | None = None
    ) -> Iterator[tuple[str, str, list[Said]]]:
        """What is said of each document of each query, and of its parts; the documents of a query come together."""
        with connection.execute(self._statement, values, execution_options=_PIECES) as result:
            rows = chain.from_iterable(result.partitions())  # whose columns have the names and the order of Said
            for (query_id, doc_id), events in groupby(rows, key=itemgetter(1, 2)):
                said = list(events)
                if len(said) > 1:  # by part, assessor and whether it settles: the last one counts
                    said = list({(row[3], row[4], row[5], row[8]): row for row in said}.values())
                yield query_id, doc_id, said


def standing(connection: sa.Connection, *conditions: Any) -> Iterator[tuple[str, str, list[Said]]]:
    """What is said now of each document of each query, and of its parts; the documents of a query come together."""
    return StandingEvents(*conditions).read(connection)


def hash_in_store(connection: sa.Connection, doc_id: str, part: tuple[int, int]) -> str:
    """The SHA-256 of a document as the store would show it; nothing where it does not know the document."""
    row = connection.execute(_TEXT, {"document": doc_id}).one_or_none()
    return "" if row is None else seen_sha256(row.title, row.text, part if part[1] else None)


_TEXT = sa.select(DOCUMENTS.c.title, DOCUMENTS.c.text).where(DOCUMENTS.c.doc_id == sa.bindparam("document"))
