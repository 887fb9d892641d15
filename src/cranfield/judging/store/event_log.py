"""Events: appending them, taking them back, and reading the current ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain, groupby, islice
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

import sqlalchemy as sa

from cranfield.judging.store.events import Event, stored_fields
from cranfield.judging.store.schema import EVENTS

BATCH = 10_000  # rows read or written at a time
_PIECES = {"yield_per": BATCH}
NAMES = 500  # ids named in one statement: SQLite once took 999 parameters at most


class CurrentGrade(NamedTuple):
    """The current grade of a document or a part of it by an assessor: the last event that was not taken back."""

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
    """The current time in UTC as events hold it: as text, it sorts by time."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def batches(rows: Iterable[Any], size: int = BATCH) -> Iterator[list[Any]]:
    rows = iter(rows)
    while batch := list(islice(rows, size)):
        yield batch


def append(connection: sa.Connection, row: Mapping[str, Any]) -> Event:
    return event_of(connection.execute(_APPEND, dict(row)).one())


_APPEND = EVENTS.insert().returning(*EVENTS.c)


def append_many(connection: sa.Connection, rows: Iterable[Mapping[str, Any]]) -> int:
    count = 0
    for batch in batches(rows):
        connection.execute(EVENTS.insert(), batch)
        count += len(batch)
    return count


def event_of(row: Any) -> Event:
    return Event(
        grade=None if row.grade is None else float(row.grade),  # SQLite returns what it was given
        adjudicates=bool(row.adjudicates),
        at=datetime.fromisoformat(row.at),
        part=(row.part_start, row.part_end) if row.part_end else None,
        **dict(zip(_AS_THEY_ARE, _values_of(row))),
    )


_GRADES = (float, int, type(None))  # SQLite returns what it was given
_CONVERTED = ("grade", "adjudicates", "at", "part")
_AS_THEY_ARE = tuple(field.name for field in stored_fields(Event) if field.name not in _CONVERTED)
_values_of = attrgetter(*_AS_THEY_ARE)


def found_by_item(column: Any) -> Any:
    """Compared last: SQLite does not know that a document has few events, and would search all of the assessor."""
    return column.concat("")


def not_undone() -> Any:
    later = EVENTS.alias("undo")
    return sa.and_(
        EVENTS.c.undoes.is_(None), ~sa.exists(sa.select(later.c.number).where(later.c.undoes == EVENTS.c.number))
    )


def last_of(
    connection: sa.Connection, assessor: str, query_id: str | None, doc_id: str | None, adjudicates: bool | None
) -> Event | None:
    wanted = {"assessor": assessor, "query_id": query_id, "doc_id": doc_id, "adjudicates": adjudicates}
    conditions = [EVENTS.c[name] == value for name, value in wanted.items() if value is not None]
    statement = EVENTS.select().where(*conditions, not_undone()).order_by(EVENTS.c.number.desc()).limit(1)
    row = connection.execute(statement).one_or_none()
    return event_of(row) if row is not None else None


def read_events(connection: sa.Connection, conditions: Sequence[Any]) -> Iterator[Event]:
    statement = EVENTS.select().where(*conditions).order_by(EVENTS.c.number)
    with connection.execute(statement, execution_options=_PIECES) as result:
        yield from map(event_of, result)


class CurrentEvents:
    """Reads current grades, and `more` columns; the statement is built once: that takes longer than running it."""

    def __init__(self, *conditions: Any, more: Sequence[Any] = ()) -> None:
        self._statement = (
            sa.select(*(EVENTS.c[name] for name in CurrentGrade._fields), *more)
            .where(not_undone(), *conditions)
            .order_by(EVENTS.c.query_id, EVENTS.c.doc_id, EVENTS.c.number)
        )

    def read(
        self, connection: sa.Connection, values: Mapping[str, Any] | None = None
    ) -> Iterator[tuple[str, str, list[CurrentGrade]]]:
        """The current grades of each document and its parts; the documents of a query come together."""
        with connection.execute(self._statement, values, execution_options=_PIECES) as result:
            rows = chain.from_iterable(result.partitions())  # columns as in CurrentGrade
            for (query_id, doc_id), events in groupby(rows, key=itemgetter(1, 2)):
                grades = list(events)
                if not all(isinstance(row[7], _GRADES) for row in grades):
                    raise TypeError("a grade is not a number")  # in a damaged file
                if len(grades) > 1:  # by part, assessor and whether it settles: the last one counts
                    grades = list({(row[3], row[4], row[5], row[8]): row for row in grades}.values())
                yield query_id, doc_id, grades


def standing(connection: sa.Connection, *conditions: Any) -> Iterator[tuple[str, str, list[CurrentGrade]]]:
    return CurrentEvents(*conditions).read(connection)
