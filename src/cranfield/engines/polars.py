"""Polars: frames in the memory of this process, read in a stream."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from cranfield.engines.protocol import FileEngine


class Polars(FileEngine):
    name = "polars"
    title = "Polars"
    takes = "a `polars.LazyFrame`"
    memory = (
        "keeps the judgments, the judged rows and a few blocks of the run; with more judgments than fit in memory, use "
        "another engine"
    )
    package = "polars"
    library = "polars"
    frames = frozenset({("polars", "LazyFrame")})
    rows_at_once = 10_000_000

    @classmethod
    def scan(cls, files: Sequence[str], partitions: Sequence[str], beside: Any, **settings: str) -> Any:
        polars = cls.imported()
        hive = dict.fromkeys(partitions, polars.String)
        return polars.scan_parquet(list(files), hive_partitioning=bool(hive), hive_schema=hive or None)

    def from_arrow(self, table: Any) -> Any:
        return self.imported().from_arrow(table).lazy()

    def stream(self, native: Any, rows: int) -> Generator[Any] | None:
        if not hasattr(native, "collect_batches"):  # as in older versions
            return None
        return (batch for batch in native.collect_batches(chunk_size=rows, maintain_order=True))

    def keyed(self, native: Any) -> Any:
        return native.with_columns(self.imported().struct("query", "document").hash().alias("key"))

    def collect(self, frame: Any) -> Any:
        """With the streaming engine: otherwise, Polars would hold all of a run in memory."""
        return self.guarded(lambda: frame.collect(engine="streaming"))

    def write(self, path: str, native: Any) -> None:
        native.sink_parquet(path, engine="streaming")

    def read(self, path: str) -> Any:
        return self.imported().scan_parquet(path)
