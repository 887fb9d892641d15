"""What waits to be judged, and who gets what: nobody gets what another is working on, unless it is meant for both.

Queries and the documents of a query each have a place in a random order. An assessor goes through it once around,
from a place of their own: the order is the same for them every time, differs between assessors, and needs no table of
its own.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from cranfield.judging.events import KINDS, Task
from cranfield.judging.places import place
from cranfield.judging.recording import NAMES, Said, batches, not_undone, standing
from cranfield.judging.schema import DOCUMENTS, EVENTS, ITEM, LEASES, PASSED, QUERIES, WAITING, is_open

LEASE = 30 * 60.0  # seconds for which a document is kept for the assessor who got it

WaitingItem = tuple[str, str, int, int]


class WaitingRow(NamedTuple):
    """What is to be judged, why, and by how many assessors; 0: it belongs to the pool, but nobody is to judge it."""

    query_id: str
    doc_id: str
    part_start: int
    part_end: int
    why: str
    assessors: int


def upsert(connection: sa.Connection, table: sa.Table) -> Any:
    """An insertion that can say what happens to rows that are there already."""
    return (postgresql if connection.dialect.name == "postgresql" else sqlite).insert(table)


def add_waiting(connection: sa.Connection, rows: Iterable[WaitingRow]) -> int:
    """Let documents wait; how many are new. One that waits already is for the larger number of assessors."""
    queries: dict[str, None] = {}
    before = count_rows(connection, WAITING)
    for batch in batches(rows):
        added = dict.fromkeys(row.query_id for row in batch)
        new = [{"query_id": query, "place": place(query)} for query in added if query not in queries]
        if new:
            connection.execute(upsert(connection, QUERIES).on_conflict_do_nothing(), new)
        queries.update(added)
        statement = upsert(connection, WAITING)
        larger = sa.case(
            (statement.excluded.assessors > WAITING.c.assessors, statement.excluded.assessors),
            else_=WAITING.c.assessors,
        )
        new = [{**row._asdict(), "remaining": row.assessors, "place": place(*row[: len(ITEM)])} for row in batch]
        connection.execute(statement.on_conflict_do_update(index_elements=ITEM, set_={"assessors": larger}), new)
    count_again(connection, queries)
    for names in batches(queries, NAMES):
        look_again(connection, names)
    return count_rows(connection, WAITING) - before


def count_rows(connection: sa.Connection, table: sa.Table) -> int:
    """How many rows a table has."""
    return int(connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one())


def remaining(assessors: int, said: Sequence[Said]) -> int:
    """How many assessors are still to judge something: those who could not judge it, and models, leave their place."""
    if any(each.adjudicates and each.grade is not None for each in said):
        return 0
    judged = {each.assessor for each in said if each.grade is not None and KINDS[each.kind].people}
    return max(assessors - len(judged), 0)


def count_again(connection: sa.Connection, queries: Iterable[str]) -> None:
    """Bring up to date what is left of some queries, after many events or documents were added."""
    for names in batches(queries, NAMES):
        _count_items(connection, WAITING.c.query_id.in_(names), EVENTS.c.query_id.in_(names))
        # What only belongs to the pool is for no assessor.
        pooled = sa.select(sa.func.count()).where(WAITING.c.query_id == QUERIES.c.query_id, WAITING.c.assessors > 0)
        left = pooled.where(is_open(WAITING.c.remaining))
        counts = {"pooled": pooled.scalar_subquery(), "open": left.scalar_subquery()}
        connection.execute(QUERIES.update().where(QUERIES.c.query_id.in_(names)).values(counts))


def count_document(connection: sa.Connection, query: str, document: str) -> None:
    """The same for one document, without counting all others of the query."""
    rows, events = (sa.and_(table.c.query_id == query, table.c.doc_id == document) for table in (WAITING, EVENTS))
    opened = _count_items(connection, rows, events)
    if opened:
        connection.execute(QUERIES.update().where(QUERIES.c.query_id == query).values(open=QUERIES.c.open + opened))


def _count_items(connection: sa.Connection, rows: Any, events: Any) -> int:
    """Bring `remaining` up to date; how many more are open than before."""
    said = {(query, document): found for query, document, found in standing(connection, events)}
    names = ("number", *ITEM, "assessors", "remaining")
    changed, opened = [], 0
    waiting = connection.execute(sa.select(*(WAITING.c[name] for name in names)).where(rows)).all()
    for number, query, document, start, end, assessors, before in waiting:
        of_document = said.get((query, document), ())
        after = remaining(assessors, [each for each in of_document if each[3:5] == (start, end)])
        if after != before:
            changed.append({"row": number, "left": after})
            opened += (after > 0) - (before > 0)
    if changed:
        update = WAITING.update().where(WAITING.c.number == sa.bindparam("row"))
        connection.execute(update.values(remaining=sa.bindparam("left")), changed)
    return opened


def pooled_documents(connection: sa.Connection) -> Iterator[tuple[str, str]]:
    """All documents that wait or waited, and those that belong to the pool without being for an assessor."""
    items = sa.select(WAITING.c.query_id, WAITING.c.doc_id).distinct().order_by(WAITING.c.query_id, WAITING.c.doc_id)
    for row in connection.execute(items):
        yield row.query_id, row.doc_id


def waiting_texts(connection: sa.Connection) -> Iterator[Any]:
    """What still needs an assessor, with its texts: query by query, in a random order that is always the same."""
    columns = [WAITING.c.query_id, QUERIES.c.text.label("query"), WAITING.c.doc_id, WAITING.c.part_end]
    columns += [DOCUMENTS.c[name] for name in ("title", "text", "url")]
    rows = WAITING.join(QUERIES, QUERIES.c.query_id == WAITING.c.query_id)
    rows = rows.outerjoin(DOCUMENTS, DOCUMENTS.c.doc_id == WAITING.c.doc_id)
    chosen = sa.select(*columns).select_from(rows).where(is_open(WAITING.c.remaining))
    yield from connection.execute(
        chosen.order_by(QUERIES.c.place, WAITING.c.query_id, WAITING.c.place, WAITING.c.number)
    )


def look_again(connection: sa.Connection, queries: Sequence[str]) -> None:
    """Let all assessors search queries again in which they had nothing left to do."""
    connection.execute(PASSED.delete().where(PASSED.c.query_id.in_(queries)))


def release(connection: sa.Connection, item: WaitingItem, assessor: str) -> None:
    """End an assessor's work on something."""
    numbers = sa.select(WAITING.c.number).where(*(WAITING.c[name] == each for name, each in zip(ITEM, item)))
    connection.execute(
        LEASES.delete().where(LEASES.c.assessor == assessor, LEASES.c.waiting.in_(numbers.scalar_subquery()))
    )


def release_all(connection: sa.Connection, assessor: str) -> None:
    """End all of an assessor's work."""
    connection.execute(LEASES.delete().where(LEASES.c.assessor == assessor))


def next_tasks(
    connection: sa.Connection,
    assessor: str,
    count: int,
    without: Collection[int] = (),
    first: str = "",
    lease: float = LEASE,
) -> list[Task]:
    """The next documents for an assessor, kept for them from now on."""
    moment = time.time()
    tasks: list[Task] = []
    others = (query for query in _open_queries(connection, assessor) if query != first)
    for query in chain([first] if first else [], others):
        rows, held = _open_items(connection, assessor, query, count - len(tasks), without, moment)
        if not rows and not held and query != first:
            connection.execute(PASSED.insert().values(assessor=assessor, query_id=query))
        tasks += map(_task, rows)
        if len(tasks) == count:
            break
    _keep(connection, assessor, [task.number for task in tasks], moment, lease)
    return tasks


def take(connection: sa.Connection, assessor: str, item: WaitingItem, lease: float = LEASE) -> Task | None:
    """A document that an assessor chose, kept for them if it waits; None if it is for others."""
    moment = time.time()
    same = [WAITING.c[name] == value for name, value in zip(ITEM, item, strict=True)]
    chosen = sa.select(WAITING.c.number, said_by(assessor), free_for(assessor, moment)).where(*same)
    row = connection.execute(chosen).one_or_none()
    if row is None or row[1]:
        return task_of(connection, item, row[0] if row else 0)
    if not row[2]:
        return None
    _keep(connection, assessor, [row[0]], moment, lease)
    return task_of(connection, item, row[0])


def said_by(assessor: str) -> sa.ColumnElement[bool]:
    """The condition that an assessor has said something of what waits."""
    return sa.exists(
        sa.select(EVENTS.c.number).where(
            *(EVENTS.c[name] == WAITING.c[name] for name in ITEM),
            EVENTS.c.assessor == assessor,
            EVENTS.c.adjudicates.is_(sa.false()),
            not_undone(),
        )
    )


def free_for(assessor: str, moment: float) -> sa.ColumnElement[bool]:
    """The condition that what waits needs more assessors than are working on it."""
    others = (
        sa.select(sa.func.count())
        .where(LEASES.c.waiting == WAITING.c.number, LEASES.c.assessor != assessor, LEASES.c.until > moment)
        .scalar_subquery()
    )
    return WAITING.c.remaining > others


def _open_queries(connection: sa.Connection, assessor: str) -> Iterator[str]:
    passed = sa.exists(
        sa.select(PASSED.c.query_id).where(PASSED.c.assessor == assessor, PASSED.c.query_id == QUERIES.c.query_id)
    )
    start = place(assessor)
    for half in (QUERIES.c.place >= start, QUERIES.c.place < start):
        ordered = sa.select(QUERIES.c.query_id, QUERIES.c.place).where(half, is_open(QUERIES.c.open), ~passed)
        ordered = ordered.order_by(QUERIES.c.place)
        # The first is nearly always enough; more are looked at only if others hold all of it.
        seen, size = -1, 1
        while rows := connection.execute(ordered.where(QUERIES.c.place > seen).limit(size)).all():
            yield from (row.query_id for row in rows)
            seen, size = rows[-1].place, 100


def _open_items(
    connection: sa.Connection, assessor: str, query: str, count: int, without: Collection[int], moment: float
) -> tuple[list[Any], bool]:
    """What is open to an assessor in a query, and whether something may become so when others give it back."""
    wanted = sa.and_(WAITING.c.query_id == query, is_open(WAITING.c.remaining), ~said_by(assessor))
    columns = [WAITING.c[name] for name in ("number", *ITEM)]
    documents = WAITING.join(QUERIES, QUERIES.c.query_id == WAITING.c.query_id).outerjoin(
        DOCUMENTS, DOCUMENTS.c.doc_id == WAITING.c.doc_id
    )
    chosen = sa.select(*columns, *_TEXTS).select_from(documents).where(wanted, free_for(assessor, moment))
    if without:
        chosen = chosen.where(WAITING.c.number.not_in(without))
    start = place(assessor, query)
    rows: list[Any] = []
    for half in (WAITING.c.place >= start, WAITING.c.place < start):
        ordered = chosen.where(half).order_by(WAITING.c.place, WAITING.c.number)
        rows += connection.execute(ordered.limit(count - len(rows))).all() if len(rows) < count else []
    held = not rows and connection.execute(sa.select(WAITING.c.number).where(wanted).limit(1)).first() is not None
    return rows, held


_TEXTS = [
    QUERIES.c.text.label("query"),
    QUERIES.c.narrative,
    *(DOCUMENTS.c[name] for name in ("title", "text", "url", "image")),
]


def task_of(connection: sa.Connection, item: WaitingItem, number: int) -> Task:
    """A document for a query, whether it waits or not."""
    query, document, start, end = item
    one = sa.select(sa.literal(query).label("query_id"), sa.literal(document).label("doc_id")).subquery()
    tables = one.outerjoin(QUERIES, QUERIES.c.query_id == one.c.query_id).outerjoin(
        DOCUMENTS, DOCUMENTS.c.doc_id == one.c.doc_id
    )
    columns = [sa.literal(value).label(name) for name, value in zip(ITEM[2:], (start, end), strict=True)]
    chosen = sa.select(sa.literal(number).label("number"), *one.c, *columns, *_TEXTS).select_from(tables)
    return _task(connection.execute(chosen).one())


def _task(row: Any) -> Task:
    return Task(
        number=row.number,
        query_id=row.query_id,
        doc_id=row.doc_id,
        part=(row.part_start, row.part_end) if row.part_end else None,
        query=row.query or "",
        narrative=row.narrative or "",
        title=row.title or "",
        text=row.text or "",
        url=row.url or "",
        image=row.image or "",
    )


def _keep(connection: sa.Connection, assessor: str, numbers: Sequence[int], moment: float, lease: float) -> None:
    """Write down who works on what; a lease that still has half of its time is left as it is."""
    fresh = sa.select(LEASES.c.waiting).where(
        LEASES.c.assessor == assessor, LEASES.c.waiting.in_(numbers), LEASES.c.until > moment + lease / 2
    )
    held = set(connection.execute(fresh).scalars())
    rows = [
        {"waiting": number, "assessor": assessor, "until": moment + lease} for number in numbers if number not in held
    ]
    if rows:
        statement = upsert(connection, LEASES)
        statement = statement.on_conflict_do_update(
            index_elements=["waiting", "assessor"], set_={"until": statement.excluded.until}
        )
        connection.execute(statement, rows)
