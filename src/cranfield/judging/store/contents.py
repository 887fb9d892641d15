"""Writing into a store: queries, documents, the scale, grades and their withdrawal, judgments from elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from cranfield.errors import InputError, either
from cranfield.judging.store import event_log, waiting
from cranfield.judging.store.event_log import NAMES, append_many, batches, not_undone, now, standing
from cranfield.judging.store.events import Event, StoredDocument, StoredQuery, item_of, seen_sha256, text_names
from cranfield.judging.store.random_orders import place
from cranfield.judging.store.scale import DEFAULT_SCALE, GradeScale
from cranfield.judging.store.schema import DOCUMENTS, EVENTS, ITEM, QUERIES, SCALE, WAITING
from cranfield.judging.store.waiting import count_again, count_rows, upsert
from cranfield.ranks.judgments import Judgments


def add_queries(connection: sa.Connection, rows: Iterable[Mapping[str, str]]) -> int:
    places = ({**row, "place": place(row["query_id"])} for row in rows)
    return _add(connection, QUERIES, places, text_names(StoredQuery))


def add_documents(connection: sa.Connection, rows: Iterable[Mapping[str, str]]) -> int:
    return _add(connection, DOCUMENTS, rows, text_names(StoredDocument))


def _add(connection: sa.Connection, table: sa.Table, rows: Iterable[Mapping[str, Any]], texts: Iterable[str]) -> int:
    before = count_rows(connection, table)
    statement = upsert(connection.dialect.name, table)
    new = {
        name: sa.case((statement.excluded[name] != "", statement.excluded[name]), else_=table.c[name]) for name in texts
    }
    statement = statement.on_conflict_do_update(index_elements=list(table.primary_key), set_=new)
    for batch in batches(rows, 1000):
        connection.execute(statement, batch)
    return count_rows(connection, table) - before


def read_scale(connection: sa.Connection) -> GradeScale:
    rows = connection.execute(SCALE.select()).all()
    return GradeScale.of([tuple(row) for row in rows]) if rows else DEFAULT_SCALE


def write_scale(connection: sa.Connection, scale: GradeScale) -> None:
    connection.execute(SCALE.delete())
    connection.execute(SCALE.insert(), [step._asdict() for step in scale])


def refuse_off_scale(connection: sa.Connection, graded: Iterable[tuple[str, str, float]], source: str) -> None:
    scale = read_scale(connection)
    grades = {step.grade for step in scale}
    for query, document, grade in graded:
        if grade not in grades:
            fact = f"document '{document}' of query '{query}' has the grade {grade:g}, which is not on the scale."
            hint = f"grades are {scale.listed()}; {either('store.set_scale', '--grade')} sets others"
            raise InputError(source, fact, hint=hint)


def import_judgments(connection: sa.Connection, judgments: Judgments, author: Mapping[str, str]) -> int:
    graded = ((q, d, grade) for q, its in judgments.by_query.items() for d, grade in its.items() if grade >= 0)
    refuse_off_scale(connection, graded, judgments.name)
    moment = now()
    known = {
        (query, document): event.grade
        for query, document, events in standing(connection, EVENTS.c.assessor == author["assessor"])
        for event in events
        if not event.part_end and not event.adjudicates
    }
    rows = (
        {"query_id": query, "doc_id": document, "grade": grade, "at": moment, **author}
        for query, graded in judgments.by_query.items()
        for document, grade in graded.items()
        if grade >= 0 and not ((query, document) in known and known[query, document] == grade)
    )
    count = append_many(connection, rows)
    count_again(connection, judgments.query_ids)
    return count


def without_text(connection: sa.Connection, documents: Iterable[str]) -> tuple[str, ...]:
    shown = sa.or_(*(DOCUMENTS.c[name] != "" for name in text_names(StoredDocument)))
    lacking: list[str] = []
    for names in batches(sorted(documents), NAMES):
        rows = connection.execute(sa.select(DOCUMENTS.c.doc_id).where(DOCUMENTS.c.doc_id.in_(names), shown))
        there = set(rows.scalars())
        lacking += [name for name in names if name not in there]
    return tuple(lacking)


def known_pairs(connection: sa.Connection, queries: Iterable[str]) -> set[tuple[str, str]]:
    pairs: set[tuple[str, str]] = set()
    for names in batches(queries, NAMES):
        for table in (WAITING, EVENTS):
            rows = connection.execute(sa.select(table.c.query_id, table.c.doc_id).where(table.c.query_id.in_(names)))
            pairs.update((row.query_id, row.doc_id) for row in rows)
    return pairs


def import_rows(
    connection: sa.Connection,
    rows: Iterable[Mapping[str, Any]],
    author: Mapping[str, str],
    compared: Sequence[str] = ("grade", "comment"),
) -> int:
    """Append what an assessor says about documents, unless they say just that already, in all columns `compared`."""
    columns = [EVENTS.c[name] for name in ("query_id", "doc_id", *compared)]
    own = (EVENTS.c.assessor == author["assessor"], EVENTS.c.part_end == 0, EVENTS.c.adjudicates.is_(sa.false()))
    last = connection.execute(sa.select(*columns).where(not_undone(), *own).order_by(EVENTS.c.number))
    known = {(query, document): tuple(said) for query, document, *said in last}
    new = []
    for row in rows:
        says, item = tuple(row[name] for name in compared), (row["query_id"], row["doc_id"])
        if known.get(item) != says:
            known[item] = says
            new.append({**row, **author})
    append_many(connection, new)
    count_again(connection, dict.fromkeys(row["query_id"] for row in new))
    return len(new)


def say(connection: sa.Connection, row: Mapping[str, Any], source: str) -> Event:
    """Append an assessor's grade; one that was sent before under the same key is not appended again."""
    known = _sent_before(connection, row, source)
    if known is not None:
        return known
    query, document, start, end = item = tuple(row[name] for name in ITEM)
    if row["grade"] is not None:
        refuse_off_scale(connection, [(query, document, row["grade"])], source)
    if row["text_sha256"] is None:
        seen = connection.execute(_TEXT, {"document": document}).one_or_none()
        sha256 = "" if seen is None else seen_sha256(seen.title, seen.text, (start, end) if end else None)
        row = {**row, "text_sha256": sha256}
    event = event_log.append(connection, {**row, "at": now()})
    waiting.count_document(connection, query, document)
    waiting.release(connection, item, row["assessor"])
    return event


def take_back(
    connection: sa.Connection,
    assessor: str,
    query_id: str | None,
    doc_id: str | None,
    adjudicates: bool | None,
    key: str | None,
    source: str,
) -> Event | None:
    known = _sent_before(connection, {"assessor": assessor, "key": key}, source)
    if known is not None:
        return known
    last = event_log.last_of(connection, assessor, query_id, doc_id, adjudicates)
    if last is None:
        return None
    row = {
        **dict(zip(ITEM, item_of(last), strict=True)),
        **{name: getattr(last, name) for name in ("assessor", "kind", "adjudicates")},
        "undoes": last.number,
        "key": key,
        "at": now(),
    }
    event = event_log.append(connection, row)
    waiting.count_document(connection, last.query_id, last.doc_id)
    waiting.look_again(connection, [last.query_id])
    return event


def _sent_before(connection: sa.Connection, row: Mapping[str, Any], source: str) -> Event | None:
    if row["key"] is None:
        return None
    sent = connection.execute(_OF_KEY, {"sent": row["key"]}).one_or_none()
    if sent is None:
        return None
    compared = ("assessor", *(name for name in (*ITEM, "grade") if name in row))
    if any(getattr(sent, name) != row[name] for name in compared):
        fact = f"the key {row['key']!r:.60} was already used for something else."
        raise InputError(source, fact, hint="make a new key")
    return event_log.event_of(sent)


_OF_KEY = EVENTS.select().where(EVENTS.c.key == sa.bindparam("sent"))
_TEXT = sa.select(DOCUMENTS.c.title, DOCUMENTS.c.text).where(DOCUMENTS.c.doc_id == sa.bindparam("document"))
