"""The run and the judgments as frames of an engine, with columns of one name and one type in all of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from cranfield.engines.backends import Engine
from cranfield.errors import InputError, PolicyError, need
from cranfield.judge.judgments import Integers, Judgments
from cranfield.judge.policy import Policy
from cranfield.read.names import find_columns, wanted

PART = 10_000_000  # rows that an engine on this machine groups at once
_TIES = "ties may be 'doc_id', 'smaller_doc_id', 'best' or 'worst'"
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,18}")


@dataclass(frozen=True)
class EngineFrames:
    """A run in an engine, and the judgments that it meets there.

    The columns of the run are query, document, score, and text: the document id in a form that compares by bytes.
    """

    native: Any
    judgments: Judgments
    policy: Policy
    source: str

    def __post_init__(self) -> None:
        if self.policy.ties == "file":
            raise PolicyError("ties='file' has no meaning here: the rows of a lazy frame have no order.", hint=_TIES)
        if self.policy.duplicates in ("first", "last"):
            raise PolicyError(
                f"duplicates='{self.policy.duplicates}' has no meaning here: the rows of a lazy frame have no order.",
                hint="duplicates may be 'error' or 'best'",
            )

    @cached_property
    def _nw(self) -> Any:
        return need("narwhals", extra="frames", purpose="evaluating a lazy frame")

    @cached_property
    def _frame(self) -> Any:
        return self._nw.from_native(self.native)

    @cached_property
    def _engine(self) -> Engine:
        return Engine.of(self._frame, self.source)

    @cached_property
    def _columns(self) -> tuple[str, str, str, bool]:
        names = list(self._schema)
        found = find_columns(names, "run")
        if found is None:
            raise InputError(self.source, f"its columns are {', '.join(names)}.", hint=wanted("run"))
        return names[found.query], names[found.document], names[found.value], found.ranks

    @property
    def _ranks(self) -> bool:
        return self._columns[3]

    @cached_property
    def _schema(self) -> Any:
        return self._engine.guarded(self._frame.collect_schema)

    @cached_property
    def _whole(self) -> dict[str, bool]:
        """Whether the ids of queries and documents are whole numbers, which stay numbers where that is exact."""
        nw = self._nw
        whole = {}
        for what, name in zip(("query", "document"), self._columns):
            kind = self._schema[name]
            whole[what] = kind.is_integer() and kind not in (nw.UInt64, nw.Int128, nw.UInt128)
            if not (kind.is_integer() or kind in (nw.String, nw.Categorical, nw.Enum)):
                raise InputError(
                    self.source, f"column '{name}' holds {kind}, not ids.", hint="convert the ids to strings"
                )
        if self.policy.same_id == "drop" and whole["query"] != whole["document"]:
            return {"query": False, "document": False}  # they are compared with each other
        return whole

    def _standard(self, frame: Any) -> Any:
        """Columns of one name and one type, whatever the run calls them; an empty id is null."""
        nw, col = self._nw, self._nw.col
        query, document, value, ranks = self._columns
        kind = self._schema[value]
        if not kind.is_numeric():
            raise InputError(
                self.source, f"column '{value}' holds {kind}, not numbers.", hint="convert it to a number column"
            )
        number = col(value).cast(nw.Float64)
        score = -number if ranks else number
        zero = nw.when(score == 0).then(nw.lit(0.0)).otherwise(score)  # -0.0 equals 0.0, for engines that group bytes
        frame = self._engine.with_text(
            frame.select(query, document, value), {"query": query, "document": document, "text": document}
        )
        ids = [
            col(name).cast(nw.Int64).alias(what) if self._whole[what] else col(f"{what}_as_text").alias(what)
            for what, name in (("query", query), ("document", document))
        ]
        return frame.select(*ids, zero.alias("score"), col("text_as_text").alias("text"))

    @cached_property
    def _parts(self) -> list[Any]:
        """The run in pieces that hold whole queries: one, unless the engine would have to keep too much in memory.

        A piece is a range of query ids, so that where rows stand in the order of queries, as in most files, the engine
        skips the rest of the file.
        """
        nw, frame, query = self._nw, self._frame, self._columns[0]
        its = nw.col(query)
        ordered = self._schema[query].is_integer() or self._schema[query] == nw.String
        if not (self._engine.is_local and ordered) or self._engine.rows(frame.select(nw.len()))[0][0] <= PART:
            return [self._standard(frame)]
        sizes = frame.filter(~its.is_null()).group_by(query).agg(nw.len().alias("rows"))
        so_far = nw.col("rows").cum_sum().over(order_by=query)
        ranges = sizes.with_columns(((so_far - 1) // PART).alias("part")).group_by("part")
        ends = self._engine.rows(ranges.agg(its.min().alias("first"), its.max().alias("last")).sort("part"))
        return [self._standard(frame.filter((its >= first) & (its <= last))) for _, first, last in ends]

    def _prepared(self, rows: Any) -> Any:
        """Rows as the policy wants them."""
        col = self._nw.col
        if self.policy.same_id == "drop":
            rows = rows.filter(col("query") != col("document"))
        if self.policy.duplicates == "best":
            rows = rows.group_by("query", "document", "text").agg(col("score").max())
        return rows

    @cached_property
    def _run(self) -> Any:
        return self._prepared(self._standard(self._frame))

    def _judged(self) -> Any:
        """The judged documents: query, document, and which row of the judgments that is."""
        row, documents = self._keys(self.judgments.document_ids, "document")
        kept, _ = self._keys(self.judgments.query_ids, "query")
        known = np.isin(self.judgments.query[row], kept)
        row = row[known]
        columns = {"query": self._queries_of(row), "document": documents.filter(known), "row": row}
        return self._engine.send(columns)

    def _queries_of(self, row: Integers) -> Any:
        """The query ids of rows of the judgments, as the run has them."""
        kept, ids = self._keys(self.judgments.query_ids, "query")
        return ids.take(np.searchsorted(kept, self.judgments.query[row]))

    def _keys(self, ids: Sequence[str], what: str) -> tuple[Integers, Any]:
        """Ids of the judgments as the run has them, and which ones: '007' is no whole number of the run."""
        if not self._whole[what]:
            return np.arange(len(ids)), self._engine.text(ids)
        arrow = need("pyarrow", extra="frames", purpose="evaluating a lazy frame")
        kept = [at for at, text in enumerate(ids) if _WHOLE.fullmatch(text) and -(2**63) <= int(text) < 2**63]
        return np.array(kept, dtype=np.int64), arrow.array([int(ids[at]) for at in kept], arrow.int64())
