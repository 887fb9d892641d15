"""Judged ranks as relational expressions over narwhals: the same on Polars, DuckDB, Spark and Ibis.

The run is never sorted as a whole and never leaves its engine. These expressions read it:
1. by query: how many documents, and whether a row is unusable; by query and document: whether one stands twice;
2. the run joined with the judgments: the scores of the judged documents that were retrieved;
3. for each of those, how many documents of its query stand above it.
Only judged documents and counts come back. An expensive frame is best cached, since it is read four times.

The third expression has two forms. *Counting* joins the run with the judged documents of the query and counts, which
takes (documents retrieved × judged ones) comparisons. A query with more than `MANY` judged documents retrieved is
*ranked* by a window instead, so that heavily judged queries do not square the work. `plan` says which is used.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from cranfield.engines.backends import Engine
from cranfield.engines.frames import EngineFrames
from cranfield.engines.parquet import open_run
from cranfield.errors import DuplicateError, InputError, need
from cranfield.judge.counting import NOTHING, Found, join
from cranfield.judge.judgments import Integers, Judgments, Numbers
from cranfield.judge.policy import Policy
from cranfield.judge.ranks import JudgedRanks
from cranfield.judge.scan import Scanned
from cranfield.read.source import Lazy, is_lazy

MANY = 8  # judged documents of a query that are counted; for more, ordering all of it once takes less time
EXAMPLES = 3
Flags = npt.NDArray[np.bool_]


def judged_ranks(run: Lazy, judgments: Judgments, policy: Policy) -> JudgedRanks:
    """Rank the judged documents of a run that an engine holds."""
    scanned = LazyRun(run.frame, judgments, policy, run.name).scanned
    return JudgedRanks.of_scanned(judgments, scanned, policy, run.name)


def collected(frame: Any, source: str) -> Any:
    """A lazy frame of judgments as one in memory."""
    narwhals = need("narwhals", extra="frames", purpose="reading a lazy frame")
    lazy = narwhals.from_native(frame)
    return Engine.of(lazy, source).guarded(lazy.collect).to_native()


def plan(qrels: Any, run: Any, *, policy: Policy | None = None, engine: str | None = None) -> str:
    """How the ranks of a lazy run are found: which queries by counting, which by a window, and at what cost."""
    lazy = open_run(run, engine)
    judgments = Judgments.read(collected(qrels, "the judgments") if is_lazy(qrels) else qrels)
    return LazyRun(lazy.frame, judgments, policy or Policy(), lazy.name).plan


class LazyRun(EngineFrames):
    """A run in an engine, and the way from there to the ranks of its judged documents."""

    @cached_property
    def scanned(self) -> Scanned:
        """What the run says about the judged queries."""
        retrieved, extra = self.sizes
        row, score = self.hits
        heavy = self.heavy
        found = [self._counted(row[~heavy], score[~heavy]), self._ranked(row[heavy])]
        return Scanned(retrieved, extra, join(found))

    @cached_property
    def plan(self) -> str:
        """The way to the ranks, in words."""
        retrieved, extra = self.sizes
        row, _ = self.hits
        query = self.judgments.query[row]
        light, heavy = query[~self.heavy], np.unique(query[self.heavy])
        comparisons, ranked = int(retrieved[light].sum()), int(retrieved[heavy].sum())
        return "\n".join(
            (
                f"engine: {self._engine.kind}, which reads the run four times",
                f"run: {int(np.maximum(retrieved, 0).sum()):,} documents of {int((retrieved >= 0).sum()):,} judged "
                f"queries ({extra:,} queries are not judged), {len(row):,} of them judged",
                f"counting (join): {len(np.unique(light)):,} queries with at most {MANY} judged documents retrieved, "
                f"{comparisons:,} comparisons",
                f"window rank: {len(heavy):,} queries with more, {ranked:,} documents ordered",
            )
        )

    # 1. Sizes of the rankings, and whether every row can be used.

    @cached_property
    def sizes(self) -> tuple[Integers, int]:
        """Documents by judged query, -1 where the run lacks it, and how many queries of the run nobody judged."""
        nw, col = self._nw, self._nw.col
        unusable = (
            col("query").is_null() | col("document").is_null() | col("score").is_null() | ~col("score").is_finite()
        ).fill_null(True)
        kept = col("query") != col("document") if self.policy.same_id == "drop" else nw.lit(True)
        every = self._standard(self._frame)
        rows = every.with_columns(
            unusable.cast(nw.Int64).alias("unusable"), kept.fill_null(False).cast(nw.Int64).alias("documents")
        )
        if self.policy.duplicates == "best":
            rows = rows.group_by("query", "document").agg(col("unusable").sum(), col("documents").max())
        by_query = rows.group_by("query").agg(col("unusable", "documents").sum())
        number, ids = self._keys(self.judgments.query_ids, "query")
        queries = self._engine.send({"query": ids, "number": number})
        numbered = by_query.join(queries, on="query", how="left").with_columns(col("number").fill_null(-1))
        result = self._engine.numbers(
            numbered.group_by("number")  # all queries that nobody judged come back as one row
            .agg(nw.len().alias("queries"), col("unusable", "documents").sum())
            .select(col("number", "queries", "unusable", "documents").cast(nw.Int64))
        )
        if result["unusable"].any():
            raise self._unusable(every.filter(unusable), int(result["unusable"].sum()))
        if self.policy.duplicates == "error":
            for part in self._parts:
                self._refuse_duplicates(part)
        known = result["number"] >= 0
        retrieved = np.full(len(self.judgments), -1, dtype=np.int64)
        retrieved[result["number"][known]] = result["documents"][known]
        return retrieved, int(result["queries"][~known].sum())

    def _unusable(self, rows: Any, count: int) -> InputError:
        examples = []
        for query, document, value in self._engine.rows(rows.select("query", "document", "score").head(EXAMPLES)):
            value = -value if self._ranks and value is not None else value
            if query is None or document is None:
                what = "the query id" if query is None else "the document id"
                fact = f"{what} is missing or empty"
            else:
                fact = "the score is missing" if value is None else f"{value} is not a finite number"
            shown = ["" if part is None else part for part in (query, document)]
            examples.append("query '{}', document '{}': {}".format(*shown, fact))
        return InputError(
            self.source, f"{count:,} row{'s' * (count != 1)} cannot be used: {'; '.join(sorted(examples))}."
        )

    def _refuse_duplicates(self, rows: Any) -> None:
        nw, col = self._nw, self._nw.col
        rows = self._prepared(rows).select("query", "document")
        keyed = self._engine.with_key(rows)
        if keyed is not None:
            shared = keyed.group_by("key").agg(nw.len().alias("rows")).filter(col("rows") > 1).select("key")
            if not self._engine.rows(shared.head(1)):
                return
            rows = keyed.join(shared, on="key", how="semi")  # two documents may share a key, hence a closer look
        counts = rows.group_by("query", "document").agg(nw.len().alias("rows"))
        examples = self._engine.rows(counts.filter(col("rows") > 1).sort("query", "document").head(EXAMPLES))
        if examples:
            (query, document, count), *others = examples
            times = "twice" if count == 2 else f"{count} times"
            also = "".join(f"; also '{other}' of query '{its}'" for its, other, _ in others)
            raise DuplicateError(
                self.source,
                f"document '{document}' stands {times} in the ranking of query '{query}'{also}.",
                hint="keep one, or choose the highest score with duplicates='best'",
            )

    # 2. The judged documents that were retrieved.

    @cached_property
    def hits(self) -> tuple[Integers, Numbers]:
        """Which rows of the judgments were retrieved, and with what score."""
        found = self._engine.numbers(
            self._run.join(self._judged(), on=["query", "document"], how="inner").select("row", "score")
        )
        return found["row"].astype(np.int64), found["score"].astype(np.float64)

    @cached_property
    def heavy(self) -> Flags:
        """Which hits belong to queries that have many of them."""
        query = self.judgments.query[self.hits[0]]
        return np.bincount(query, minlength=len(self.judgments))[query] > MANY

    # 3. What stands above them.

    def _counted(self, row: Integers, score: Numbers) -> Found:
        """Count, for each hit, the documents of its query with a higher score, and those with the same."""
        if not len(row):
            return NOTHING
        nw, col = self._nw, self._nw.col
        texts = [self.judgments.document_ids[at] for at in row.tolist()]
        hits = self._engine.send(
            {"query": self._queries_of(row), "row": row, "hit": score, "hit_text": self._engine.text(texts)}
        )
        higher, equal = col("score") > col("hit"), col("score") == col("hit")
        reached = self._run.join(hits, on="query", how="inner").filter(col("score") >= col("hit"))
        counts = reached.group_by("row").agg(
            higher.cast(nw.Int64).sum().alias("above"),
            (equal & (col("text") > col("hit_text"))).cast(nw.Int64).sum().alias("before"),
            equal.cast(nw.Int64).sum().alias("tied"),
        )
        return self._found(counts)

    def _ranked(self, row: Integers) -> Found:
        """Rank all documents of the queries of these hits with a window, and keep the hits."""
        if not len(row):
            return NOTHING
        col = self._nw.col
        query = self.judgments.query[row]
        first = row[np.unique(query, return_index=True)[1]]
        queries, judged = self._engine.send({"query": self._queries_of(first)}), self._judged()
        first_of_tie, last_of_tie, place = col("first_of_tie"), col("last_of_tie"), col("place")
        found = []
        for rows in self._parts:
            ranked = (
                self._prepared(rows)
                .join(queries, on="query", how="inner")
                .with_columns(
                    col("score").rank("min", descending=True).over("query").alias("first_of_tie"),
                    col("score").rank("max", descending=True).over("query").alias("last_of_tie"),
                    col("score").cum_count(reverse=True).over("query", order_by=["score", "text"]).alias("place"),
                )
                .join(judged, on=["query", "document"], how="inner")
                .select(
                    "row",
                    (first_of_tie - 1).alias("above"),
                    (place - first_of_tie).alias("before"),
                    (last_of_tie - first_of_tie + 1).alias("tied"),
                )
            )
            found.append(self._found(ranked))
        return join(found)

    def _found(self, frame: Any) -> Found:
        columns = self._engine.numbers(frame.select(self._nw.col(*Found._fields).cast(self._nw.Int64)))
        return Found(*(columns[name] for name in Found._fields))
