"""The lists of the page, and the progress of judging."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import sqlalchemy as sa

from cranfield.judging.store.checked_input import LONGEST
from cranfield.judging.store.event_log import NAMES, batches, event_of, found_by_item, not_undone
from cranfield.judging.store.events import Event, StoreProgress, WaitingItem, Work, item_of
from cranfield.judging.store.merging import BY_PEOPLE
from cranfield.judging.store.random_orders import place
from cranfield.judging.store.schema import DOCUMENTS, EVENTS, ITEM, LEASES, QUERIES, WAITING
from cranfield.judging.store.waiting import LEASE, free_for, judged_by

RECENT = 50  # the last judgments, from which the pace of an assessor follows
BEGINNING = 80  # characters of a text that has no title


def totals(connection: sa.Connection) -> StoreProgress:
    counts = [sa.func.count(), *(sa.func.coalesce(sa.func.sum(QUERIES.c[name]), 0) for name in ("pooled", "open"))]
    done = sa.func.coalesce(sa.func.sum(sa.case((QUERIES.c.open == 0, 1), else_=0)), 0)
    row = connection.execute(sa.select(*counts, done).where(QUERIES.c.pooled > 0)).one()
    return StoreProgress(documents=int(row[1]), left=int(row[2]), queries=int(row[0]), queries_done=int(row[3]))


def pace(connection: sa.Connection, assessor: str) -> float | None:
    """The seconds that an assessor needed for a document lately: the median, which a break does not change."""
    recent = sa.select(EVENTS.c.seconds).where(EVENTS.c.assessor == assessor, EVENTS.c.seconds <= LONGEST)
    seconds = list(connection.execute(recent.order_by(EVENTS.c.number.desc()).limit(RECENT)).scalars())
    return statistics.median(seconds) if seconds else None


def position(connection: sa.Connection, assessor: str, query_id: str) -> int:
    start = place(assessor)
    mine = connection.execute(sa.select(QUERIES.c.place).where(QUERIES.c.query_id == query_id)).scalar()
    if mine is None:
        return 0
    from_start, to_mine = QUERIES.c.place >= start, QUERIES.c.place <= mine
    before = from_start & to_mine if mine >= start else from_start | to_mine
    counted = sa.select(sa.func.count()).where(QUERIES.c.pooled > 0, before)
    return int(connection.execute(counted).scalar_one())


def has_query(connection: sa.Connection, query_id: str) -> bool:
    chosen = sa.select(QUERIES.c.query_id).where(QUERIES.c.query_id == query_id)
    return connection.execute(chosen).first() is not None


def list_queries(connection: sa.Connection, assessor: str, words: str, limit: int) -> list[dict[str, Any]]:
    """Those without any returned document as well: an assessor may know one that answers them."""
    later = sa.case((QUERIES.c.place >= place(assessor), 0), else_=1)
    columns = [*(QUERIES.c[name] for name in ("query_id", "text", "pooled")), QUERIES.c.open.label("left")]
    chosen = sa.select(*columns).order_by(later, QUERIES.c.place).limit(limit)
    if words:
        in_documents = sa.select(WAITING.c.query_id).where(_all_hold(words, partial(_document_holds, WAITING.c.doc_id)))
        in_query = _all_hold(words, lambda word: _holds(word, QUERIES.c.text, QUERIES.c.query_id))
        chosen = chosen.where(in_query | QUERIES.c.query_id.in_(in_documents))
    return [dict(row) for row in connection.execute(chosen).mappings()]


def list_documents(
    connection: sa.Connection, assessor: str, query_id: str
) -> Iterator[tuple[WaitingItem, str, Event | None, bool]]:
    """Each with its title, the assessor's own grade, and whether it is theirs to judge; not the grades of others."""
    mine = {item_of(event): event for event in _standing_of(connection, assessor, query_id)}
    later = sa.case((WAITING.c.place >= place(assessor, query_id), 0), else_=1)
    beginning = sa.func.substr(DOCUMENTS.c.text, 1, BEGINNING)
    title = sa.func.coalesce(sa.func.nullif(DOCUMENTS.c.title, ""), beginning, "")
    is_open = free_for(assessor, time.time()) & ~judged_by(assessor)
    rows = connection.execute(
        sa.select(*(WAITING.c[name] for name in ITEM), title, is_open)
        .select_from(WAITING.outerjoin(DOCUMENTS, DOCUMENTS.c.doc_id == WAITING.c.doc_id))
        .where(WAITING.c.query_id == query_id, WAITING.c.assessors > 0)
        .order_by(later, WAITING.c.place, WAITING.c.number)
    )
    for query, document, start, end, title, can_judge in rows:
        item = (query, document, start, end)
        yield item, title, mine.get(item), bool(can_judge)


def judges_of_queries(connection: sa.Connection, queries: Sequence[str]) -> dict[str, dict[str, int]]:
    """By query, how many documents each person has judged; it does not say how."""
    number = sa.func.count(EVENTS.c.doc_id.distinct())
    found: dict[str, dict[str, int]] = {}
    for names in batches(queries, NAMES):
        chosen = sa.select(EVENTS.c.query_id, EVENTS.c.assessor, number).where(
            EVENTS.c.query_id.in_(names), *_GRADED_BY_PEOPLE
        )
        rows = connection.execute(chosen.group_by(EVENTS.c.query_id, EVENTS.c.assessor).order_by(EVENTS.c.assessor))
        for query, assessor, judged in rows:
            found.setdefault(query, {})[assessor] = judged
    return found


def judges_of_documents(connection: sa.Connection, query_id: str) -> dict[WaitingItem, list[str]]:
    """The people who have judged each document of a query; it does not say how."""
    columns = [EVENTS.c[name] for name in (*ITEM, "assessor")]
    chosen = sa.select(*columns).where(EVENTS.c.query_id == query_id, *_GRADED_BY_PEOPLE).distinct()
    found: dict[WaitingItem, list[str]] = {}
    for *item, assessor in connection.execute(chosen.order_by(EVENTS.c.assessor)):
        found.setdefault(tuple(item), []).append(assessor)
    return found


def held_documents(connection: sa.Connection, query_id: str) -> dict[WaitingItem, list[str]]:
    """Who has the documents of a query before them now."""
    moment = time.time()
    chosen = (
        sa.select(*(WAITING.c[name] for name in ITEM), LEASES.c.assessor)
        .select_from(WAITING.join(LEASES, LEASES.c.waiting == WAITING.c.number))
        .where(WAITING.c.query_id == query_id, LEASES.c.until > moment, LEASES.c.until <= moment + LEASE)
    )
    found: dict[WaitingItem, list[str]] = {}
    for *item, assessor in connection.execute(chosen.order_by(LEASES.c.assessor)):
        found.setdefault(tuple(item), []).append(assessor)
    return found


_GRADED_BY_PEOPLE = (
    EVENTS.c.kind.in_(BY_PEOPLE),
    EVENTS.c.grade.isnot(None),
    EVENTS.c.adjudicates.is_(sa.false()),
    not_undone(),
)


def list_judged(
    connection: sa.Connection, assessor: str, filters: Mapping[str, Any], before: int | None, limit: int
) -> list[tuple[Event, str, str]]:
    """The last first; grades of others are left out while the assessor has not judged the document."""
    waits = sa.exists(
        sa.select(WAITING.c.number).where(
            *(WAITING.c[name] == EVENTS.c[name] for name in ITEM),
            WAITING.c.remaining > 0,
            ~judged_by(assessor).correlate(WAITING),
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
        if name in filters:  # a grade of None means documents that could not be judged
            chosen = chosen.where(column.is_(None) if filters[name] is None else column == filters[name])
    if filters.get("words"):
        chosen = chosen.where(_all_hold(filters["words"], _event_holds))
    if before is not None:
        chosen = chosen.where(EVENTS.c.number < before)
    return [(event_of(row), row.query or "", row.title or "") for row in connection.execute(chosen)]


def current_grades(connection: sa.Connection, query_id: str, doc_id: str) -> list[Event]:
    chosen = EVENTS.select().where(EVENTS.c.query_id == query_id, EVENTS.c.doc_id == doc_id, not_undone(), _is_last())
    return [event_of(row) for row in connection.execute(chosen.order_by(EVENTS.c.assessor))]


def current_grade(connection: sa.Connection, assessor: str, item: WaitingItem) -> Event | None:
    return next((event for event in _standing_of(connection, assessor, *item[:2]) if item_of(event) == item), None)


def marked_passages(connection: sa.Connection, assessor: str, query_id: str, doc_id: str) -> list[Event]:
    events = _standing_of(connection, assessor, query_id, doc_id)
    return [event for event in events if event.part and event.grade is not None]


def shown_item(connection: sa.Connection, item: WaitingItem) -> WaitingItem:
    """What the page shows for a judged item: a part that a reader marked is shown in its document."""
    same = (WAITING.c[name] == value for name, value in zip(ITEM, item, strict=True))
    waits = sa.select(WAITING.c.number).where(*same)
    return item if connection.execute(waits).first() else (*item[:2], 0, 0)


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
    """The condition that an event is the assessor's last one about its item that was not taken back."""
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
    return sa.and_(sa.true(), *map(holds, words.split()))


def _holds(word: str, *places: Any) -> sa.ColumnElement[bool]:
    return sa.or_(*(text.icontains(word, autoescape=True) for text in places))


# Texts are searched once, not for every event about them: there are fewer texts than events.


def _document_holds(doc_id: Any, word: str) -> sa.ColumnElement[bool]:
    titled = sa.select(DOCUMENTS.c.doc_id).where(_holds(word, DOCUMENTS.c.title))
    return _holds(word, doc_id) | doc_id.in_(titled)


def _event_holds(word: str) -> sa.ColumnElement[bool]:
    asked = sa.select(QUERIES.c.query_id).where(_holds(word, QUERIES.c.text))
    in_event = _holds(word, EVENTS.c.query_id, EVENTS.c.comment) | EVENTS.c.query_id.in_(asked)
    return in_event | _document_holds(EVENTS.c.doc_id, word)


def measure_progress(connection: sa.Connection) -> StoreProgress:
    queries = sa.select(QUERIES.c.query_id, QUERIES.c.pooled, QUERIES.c.open).where(QUERIES.c.pooled > 0)
    by_query = {query: (pooled, left) for query, pooled, left in connection.execute(queries)}
    return StoreProgress(
        documents=sum(pooled for pooled, _ in by_query.values()),
        left=sum(left for _, left in by_query.values()),
        queries=len(by_query),
        queries_done=sum(not left for _, left in by_query.values()),
        by_query=by_query,
        by_assessor=_work(connection),
    )


def _work(connection: sa.Connection) -> dict[str, Work]:
    # A document counts once, by its last event; the time spent on it counts each time.
    same = [EVENTS.c[name] for name in ("assessor", *ITEM, "adjudicates")]
    last = sa.func.row_number().over(partition_by=same, order_by=EVENTS.c.number.desc())
    timed = sa.case((EVENTS.c.seconds <= LONGEST, EVENTS.c.seconds))  # stores of before may hold any number
    grades = sa.select(EVENTS.c.assessor, EVENTS.c.grade, timed.label("seconds"), last.label("age")).where(not_undone())
    rows = grades.subquery()

    def number_of(condition: sa.ColumnElement[bool]) -> sa.ColumnElement[int]:
        return sa.func.sum(sa.case((condition, 1), else_=0))

    counted = sa.select(
        rows.c.assessor,
        number_of((rows.c.age == 1) & rows.c.grade.isnot(None)),
        number_of((rows.c.age == 1) & rows.c.grade.is_(None)),
        sa.func.coalesce(sa.func.sum(rows.c.seconds), 0.0),
        sa.func.count(rows.c.seconds),
    ).group_by(rows.c.assessor)
    return {
        who: Work(int(judged), int(cannot), float(seconds), int(timed))
        for who, judged, cannot, seconds, timed in connection.execute(counted.order_by(rows.c.assessor))
    }
