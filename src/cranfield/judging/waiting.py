"""What waits to be judged, and how much of it is left."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from cranfield.judging.event_log import NAMES, Said, StandingEvents, batches
from cranfield.judging.kinds import KINDS
from cranfield.judging.random_orders import ORDERED, place
from cranfield.judging.schema import DOCUMENTS, EVENTS, ITEM, PASSED, QUERIES, WAITING, is_open

WaitingItem = tuple[str, str, int, int]


class WaitingRow(NamedTuple):
    """What is to be judged, why, and by how many assessors; 0: it belongs to the pool, but nobody is to judge it."""

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
    """An insertion that can say what happens to rows that are there already."""
    return (postgresql if dialect == "postgresql" else sqlite).insert(table)


def add_waiting(connection: sa.Connection, rows: Iterable[WaitingRow], *, claim: bool = False) -> int:
    """Let documents wait; how many are new. One that waits already is for the larger number of assessors.

    It moves to the stratum of its row, if that has one, and to the position. A pool that puts a document into a stratum
    takes it whatever the grades say, and clears which order chose it. An order that adds to a pool does not claim what
    waits without it; one that is followed while people judge does: who stops early has judged what it put first.

    claim: note that an order chose what waits already, too, and leave it in its place
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
    """The columns of a row."""
    columns = {**row._asdict(), "remaining": row.assessors}
    position = columns.pop("position")
    return {**columns, "place": place(*row[: len(ITEM)]) if position is None else position}


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
        _OF_QUERIES.count(connection, {"names": names})
        # What only belongs to the pool is for no assessor.
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
    """Brings `remaining` up to date for what a condition chooses. Its statements are made once: that takes longer than
    running them."""

    def __init__(self, condition: Callable[[sa.Table], sa.ColumnElement[bool]]) -> None:
        names = ("number", *ITEM, "assessors", "remaining")
        self._waiting = sa.select(*(WAITING.c[name] for name in names)).where(condition(WAITING))
        self._said = StandingEvents(condition(EVENTS))

    def count(self, connection: sa.Connection, values: Mapping[str, Any]) -> int:
        """How many more are open than before."""
        said = {(query, document): found for query, document, found in self._said.read(connection, values)}
        changed, opened = [], 0
        for number, query, document, start, end, assessors, before in connection.execute(self._waiting, values).all():
            of_document = said.get((query, document), ())
            after = remaining(assessors, [each for each in of_document if each[3:5] == (start, end)])
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
    """All documents that wait or waited, and those that belong to the pool without being for an assessor."""
    items = sa.select(WAITING.c.query_id, WAITING.c.doc_id).distinct().order_by(WAITING.c.query_id, WAITING.c.doc_id)
    for row in connection.execute(items):
        yield row.query_id, row.doc_id


def strata_of_queries(connection: sa.Connection) -> dict[str, dict[str, str]]:
    """By query, the stratum of each document that is in one."""
    columns = sa.select(WAITING.c.query_id, WAITING.c.doc_id, WAITING.c.stratum).where(WAITING.c.stratum != "")
    found: dict[str, dict[str, str]] = {}
    for query, document, stratum in connection.execute(columns):
        found.setdefault(query, {})[document] = stratum
    return found


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
