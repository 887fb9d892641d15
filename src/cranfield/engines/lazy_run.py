"""Judged ranks of a run in an engine: from its stream (`streamed`), or by expressions, the same in every engine.

Expressions over narwhals never sort the run as a whole, and it never leaves its engine. They read it:
1. by query: how many documents, and whether a row is unusable; by query and document: whether one appears twice;
2. the run joined with the judgments: the scores of the judged documents that were retrieved;
3. for each of those, how many documents of its query are above it.
Only judged documents and counts come back. An expensive frame is best cached, since that reads it four or five times;
Spark twice, which takes the first two together.

The third expression has two forms. *Counting* joins the run with the judged documents of the query and counts, which
takes (documents retrieved × judged ones) comparisons. A query with more than `MANY` judged documents retrieved is
*ranked* by a window instead, so that heavily judged queries do not square the work.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from cranfield.engines.engine_rows import EngineRows
from cranfield.engines.measuring import Totals
from cranfield.engines.protocol import Engine, library
from cranfield.engines.registry import engine_of
from cranfield.engines.sources import Lazy
from cranfield.engines.streamed import ROWS, scan_stream
from cranfield.errors import InputError
from cranfield.io.text import Scattered
from cranfield.native import native
from cranfield.ranks.columns import Flags, Integers, Numbers
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.overlap import SHOWN, few_queries, lacks_most, no_common_document, no_common_query, refused
from cranfield.ranks.policy import Policy
from cranfield.ranks.scan.counting import NOTHING, Places, Scanned, join

MANY = 8  # up to this many judged documents of a query are counted; for more, sorting it once is faster
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,18}")


def collected(frame: Any, source: str) -> Any:
    engine = engine_of(frame, source)
    return engine.guarded(engine.wrapped(engine.native).collect).to_native()


@dataclass(frozen=True)
class LazyRun:
    """A run in an engine, judgments in memory, and the way from there to the ranks of the judged documents."""

    run: EngineRows
    judgments: Judgments

    @classmethod
    def of(cls, run: Lazy, judgments: Judgments, policy: Policy) -> LazyRun:
        return cls(EngineRows(run.frame, run.name, policy), judgments)

    @property
    def _engine(self) -> Engine:
        return self.run.engine

    @property
    def place(self) -> str:
        return self.run.source

    def queries(self, n: int) -> list[str]:
        return self.run.some("query", n)

    def documents(self, query: str, n: int) -> list[str]:
        _, ids = self._keys([query], "query")
        return self.run.some("document", n, self._engine.send({"query": ids}))

    @cached_property
    def scanned(self) -> Scanned:
        streamed = self._streamed()
        if streamed is not None:
            return streamed
        retrieved, extra = self.sizes
        row, score = self.hits
        heavy = self.heavy
        places = [self._counted(row[~heavy], score[~heavy]), self._ranked(row[heavy])]
        return Scanned(retrieved, extra, join(places))

    def _streamed(self) -> Scanned | None:
        """What one pass over the rows finds, as they come or by query; None where that cannot be."""
        for by_query in (False, True) if native is not None else ():
            pieces = self.run.stream(ROWS, by_query=by_query)
            if pieces is None:
                break
            with suppress(Scattered):
                return scan_stream(pieces, self.judgments)
        return None

    @cached_property
    def _surveyed(self) -> Any | None:
        """What the first two passes find, from an engine that makes them at once; not where documents are merged."""
        return None if self.run.keeps_best else self._engine.surveyed(self.run.flagged, self._numbered, self._judged)

    # 1. Sizes of the rankings, and whether every row can be used.

    @cached_property
    def sizes(self) -> tuple[Integers, int]:
        """Documents by judged query, -1 if the run lacks it, and how many queries of the run are not judged."""
        nw, col = self.run.nw, self.run.nw.col
        repeated = True
        if self._surveyed is not None:
            wanted = ("number", "queries", "unusable", "documents", "repeated")
            result = {name: self._surveyed[name].to_numpy() for name in wanted}
            repeated = bool(result["repeated"].any())
        else:
            numbered = self.run.by_query.join(self._numbered, on="query", how="left")
            result = self._engine.numbers(
                numbered.with_columns(col("number").fill_null(-1))
                .group_by("number")  # all queries that are not judged come back as one row
                .agg(nw.len().alias("queries"), col("unusable", "documents").sum())
                .select(col("number", "queries", "unusable", "documents").cast(nw.Int64))
            )
        self.run.check(int(result["unusable"].sum()), repeated)
        known = result["number"] >= 0
        retrieved = np.full(len(self.judgments), -1, dtype=np.int64)
        retrieved[result["number"][known]] = result["documents"][known]
        return retrieved, int(result["queries"][~known].sum())

    # 2. The judged documents that were retrieved.

    @cached_property
    def hits(self) -> tuple[Integers, Numbers]:
        """Which rows of the judgments were retrieved, and with what score."""
        if self._surveyed is not None:
            pairs = self._surveyed["hits"].combine_chunks().flatten()
            row, value = (pairs.field(name).to_numpy(zero_copy_only=False) for name in ("row", "value"))
            return row.astype(np.int64), value.astype(np.float64)
        hits = self._engine.numbers(
            self.run.rows.join(self._judged, on=["query", "document"], how="inner").select("row", "value")
        )
        return hits["row"].astype(np.int64), hits["value"].astype(np.float64)

    @cached_property
    def heavy(self) -> Flags:
        query = self.judgments.query[self.hits[0]]
        return np.bincount(query, minlength=len(self.judgments))[query] > MANY

    # 3. The documents above them.

    def _counted(self, row: Integers, score: Numbers) -> Places:
        if not len(row):
            return NOTHING
        texts = [self.judgments.document_ids[at] for at in row.tolist()]
        hits = self._engine.send(
            {"query": self._queries_of(row), "row": row, "hit": score, "hit_text": self._engine.text(texts)}
        )
        return self._found(counted(self.run.rows, hits, ["row"]))

    def _ranked(self, row: Integers) -> Places:
        if not len(row):
            return NOTHING
        query = self.judgments.query[row]
        first = row[np.unique(query, return_index=True)[1]]
        queries, judged = self._engine.send({"query": self._queries_of(first)}), self._judged
        parts = (ranked(self.run.prepared(rows), queries) for rows in self.run.parts)
        return join([self._found(part.join(judged, on=["query", "document"], how="inner")) for part in parts])

    def _found(self, frame: Any) -> Places:
        columns = self._engine.numbers(frame.select(self.run.nw.col(*Places._fields).cast(self.run.nw.Int64)))
        return Places(*(columns[name] for name in Places._fields))

    # The judgments, as the engine knows them.

    @cached_property
    def _numbered(self) -> Any:
        number, ids = self._keys(self.judgments.query_ids, "query")
        return self._engine.send({"query": ids, "number": number})

    @cached_property
    def _judged(self) -> Any:
        row, documents = self._keys(self.judgments.document_ids, "document")
        kept, _ = self._keys(self.judgments.query_ids, "query")
        known = np.isin(self.judgments.query[row], kept)
        row = row[known]
        columns = {"query": self._queries_of(row), "document": documents.filter(known), "row": row}
        return self._engine.send(columns)

    def _queries_of(self, row: Integers) -> Any:
        kept, ids = self._keys(self.judgments.query_ids, "query")
        return ids.take(np.searchsorted(kept, self.judgments.query[row]))

    def _keys(self, ids: Sequence[str], what: str) -> tuple[Integers, Any]:
        """Ids of the judgments as the run has them, and which ones: '007' is not a whole number of the run."""
        if not self.run.whole[what]:
            return np.arange(len(ids)), self._engine.text(ids)
        arrow = library("pyarrow")
        kept = [at for at, text in enumerate(ids) if _WHOLE.fullmatch(text) and -(2**63) <= int(text) < 2**63]
        return np.array(kept, dtype=np.int64), arrow.array([int(ids[at]) for at in kept], arrow.int64())


def counted(run: Any, hits: Any, by: list[str]) -> Any:
    """The counts above each hit: its query, score (hit), id (hit_text), and the columns `by` that identify it."""
    nw = library("narwhals")
    score, hit = nw.col("value"), nw.col("hit")
    reached = run.join(hits, on="query", how="inner").filter(score >= hit)
    return reached.group_by(*by).agg(
        (score > hit).cast(nw.Int64).sum().alias("above"),
        ((score == hit) & (nw.col("text") > nw.col("hit_text"))).cast(nw.Int64).sum().alias("before"),
        (score == hit).cast(nw.Int64).sum().alias("tied"),
    )


def ranked(run: Any, queries: Any) -> Any:
    nw = library("narwhals")
    score, first_of_tie, last_of_tie = nw.col("value"), nw.col("first_of_tie"), nw.col("last_of_tie")
    return (
        run.join(queries, on="query", how="semi")
        .with_columns(
            score.rank("min", descending=True).over("query").alias("first_of_tie"),
            score.rank("max", descending=True).over("query").alias("last_of_tie"),
            score.cum_count(reverse=True).over("query", order_by=["value", "text"]).alias("place"),
        )
        .select(
            "query",
            "document",
            (first_of_tie - 1).cast(nw.Int64).alias("above"),
            (nw.col("place") - first_of_tie).cast(nw.Int64).alias("before"),
            (last_of_tie - first_of_tie + 1).cast(nw.Int64).alias("tied"),
        )
    )


@dataclass(frozen=True)
class JudgedRows:
    """The judged rows of a run whose judgments are also in its engine: the two are joined there."""

    run: EngineRows
    judgments: EngineRows
    folder: str
    kept: list[Any] = field(default_factory=list)

    @property
    def _engine(self) -> Engine:
        return self.run.engine

    @cached_property
    def sizes(self) -> Any:
        return self._keep(self.run.by_query, "sizes")

    def check(self) -> int:
        """Refuse what cannot be evaluated; returns how many queries of the run are not judged."""
        nw, col = self.run.nw, self.run.nw.col
        judged = self.judgments.by_query.with_columns(unjudged=nw.lit(0))
        sizes = self.sizes.join(judged.select("query", "unjudged"), on="query", how="left")
        extra = 0
        for rows, by_query in ((self.judgments, judged), (self.run, sizes.with_columns(col("unjudged").fill_null(1)))):
            unusable, queries, extra = self._engine.rows(
                by_query.select(col("unusable").sum().alias("n"), nw.len().alias("q"), col("unjudged").sum())
            )[0]
            rows.check(int(unusable or 0))
            if not queries:
                what = "judgment" if rows.role == "qrels" else "ranking"
                raise InputError(rows.source, f"it contains no {what}s.")
        return int(extra)

    @cached_property
    def table(self) -> Any:
        """Every judgment: query, document, grade, the counts above it if it was retrieved, and its query's size."""
        nw, col = self.run.nw, self.run.nw.col
        judged = self.judgments.rows.select("query", "document", col("value").alias("grade"))
        pairs = judged.select("query", "document")
        hits = self._keep(self.run.rows.join(pairs, on=["query", "document"], how="semi"), "hits")
        by_query = hits.group_by("query").agg(nw.len().alias("hits"))
        heavy = self._keep(by_query.filter(col("hits") > MANY).select("query"), "heavy")
        light = hits.join(heavy, on="query", how="anti").select(
            "query", col("document").alias("hit_document"), col("value").alias("hit"), col("text").alias("hit_text")
        )
        places = [
            counted(self.run.rows, light, ["query", "hit_document"]).select(
                "query", col("hit_document").alias("document"), col("above", "before", "tied").cast(nw.Int64)
            )
        ]
        if self._engine.rows(heavy.head(1)):
            for number, part in enumerate(self.run.parts):
                ranks = ranked(self.run.prepared(part), heavy).join(pairs, on=["query", "document"], how="semi")
                places.append(self._keep(ranks, f"ranked-{number}"))
        sizes = self.sizes.select("query", col("documents").cast(nw.Int64).alias("retrieved"))
        return judged.join(nw.concat(places), on=["query", "document"], how="left").join(sizes, on="query", how="left")

    def overlap(self, totals: Totals, least: int, refuse: bool) -> tuple[str, ...]:
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
        self._engine.release(self.kept, self.folder)
