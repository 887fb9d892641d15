"""Ibis: tables of many databases, as expressions that their backend runs."""

from __future__ import annotations

from typing import Any

from cranfield.engines.protocol import FileEngine


class Ibis(FileEngine):
    """The engine of an Ibis table. Backends have no common hash, and only users know which should read a file."""

    name = "ibis"
    title = "Ibis"
    takes = "an Ibis table"
    memory = "depends on its backend, which must be able to read a local Parquet file for `evaluate_lazily`"
    package = "ibis-framework"
    reads_parquet = False
    library = "ibis"
    frames = frozenset({("ibis", "Table")})

    def from_arrow(self, table: Any) -> Any:
        return self.imported().memtable(table)

    def write(self, path: str, native: Any) -> None:
        native.to_parquet(path)

    def read(self, path: str) -> Any:
        return self.native.get_backend().read_parquet(path)
