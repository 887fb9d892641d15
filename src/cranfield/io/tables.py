"""The tables of a kind of database: making them, and bringing those of an older version up to date."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import sqlalchemy as sa

from cranfield.errors import InputError

DAMAGED = "the file is damaged: restore it from a backup"


@dataclass(frozen=True, eq=False)
class Schema:
    """A kind of database. A table, a column or an index that came later has the version since which it is there.

    word, called: what such a database is called in a sentence, and in full
    usual_file: the name of its file, for examples
    making, updating: hints that say what makes one, and what brings one up to date
    lock: PostgreSQL's lock for writing to it
    about: the table of one row that holds the version
    filled: version → statements that fill what it added
    impossible: table → the condition that a row contains what is never written
    functions: of one argument, which statements may call in SQLite
    has_bytes: whether some columns hold bytes
    """

    word: str
    called: str
    usual_file: str
    making: str
    updating: str
    lock: int
    metadata: sa.MetaData
    about: sa.Table
    indexes: Sequence[sa.Index]
    impossible: Callable[[sa.Table], sa.ColumnElement[bool]]
    filled: Mapping[int, Sequence[Any]] = field(default_factory=dict)
    functions: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    has_bytes: bool = False

    @property
    def version(self) -> int:
        numbers: list[int] = [
            part.info.get("since", 1)
            for table in self.metadata.sorted_tables
            for part in (table, *table.c, *table.indexes)
        ]
        return max(numbers)

    def create(self, connection: sa.Connection) -> None:
        definitions = _definitions(self, connection.dialect.name)
        # A server takes them all at once; SQLite takes one at a time.
        for statement in definitions if connection.dialect.name == "sqlite" else (";\n".join(definitions),):
            connection.exec_driver_sql(statement)
        connection.execute(self.about.insert().values(version=self.version))

    def version_of(self, connection: sa.Connection, name: str) -> int | None:
        if not sa.inspect(connection).has_table(self.about.name):
            return None
        version = connection.execute(sa.select(sa.func.max(self.about.c.version))).scalar()
        if not isinstance(version, int):
            raise InputError(name, f"this {self.word} has lost its version.", hint="restore it from a backup")
        if version > self.version:
            fact = f"this {self.word} has version {version}, but this cranfield reads only up to {self.version}."
            raise InputError(name, fact, hint="pip install --upgrade cranfield")
        return version

    def migrate(self, connection: sa.Connection, version: int) -> None:
        """Bring a database up to date; the caller's transaction makes it all or nothing."""
        made: set[sa.Table] = set()
        for step in range(version + 1, self.version + 1):
            for table in self.metadata.sorted_tables:
                if table.info.get("since") == step:
                    table.create(connection)
                    made.add(table)
                elif table.info.get("since", 1) < step and table not in made:  # one just made has all columns
                    for column in table.c:
                        if column.info.get("since") == step:
                            added = sa.schema.CreateColumn(column).compile(dialect=connection.dialect)
                            connection.exec_driver_sql(f"ALTER TABLE {table.name} ADD COLUMN {added}")
            for index in self.indexes:
                if index.info.get("since") == step:
                    connection.exec_driver_sql(f"DROP INDEX IF EXISTS {index.name}")
                    index.create(connection)
            for statement in self.filled.get(step, ()):
                connection.execute(statement)
        connection.execute(self.about.update().values(version=self.version))


def wrong_types(table: sa.Table) -> list[sa.ColumnElement[bool]]:
    """Conditions that a row has values of other types; SQLite keeps values of any type in any column."""
    conditions: list[sa.ColumnElement[bool]] = []
    for column in table.c:
        types = ["integer", "real"]
        if isinstance(column.type, sa.Text):
            types = ["text"]
        elif isinstance(column.type, sa.LargeBinary):
            types = ["blob"]
        elif isinstance(column.type, sa.Integer | sa.Boolean):
            types = ["integer"]
        conditions.append(sa.func.typeof(column).not_in([*types, *(["null"] if column.nullable else [])]))
    return conditions


@cache
def _definitions(schema: Schema, dialect: str) -> tuple[str, ...]:
    """The statements that make all tables and indexes; SQLAlchemy would compile and check each for every database."""
    language = sa.make_url(f"{dialect}://").get_dialect()()
    tables = [sa.schema.CreateTable(table, if_not_exists=True) for table in schema.metadata.sorted_tables]
    indexes = [sa.schema.CreateIndex(index, if_not_exists=True) for index in schema.indexes]
    return tuple(str(part.compile(dialect=language)) for part in (*tables, *indexes))
