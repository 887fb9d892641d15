"""What the page lists: the queries, the documents of one, and what has been judged."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import sqlalchemy as sa

from cranfield.judging.assigning import free_for, said_by
from cranfield.judging.event_log import event_of, found_by_item, not_undone
from cranfield.judging.events import Event, StoreProgress
from cranfield.judging.random_orders import place
from cranfield.judging.schema import DOCUMENTS, EVENTS, ITEM, QUERIES, WAITING
from cranfield.judging.waiting import WaitingItem

RECENT = 50  # judgments that tell how fast an assessor is now
BEGINNING = 80  # characters of a text that has no title


class ListedQuery(NamedTuple):
    """A query in the order of an assessor: how many documents were pooled for it, and how many are left."""

    query_id: str
    text: str
    pooled: int
    left: int


class ListedDocument(NamedTuple):
    """A document of a query, as an assessor may see it: what others say of it is not there."""

    item: WaitingItem
    title: str
    mine: Event | None
    open: bool  # the assessor may judge it; else others do


class JudgedDocument(NamedTuple):
    """What an assessor says now of a document, with what a reader needs to know which one it is."""

    event: Event
    query: str
    title: str


def totals(connection: sa.Connection) -> StoreProgress:
    """How much was pooled and how much is left, without who did what."""
    counts = [sa.func.count(), *(sa.func.coalesce(sa.func.sum(QUERIES.c[name]), 0) for name in ("pooled", "open"))]
    done = sa.func.coalesce(sa.func.sum(sa.case((QUERIES.c.open == 0, 1), else_=0)), 0)
    row = connection.execute(sa.select(*counts, done).where(QUERIES.c.pooled > 0)).one()
    return StoreProgress(documents=int(row[1]), left=int(row[2]), queries=int(row[0]), queries_done=int(row[3]))


def pace(connection: sa.Connection, assessor: str) -> float | None:
    """The seconds that an assessor needed for a document lately: the median, which a break does not change."""
    recent = sa.select(EVENTS.c.seconds).where(EVENTS.c.assessor == assessor, EVENTS.c.seconds.isnot(None))
    found = list(connection.execute(recent.order_by(EVENTS.c.number.desc()).limit(RECENT)).scalars())
    return statistics.median(found) if found else None


def position(connection: sa.Connection, assessor: str, query_id: str) -> int:
    """Which query this is in the order of an assessor, from 1."""
    start = place(assessor)
    mine = connection.execute(sa.select(QUERIES.c.place).where(QUERIES.c.query_id == query_id)).scalar()
    if mine is None:
        return 0
    before: Any = (
        QUERIES.c.place.between(start, mine)
        if mine >= start
        else (QUERIES.c.place >= start) | (QUERIES.c.place <= mine)
    )
    counted = sa.select(sa.func.count()).where(QUERIES.c.pooled > 0, before)
    return int(connection.execute(counted).scalar_one())


def has_query(connection: sa.Connection, query_id: str) -> bool:
    """Whether a store knows a query."""
    found = sa.select(QUERIES.c.query_id).where(QUERIES.c.query_id == query_id)
    return connection.execute(found).first() is not None


def list_queries(connection: sa.Connection, assessor: str, words: str, limit: int) -> list[ListedQuery]:
    """Queries in the order of an assessor, all or those with some words in their text, id or documents.

    Those for which nothing was returned are among them: somebody may know a document that answers them.
    """
    later = sa.case((QUERIES.c.place >= place(assessor), 0), else_=1)
    columns = [QUERIES.c[name] for name in ("query_id", "text", "pooled", "open")]
    chosen = sa.select(*columns).order_by(later, QUERIES.c.place).limit(limit)
    if words:
        found = sa.select(WAITING.c.query_id).where(_all_hold(words, partial(_document_holds, WAITING.c.doc_id)))
        in_query = _all_hold(words, lambda word: _holds(word, QUERIES.c.text, QUERIES.c.query_id))
        chosen = chosen.where(in_query | QUERIES.c.query_id.in_(found))
    return [ListedQuery(*row) for row in connection.execute(chosen)]


def list_documents(connection: sa.Connection, assessor: str, query_id: str) -> list[ListedDocument]:
    """The documents pooled for a query, in the order in which an assessor gets them."""
    mine = {item_of(event): event for event in _standing_of(connection, assessor, query_id)}
    later = sa.case((WAITING.c.place >= place(assessor, query_id), 0), else_=1)
    beginning = sa.func.substr(DOCUMENTS.c.text, 1, BEGINNING)
    title = sa.func.coalesce(sa.func.nullif(DOCUMENTS.c.title, ""), beginning, "")
    columns = [*(WAITING.c[name] for name in ITEM), title]
    open_ = free_for(assessor, time.time()) & ~said_by(assessor)
    rows = connection.execute(
        sa.select(*columns, open_)
        .select_from(WAITING.outerjoin(DOCUMENTS, DOCUMENTS.c.doc_id == WAITING.c.doc_id))
        .where(WAITING.c.query_id == query_id, WAITING.c.assessors > 0)
        .order_by(later, WAITING.c.place, WAITING.c.number)
    )
    return [
        ListedDocument((query, document, start, end), title, mine.get((query, document, start, end)), bool(is_open))
        for query, document, start, end, title, is_open in rows
    ]


def list_judged(
    connection: sa.Connection, assessor: str, filters: Mapping[str, Any], before: int | None, limit: int
) -> list[JudgedDocument]:
    """What has been judged, the last first: all that an assessor may see, or what filters choose.

    What others say of a document that the assessor is still to judge is not there.
    """
    waits = sa.exists(
        sa.select(WAITING.c.number).where(
            *(WAITING.c[name] == EVENTS.c[name] for name in ITEM),
            WAITING.c.remaining > 0,
            ~said_by(assessor).correlate(WAITING),
        )
    )
    chosen = (
        sa.select(EVENTS, QUERIES.c.text.label("query"), DOCUMENTS.c.title)
        .select_from(
            EVENTS.outerjoin(QUERIES, QUERIES.c.query_id == EVENTS.c.query_id).outerjoin(
                DOCUMENTS, DOCUMENTS.c.doc_id == EVENTS.c.doc_id
            )
        )
        .where(not_undone(), _is_last(), (EVENTS.c.assessor == assessor) | ~waits)
        .order_by(EVENTS.c.number.desc())
        .limit(limit)
    )
    for name, column in {"by": EVENTS.c.assessor, "query_id": EVENTS.c.query_id, "grade": EVENTS.c.grade}.items():
        if name in filters:  # a grade of None asks for what could not be judged
            chosen = chosen.where(column.is_(None) if filters[name] is None else column == filters[name])
    if filters.get("words"):
        chosen = chosen.where(_all_hold(filters["words"], _event_holds))
    if before is not None:
        chosen = chosen.where(EVENTS.c.number < before)
    return [JudgedDocument(event_of(row), row.query or "", row.title or "") for row in connection.execute(chosen)]


def said_of(connection: sa.Connection, query_id: str, doc_id: str) -> list[Event]:
    """What all assessors say now of a document and its parts."""
    chosen = EVENTS.select().where(EVENTS.c.query_id == query_id, EVENTS.c.doc_id == doc_id, not_undone(), _is_last())
    return [event_of(row) for row in connection.execute(chosen.order_by(EVENTS.c.assessor))]


def last_said(connection: sa.Connection, assessor: str, item: WaitingItem) -> Event | None:
    """What an assessor says now of something."""
    return next((each for each in _standing_of(connection, assessor, *item[:2]) if item_of(each) == item), None)


def marked_passages(connection: sa.Connection, assessor: str, query_id: str, doc_id: str) -> list[Event]:
    """The parts of a document that an assessor graded, without those whose grade they took away."""
    said = _standing_of(connection, assessor, query_id, doc_id)
    return [event for event in said if event.part and event.grade is not None]


def shown_item(connection: sa.Connection, item: WaitingItem) -> WaitingItem:
    """What the page shows for something that was judged: a part that only a reader marked is shown in its document."""
    waits = sa.select(WAITING.c.number).where(
        *(WAITING.c[name] == value for name, value in zip(ITEM, item, strict=True))
    )
    return item if connection.execute(waits).first() else (*item[:2], 0, 0)


def item_of(event: Event) -> WaitingItem:
    """What an event is about."""
    return event.query_id, event.doc_id, *(event.part or (0, 0))


def _standing_of(connection: sa.Connection, assessor: str, query_id: str, doc_id: str | None = None) -> list[Event]:
    chosen = EVENTS.select().where(
        EVENTS.c.query_id == query_id,
        *([EVENTS.c.doc_id == doc_id] if doc_id is not None else []),
        found_by_item(EVENTS.c.assessor) == assessor,
        EVENTS.c.adjudicates.is_(sa.false()),
        not_undone(),
        _is_last(),
    )
    return [event_of(row) for row in connection.execute(chosen)]


def _is_last() -> sa.ColumnElement[bool]:
    """The condition that an assessor says nothing later of the same thing that was not taken back."""
    later, undo = EVENTS.alias("later"), EVENTS.alias("undo_of_later")
    undone = sa.exists(sa.select(undo.c.number).where(undo.c.undoes == later.c.number))
    return ~sa.exists(
        sa.select(later.c.number).where(
            *(later.c[name] == EVENTS.c[name] for name in (*ITEM, "adjudicates")),
            found_by_item(later.c.assessor) == EVENTS.c.assessor,
            later.c.number > EVENTS.c.number,
            later.c.undoes.is_(None),
            ~undone,
        )
    )


def _all_hold(words: str, holds: Callable[[str], sa.ColumnElement[bool]]) -> sa.ColumnElement[bool]:
    """The condition that each of some words is found."""
    return sa.and_(sa.true(), *map(holds, words.split()))


def _holds(word: str, *places: Any) -> sa.ColumnElement[bool]:
    """The condition that a word is in one of some texts."""
    return sa.or_(*(each.icontains(word, autoescape=True) for each in places))


# Texts are searched once, and not again for everything that was said of them: there are fewer of them.


def _document_holds(doc_id: Any, word: str) -> sa.ColumnElement[bool]:
    titled = sa.select(DOCUMENTS.c.doc_id).where(_holds(word, DOCUMENTS.c.title))
    return _holds(word, doc_id) | doc_id.in_(titled)


def _event_holds(word: str) -> sa.ColumnElement[bool]:
    asked = sa.select(QUERIES.c.query_id).where(_holds(word, QUERIES.c.text))
    told = _holds(word, EVENTS.c.query_id, EVENTS.c.comment) | EVENTS.c.query_id.in_(asked)
    return told | _document_holds(EVENTS.c.doc_id, word)
