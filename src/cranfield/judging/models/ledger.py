"""What models replied, as rows of a store: a reply and the grade it leads to are written together."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import sqlalchemy as sa

from cranfield.judging.appending import say
from cranfield.judging.checked_input import checked_text
from cranfield.judging.event_log import NAMES, batches, not_undone, now
from cranfield.judging.models.assessor import Judge
from cranfield.judging.schema import DOCUMENTS, EVENTS, ITEM, JUDGES, QUERIES, REPLIES, UNANSWERED, WAITING
from cranfield.judging.waiting import WaitingItem, upsert


class StoredReply(NamedTuple):
    """A reply that was paid for."""

    number: int
    key: str
    item: WaitingItem
    judge: str
    grade: float | None
    failure: str
    reply: str
    details: str


def remember_judge(connection: sa.Connection, judge: Judge) -> None:
    """Write down what a fingerprint stands for."""
    row = {"judge": judge.fingerprint, "settings": json.dumps(judge.settings, sort_keys=True)}
    connection.execute(upsert(connection.dialect.name, JUDGES).on_conflict_do_nothing(), [row])


def open_request(connection: sa.Connection, assessor: str, tokens: int) -> int:
    """Write down that a request is about to be sent; its number."""
    row = {"assessor": assessor, "tokens": tokens, "at": now()}
    return int(connection.execute(UNANSWERED.insert().returning(UNANSWERED.c.number), row).scalar_one())


def close_request(connection: sa.Connection, number: int | None) -> None:
    """A request was answered, or cannot have cost anything."""
    if number is not None:
        connection.execute(UNANSWERED.delete().where(UNANSWERED.c.number == number))


def spent(connection: sa.Connection, assessor: str) -> int:
    """Tokens spent on an assessor so far: those of its replies, and the most that unanswered requests have taken."""
    sums = [
        sa.select(sa.func.coalesce(sa.func.sum(table.c.tokens), 0)).where(table.c.assessor == assessor)
        for table in (REPLIES, UNANSWERED)
    ]
    return sum(int(connection.execute(each).scalar_one()) for each in sums)


def add_reply(connection: sa.Connection, row: Mapping[str, Any]) -> StoredReply:
    """Append a reply."""
    reply = checked_text(row["reply"], "a reply", "the reply")
    row = {**row, "reply": reply, "details": json.dumps(row["details"]), "at": now()}
    number = connection.execute(REPLIES.insert().returning(REPLIES.c.number), row).scalar_one()
    return _stored({**row, "number": number})


def copy_reply(connection: sa.Connection, known: StoredReply, item: WaitingItem, row: Mapping[str, Any]) -> None:
    """Note that a reply to the same texts also stands for another document, or for other settings."""
    add_reply(
        connection,
        {
            **row,
            **dict(zip(ITEM, item, strict=True)),
            "key": known.key,
            "grade": known.grade,
            "failure": known.failure,
            "reply": known.reply,
            "details": {**json.loads(known.details), "same_as": known.number},
            "tokens": 0,
        },
    )


def replies_of(connection: sa.Connection, keys: Iterable[str]) -> dict[str, StoredReply]:
    """By key, the first reply that could be read; where there is none, the last that could not."""
    found: dict[str, StoredReply] = {}
    for names in batches(keys, NAMES):
        statement = REPLIES.select().where(REPLIES.c.key.in_(names)).order_by(REPLIES.c.number)
        for row in connection.execute(statement).mappings():
            if row["key"] not in found or found[row["key"]].failure:
                found[row["key"]] = _stored(row)
    return found


def _stored(row: Mapping[str, Any]) -> StoredReply:
    item = tuple(row[name] for name in ITEM)
    grade = None if row["grade"] is None else float(row["grade"])
    rest = (row["judge"], grade, row["failure"], row["reply"], row["details"])
    return StoredReply(row["number"], row["key"], item, *rest)


def judged_items(connection: sa.Connection, assessor: str, judge: str) -> dict[WaitingItem, tuple[str, float]]:
    """What an assessor has judged in one way of asking: the hash of the text it saw, and its grade."""
    columns = [EVENTS.c[name] for name in (*ITEM, "text_sha256", "grade")]
    own = (EVENTS.c.assessor == assessor, EVENTS.c.judge == judge, not_undone())
    rows = connection.execute(sa.select(*columns).where(*own).order_by(EVENTS.c.number))
    return {(row[0], row[1], row[2], row[3]): (row[4], row[5]) for row in rows}


def add_grade(
    connection: sa.Connection, item: WaitingItem, grade: float, assessor: str, judge: str, text_sha256: str, source: str
) -> bool:
    """Append the event of a grade, unless another process was faster."""
    query, document, start, end = item
    there = sa.select(EVENTS.c.number).where(
        *(EVENTS.c[name] == value for name, value in zip(ITEM, item, strict=True)),
        EVENTS.c.assessor == assessor,
        EVENTS.c.judge == judge,
        EVENTS.c.text_sha256 == text_sha256,
        not_undone(),
    )
    if connection.execute(there.limit(1)).first() is not None:
        return False
    row = {
        "query_id": query,
        "doc_id": document,
        "part_start": start,
        "part_end": end,
        "assessor": assessor,
        "kind": "model",
        "grade": grade,
        "judge": judge,
        "text_sha256": text_sha256,
        "key": None,
    }
    say(connection, row, source)
    return True


def _texts() -> tuple[Any, Any]:
    columns = [WAITING.c[name] for name in ITEM]
    columns += [QUERIES.c.text.label("query"), QUERIES.c.narrative, DOCUMENTS.c.title, DOCUMENTS.c.text]
    tables = WAITING.join(QUERIES, QUERIES.c.query_id == WAITING.c.query_id)
    return columns, tables.outerjoin(DOCUMENTS, DOCUMENTS.c.doc_id == WAITING.c.doc_id)


class ItemTexts(NamedTuple):
    """What is to be judged, with its texts."""

    query_id: str
    doc_id: str
    part_start: int
    part_end: int
    query: str
    narrative: str
    title: str
    text: str


def texts_of_documents(connection: sa.Connection, wanted: Collection[tuple[str, str]]) -> Iterator[ItemTexts]:
    """Whole documents of queries, whether they wait or not; what the store does not know has no text."""
    for pairs in batches(wanted, NAMES):
        queries = sa.select(QUERIES).where(QUERIES.c.query_id.in_({query for query, _ in pairs}))
        documents = sa.select(DOCUMENTS).where(DOCUMENTS.c.doc_id.in_({document for _, document in pairs}))
        of_query = {row.query_id: (row.text, row.narrative) for row in connection.execute(queries)}
        of_document = {row.doc_id: (row.title, row.text) for row in connection.execute(documents)}
        for query, document in pairs:
            texts = (*of_query.get(query, ("", "")), *of_document.get(document, ("", "")))
            yield ItemTexts(query, document, 0, 0, *texts)


def texts_to_judge(connection: sa.Connection) -> Iterator[Any]:
    """All that waits for a model, with its texts, query by query in a random order that is always the same.

    What a sample of documents did not draw waits for nobody; queries that no person judges wait for models alone.
    """
    columns, tables = _texts()
    drawn = sa.or_(WAITING.c.assessors > 0, WAITING.c.stratum.startswith("depth"))
    order = (QUERIES.c.place, WAITING.c.query_id, WAITING.c.place, WAITING.c.number)
    statement = sa.select(*columns).select_from(tables).where(drawn).order_by(*order)
    yield from connection.execute(statement, execution_options={"yield_per": 1000})


def texts_of(connection: sa.Connection, item: WaitingItem) -> Any:
    """The texts of one document that waits."""
    columns, tables = _texts()
    same = (WAITING.c[name] == value for name, value in zip(ITEM, item, strict=True))
    return connection.execute(sa.select(*columns).select_from(tables).where(*same)).one()
