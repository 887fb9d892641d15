"""The tables of a store, and how those of older versions are brought up to date.

Events and flags are appended and never changed; everything else can be rebuilt from them. The columns of events, flags
and texts are declared in `events.py`, all others here. A table, a column or an index that came later says since which
version it is there, and older stores get it when they are opened for writing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from cranfield.errors import either
from cranfield.io.tables import Schema, wrong_types
from cranfield.judging.store.events import (
    DocumentPart,
    StoredDocument,
    StoredEvent,
    StoredFlag,
    StoredQuery,
    stored_fields,
)
from cranfield.judging.store.merging import KINDS

METADATA = sa.MetaData()

# PostgreSQL's own order of texts depends on its locale; ids are compared by their bytes, as everywhere here.
_ID = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
# SQLite counts rows by itself only if the key is called INTEGER.
_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_TYPES = {str: sa.Text, int: sa.BigInteger, float: sa.Float(53), bool: sa.Boolean, datetime: sa.Text}


def _since(version: int) -> dict[str, int]:
    return {"since": version}


def _declared(kind: type) -> Iterator[sa.Column[Any]]:
    for field in stored_fields(kind):
        if field.type == DocumentPart:
            yield from _part()
            continue
        default = None if field.default in (MISSING, None) else {str: "", bool: sa.false()}.get(field.type)
        stored = field.stored
        type_ = _NUMBER if stored.is_key else _ID if stored.is_id else _TYPES[field.type]
        more = {"primary_key": stored.is_key, "nullable": field.optional, "server_default": default}
        yield sa.Column(stored.column, type_, **more, info=_since(stored.since))


def _part() -> list[sa.Column[Any]]:
    """The part of a document that is judged; all of it is the part from 0 to 0."""
    return [
        sa.Column(name, sa.Integer, nullable=False, server_default="0", info=_since(2))
        for name in ("part_start", "part_end")
    ]


def _item() -> list[sa.Column[Any]]:
    return [sa.Column("query_id", _ID, nullable=False), sa.Column("doc_id", _ID, nullable=False), *_part()]


ABOUT = sa.Table("cranfield_store", METADATA, sa.Column("version", sa.Integer, nullable=False))

QUERIES = sa.Table(
    "queries",
    METADATA,
    sa.Column("query_id", _ID, primary_key=True),
    *_declared(StoredQuery),
    sa.Column("place", sa.BigInteger, nullable=False),  # in the random order of queries
    sa.Column("open", sa.Integer, nullable=False, server_default="0"),  # documents that still need an assessor
    sa.Column("pooled", sa.Integer, nullable=False, server_default="0", info=_since(3)),  # that wait or waited
)

DOCUMENTS = sa.Table("documents", METADATA, sa.Column("doc_id", _ID, primary_key=True), *_declared(StoredDocument))

WAITING = sa.Table(
    "waiting",
    METADATA,
    sa.Column("number", _NUMBER, primary_key=True),
    *_item(),
    sa.Column("why", sa.Text, nullable=False, server_default=""),
    sa.Column("assessors", sa.Integer, nullable=False, server_default="1"),  # by how many it is to be judged
    sa.Column("remaining", sa.Integer, nullable=False, server_default="1"),  # how many of them are still to come
    sa.Column("place", sa.BigInteger, nullable=False),  # in the random order of the query
    # The stratum of a sampled pool, if it is in one, and the order of judging, unless it came by rank alone.
    sa.Column("stratum", sa.Text, nullable=False, server_default="", info=_since(4)),
    sa.Column("chosen_by", sa.Text, nullable=False, server_default="", info=_since(5)),
)

EVENTS = sa.Table("events", METADATA, *_declared(StoredEvent))

# Queries that assessors find unclear, or without an answer: of each assessor and query, the last row counts.
FLAGS = sa.Table("flags", METADATA, *_declared(StoredFlag), info=_since(7))

# How models were asked: model, prompt and parameters, under the hash of all of it.
JUDGES = sa.Table(
    "judges",
    METADATA,
    sa.Column("judge", sa.Text, primary_key=True),
    sa.Column("settings", sa.Text, nullable=False),  # JSON
    info=_since(5),
)

# Replies of models, readable or not: a pair that was paid for is not asked about again.
REPLIES = sa.Table(
    "replies",
    METADATA,
    sa.Column("number", _NUMBER, primary_key=True),
    sa.Column("key", sa.Text, nullable=False),  # the hash of the judge, the texts that were shown, and the sample
    *_item(),
    sa.Column("assessor", _ID, nullable=False),
    sa.Column("judge", sa.Text, nullable=False),
    sa.Column("sample", sa.Integer, nullable=False, server_default="0"),  # which of several replies about a document
    sa.Column("grade", sa.Float(53)),  # none: it could not be read, and `failure` says why
    sa.Column("failure", sa.Text, nullable=False, server_default=""),
    sa.Column("reply", sa.Text, nullable=False, server_default=""),  # as it came
    sa.Column("details", sa.Text, nullable=False, server_default="{}"),  # JSON: tokens, how the reply ended, …
    sa.Column("at", sa.Text, nullable=False),
    sa.Column("purpose", sa.Text, nullable=False, server_default="grade"),  # or "canary", or "order"
    sa.Column("tokens", sa.BigInteger, nullable=False, server_default="0"),  # that it took; 0: another row paid for it
    info=_since(5),
)

# Requests to models that were sent and never answered: they may have been paid for, so a budget counts them in full.
UNANSWERED = sa.Table(
    "unanswered",
    METADATA,
    sa.Column("number", _NUMBER, primary_key=True),
    sa.Column("assessor", _ID, nullable=False),
    sa.Column("tokens", sa.BigInteger, nullable=False),  # the most that it can have taken
    sa.Column("at", sa.Text, nullable=False),
    # While it may still be answered: seconds since 1970 by the database's clock.
    sa.Column("until", sa.Float(53), nullable=False, server_default="0", info=_since(6)),
    info=_since(5),
)

# Random samples of queries that people judge completely: of which queries each was drawn, and which ones were.
QUERY_SAMPLES = sa.Table(
    "query_samples",
    METADATA,
    sa.Column("number", _NUMBER, primary_key=True),
    sa.Column("seed", sa.BigInteger, nullable=False),
    sa.Column("at", sa.Text, nullable=False),
    info=_since(5),
)
SAMPLED_QUERIES = sa.Table(
    "sampled_queries",
    METADATA,
    sa.Column("sample", sa.BigInteger, primary_key=True),
    sa.Column("query_id", _ID, primary_key=True),
    sa.Column("drawn", sa.Boolean, nullable=False),
    info=_since(5),
)

LEASES = sa.Table(
    "leases",
    METADATA,
    sa.Column("waiting", sa.BigInteger, primary_key=True),
    sa.Column("assessor", _ID, primary_key=True),
    sa.Column("until", sa.Float(53), nullable=False),  # seconds since 1970
)

# The grades that assessors choose from; without rows, the default ones.
SCALE = sa.Table(
    "scale",
    METADATA,
    sa.Column("grade", sa.Float(53), primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("meaning", sa.Text, nullable=False, server_default=""),
    info=_since(3),
)

# Queries in which an assessor has nothing left to do, although others have: these need no new search.
PASSED = sa.Table(
    "passed", METADATA, sa.Column("assessor", _ID, primary_key=True), sa.Column("query_id", _ID, primary_key=True)
)

ITEM = ("query_id", "doc_id", "part_start", "part_end")


def is_open(column: sa.Column[int]) -> sa.ColumnElement[bool]:
    """The condition that something is left, written as in the indexes: with a parameter they would not be used."""
    return column > sa.literal_column("0")


def _where(condition: sa.ColumnElement[bool]) -> dict[str, object]:
    return {"sqlite_where": condition, "postgresql_where": condition}


INDEXES = (
    sa.Index("open_queries", QUERIES.c.place, **_where(is_open(QUERIES.c.open))),
    # In version 1 a document could wait only once for a query; since then each of its parts can.
    sa.Index("waiting_items", *(WAITING.c[name] for name in ITEM), unique=True, info=_since(2)),
    sa.Index("open_items", WAITING.c.query_id, WAITING.c.place, **_where(is_open(WAITING.c.remaining))),
    sa.Index("events_of_items", EVENTS.c.query_id, EVENTS.c.doc_id, EVENTS.c.number),
    sa.Index("events_of_assessors", EVENTS.c.assessor, EVENTS.c.number),
    sa.Index("undone", EVENTS.c.undoes, unique=True, **_where(EVENTS.c.undoes.isnot(None))),  # only once
    sa.Index("event_keys", EVENTS.c.key, unique=True, **_where(EVENTS.c.key.isnot(None)), info=_since(3)),
    sa.Index("flags_of_queries", FLAGS.c.query_id, FLAGS.c.number),
    sa.Index("flag_keys", FLAGS.c.key, unique=True, **_where(FLAGS.c.key.isnot(None))),
    sa.Index("replies_of_items", REPLIES.c.query_id, REPLIES.c.doc_id),
    sa.Index("reply_keys", REPLIES.c.key),
)


def impossible(table: sa.Table) -> sa.ColumnElement[bool]:
    """The condition that a row contains what is never written."""
    conditions = wrong_types(table)
    for column in table.c:
        if column.name == "at":
            conditions.append(sa.func.time_of(column).is_(None))  # which fails where there is no time
        elif column.name == "kind":
            conditions.append(column.not_in(KINDS))
        elif column.name in ("details", "settings"):
            conditions.append(sa.func.json_valid(column) == 0)
    return sa.or_(*conditions)


def _why(reason: str) -> sa.ColumnElement[bool]:
    return WAITING.c.why.startswith(reason, autoescape=True)


# What the columns of a new version hold in older stores.
_FILLED = {
    3: [
        QUERIES.update().values(
            pooled=sa.select(sa.func.count()).where(WAITING.c.query_id == QUERIES.c.query_id).scalar_subquery()
        )
    ],
    4: [  # the stratum follows from the reason for pooling, with a sample or without
        WAITING.update().where(_why("first ")).values(stratum="depth"),
        WAITING.update().where(_why("sample down to ") | _why("not drawn: sample ")).values(stratum="sample"),
    ],
    5: [WAITING.update().where(_why("to decide about ")).values(chosen_by="decide")],
}

SCHEMA = Schema(
    word="store",
    called="store of judgments",
    usual_file="judgments.db",
    making=either("open_store(path, create=True)", "'cranfield pool'") + " makes one",
    updating="open it for judging once: cranfield judge …",
    lock=7_235_010_419,
    metadata=METADATA,
    about=ABOUT,
    indexes=INDEXES,
    filled=_FILLED,
    impossible=impossible,
    functions={"time_of": lambda stored: str(datetime.fromisoformat(stored))},
)
VERSION = SCHEMA.version
