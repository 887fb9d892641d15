"""Replies of models as rows of a store: a reply and its grade are written together."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import sqlalchemy as sa

from cranfield.judging.models.assessor import Judge
from cranfield.judging.models.endpoint import RawReply
from cranfield.judging.models.replies import PARSER, ReadReply, read_reason
from cranfield.judging.store.checked_input import checked_text
from cranfield.judging.store.contents import say
from cranfield.judging.store.event_log import NAMES, batches, not_undone, now
from cranfield.judging.store.events import Task, WaitingItem
from cranfield.judging.store.merging import MODEL
from cranfield.judging.store.schema import DOCUMENTS, EVENTS, ITEM, JUDGES, QUERIES, REPLIES, UNANSWERED, WAITING
from cranfield.judging.store.waiting import upsert, waiting_tasks


class StoredReply(NamedTuple):
    number: int
    key: str
    item: WaitingItem
    judge: str
    grade: float | None
    failure: str
    reply: str
    details: str


def remember_judge(connection: sa.Connection, judge: Judge) -> None:
    row = {"judge": judge.fingerprint, "settings": json.dumps(judge.settings, sort_keys=True)}
    connection.execute(upsert(connection.dialect.name, JUDGES).on_conflict_do_nothing(), [row])


def _clock(connection: sa.Connection) -> sa.ColumnElement[float]:
    """Seconds since 1970 by the clock of the database, which all processes share."""
    name = "clock_timestamp" if connection.dialect.name == "postgresql" else "current_timestamp"
    return sa.cast(sa.extract("epoch", getattr(sa.func, name)()), sa.Float(53))


def open_request(connection: sa.Connection, assessor: str, tokens: int, seconds: float) -> int:
    row = {"assessor": assessor, "tokens": tokens, "at": now(), "until": _clock(connection) + seconds}
    return int(connection.execute(UNANSWERED.insert().values(row).returning(UNANSWERED.c.number)).scalar_one())


def close_request(connection: sa.Connection, number: int, *, charged: bool = False) -> None:
    """Record that nothing more comes; one that may have been `charged` stays, for the budget."""
    own = UNANSWERED.c.number == number
    connection.execute(UNANSWERED.update().where(own).values(until=0) if charged else UNANSWERED.delete().where(own))


def under_way(connection: sa.Connection, assessor: str) -> tuple[int, float]:
    """Requests of other processes that may still be answered, and the seconds until the last of them has ended."""
    left = UNANSWERED.c.until - _clock(connection)
    columns = sa.func.count(), sa.func.coalesce(sa.func.max(left), 0.0)
    number, seconds = connection.execute(sa.select(*columns).where(UNANSWERED.c.assessor == assessor, left > 0)).one()
    return int(number), float(seconds)


class Costs(NamedTuple):
    """Tokens that replies took, and failed requests with the most tokens that they can have taken."""

    spent: int = 0
    failed: int = 0
    failed_tokens: int = 0

    @property
    def most(self) -> int:
        return self.spent + self.failed_tokens


def costs(connection: sa.Connection, assessor: str) -> Costs:
    """What an assessor has cost so far. A request that was not answered may have been worked on."""
    (_, spent), (failed, failed_tokens) = (
        connection.execute(
            sa.select(sa.func.count(), sa.func.coalesce(sa.func.sum(table.c.tokens), 0)).where(
                table.c.assessor == assessor
            )
        ).one()
        for table in (REPLIES, UNANSWERED)
    )
    return Costs(int(spent), int(failed), int(failed_tokens))


def reply_row(item: WaitingItem, raw: RawReply, read: ReadReply, details: Mapping[str, Any]) -> dict[str, Any]:
    """A reply as a row, without its key and whose it is: the first of several about a document, asked for a grade."""
    return {
        **dict(zip(ITEM, item, strict=True)),
        "sample": 0,
        "grade": read.value,
        "failure": read.failure,
        "reply": raw.refusal or raw.text,
        "purpose": "grade",
        "details": {**details, "finish_reason": raw.finish_reason, "parser": PARSER},
        "tokens": details.get("tokens", 0),
    }


def add_reply(connection: sa.Connection, row: Mapping[str, Any]) -> StoredReply:
    reply = checked_text(row["reply"], "a reply", "the reply")
    row = {**row, "reply": reply, "details": json.dumps(row["details"]), "at": now()}
    number = connection.execute(REPLIES.insert().returning(REPLIES.c.number), row).scalar_one()
    return _stored({**row, "number": number})


def copy_reply(connection: sa.Connection, known: StoredReply, item: WaitingItem, row: Mapping[str, Any]) -> None:
    """Record that a reply to the same texts also counts for another document, or for other settings."""
    same = {name: getattr(known, name) for name in ("key", "grade", "failure", "reply")}
    details = {**json.loads(known.details), "same_as": known.number}
    add_reply(connection, {**row, **dict(zip(ITEM, item, strict=True)), **same, "details": details, "tokens": 0})


def replies_of(connection: sa.Connection, keys: Iterable[str]) -> dict[str, StoredReply]:
    """By key, the first reply that could be read; where there is none, the last that could not."""
    replies: dict[str, StoredReply] = {}
    for names in batches(keys, NAMES):
        statement = REPLIES.select().where(REPLIES.c.key.in_(names)).order_by(REPLIES.c.number)
        for row in connection.execute(statement).mappings():
            if row["key"] not in replies or replies[row["key"]].failure:
                replies[row["key"]] = _stored(row)
    return replies


def _stored(row: Mapping[str, Any]) -> StoredReply:
    item = tuple(row[name] for name in ITEM)
    grade = None if row["grade"] is None else float(row["grade"])
    rest = (row["judge"], grade, row["failure"], row["reply"], row["details"])
    return StoredReply(row["number"], row["key"], item, *rest)


def reason_of(connection: sa.Connection, assessor: str, query: str, document: str, grade: float) -> str:
    """The reason that a model gave for the current grade of a document; empty if it gave none."""
    judged = {"query_id": query, "doc_id": document, "grade": grade}
    own = (EVENTS.c[name] == value for name, value in {**judged, "assessor": assessor}.items())
    event = sa.select(EVENTS.c.judge).where(*own, not_undone()).order_by(EVENTS.c.number.desc()).limit(1)
    judge = connection.execute(event).scalar()
    # An assessor of another name that was asked in the same way has the same judge, and paid for its replies.
    same = (REPLIES.c[name] == value for name, value in {**judged, "judge": judge, "purpose": "grade"}.items())
    reply = sa.select(REPLIES.c.reply).where(*same).order_by(REPLIES.c.number.desc()).limit(1)
    return read_reason(connection.execute(reply).scalar() or "")


def judged_items(connection: sa.Connection, assessor: str, judge: str) -> dict[WaitingItem, tuple[str, float]]:
    columns = [EVENTS.c[name] for name in (*ITEM, "text_sha256", "grade")]
    own = (EVENTS.c.assessor == assessor, EVENTS.c.judge == judge, not_undone())
    rows = connection.execute(sa.select(*columns).where(*own).order_by(EVENTS.c.number))
    return {(row[0], row[1], row[2], row[3]): (row[4], row[5]) for row in rows}


def add_grade(connection: sa.Connection, item: WaitingItem, row: Mapping[str, Any], source: str) -> bool:
    """Append the event of a grade, unless another process was faster."""
    row = {**dict(zip(ITEM, item, strict=True)), **row, "kind": MODEL, "key": None}
    same = (EVENTS.c[name] == row[name] for name in (*ITEM, "assessor", "judge", "text_sha256"))
    if connection.execute(sa.select(EVENTS.c.number).where(*same, not_undone()).limit(1)).first() is not None:
        return False
    say(connection, row, source)
    return True


def texts_of_documents(connection: sa.Connection, wanted: Collection[tuple[str, str]]) -> Iterator[Task]:
    """Whole documents of queries, whether they wait or not; those that the store does not know have no text."""
    for pairs in batches(wanted, NAMES):
        queries = sa.select(QUERIES).where(QUERIES.c.query_id.in_({query for query, _ in pairs}))
        documents = sa.select(DOCUMENTS).where(DOCUMENTS.c.doc_id.in_({document for _, document in pairs}))
        rows = connection.execute(queries)
        of_query = {row.query_id: {"query": row.text, "narrative": row.narrative} for row in rows}
        of_document = {row.doc_id: {"title": row.title, "text": row.text} for row in connection.execute(documents)}
        for query, document in pairs:
            texts = {**of_query.get(query, {}), **of_document.get(document, {})}
            yield Task(number=0, query_id=query, doc_id=document, part=None, **texts)


def texts_to_judge(connection: sa.Connection) -> Iterator[Task]:
    """Documents that a sample did not draw wait for nobody; queries that people do not judge wait for models only."""
    return waiting_tasks(connection, (WAITING.c.assessors > 0) | WAITING.c.stratum.startswith("depth"))
