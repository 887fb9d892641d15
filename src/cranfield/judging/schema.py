"""The tables of a store. Events are appended and never changed; everything else can be rebuilt from them."""

from __future__ import annotations

import sqlalchemy as sa

VERSION = 5

METADATA = sa.MetaData()

# PostgreSQL's own order of texts depends on its locale; ids are compared by their bytes, as everywhere here.
_ID = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
# SQLite counts rows by itself only if the key is called INTEGER.
_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

ABOUT = sa.Table("cranfield_store", METADATA, sa.Column("version", sa.Integer, nullable=False))

QUERIES = sa.Table(
    "queries",
    METADATA,
    sa.Column("query_id", _ID, primary_key=True),
    sa.Column("text", sa.Text, nullable=False, server_default=""),
    sa.Column("narrative", sa.Text, nullable=False, server_default=""),
    sa.Column("place", sa.BigInteger, nullable=False),  # in the random order of queries
    sa.Column("open", sa.Integer, nullable=False, server_default="0"),  # documents that still need an assessor
    sa.Column("pooled", sa.Integer, nullable=False, server_default="0"),  # documents that wait or waited
)

DOCUMENTS = sa.Table(
    "documents",
    METADATA,
    sa.Column("doc_id", _ID, primary_key=True),
    sa.Column("title", sa.Text, nullable=False, server_default=""),
    sa.Column("text", sa.Text, nullable=False, server_default=""),
    sa.Column("url", sa.Text, nullable=False, server_default=""),
    sa.Column("image", sa.Text, nullable=False, server_default=""),
)


def _item() -> list[sa.Column[object]]:
    """The item judged: a document for a query, or a part of it. The whole document is the part from 0 to 0."""
    return [
        sa.Column("query_id", _ID, nullable=False),
        sa.Column("doc_id", _ID, nullable=False),
        sa.Column("part_start", sa.Integer, nullable=False, server_default="0"),
        sa.Column("part_end", sa.Integer, nullable=False, server_default="0"),
    ]


WAITING = sa.Table(
    "waiting",
    METADATA,
    sa.Column("number", _NUMBER, primary_key=True),
    *_item(),
    sa.Column("why", sa.Text, nullable=False, server_default=""),
    sa.Column("assessors", sa.Integer, nullable=False, server_default="1"),  # by how many it is to be judged
    sa.Column("remaining", sa.Integer, nullable=False, server_default="1"),  # how many of them are still to come
    sa.Column("place", sa.BigInteger, nullable=False),  # in the random order of the query
    sa.Column("stratum", sa.Text, nullable=False, server_default=""),  # of a sampled pool; none: not pooled so
    sa.Column("chosen_by", sa.Text, nullable=False, server_default=""),  # the order of judging; none: by rank alone
)

EVENTS = sa.Table(
    "events",
    METADATA,
    sa.Column("number", _NUMBER, primary_key=True),
    *_item(),
    sa.Column("assessor", _ID, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("grade", sa.Float(53)),  # none: the assessor cannot judge it
    sa.Column("undoes", sa.BigInteger),  # the event that this one takes back
    sa.Column("adjudicates", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("comment", sa.Text, nullable=False, server_default=""),
    sa.Column("at", sa.Text, nullable=False),  # UTC, as 2026-01-31T09:30:00.000000Z
    sa.Column("seconds", sa.Float(53)),
    sa.Column("text_sha256", sa.Text, nullable=False, server_default=""),
    sa.Column("key", sa.Text),  # so that an event that is sent twice, because the answer was lost, counts only once
    sa.Column("judge", sa.Text, nullable=False, server_default=""),  # of a model: how it was asked; see JUDGES
)

# How models were asked: model, prompt and parameters, under the hash of all of it.
JUDGES = sa.Table(
    "judges",
    METADATA,
    sa.Column("judge", sa.Text, primary_key=True),
    sa.Column("settings", sa.Text, nullable=False),  # JSON
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
)

# Requests to models that were sent and never answered: they may have been paid for, so a budget counts them in full.
UNANSWERED = sa.Table(
    "unanswered",
    METADATA,
    sa.Column("number", _NUMBER, primary_key=True),
    sa.Column("assessor", _ID, nullable=False),
    sa.Column("tokens", sa.BigInteger, nullable=False),  # the most that it can have taken
    sa.Column("at", sa.Text, nullable=False),
)

# Random samples of queries that people judge completely: of which queries each was drawn, and which ones were.
QUERY_SAMPLES = sa.Table(
    "query_samples",
    METADATA,
    sa.Column("number", _NUMBER, primary_key=True),
    sa.Column("seed", sa.BigInteger, nullable=False),
    sa.Column("at", sa.Text, nullable=False),
)
SAMPLED_QUERIES = sa.Table(
    "sampled_queries",
    METADATA,
    sa.Column("sample", sa.BigInteger, primary_key=True),
    sa.Column("query_id", _ID, primary_key=True),
    sa.Column("drawn", sa.Boolean, nullable=False),
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
)

# Queries in which an assessor has nothing left to do, although others have: these need no new search.
PASSED = sa.Table(
    "passed",
    METADATA,
    sa.Column("assessor", _ID, primary_key=True),
    sa.Column("query_id", _ID, primary_key=True),
)

ITEM = ("query_id", "doc_id", "part_start", "part_end")


def is_open(column: sa.Column[int]) -> sa.ColumnElement[bool]:
    """The condition that something is left, written as in the indexes: with a parameter they would not be used."""
    return column > sa.literal_column("0")


def _where_open(column: sa.Column[int]) -> dict[str, object]:
    return {"sqlite_where": is_open(column), "postgresql_where": is_open(column)}


INDEXES = (
    sa.Index("open_queries", QUERIES.c.place, **_where_open(QUERIES.c.open)),
    sa.Index("waiting_items", *(WAITING.c[name] for name in ITEM), unique=True),
    sa.Index("open_items", WAITING.c.query_id, WAITING.c.place, **_where_open(WAITING.c.remaining)),
    sa.Index("events_of_items", EVENTS.c.query_id, EVENTS.c.doc_id, EVENTS.c.number),
    sa.Index("events_of_assessors", EVENTS.c.assessor, EVENTS.c.number),
    sa.Index(
        "undone",
        EVENTS.c.undoes,
        unique=True,  # an event is taken back only once
        sqlite_where=EVENTS.c.undoes.isnot(None),
        postgresql_where=EVENTS.c.undoes.isnot(None),
    ),
    sa.Index(
        "event_keys",
        EVENTS.c.key,
        unique=True,
        sqlite_where=EVENTS.c.key.isnot(None),
        postgresql_where=EVENTS.c.key.isnot(None),
    ),
    sa.Index("replies_of_items", REPLIES.c.query_id, REPLIES.c.doc_id),
    sa.Index("reply_keys", REPLIES.c.key),
)
