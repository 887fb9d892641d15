"""The engines: how small tables go in and come out, and how ids compare by bytes in each."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cranfield.errors import CranfieldError, InputError, MeasureError, need


@dataclass(frozen=True)
class Engine:
    """What sends small tables to an engine and runs its expressions; `native` is a frame that lives there."""

    kind: str  # polars, duckdb, pyspark, ibis
    native: Any
    source: str

    @classmethod
    def of(cls, frame: Any, source: str) -> Engine:
        """The engine that holds a frame."""
        return cls(frame.implementation.value.partition("[")[0].partition("_")[0], frame.to_native(), source)

    @property
    def is_local(self) -> bool:
        """Whether it works in the memory of this process."""
        return self.kind in ("polars", "duckdb")

    def send(self, columns: dict[str, Any]) -> Any:
        """A small table, as a lazy frame of this engine."""
        arrow = need("pyarrow", extra="frames", purpose="evaluating a lazy frame")
        narwhals = need("narwhals", extra="frames", purpose="evaluating a lazy frame")
        cranfield_rows = arrow.table(columns)
        if self.kind == "polars":
            native = need("polars", purpose="evaluating a lazy frame").from_arrow(cranfield_rows).lazy()
        elif self.kind == "duckdb":
            # Only a query of the relation itself runs on its connection; DuckDB finds the variable by its name.
            native = self.native.query("cranfield_run", "SELECT * FROM cranfield_rows")
        elif self.kind == "pyspark":
            native = self.native.sparkSession.createDataFrame(cranfield_rows)
        else:
            native = need("ibis", purpose="evaluating an Ibis table").memtable(cranfield_rows)
        return narwhals.from_native(native)

    def numbers(self, frame: Any) -> dict[str, npt.NDArray[Any]]:
        """The columns of numbers that an expression gives."""
        result = self._collect(frame)
        return {name: np.asarray(result[name].to_numpy()) for name in result.columns}

    def rows(self, frame: Any) -> list[tuple[Any, ...]]:
        """The few rows that an expression gives."""
        rows: list[tuple[Any, ...]] = self._collect(frame).rows()
        return rows

    def keep(self, frame: Any, path: str) -> Any:
        """The frame, computed once: Spark keeps it in its own store, other engines in a Parquet file."""
        narwhals = need("narwhals", extra="frames", purpose="evaluating a lazy frame")
        if self.kind == "pyspark":
            return narwhals.from_native(frame.to_native().persist())
        self.write(frame, path)
        return self.read(path)

    def write(self, frame: Any, path: str) -> None:
        """Write a frame to a Parquet file, without holding all of it."""
        native = frame.to_native()
        if self.kind == "polars":
            self.guarded(lambda: native.sink_parquet(path, engine="streaming"))
        elif self.kind == "duckdb":
            self.guarded(lambda: native.write_parquet(path))
        else:
            self.guarded(lambda: native.to_parquet(path))

    def read(self, path: str) -> Any:
        """A Parquet file as a lazy frame of this engine."""
        narwhals = need("narwhals", extra="frames", purpose="evaluating a lazy frame")
        if self.kind == "polars":
            return narwhals.from_native(need("polars", purpose="evaluating a lazy frame").scan_parquet(path))
        if self.kind == "duckdb":
            quoted = path.replace("'", "''")
            return narwhals.from_native(self.native.query("cranfield_run", f"SELECT * FROM read_parquet('{quoted}')"))
        return narwhals.from_native(self.native.get_backend().read_parquet(path))

    def text(self, ids: Sequence[str]) -> Any:
        """Ids as a column."""
        arrow = need("pyarrow", extra="frames", purpose="evaluating a lazy frame")
        return arrow.array(ids, arrow.string())

    def with_text(self, frame: Any, columns: dict[str, str]) -> Any:
        """The frame with more columns, NAME_as_text: ids that compare by bytes, null where they are empty."""
        narwhals = need("narwhals", extra="frames", purpose="evaluating a lazy frame")
        if self.kind == "duckdb":
            made = ", ".join(
                f"(nullif(CAST({_quoted(name)} AS VARCHAR), '') COLLATE C) AS {_quoted(new + '_as_text')}"
                for new, name in columns.items()
            )
            return narwhals.from_native(frame.to_native().project(f"*, {made}"))
        texts = {name: narwhals.col(name).cast(narwhals.String()) for name in columns.values()}  # without a collation
        return frame.with_columns(
            narwhals.when(texts[name] != "").then(texts[name]).alias(f"{new}_as_text") for new, name in columns.items()
        )

    def with_key(self, frame: Any) -> Any | None:
        """The columns query and document as one number of 64 bits, key: a hash; None where the engine has none.

        Grouping by it takes a fraction of the time and memory of grouping by ids. Equal ids have equal keys; different
        ids may, hardly ever, share one.
        """
        narwhals = need("narwhals", extra="frames", purpose="evaluating a lazy frame")
        native = frame.to_native()
        if self.kind == "polars":
            polars = need("polars", purpose="evaluating a lazy frame")
            native = native.with_columns(polars.struct("query", "document").hash().alias("key"))
        elif self.kind == "duckdb":
            native = native.project("*, hash(query, document) AS key")
        elif self.kind == "pyspark":
            native = native.selectExpr("*", "xxhash64(query, document) AS key")
        else:
            return None
        return narwhals.from_native(native)

    def spread(self, frame: Any, column: str) -> Any:
        """The frame, for grouping by a column whose values are nearly all different.

        Spark would first group what each task reads, which here takes long and saves nothing.
        """
        if self.kind != "pyspark":
            return frame
        narwhals = need("narwhals", extra="frames", purpose="evaluating a lazy frame")
        return narwhals.from_native(frame.to_native().repartition(column))

    def guarded(self, work: Callable[[], Any]) -> Any:
        """What the work gives; an engine that fails says so as an error about the source."""
        try:
            return work()
        except CranfieldError:
            raise
        except Exception as error:  # each engine raises its own
            if raised := _RAISED.search(str(error)):
                raise MeasureError(raised[1], hint=raised[2] or "") from error
            raise InputError(self.source, f"the engine {self.kind} failed ({briefly(error)}).") from error

    def _collect(self, frame: Any) -> Any:
        options = {"engine": "streaming"} if self.kind == "polars" else {}
        return self.guarded(lambda: frame.collect(**options))


# What a measure raises in a task of Spark arrives as the text of another error.
_RAISED = re.compile(r"cranfield\.errors\.MeasureError: (.+)(?:\nHint: (.+))?")


def briefly(error: Exception) -> str:
    """The first line of an engine's error, and the last where the first only announces it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [""]
    fact = f"{lines[0]} {lines[-1]}" if lines[0].endswith((":", "below.")) else lines[0]
    return f"{type(error).__name__}: {fact}"[:300]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
