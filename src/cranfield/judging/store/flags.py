"""Flags: queries that assessors find unclear, or without an answer. Appended; the last one of an assessor counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from cranfield.errors import InputError
from cranfield.judging.store.event_log import NAMES, batches, now
from cranfield.judging.store.events import Flag, stored_fields
from cranfield.judging.store.listing import has_query
from cranfield.judging.store.schema import FLAGS


def raise_flag(connection: sa.Connection, row: Mapping[str, Any], source: str) -> Flag:
    """Append a flag, or what withdraws one; one that was sent before under the same key is not appended again."""
    if not has_query(connection, row["query_id"]):
        raise InputError(source, f"there is no query '{row['query_id']}'.", hint="only queries of the store have flags")
    if row["key"] is not None:
        sent = connection.execute(FLAGS.select().where(FLAGS.c.key == row["key"])).one_or_none()
        if sent is not None and any(getattr(sent, name) != row[name] for name in _SAME):
            fact = f"the key {row['key']!r:.60} was already used for something else."
            raise InputError(source, fact, hint="make a new key")
        if sent is not None:
            return _flag(sent)
    return _flag(connection.execute(FLAGS.insert().returning(*FLAGS.c), {**row, "at": now()}).one())


def open_flags(connection: sa.Connection, queries: Iterable[str] | None = None) -> Iterator[Flag]:
    """Those that were not withdrawn, of all queries or of some; the first one first."""
    later = FLAGS.alias("later")
    is_last = ~sa.exists(
        sa.select(later.c.number).where(
            later.c.query_id == FLAGS.c.query_id,
            later.c.assessor == FLAGS.c.assessor,
            later.c.number > FLAGS.c.number,
        )
    )
    chosen = FLAGS.select().where(is_last, FLAGS.c.withdrawn.is_(sa.false())).order_by(FLAGS.c.number)
    if queries is None:
        yield from map(_flag, connection.execute(chosen))
        return
    for names in batches(queries, NAMES):
        yield from map(_flag, connection.execute(chosen.where(FLAGS.c.query_id.in_(names))))


def flags_by_query(connection: sa.Connection, queries: Iterable[str] | None = None) -> dict[str, list[Flag]]:
    by_query: dict[str, list[Flag]] = {}
    for flag in open_flags(connection, queries):
        by_query.setdefault(flag.query_id, []).append(flag)
    return by_query


def in_a_cell(flags: Iterable[Flag]) -> str:
    """Who flagged a query, and why, in one text."""
    said = [(flag, " (no answer)" if flag.unanswerable else "") for flag in flags]
    return "; ".join(
        f"{flag.assessor}{no}: {flag.comment}" if flag.comment else f"{flag.assessor}{no}" for flag, no in said
    )


_SAME = ("query_id", "assessor", "withdrawn", "unanswerable")  # under one key
_CONVERTED = ("withdrawn", "unanswerable", "at")
_AS_THEY_ARE = tuple(field.name for field in stored_fields(Flag) if field.name not in _CONVERTED)


def _flag(row: Any) -> Flag:
    same = {name: getattr(row, name) for name in _AS_THEY_ARE}
    said = bool(row.unanswerable)
    return Flag(**same, withdrawn=bool(row.withdrawn), unanswerable=said, at=datetime.fromisoformat(row.at))
