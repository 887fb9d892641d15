"""DuckDB: relations of a connection, in SQL; data that does not fit in memory goes to disk."""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping, Sequence
from typing import Any

from cranfield.engines.protocol import FileEngine, library


class DuckDB(FileEngine):
    """The engine of a DuckDB relation. Only relations of one connection can be joined."""

    name = "duckdb"
    title = "DuckDB"
    takes = "a DuckDB relation"
    memory = (
        "keeps the judgments and a few blocks of the run; for the rest, it obeys the `memory_limit` of the connection "
        "that a relation belongs to, and spills to its `temp_directory`"
    )
    package = "duckdb"
    library = "duckdb"
    extra = "duckdb"
    frames = frozenset({("duckdb", "DuckDBPyRelation")})
    sorts_on_disk = True
    rows_at_once = 10_000_000

    @classmethod
    def scan(cls, files: Sequence[str], partitions: Sequence[str], beside: Any, **settings: str) -> Any:
        listed = ", ".join(_literal(file) for file in files)
        options = f"hive_partitioning={bool(partitions)}, hive_types_autocast=false"
        query = f"SELECT * FROM read_parquet([{listed}], {options})"
        if beside is not None:
            return _queried(beside, query)
        import tempfile

        folder = os.path.join(tempfile.gettempdir(), f"cranfield-{os.getpid()}")  # to spill to, not the current one
        return cls.imported().connect(config={"temp_directory": folder}).sql(query)

    def from_arrow(self, table: Any) -> Any:
        """A small table; DuckDB finds a variable of Python by its name, in the function that queries."""
        cranfield_rows = table  # noqa: F841 (the query names it)
        return self.native.query("cranfield_run", "SELECT * FROM cranfield_rows")

    def stream(self, native: Any, rows: int) -> Generator[Any] | None:
        arrow = library("pyarrow")
        read = getattr(native, "to_arrow_reader", None) or native.fetch_arrow_reader  # as older versions call it

        def tables() -> Generator[Any]:
            with read(rows) as reader:  # an open one would keep the connection from its next query
                for batch in reader:
                    yield arrow.Table.from_batches([batch])

        return tables()

    def keyed(self, native: Any) -> Any:
        return native.project("*, hash(query, document) AS key")

    def with_text(self, frame: Any, columns: Mapping[str, str]) -> Any:
        """A connection and a column may have a collation, which also affects equality; C compares bytes."""
        made = ", ".join(
            f"(nullif(CAST({_quoted(name)} AS VARCHAR), '') COLLATE C) AS {_quoted(new + '_as_text')}"
            for new, name in columns.items()
        )
        return self.wrapped(frame.to_native().project(f"*, {made}"))

    def write(self, path: str, native: Any) -> None:
        native.write_parquet(path)

    def read(self, path: str) -> Any:
        return _queried(self.native, f"SELECT * FROM read_parquet({_literal(path)})")


def _queried(relation: Any, query: str) -> Any:
    """A query on the connection of a relation, which is only accessible through the relation itself."""
    return relation.query("cranfield_run", query)


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
