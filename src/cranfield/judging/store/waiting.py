"""What waits to be judged, how much of it is left, and who gets it: nobody gets what another is working on.

Queries and the documents of a query each have a place in a random order. An assessor goes through it once around,
from a place of their own: the order is the same for them every time, differs between assessors, and needs no table of
its own. Statements are built once, with parameters: building them takes longer than running them.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from cranfield.judging.store.event_log import BATCH, NAMES, CurrentEvents, batches, found_by_item, not_undone
from cranfield.judging.store.events import StoredDocument, StoredQuery, Task, WaitingItem, stored_fields
from cranfield.judging.store.merging import KINDS
from cranfield.judging.store.random_orders import ENDS, ORDERED, place
from cranfield.judging.store.schema import DOCUMENTS, EVENTS, ITEM, LEASES, PASSED, QUERIES, WAITING, is_open


class WaitingRow(NamedTuple):
    """An item to judge, why, and by how many assessors; 0: it belongs to the pool, but is not to be judged."""

    query_id: str
    doc_id: str
    part_start: int
    part_end: int
    why: str
    assessors: int
    stratum: str = ""  # of a sampled pool
    chosen_by: str = ""  # the order of judging, if it follows grades
    position: int | None = None  # in the order in which the documents of the query come; otherwise at random


def upsert(dialect: str, table: sa.Table) -> Any:
    return (postgresql if dialect == "postgresql" else sqlite).insert(table)


def add_waiting(connection: sa.Connection, rows: Iterable[WaitingRow], *, claim: bool = False) -> int:
    """Let documents wait; returns how many are new. One that waits already is for the larger number of assessors.

    It moves to the stratum of its row, if that has one, and to the position. A pool that puts a document into a stratum
    takes it whatever the grades are, and clears the order that chose it. An order that adds to a pool does not claim
    documents that already wait; one that is followed while people judge does: if they stop early, they have judged what
    it put first.

    claim: record the order for documents that already wait, too, and leave them in place
    """
    queries: dict[str, None] = {}
    before = count_rows(connection, WAITING)
    for batch in batches(rows):
        added = dict.fromkeys(row.query_id for row in batch)
        new = [{"query_id": query, "place": place(query)} for query in added if query not in queries]
        if new:
            connection.execute(upsert(connection.dialect.name, QUERIES).on_conflict_do_nothing(), new)
        queries.update(added)
        statement = upsert(connection.dialect.name, WAITING)
        excluded, assessors = statement.excluded, WAITING.c.assessors
        followed = (excluded.chosen_by != "") & (excluded.place >= ORDERED)
        claimed = sa.true() if claim else (excluded.stratum != "") | followed | (assessors == 0)
        moved = sa.false() if claim else excluded.place < ORDERED
        changed = {
            "assessors": sa.case((excluded.assessors > assessors, excluded.assessors), else_=assessors),
            "stratum": sa.func.coalesce(sa.func.nullif(excluded.stratum, ""), WAITING.c.stratum),
            "chosen_by": sa.case((claimed, excluded.chosen_by), else_=WAITING.c.chosen_by),
            "place": sa.case((moved, excluded.place), else_=WAITING.c.place),
        }
        statement = statement.on_conflict_do_update(index_elements=ITEM, set_=changed)
        connection.execute(statement, list(map(_inserted, batch)))
    count_again(connection, queries)
    for names in batches(queries, NAMES):
        look_again(connection, names)
    return count_rows(connection, WAITING) - before


def _inserted(row: WaitingRow) -> dict[str, Any]:
    columns = {**row._asdict(), "remaining": row.assessors}
    position = columns.pop("position")
    return {**columns, "place": place(*row[: len(ITEM)]) if position is None else position}


def count_rows(connection: sa.Connection, table: sa.Table) -> int:
    return int(connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one())


def count_again(connection: sa.Connection, queries: Iterable[str]) -> None:
    """Update what is left of some queries, after many events or documents were added."""
    for names in batches(queries, NAMES):
        _OF_QUERIES.count(connection, {"names": names})
        # Documents that only belong to the pool are for no assessor.
        pooled = sa.select(sa.func.count()).where(WAITING.c.query_id == QUERIES.c.query_id, WAITING.c.assessors > 0)
        left = pooled.where(is_open(WAITING.c.remaining))
        counts = {"pooled": pooled.scalar_subquery(), "open": left.scalar_subquery()}
        connection.execute(QUERIES.update().where(QUERIES.c.query_id.in_(names)).values(counts))


def count_document(connection: sa.Connection, query: str, document: str) -> None:
    opened = _OF_DOCUMENT.count(connection, {"query": query, "document": document})
    if opened:
        connection.execute(_OPENED, {"query": query, "more": opened})
    if opened > 0:  # others who were done with the query may be needed again
        look_again(connection, [query])


_OPENED = (
    QUERIES.update()
    .where(QUERIES.c.query_id == sa.bindparam("query"))
    .values(open=QUERIES.c.open + sa.bindparam("more", type_=sa.Integer))
)
_LEFT = WAITING.update().where(WAITING.c.number == sa.bindparam("row")).values(remaining=sa.bindparam("left"))


class _Counting:
    """Updates `remaining` for some rows. Its statements are built once: that takes longer than running them."""

    def __init__(self, condition: Callable[[sa.Table], sa.ColumnElement[bool]]) -> None:
        names = ("number", *ITEM, "assessors", "remaining")
        self._waiting = sa.select(*(WAITING.c[name] for name in names)).where(condition(WAITING))
        self._grades = CurrentEvents(condition(EVENTS))

    def count(self, connection: sa.Connection, values: Mapping[str, Any]) -> int:
        grades = {(query, document): events for query, document, events in self._grades.read(connection, values)}
        changed, opened = [], 0
        for number, query, document, start, end, assessors, before in connection.execute(self._waiting, values).all():
            own = [event for event in grades.get((query, document), ()) if event[3:5] == (start, end)]
            given = [event for event in own if event.grade is not None]
            # Models do not count, and neither do those who could not judge it.
            judged = {event.assessor for event in given if KINDS[event.kind].people}
            after = 0 if any(event.adjudicates for event in given) else max(assessors - len(judged), 0)
            if after != before:
                changed.append({"row": number, "left": after})
                opened += (after > 0) - (before > 0)
        if changed:
            connection.execute(_LEFT, changed)
        return opened


_OF_QUERIES = _Counting(lambda table: table.c.query_id.in_(sa.bindparam("names", expanding=True)))
_OF_DOCUMENT = _Counting(
    lambda table: (table.c.query_id == sa.bindparam("query")) & (table.c.doc_id == sa.bindparam("document"))
)


def pooled_documents(connection: sa.Connection) -> Iterator[tuple[str, str]]:
    pair = (WAITING.c.query_id, WAITING.c.doc_id)
    yield from map(tuple, connection.execute(sa.select(*pair).distinct().order_by(*pair)))


def strata_of_queries(connection: sa.Connection) -> dict[str, dict[str, str]]:
    columns = sa.select(WAITING.c.query_id, WAITING.c.doc_id, WAITING.c.stratum).where(WAITING.c.stratum != "")
    strata: dict[str, dict[str, str]] = {}
    for query, document, stratum in connection.execute(columns):
        strata.setdefault(query, {})[document] = stratum
    return strata


def look_again(connection: sa.Connection, queries: Sequence[str]) -> None:
    """Let all assessors search the queries again in which they had nothing left to do."""
    connection.execute(PASSED.delete().where(PASSED.c.query_id.in_(queries)))


def count_chosen(connection: sa.Connection, judged: Mapping[str, Collection[str]]) -> Counter[str]:
    """By order. If all documents of a query waited and are judged, it does not matter what an order chose first."""
    # A document may wait as a whole and in parts; it is one judgment, and belongs to the order that came first.
    chosen: dict[tuple[str, str], tuple[str, bool]] = {}
    for query, document, order, alone in connection.execute(_CHOSEN):
        if document in judged.get(query, ()):
            chosen.setdefault((query, document), (order, bool(alone)))
    queries = {query for (query, _), (_, alone) in chosen.items() if not alone}
    unfinished = set(_unfinished(connection, queries, judged)) if queries else set()
    return Counter(order for (query, _), (order, alone) in chosen.items() if alone or query in unfinished)


# An order put only some documents into the pool: in its own sequence, or for an assessor who was asked at once.
_ALONE = (WAITING.c.assessors == 0) | (WAITING.c.place < ORDERED)
_CHOSEN = (
    sa.select(WAITING.c.query_id, WAITING.c.doc_id, WAITING.c.chosen_by, _ALONE)
    .where(WAITING.c.chosen_by != "")
    .order_by(WAITING.c.number)
)


def _unfinished(
    connection: sa.Connection, queries: Collection[str], judged: Mapping[str, Collection[str]]
) -> Iterator[str]:
    rows = sa.select(WAITING.c.query_id, WAITING.c.doc_id).where(WAITING.c.assessors > 0)
    with connection.execute(rows, execution_options={"yield_per": BATCH}) as result:
        for query, document in chain.from_iterable(result.partitions()):
            if query in queries and document not in judged.get(query, ()):
                yield query


LEASE = 30 * 60.0  # seconds for which a document is reserved for the assessor who got it

_WHO = sa.bindparam("who", type_=sa.Text)
_NOW = sa.bindparam("now", type_=sa.Float)
_ITEM = {name: sa.bindparam(name, type_=WAITING.c[name].type) for name in ITEM}


def judged_by(assessor: Any) -> sa.ColumnElement[bool]:
    return sa.exists(
        sa.select(EVENTS.c.number).where(
            *(EVENTS.c[name] == WAITING.c[name] for name in ITEM),
            found_by_item(EVENTS.c.assessor) == assessor,
            EVENTS.c.adjudicates.is_(sa.false()),
            not_undone(),
        )
    )


def free_for(assessor: Any, moment: Any) -> sa.ColumnElement[bool]:
    others = (
        sa.select(sa.func.count())
        .where(
            LEASES.c.waiting == WAITING.c.number,
            LEASES.c.assessor != assessor,
            LEASES.c.until > moment,
            LEASES.c.until <= moment + LEASE,  # one that ends later was taken by a clock that went wrong
        )
        .scalar_subquery()
    )
    return WAITING.c.remaining > others


def _in_range(table: sa.Table) -> sa.ColumnElement[bool]:
    low, high = (sa.bindparam(name, type_=sa.BigInteger) for name in ("low", "high"))
    return (table.c.place >= low) & (table.c.place < high)


_THIS_ITEM = sa.and_(*(WAITING.c[name] == _ITEM[name] for name in ITEM))
_TEXTS = [
    table.c[field.stored.column].label(field.name)
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
_TAKEN = sa.select(WAITING.c.number, judged_by(_WHO), free_for(_WHO, _NOW)).where(_THIS_ITEM)
_RELEASE = LEASES.delete().where(
    LEASES.c.assessor == _WHO, LEASES.c.waiting.in_(sa.select(WAITING.c.number).where(_THIS_ITEM).scalar_subquery())
)
_KEPT = sa.select(LEASES.c.waiting).where(
    LEASES.c.assessor == _WHO,
    LEASES.c.waiting.in_(sa.bindparam("numbers", expanding=True)),
    LEASES.c.until > sa.bindparam("half", type_=sa.Float),
)


def next_tasks(
    connection: sa.Connection, assessor: str, count: int, without: Collection[int] = (), first: str = ""
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
    _keep(connection, assessor, [task.number for task in tasks], moment)
    return tasks


def take(connection: sa.Connection, assessor: str, item: WaitingItem) -> Task | None:
    """A document that an assessor chose, reserved for them if it waits; None if it is for others."""
    moment = time.time()
    values = {"who": assessor, "now": moment, **dict(zip(ITEM, item, strict=True))}
    number, is_judged, is_free = connection.execute(_TAKEN, values).one_or_none() or (0, True, False)
    if not is_judged and not is_free:
        return None
    if not is_judged:
        _keep(connection, assessor, [number], moment)
    return task_of(connection, item, number)


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


def task_of(connection: sa.Connection, item: WaitingItem, number: int = 0) -> Task:
    values = zip(("number", *ITEM), (number, *item), strict=True)
    one = sa.select(*(sa.literal(value).label(name) for name, value in values)).subquery()
    tables = one.outerjoin(QUERIES, QUERIES.c.query_id == one.c.query_id).outerjoin(
        DOCUMENTS, DOCUMENTS.c.doc_id == one.c.doc_id
    )
    return _task(connection.execute(sa.select(*one.c, *_TEXTS).select_from(tables)).one())


def waiting_tasks(connection: sa.Connection, *conditions: Any) -> Iterator[Task]:
    """Some of the documents that wait or waited, query by query, in a fixed random order."""
    order = (QUERIES.c.place, WAITING.c.query_id, WAITING.c.place, WAITING.c.number)
    chosen = _TASKS.where(*conditions).order_by(*order)
    yield from map(_task, connection.execute(chosen, execution_options={"yield_per": 1000}))


def _around(start: int) -> tuple[dict[str, int], dict[str, int]]:
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


def _keep(connection: sa.Connection, assessor: str, numbers: Sequence[int], moment: float) -> None:
    """Record who works on what; a reservation that still has half of its time is left as it is."""
    values = {"who": assessor, "numbers": list(numbers), "half": moment + LEASE / 2}
    held = set(connection.execute(_KEPT, values).scalars())
    own = {"assessor": assessor, "until": moment + LEASE}
    if rows := [{"waiting": number, **own} for number in numbers if number not in held]:
        connection.execute(_lease(connection.dialect.name), rows)


@cache
def _lease(dialect: str) -> Any:
    statement = upsert(dialect, LEASES)
    return statement.on_conflict_do_update(
        index_elements=["waiting", "assessor"], set_={"until": statement.excluded.until}
    )
