"""Spark: frames of a cluster, classic or Connect; measures run inside its tasks."""

from __future__ import annotations

import os
import re
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import reduce
from typing import TYPE_CHECKING, Any, ClassVar

from cranfield.engines.protocol import Engine, EngineSetting
from cranfield.errors import CranfieldError, InputError, MeasureError, need

if TYPE_CHECKING:
    from cranfield.engines.measuring import Measuring, Totals

# An exception in a task arrives as the text of another error.
_RAISED = r"cranfield\.errors\.MeasureError: (.+)(?:\nHint: (.+))?"
_LACKING = r"No module named '(cranfield|numpy|pyarrow)\b"


class Spark(Engine):
    name = "spark"
    title = "Spark"
    takes = "a PySpark DataFrame (classic or Connect)"
    memory = (
        "a task holds a hash of each document of one query at a time, to find duplicates, about 100 bytes each "
        "(`evaluate_lazily` spreads them instead); a window over a heavily judged query is one task"
    )
    package = "pyspark"
    settings: ClassVar[Mapping[str, EngineSetting]] = {"master": EngineSetting("URL", "Where Spark runs [local[*]].")}
    library = "pyspark"
    extra = "spark"
    frames = frozenset({("pyspark", "DataFrame")})

    @classmethod
    def scan(cls, files: Sequence[str], partitions: Sequence[str], beside: Any, **settings: str) -> Any:
        cls.imported()
        sql = need("pyspark.sql", extra=cls.extra, purpose=f"the engine {cls.name}")
        session = sql.SparkSession.getActiveSession() or _started(sql.SparkSession.builder, **settings)
        base = re.split(r"[^/\\]+=", files[0])[0] if partitions else None  # the folders below it are partitions
        with _partitions_as_text(session):
            reader = session.read if base is None else session.read.option("basePath", os.path.abspath(base))
            return reader.parquet(*(file if "://" in file else os.path.abspath(file) for file in files))

    def from_arrow(self, table: Any) -> Any:
        return self.native.sparkSession.createDataFrame(table)

    def keyed(self, native: Any) -> Any:
        return native.selectExpr("*", "xxhash64(query, document) AS key")

    def with_text(self, frame: Any, columns: Mapping[str, str]) -> Any:
        """One SQL text, because each part of an expression would be a call to the JVM. The cast drops a collation."""
        made = [
            f"nullif(CAST({_quoted(name)} AS STRING), '') AS {_quoted(new + '_as_text')}"
            for new, name in columns.items()
        ]
        return self.wrapped(frame.to_native().selectExpr("*", *made))

    def shared(self, keyed: Any) -> Any | None:
        """Without the repartition, each task would group its rows first, which saves nothing if all keys differ."""
        keys = keyed.to_native().select("key").repartition("key")
        again = self.wrapped(keys.groupBy("key").count().where("count > 1").select("key"))
        return again if self.rows(again.head(1)) else None

    def surveyed(self, rows: Any, queries: Any, judged: Any) -> Any:
        """Reading costs Spark more than counting, and documents are spread once, as a set of hashes for each query."""
        expr = need("pyspark.sql.functions", extra=self.extra, purpose=f"the engine {self.name}").expr
        joined = rows.to_native().join(judged.to_native(), ["query", "document"], "left")
        marked = joined.selectExpr(
            "query",
            "unusable",
            "IF(documents = 1, xxhash64(document), NULL) AS key",
            "IF(documents = 1 AND row IS NOT NULL, struct(row, value), NULL) AS hit",
        )
        by_query = marked.groupBy("query").agg(
            expr("sum(unusable) AS unusable"),
            expr("count(key) AS documents"),
            expr("count(key) > size(collect_set(key)) AS repeated"),
            expr("collect_list(hit) AS hits"),
        )
        numbered = by_query.join(queries.to_native(), "query", "left")
        by_number = numbered.groupBy(expr("coalesce(number, -1) AS number")).agg(
            expr("count(1) AS queries"),
            expr("sum(unusable) AS unusable"),
            expr("sum(documents) AS documents"),
            expr("max(repeated) AS repeated"),
            expr("flatten(collect_list(hits)) AS hits"),
        )
        return self.collect(self.wrapped(by_number)).to_native()

    def keep(self, frame: Any, path: str) -> Any:
        """Spark has a store of its own, on all machines; they could not read a path of the driver."""
        return self.wrapped(frame.to_native().persist())

    def release(self, kept: Iterable[Any], folder: str) -> None:
        for frame in kept:
            frame.to_native().unpersist()

    def measured(self, table: Any, measuring: Measuring, folder: str) -> tuple[Totals, Any]:
        """The measures run where the rows are; only a row of totals for each task reaches the driver."""
        from cranfield.engines.measuring import PER_QUERY, Totals

        rows = table.to_native().repartition("query").sortWithinPartitions("query", "document")
        values = rows.mapInArrow(measuring.values, _sql(measuring.schema)).persist()
        parts = values.mapInArrow(measuring.totals, "totals string").collect()
        totals = (Totals.from_json(row[0]) for row in parts)
        per_query = values.mapInArrow(measuring.per_query, _sql(PER_QUERY))
        # Spark keeps the values as long as somebody holds the frame that is made of them.
        weakref.finalize(per_query, _forget, values).atexit = False  # when the session may be gone
        return reduce(Totals.__add__, totals, Totals.none(len(measuring.measures))), self.wrapped(per_query)

    def failure(self, error: Exception) -> CranfieldError:
        if raised := re.search(_RAISED, str(error)):
            return MeasureError(raised[1], hint=raised[2] or "")
        if lacking := re.search(_LACKING, str(error)):
            fact = f"the machines of Spark have no {lacking[1]}, and measures are calculated there."
            hint = "install 'cranfield[spark]' in their Python, which PYSPARK_PYTHON names; or use evaluate"
            return InputError(self.source, fact, hint=hint)
        return super().failure(error)


def _forget(kept: Any) -> None:
    with suppress(Exception):  # a session that has ended has forgotten it
        kept.unpersist()


@contextmanager
def _partitions_as_text(session: Any) -> Iterator[None]:
    """Spark would guess the types of partitions, and read '007' as 7."""
    setting = "spark.sql.sources.partitionColumnTypeInference.enabled"
    before = session.conf.get(setting)
    session.conf.set(setting, "false")
    try:
        yield
    finally:
        session.conf.set(setting, before)


def _started(builder: Any, master: str = "local[*]") -> Any:
    import shutil

    if master.startswith("sc://"):  # Spark Connect, which needs no Java here
        return builder.remote(master).getOrCreate()
    if not (shutil.which("java") or "JAVA_HOME" in os.environ):
        raise CranfieldError("the engine spark needs Java, which is not installed.", hint="install Java 17 or later")
    quiet = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    session = builder.master(master).appName("cranfield").config(map=quiet).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _sql(columns: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {kind}" for name, kind in columns.items())
