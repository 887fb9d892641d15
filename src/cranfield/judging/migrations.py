"""Stores of older versions are brought up to date when they are opened for writing, one version at a time."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import sqlalchemy as sa

from cranfield.errors import InputError
from cranfield.judging.schema import (
    ABOUT,
    INDEXES,
    JUDGES,
    METADATA,
    QUERIES,
    QUERY_SAMPLES,
    REPLIES,
    SAMPLED_QUERIES,
    SCALE,
    UNANSWERED,
    VERSION,
    WAITING,
)


def create(connection: sa.Connection) -> None:
    """Make the tables of a new store."""
    definitions = _definitions(connection.dialect.name)
    # A server takes them all at once; SQLite takes one at a time.
    for statement in definitions if connection.dialect.name == "sqlite" else (";\n".join(definitions),):
        connection.exec_driver_sql(statement)
    connection.execute(ABOUT.insert().values(version=VERSION))


@cache
def _definitions(dialect: str) -> tuple[str, ...]:
    """The statements that make all tables and indexes; SQLAlchemy would compile and check each for every store."""
    language = sa.make_url(f"{dialect}://").get_dialect()()
    tables = [sa.schema.CreateTable(each, if_not_exists=True) for each in METADATA.sorted_tables]
    indexes = [sa.schema.CreateIndex(each, if_not_exists=True) for each in INDEXES]
    return tuple(str(each.compile(dialect=language)) for each in (*tables, *indexes))


def version_of(connection: sa.Connection, name: str) -> int | None:
    """The version of a store; None where the database holds no store."""
    if not sa.inspect(connection).has_table(ABOUT.name):
        return None
    found = connection.execute(sa.select(sa.func.max(ABOUT.c.version))).scalar()
    if not isinstance(found, int):
        raise InputError(name, "this store has lost its version.", hint="restore it from a backup")
    if found > VERSION:
        raise InputError(
            name,
            f"this store has version {found}, but this cranfield reads only up to {VERSION}.",
            hint="pip install --upgrade cranfield",
        )
    return found


def migrate(connection: sa.Connection, version: int) -> None:
    """Bring a store up to date; the caller's transaction makes it all or nothing."""
    for before in range(version, VERSION):
        _STEPS[before](connection)
    connection.execute(ABOUT.update().values(version=VERSION))


def _add_parts(connection: sa.Connection) -> None:
    """Version 2: a part of a document can be judged."""
    for table in ("waiting", "events"):
        for column in ("part_start", "part_end"):
            connection.execute(sa.text(f"ALTER TABLE {table} ADD COLUMN {column} INTEGER NOT NULL DEFAULT 0"))
    # In version 1 a document could wait only once for a query; now each of its parts can.
    connection.execute(sa.text("DROP INDEX waiting_items"))
    _index("waiting_items").create(connection)


def _add_scale_and_keys(connection: sa.Connection) -> None:
    """Version 3: a project has its own grades, an event can be sent twice, and pooled documents are counted."""
    SCALE.create(connection)
    connection.execute(sa.text("ALTER TABLE events ADD COLUMN key TEXT"))
    _index("event_keys").create(connection)
    connection.execute(sa.text("ALTER TABLE queries ADD COLUMN pooled INTEGER NOT NULL DEFAULT 0"))
    pooled = sa.select(sa.func.count()).where(WAITING.c.query_id == QUERIES.c.query_id)
    connection.execute(QUERIES.update().values(pooled=pooled.scalar_subquery()))


def _add_strata(connection: sa.Connection) -> None:
    """Version 4: pooled documents have a stratum. It follows from the reason for pooling, with a sample or without."""
    connection.execute(sa.text("ALTER TABLE waiting ADD COLUMN stratum TEXT NOT NULL DEFAULT ''"))
    for reason, stratum in (("first ", "depth"), ("sample down to ", "sample"), ("not drawn: sample ", "sample")):
        chosen = WAITING.c.why.startswith(reason, autoescape=True)
        connection.execute(WAITING.update().where(chosen).values(stratum=stratum))


def _add_models_and_samples(connection: sa.Connection) -> None:
    """Version 5: models are asked, queries are sampled, and the order of judging that chose a document is recorded."""
    for table in (JUDGES, REPLIES, UNANSWERED, QUERY_SAMPLES, SAMPLED_QUERIES):
        table.create(connection)
    connection.execute(sa.text("ALTER TABLE events ADD COLUMN judge TEXT NOT NULL DEFAULT ''"))
    connection.execute(sa.text("ALTER TABLE waiting ADD COLUMN chosen_by TEXT NOT NULL DEFAULT ''"))
    decided = WAITING.c.why.startswith("to decide about ", autoescape=True)
    connection.execute(WAITING.update().where(decided).values(chosen_by="decide"))


def _index(name: str) -> sa.Index:
    [found] = [index for index in INDEXES if index.name == name]
    return found


_STEPS: dict[int, Callable[[sa.Connection], None]] = {
    1: _add_parts,
    2: _add_scale_and_keys,
    3: _add_strata,
    4: _add_models_and_samples,
}
