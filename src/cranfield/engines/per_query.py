"""evaluate(…, per_query="lazy"): judged rows and values stay in the engine; only what is added up comes back.

The judgments may be in the engine too. Run and judgments meet there, the judged rows are grouped by query, and the same
measure functions run on each group: inside the tasks of Spark, elsewhere on one batch after another of a Parquet file
in a temporary folder. The folder lasts as long as the process; the environment variable TMPDIR says where.
"""

from __future__ import annotations

import atexit
import os
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import Any

from cranfield.engines import lazy
from cranfield.engines.backends import Engine
from cranfield.engines.frames import EngineRows
from cranfield.engines.measuring import PER_QUERY, Measuring
from cranfield.engines.parquet import open_judgments
from cranfield.engines.totals import Totals
from cranfield.errors import InputError, need
from cranfield.judge.judgments import Judgments
from cranfield.judge.policy import Policy
from cranfield.judge.ranks import JudgedRanks
from cranfield.measures import Measure
from cranfield.overlap import (
    SHOWN,
    few_queries,
    lacks_most,
    least_queries,
    no_common_document,
    no_common_query,
    refused,
)
from cranfield.read.source import Lazy
from cranfield.summary import Summary
from cranfield.values import Counts
from cranfield.version import __version__

VALUES = "per_query.parquet"


class LazyEvaluation(Summary):
    """The result of `evaluate(…, per_query="lazy")`: means in memory, the values of the queries in the engine.

    A mean is the exact sum of the values, rounded once, over the number of queries: the same to the last bit as that of
    an `Evaluation`, however the queries are shared out.

    >>> import polars
    >>> from cranfield import evaluate
    >>> qrels = polars.LazyFrame({"query_id": ["1", "2"], "doc_id": ["a", "b"], "grade": [1, 1]})
    >>> run = polars.LazyFrame({"query_id": ["1", "1", "2"], "doc_id": ["x", "a", "b"], "score": [3.0, 2.0, 1.0]})
    >>> result = evaluate(qrels, run, "RR", per_query="lazy")
    >>> result["RR"], sorted(result.per_query.collect()["value"].to_list())
    (0.75, [0.5, 1.0])
    """

    def __init__(
        self, measuring: Measuring, counts: Counts, totals: Totals, per_query: Any, warnings: tuple[str, ...] = ()
    ):
        self.run = measuring.run
        self.measures = measuring.measures
        self.policy = measuring.policy
        self.counts = counts
        self.qrels_sha256 = f"rows-{totals.qrels_digest % 2**64:016x}"
        self.run_sha256 = f"rows-{totals.ranks_digest % 2**64:016x}"
        self.version = __version__
        # Every value, as a lazy frame: run, query_id, measure, value. `to_native()` gives the engine's own kind.
        self.per_query = per_query
        self._totals = totals
        self._warnings = warnings
        dict(self)  # an error, if the values of a measure are too large to add up

    @property
    def warnings(self) -> tuple[str, ...]:
        """What casts doubt on the values: queries that hardly match. Ties are not looked at here.

        >>> import polars
        >>> from cranfield import evaluate
        >>> run = polars.LazyFrame({"query_id": ["1"], "doc_id": ["a"], "score": [1.0]})
        >>> evaluate({query: ["a"] for query in "123"}, run, "RR", per_query="lazy").warnings
        ('only 1 of the 3 judged queries is in the run; the others count 0',)
        """
        return self._warnings

    def __getitem__(self, measure: str | Measure) -> float:
        wanted = self._find(measure)
        how = wanted.definition.aggregate
        return self._totals.aggregate(self.measures.index(wanted), how, of=wanted.name)


@dataclass(frozen=True)
class JudgedRows:
    """The judged rows of a run, as a table of its engine."""

    run: EngineRows
    judgments: EngineRows
    folder: str
    kept: list[Any] = field(default_factory=list)

    @property
    def _engine(self) -> Engine:
        return self.run.engine

    @cached_property
    def sizes(self) -> Any:
        """The queries of the run, and how many documents each has."""
        return self._keep(self.run.by_query, "sizes")

    def check(self) -> int:
        """Refuse what cannot be evaluated; how many queries of the run nobody judged."""
        nw, col = self.run.nw, self.run.nw.col
        for rows, by_query in ((self.judgments, self.judgments.by_query), (self.run, self.sizes)):
            unusable, queries = self._engine.rows(
                by_query.select(col("unusable").sum().alias("n"), nw.len().alias("q"))
            )[0]
            rows.check(int(unusable or 0))
            if not queries:
                what = "judgment" if rows.role == "qrels" else "ranking"
                raise InputError(rows.source, f"there is not one {what} in it.")
        extra = self.sizes.join(self.judgments.by_query.select("query"), on="query", how="anti")
        return int(self._engine.rows(extra.select(nw.len().alias("n")))[0][0])

    @cached_property
    def table(self) -> Any:
        """Every judgment: query, document, grade, what stands above it if it was retrieved, and its query's size."""
        nw, col = self.run.nw, self.run.nw.col
        judged = self.judgments.rows.select("query", "document", col("value").alias("grade"))
        pairs = judged.select("query", "document")
        hits = self._keep(self.run.rows.join(pairs, on=["query", "document"], how="semi"), "hits")
        by_query = hits.group_by("query").agg(nw.len().alias("hits"))
        heavy = self._keep(by_query.filter(col("hits") > lazy.MANY).select("query"), "heavy")
        light = hits.join(heavy, on="query", how="anti").select(
            "query", col("document").alias("hit_document"), col("value").alias("hit"), col("text").alias("hit_text")
        )
        found = [
            lazy.counted(self.run.rows, light, ["query", "hit_document"]).select(
                "query", col("hit_document").alias("document"), col("above", "before", "tied").cast(nw.Int64)
            )
        ]
        if self._engine.rows(heavy.head(1)):
            for number, part in enumerate(self.run.parts):
                ranks = lazy.ranked(self.run.prepared(part), heavy).join(pairs, on=["query", "document"], how="semi")
                found.append(self._keep(ranks, f"ranked-{number}"))
        sizes = self.sizes.select("query", col("documents").cast(nw.Int64).alias("retrieved"))
        return judged.join(nw.concat(found), on=["query", "document"], how="left").join(sizes, on="query", how="left")

    def overlap(self, totals: Totals, least: int, refuse: bool) -> tuple[str, ...]:
        """Refuse a run that has nothing in common with the judgments; warn where it has little."""
        shared, depth = totals.judged - totals.missing, self.run.policy.depth
        if not shared:
            queries = self.run.some("query", SHOWN), self.judgments.some("query", SHOWN)
            return refused(no_common_query(self.run.source, *queries), refuse)
        if not totals.found and depth is None and shared >= least:
            documents = (
                self.run.some("document", SHOWN, self.judgments.by_query.select("query")),
                self.judgments.some("document", SHOWN, self.run.by_query.select("query")),
            )
            return refused(no_common_document(self.run.source, shared, *documents), refuse)
        return (few_queries(shared, totals.judged),) if lacks_most(shared, totals.judged, self.run.policy) else ()

    def _keep(self, frame: Any, name: str) -> Any:
        kept = self._engine.keep(frame, os.path.join(self.folder, f"{name}.parquet"))
        self.kept.append(kept)
        return kept

    def forget(self) -> None:
        """Give back what was kept on the way to the values."""
        if self._engine.kind == "pyspark":
            for frame in self.kept:
                frame.to_native().unpersist()
        for name in os.listdir(self.folder):
            if name != VALUES:
                with suppress(OSError):  # an engine may still have it open
                    os.remove(os.path.join(self.folder, name))


def evaluate_lazily(
    qrels: Any,
    run: Lazy,
    measures: tuple[Measure, ...],
    policy: Policy,
    *,
    name: str,
    engine: str | None = None,
    qrels_format: str | None = None,
    check_ids: bool = True,
) -> LazyEvaluation:
    """Evaluate a run in its engine, and leave the values of the queries there."""
    for measure in measures:
        measure.check_ranks()
        measure(JudgedRanks.of_grades([1.0]))  # what a measure lacks is said before the work, not by its tasks
    rows = EngineRows(run.frame, run.name, policy, as_text=True)
    measuring = Measuring(name, measures, policy)
    with ExitStack() as stack:  # what was written is deleted at once if anything fails
        folder = tempfile.TemporaryDirectory(prefix="cranfield-", ignore_cleanup_errors=True)
        stack.enter_context(folder)
        judged = JudgedRows(rows, _judgments(qrels, rows, engine, qrels_format), folder.name)
        extra = rows.engine.guarded(judged.check)
        totals, per_query = rows.engine.guarded(lambda: _measured(rows.engine, judged.table, measuring, folder.name))
        least = least_queries(in_memory=engine is None)
        warnings = rows.engine.guarded(lambda: judged.overlap(totals, least, check_ids))
        judged.forget()
        atexit.register(stack.pop_all().close)
    if policy.missing == "error" and totals.missing:
        listed = ", ".join(totals.lacking[:5]) + (", …" if totals.missing > 5 else "")
        raise InputError(run.name, f"{totals.missing} judged queries are not in the run: {listed}.")
    counts = Counts(
        queries=totals.queries,
        judged=totals.judged,
        missing=totals.missing,
        extra=extra,
        no_relevant=totals.no_relevant,
        no_relevant_for_all=totals.no_relevant_for_all,
        tied=totals.tied / totals.found if totals.found else 0.0,
    )
    return LazyEvaluation(measuring, counts, totals, per_query, warnings)


def _judgments(qrels: Any, run: EngineRows, engine: str | None, format: str | None) -> EngineRows:
    """The judgments in the engine of the run."""
    opened = open_judgments(qrels, engine, format, beside=run.native)
    nw = need("narwhals", extra="frames", purpose="evaluating a lazy frame")
    if isinstance(opened, Lazy) and Engine.of(nw.from_native(opened.frame), opened.name).kind != run.engine.kind:
        opened = Judgments.read(lazy.collected(opened.frame, opened.name))
    if isinstance(opened, Judgments):
        queries = [opened.query_ids[at] for at in opened.query.tolist()]
        columns = {"query_id": run.engine.text(queries), "doc_id": run.engine.text(opened.document_ids)}
        opened = Lazy(opened.name, run.engine.send({**columns, "grade": opened.grades}).to_native())
    return EngineRows(opened.frame, opened.name, run.policy, "qrels", as_text=True)


def _measured(engine: Engine, table: Any, measuring: Measuring, folder: str) -> tuple[Totals, Any]:
    """The totals, and the values as a lazy frame."""
    totals = Totals.none(len(measuring.measures))
    if engine.kind == "pyspark":
        rows = table.to_native().repartition("query").sortWithinPartitions("query", "document")
        values = rows.mapInArrow(measuring.values, _sql(measuring.schema)).persist()
        parts = values.mapInArrow(measuring.totals, "totals string").collect()
        nw = need("narwhals", extra="frames", purpose="evaluating a lazy frame")
        per_query = nw.from_native(values.mapInArrow(measuring.per_query, _sql(PER_QUERY)))
        return reduce(Totals.__add__, (Totals.from_json(row[0]) for row in parts), totals), per_query
    parquet = need("pyarrow.parquet", extra="frames", purpose="evaluating a lazy frame")
    judged, measured = (os.path.join(folder, name) for name in ("judged.parquet", VALUES))
    engine.write(table.sort("query", "document"), judged)
    writer = None
    with parquet.ParquetFile(judged) as file:
        for batch in measuring.values(file.iter_batches()):
            totals += measuring.total(batch)
            for values in measuring.per_query([batch]):
                writer = writer or parquet.ParquetWriter(measured, values.schema)
                writer.write_batch(values)
    assert writer is not None
    writer.close()
    return totals, engine.read(measured)


def _sql(columns: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {kind}" for name, kind in columns.items())
