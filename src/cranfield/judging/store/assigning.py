"""Which assessor gets which document: nobody gets one that another is working on, unless it is for both.

Queries and the documents of a query each have a place in a random order. An assessor goes through it once around,
from a place of their own: the order is the same for them every time, differs between assessors, and needs no table of
its own. Statements are built once, with parameters: building them takes longer than running them.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain
from typing import Any

import sqlalchemy as sa

from cranfield.judging.store.event_log import found_by_item, not_undone
from cranfield.judging.store.events import StoredDocument, StoredQuery, Task, WaitingItem, stored_fields
from cranfield.judging.store.random_orders import ENDS, place
from cranfield.judging.store.schema import DOCUMENTS, EVENTS, ITEM, LEASES, PASSED, QUERIES, WAITING, is_open
from cranfield.judging.store.waiting import upsert

LEASE = 30 * 60.0  # seconds for which a document is reserved for the assessor who got it

_WHO = sa.bindparam("who", type_=sa.Text)
_NOW = sa.bindparam("now", type_=sa.Float)
_ITEM = {name: sa.bindparam(name, type_=WAITING.c[name].type) for name in ITEM}


def judged_by(assessor: Any) -> sa.ColumnElement[bool]:
    """The condition that an assessor has judged a waiting document."""
    return sa.exists(
        sa.select(EVENTS.c.number).where(
            *(EVENTS.c[name] == WAITING.c[name] for name in ITEM),
            found_by_item(EVENTS.c.assessor) == assessor,
            EVENTS.c.adjudicates.is_(sa.false()),
            not_undone(),
        )
    )


def free_for(assessor: Any, moment: Any) -> sa.ColumnElement[bool]:
    """The condition that a waiting document needs more assessors than are working on it."""
    others = (
        sa.select(sa.func.count())
        .where(LEASES.c.waiting == WAITING.c.number, LEASES.c.assessor != assessor, LEASES.c.until > moment)
        .scalar_subquery()
    )
    return WAITING.c.remaining > others


def _in_range(table: sa.Table) -> sa.ColumnElement[bool]:
    low, high = (sa.bindparam(name, type_=sa.BigInteger) for name in ("low", "high"))
    return (table.c.place >= low) & (table.c.place < high)


_THIS_ITEM = sa.and_(*(WAITING.c[name] == _ITEM[name] for name in ITEM))
_TEXTS = [
    table.c[field.column].label(field.name)
    for table, kind in ((QUERIES, StoredQuery), (DOCUMENTS, StoredDocument))
    for field in stored_fields(kind)
]
_PASSED = sa.exists(
    sa.select(PASSED.c.query_id).where(PASSED.c.assessor == _WHO, PASSED.c.query_id == QUERIES.c.query_id)
)
_OPEN_QUERIES = (
    sa.select(QUERIES.c.query_id, QUERIES.c.place)
    .where(_in_range(QUERIES), is_open(QUERIES.c.open), ~_PASSED)
    .order_by(QUERIES.c.place)
    .limit(sa.bindparam("size", type_=sa.Integer))
)
_WANTED = sa.and_(WAITING.c.query_id == sa.bindparam("query"), is_open(WAITING.c.remaining), ~judged_by(_WHO))
_HELD = sa.select(WAITING.c.number).where(_WANTED).limit(1)
_TASKS = sa.select(*(WAITING.c[name] for name in ("number", *ITEM)), *_TEXTS).select_from(
    WAITING.join(QUERIES, QUERIES.c.query_id == WAITING.c.query_id).outerjoin(
        DOCUMENTS, DOCUMENTS.c.doc_id == WAITING.c.doc_id
    )
)
_OPEN_ITEMS = (
    _TASKS.where(_WANTED, free_for(_WHO, _NOW), _in_range(WAITING))
    .where(WAITING.c.number.not_in(sa.bindparam("without", expanding=True)))
    .order_by(WAITING.c.place, WAITING.c.number)
    .limit(sa.bindparam("size", type_=sa.Integer))
)
_CHOSEN = sa.select(WAITING.c.number, judged_by(_WHO), free_for(_WHO, _NOW)).where(_THIS_ITEM)
_RELEASE = LEASES.delete().where(
    LEASES.c.assessor == _WHO, LEASES.c.waiting.in_(sa.select(WAITING.c.number).where(_THIS_ITEM).scalar_subquery())
)
_KEPT = sa.select(LEASES.c.waiting).where(
    LEASES.c.assessor == _WHO,
    LEASES.c.waiting.in_(sa.bindparam("numbers", expanding=True)),
    LEASES.c.until > sa.bindparam("half", type_=sa.Float),
)


def next_tasks(
    connection: sa.Connection,
    assessor: str,
    count: int,
    without: Collection[int] = (),
    first: str = "",
    lease: float = LEASE,
) -> list[Task]:
    moment = time.time()
    tasks: list[Task] = []
    others = (query for query in _open_queries(connection, assessor) if query != first)
    for query in chain([first] if first else [], others):
        rows, held = _open_items(connection, assessor, query, count - len(tasks), without, moment)
        if not rows and not held and query != first:
            connection.execute(PASSED.insert(), {"assessor": assessor, "query_id": query})
        tasks += map(_task, rows)
        if len(tasks) == count:
            break
    _keep(connection, assessor, [task.number for task in tasks], moment, lease)
    return tasks


def take(connection: sa.Connection, assessor: str, item: WaitingItem, lease: float = LEASE) -> Task | None:
    """A document that an assessor chose, reserved for them if it waits; None if it is for others."""
    moment = time.time()
    values = {"who": assessor, "now": moment, **dict(zip(ITEM, item, strict=True))}
    row = connection.execute(_CHOSEN, values).one_or_none()
    if row is None or row[1]:
        return task_of(connection, item, row[0] if row else 0)
    if not row[2]:
        return None
    _keep(connection, assessor, [row[0]], moment, lease)
    return task_of(connection, item, row[0])


def take_several(
    connection: sa.Connection, assessor: str, items: Iterable[WaitingItem], count: int, without: Collection[int] = ()
) -> list[Task]:
    tasks: list[Task] = []
    for item in items:
        if len(tasks) < count and (task := take(connection, assessor, item)) and task.number not in without:
            tasks.append(task)
    return tasks


def release(connection: sa.Connection, item: WaitingItem, assessor: str) -> None:
    connection.execute(_RELEASE, {"who": assessor, **dict(zip(ITEM, item, strict=True))})


def release_all(connection: sa.Connection, assessor: str) -> None:
    connection.execute(LEASES.delete().where(LEASES.c.assessor == assessor))


def task_of(connection: sa.Connection, item: WaitingItem, number: int) -> Task:
    query, document, start, end = item
    one = sa.select(sa.literal(query).label("query_id"), sa.literal(document).label("doc_id")).subquery()
    tables = one.outerjoin(QUERIES, QUERIES.c.query_id == one.c.query_id).outerjoin(
        DOCUMENTS, DOCUMENTS.c.doc_id == one.c.doc_id
    )
    columns = [sa.literal(value).label(name) for name, value in zip(ITEM[2:], (start, end), strict=True)]
    chosen = sa.select(sa.literal(number).label("number"), *one.c, *columns, *_TEXTS).select_from(tables)
    return _task(connection.execute(chosen).one())


def waiting_tasks(connection: sa.Connection, *conditions: Any) -> Iterator[Task]:
    """Some of the documents that wait or waited, query by query, in a fixed random order."""
    order = (QUERIES.c.place, WAITING.c.query_id, WAITING.c.place, WAITING.c.number)
    chosen = _TASKS.where(*conditions).order_by(*order)
    yield from map(_task, connection.execute(chosen, execution_options={"yield_per": 1000}))


def _around(start: int) -> tuple[dict[str, int], dict[str, int]]:
    """The places of an order from a place to the end, and from the beginning to that place."""
    return {"low": start, "high": ENDS - 1}, {"low": 0, "high": start}


def _open_queries(connection: sa.Connection, assessor: str) -> Iterator[str]:
    for half in _around(place(assessor)):
        # The first is nearly always enough; more are searched only if others have reserved all of it.
        values: dict[str, Any] = {"who": assessor, **half, "size": 1}
        while rows := connection.execute(_OPEN_QUERIES, values).all():
            yield from (row.query_id for row in rows)
            values |= {"low": rows[-1].place + 1, "size": 100}


def _open_items(
    connection: sa.Connection, assessor: str, query: str, count: int, without: Collection[int], moment: float
) -> tuple[list[Any], bool]:
    """What an assessor can judge in a query, and whether more may follow when others give documents back."""
    values = {"who": assessor, "query": query, "now": moment, "without": list(without)}
    rows: list[Any] = []
    for half in _around(place(assessor, query)):
        if len(rows) < count:
            rows += connection.execute(_OPEN_ITEMS, {**values, **half, "size": count - len(rows)}).all()
    held = not rows and connection.execute(_HELD, {"who": assessor, "query": query}).first() is not None
    return rows, held


def _task(row: Any) -> Task:
    part = (row.part_start, row.part_end) if row.part_end else None
    texts = {column.name: getattr(row, column.name) or "" for column in _TEXTS}
    return Task(number=row.number, query_id=row.query_id, doc_id=row.doc_id, part=part, **texts)


def _keep(connection: sa.Connection, assessor: str, numbers: Sequence[int], moment: float, lease: float) -> None:
    """Record who works on what; a reservation that still has half of its time is left as it is."""
    values = {"who": assessor, "numbers": list(numbers), "half": moment + lease / 2}
    held = set(connection.execute(_KEPT, values).scalars())
    rows = [
        {"waiting": number, "assessor": assessor, "until": moment + lease} for number in numbers if number not in held
    ]
    if rows:
        connection.execute(_lease(connection.dialect.name), rows)


@cache
def _lease(dialect: str) -> Any:
    statement = upsert(dialect, LEASES)
    return statement.on_conflict_do_update(
        index_elements=["waiting", "assessor"], set_={"until": statement.excluded.until}
    )
