"""Appending events: a grade or its withdrawal, and the update of what waits, in one transaction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from cranfield.errors import InputError
from cranfield.judging import assigning, event_log, waiting
from cranfield.judging.events import Event
from cranfield.judging.schema import EVENTS, ITEM


def say(connection: sa.Connection, row: Mapping[str, Any], source: str) -> Event:
    """Append an assessor's grade; one that was sent before under the same key is not appended again."""
    known = _sent_before(connection, row, source)
    if known is not None:
        return known
    query, document, *part = item = tuple(row[name] for name in ITEM)
    if row["text_sha256"] is None:
        row = {**row, "text_sha256": event_log.hash_in_store(connection, document, (part[0], part[1]))}
    event = event_log.append(connection, {**row, "at": event_log.now()})
    waiting.count_document(connection, query, document)
    assigning.release(connection, item, row["assessor"])
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
    """Append an event that takes back the last one; None if there is none."""
    known = _sent_before(connection, {"assessor": assessor, "key": key}, source)
    if known is not None:
        return known
    last = event_log.last_of(connection, assessor, query_id, doc_id, adjudicates)
    if last is None:
        return None
    part = last.part or (0, 0)
    row = {
        **dict(zip(ITEM, (last.query_id, last.doc_id, *part), strict=True)),
        "assessor": assessor,
        "kind": last.kind,
        "adjudicates": last.adjudicates,
        "undoes": last.number,
        "key": key,
    }
    event = event_log.append(connection, {**row, "at": event_log.now()})
    waiting.count_document(connection, last.query_id, last.doc_id)
    waiting.look_again(connection, [last.query_id])
    return event


def _sent_before(connection: sa.Connection, row: Mapping[str, Any], source: str) -> Event | None:
    if row["key"] is None:
        return None
    found = connection.execute(_OF_KEY, {"sent": row["key"]}).one_or_none()
    if found is None:
        return None
    compared = ("assessor", *(name for name in (*ITEM, "grade") if name in row))
    if any(getattr(found, name) != row[name] for name in compared):
        raise InputError(
            source, f"the key {row['key']!r:.60} was already used for something else.", hint="make a new key"
        )
    return event_log.event_of(found)


_OF_KEY = EVENTS.select().where(EVENTS.c.key == sa.bindparam("sent"))
