"""What waits to be judged, and how much of it is left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from cranfield.judging.store.event_log import BATCH, NAMES, CurrentEvents, CurrentGrade, batches
from cranfield.judging.store.merging import KINDS
from cranfield.judging.store.random_orders import ORDERED, place
from cranfield.judging.store.schema import EVENTS, ITEM, PASSED, QUERIES, WAITING, is_open


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
    """An insert statement that can handle rows that already exist."""
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
        larger = sa.case(
            (statement.excluded.assessors > WAITING.c.assessors, statement.excluded.assessors),
            else_=WAITING.c.assessors,
        )
        new = list(map(_inserted, batch))
        excluded = statement.excluded
        followed = (excluded.chosen_by != "") & (excluded.place >= ORDERED)
        claimed = sa.true() if claim else (excluded.stratum != "") | followed | (WAITING.c.assessors == 0)
        moved = sa.false() if claim else excluded.place < ORDERED
        changed = {
            "assessors": larger,
            "stratum": sa.func.coalesce(sa.func.nullif(excluded.stratum, ""), WAITING.c.stratum),
            "chosen_by": sa.case((claimed, excluded.chosen_by), else_=WAITING.c.chosen_by),
            "place": sa.case((moved, excluded.place), else_=WAITING.c.place),
        }
        connection.execute(statement.on_conflict_do_update(index_elements=ITEM, set_=changed), new)
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


def remaining(assessors: int, grades: Sequence[CurrentGrade]) -> int:
    """How many assessors must still judge an item: those who could not judge it, and models, do not count."""
    if any(event.adjudicates and event.grade is not None for event in grades):
        return 0
    judged = {event.assessor for event in grades if event.grade is not None and KINDS[event.kind].people}
    return max(assessors - len(judged), 0)


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
    """The same for one document, without counting all others of the query."""
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
        """How many more are open than before."""
        grades = {(query, document): events for query, document, events in self._grades.read(connection, values)}
        changed, opened = [], 0
        for number, query, document, start, end, assessors, before in connection.execute(self._waiting, values).all():
            of_document = grades.get((query, document), ())
            after = remaining(assessors, [event for event in of_document if event[3:5] == (start, end)])
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
    items = sa.select(WAITING.c.query_id, WAITING.c.doc_id).distinct().order_by(WAITING.c.query_id, WAITING.c.doc_id)
    for row in connection.execute(items):
        yield row.query_id, row.doc_id


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
    """By order of judging, how many of some documents of queries it chose.

    If all documents of a query waited and are judged, it does not matter that an order chose some first.
    """
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
