"""Engines on this machine, which keep results in Parquet files of a temporary folder."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from cranfield.engines import libraries
from cranfield.engines.protocol import Engine

if TYPE_CHECKING:
    from cranfield.engines.measuring import Measuring
    from cranfield.engines.totals import Totals

VALUES = "per_query.parquet"  # the one file that outlives the evaluation


class FileEngine(Engine):
    @abstractmethod
    def write(self, path: str, native: Any) -> None: ...

    @abstractmethod
    def read(self, path: str) -> Any: ...

    def keep(self, frame: Any, path: str) -> Any:
        self.guarded(lambda: self.write(path, frame.to_native()))
        return self.wrapped(self.read(path))

    def release(self, kept: Iterable[Any], folder: str) -> None:
        for name in os.listdir(folder):
            if name != VALUES:
                with suppress(OSError):  # an engine may still have it open
                    os.remove(os.path.join(folder, name))

    def measured(self, table: Any, measuring: Measuring, folder: str) -> tuple[Totals, Any]:
        """The judged rows sorted into a file and measured in batches; the values are a file, too."""
        from cranfield.engines.totals import Totals

        parquet = libraries.parquet()
        judged, values = (os.path.join(folder, name) for name in ("judged.parquet", VALUES))
        self.guarded(lambda: self.write(judged, table.sort("query", "document").to_native()))
        totals, writer = Totals.none(len(measuring.measures)), None
        with parquet.ParquetFile(judged) as file:
            for batch in measuring.values(file.iter_batches()):
                totals += measuring.total(batch)
                for rows in measuring.per_query([batch]):
                    writer = writer or parquet.ParquetWriter(values, rows.schema)
                    writer.write_batch(rows)
        assert writer is not None
        writer.close()
        return totals, self.wrapped(self.read(values))
