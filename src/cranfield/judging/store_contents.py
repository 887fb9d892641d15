"""What is brought into a store: queries, documents, the scale, and judgments from elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import sqlalchemy as sa

from cranfield.judging.event_log import NAMES, append_many, batches, not_undone, now, standing
from cranfield.judging.random_orders import place
from cranfield.judging.scale import DEFAULT_SCALE, GradeScale
from cranfield.judging.schema import DOCUMENTS, EVENTS, QUERIES, SCALE, WAITING
from cranfield.judging.waiting import count_again, count_rows, upsert
from cranfield.ranks.judgments import Judgments


def add_queries(connection: sa.Connection, rows: Iterable[Mapping[str, str]]) -> int:
    """Add queries; how many are new."""
    return _add(connection, QUERIES, ({**row, "place": place(row["query_id"])} for row in rows), ("text", "narrative"))


def add_documents(connection: sa.Connection, rows: Iterable[Mapping[str, str]]) -> int:
    """Add documents; how many are new."""
    return _add(connection, DOCUMENTS, rows, ("title", "text", "url", "image"))


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
    """The grades of a store, or the usual ones."""
    rows = connection.execute(SCALE.select()).all()
    return GradeScale.of([tuple(row) for row in rows]) if rows else DEFAULT_SCALE


def write_scale(connection: sa.Connection, scale: GradeScale) -> None:
    """Replace the grades of a store."""
    connection.execute(SCALE.delete())
    connection.execute(SCALE.insert(), [each._asdict() for each in scale])


def import_judgments(connection: sa.Connection, judgments: Judgments, said: Mapping[str, str]) -> int:
    """Append judgments as said by one assessor, but for what they say already; how many there were."""
    moment = now()
    known = {
        (query, document): each.grade
        for query, document, found in standing(connection, EVENTS.c.assessor == said["assessor"])
        for each in found
        if not each.part_end and not each.adjudicates
    }
    rows = (
        {"query_id": query, "doc_id": document, "grade": grade, "at": moment, **said}
        for query, graded in judgments.by_query.items()
        for document, grade in graded.items()
        if grade >= 0 and not ((query, document) in known and known[query, document] == grade)
    )
    count = append_many(connection, rows)
    count_again(connection, judgments.query_ids)
    return count


def without_text(connection: sa.Connection, documents: Iterable[str]) -> tuple[str, ...]:
    """Those of the documents of which there is nothing to show, in the order of their ids."""
    shown = sa.or_(*(DOCUMENTS.c[name] != "" for name in ("title", "text", "url", "image")))
    lacking: list[str] = []
    for names in batches(sorted(documents), NAMES):
        there = set(
            connection.execute(sa.select(DOCUMENTS.c.doc_id).where(DOCUMENTS.c.doc_id.in_(names), shown)).scalars()
        )
        lacking += [name for name in names if name not in there]
    return tuple(lacking)


def known_pairs(connection: sa.Connection, queries: Iterable[str]) -> set[tuple[str, str]]:
    """The documents of some queries that wait, waited or were judged."""
    found: set[tuple[str, str]] = set()
    for names in batches(queries, NAMES):
        for table in (WAITING, EVENTS):
            rows = connection.execute(sa.select(table.c.query_id, table.c.doc_id).where(table.c.query_id.in_(names)))
            found.update((row.query_id, row.doc_id) for row in rows)
    return found


def import_rows(connection: sa.Connection, rows: Iterable[Mapping[str, Any]], said: Mapping[str, str]) -> int:
    """Append judgments with their comments as said by one assessor, but for what they say already; how many."""
    columns = [EVENTS.c[name] for name in ("query_id", "doc_id", "grade", "comment")]
    own = (EVENTS.c.assessor == said["assessor"], EVENTS.c.part_end == 0, EVENTS.c.adjudicates.is_(sa.false()))
    last = connection.execute(sa.select(*columns).where(not_undone(), *own).order_by(EVENTS.c.number))
    known = {(query, document): (grade, comment) for query, document, grade, comment in last}
    new = []
    for row in rows:
        says, item = (row["grade"], row["comment"]), (row["query_id"], row["doc_id"])
        if known.get(item) != says:
            known[item] = says
            new.append({**row, **said})
    append_many(connection, new)
    count_again(connection, dict.fromkeys(row["query_id"] for row in new))
    return len(new)
