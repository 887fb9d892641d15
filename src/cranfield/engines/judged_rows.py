"""The judged rows of a run whose judgments are also in its engine: the two are joined there."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from cranfield.engines import lazy_run
from cranfield.engines.engine_rows import EngineRows
from cranfield.engines.measuring import Totals
from cranfield.engines.protocol import Engine
from cranfield.errors import InputError
from cranfield.ranks.overlap import SHOWN, few_queries, lacks_most, no_common_document, no_common_query, refused


@dataclass(frozen=True)
class JudgedRows:
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
        heavy = self._keep(by_query.filter(col("hits") > lazy_run.MANY).select("query"), "heavy")
        light = hits.join(heavy, on="query", how="anti").select(
            "query", col("document").alias("hit_document"), col("value").alias("hit"), col("text").alias("hit_text")
        )
        places = [
            lazy_run.counted(self.run.rows, light, ["query", "hit_document"]).select(
                "query", col("hit_document").alias("document"), col("above", "before", "tied").cast(nw.Int64)
            )
        ]
        if self._engine.rows(heavy.head(1)):
            for number, part in enumerate(self.run.parts):
                ranks = lazy_run.ranked(self.run.prepared(part), heavy).join(
                    pairs, on=["query", "document"], how="semi"
                )
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
