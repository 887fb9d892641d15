"""A run or judgments in an engine, as frames whose columns have the same names and types in every engine."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from cranfield.engines.protocol import Engine, library
from cranfield.engines.registry import engine_of
from cranfield.errors import DuplicateError, InputError, PolicyError, any_of, given
from cranfield.io.column_names import Role, needed_columns
from cranfield.ranks.policy import Policy, settings_of
from cranfield.ranks.reading_judgments import duplicate_message

EXAMPLES = 3
_NEED_ORDER = {"ties": ("file",), "duplicates": ("first", "last")}  # policies that depend on the order of the rows


@dataclass(frozen=True)
class EngineRows:
    """A run or judgments in an engine.

    The columns of its frames are query, document, value (score or grade), and text: the document id in a form that
    compares by bytes. Ids that are whole numbers stay numbers, unless they must compare with others as text.
    """

    native: Any
    source: str
    policy: Policy
    role: Role = "run"
    as_text: bool = False

    def __post_init__(self) -> None:
        for name, refused in _NEED_ORDER.items():
            value = getattr(self.policy, name)
            if value in refused:
                others = (choice for choice in settings_of()[name].choices if choice not in refused)
                fact = "cannot be used here: the rows of a lazy frame have no order."
                raise PolicyError(fact, parameter=name, value=value, hint=f"use {given(name, *others, policy=True)}")

    @cached_property
    def nw(self) -> Any:
        return library("narwhals")

    @cached_property
    def _frame(self) -> Any:
        return self.nw.from_native(self.native)

    @cached_property
    def engine(self) -> Engine:
        return engine_of(self.native, self.source)

    @cached_property
    def _columns(self) -> tuple[str, str, str, bool]:
        names = list(self._schema)
        places = needed_columns(names, self.role, self.source)
        return names[places.query], names[places.document], names[places.value], places.ranks

    @property
    def ranks(self) -> bool:
        """Whether the values are negated ranks, because there are no scores."""
        return self._columns[3]

    @property
    def _drops_same_id(self) -> bool:
        return self.role == "run" and self.policy.same_id == "drop"

    @property
    def keeps_best(self) -> bool:
        return self.role == "run" and self.policy.duplicates == "best"

    @cached_property
    def _schema(self) -> Any:
        return self.engine.guarded(self._frame.collect_schema)

    @cached_property
    def whole(self) -> dict[str, bool]:
        """Whether the ids of queries and documents are whole numbers, which stay numbers if that is exact."""
        nw = self.nw
        whole = {}
        for what, name in zip(("query", "document"), self._columns):
            kind = self._schema[name]
            whole[what] = kind.is_integer() and kind not in (nw.UInt64, nw.Int128, nw.UInt128)
            if not (kind.is_integer() or kind in (nw.String, nw.Categorical, nw.Enum)):
                fact = f"column '{name}' contains {kind}, not ids."
                raise InputError(self.source, fact, hint="convert the ids to strings")
        if self.as_text or (self.policy.same_id == "drop" and whole["query"] != whole["document"]):
            return {"query": False, "document": False}  # they are compared with each other
        return whole

    def standard(self, frame: Any) -> Any:
        """Columns with standard names and types, whatever the run calls them; an empty id is null."""
        nw, col = self.nw, self.nw.col
        query, document, value, _ = self._columns
        number = self._number
        zero = nw.when(number == 0).then(nw.lit(0.0)).otherwise(number)  # -0.0 equals 0.0, for engines that group bytes
        frame = self.engine.with_text(
            frame.select(query, document, value), {"query": query, "document": document, "text": document}
        )
        ids = [
            col(name).cast(nw.Int64).alias(what) if self.whole[what] else col(f"{what}_as_text").alias(what)
            for what, name in (("query", query), ("document", document))
        ]
        return frame.select(*ids, zero.alias("value"), col("text_as_text").alias("text"))

    @property
    def _number(self) -> Any:
        value = self._columns[2]
        kind = self._schema[value]
        if not kind.is_numeric():
            fact = f"column '{value}' contains {kind}, not numbers."
            raise InputError(self.source, fact, hint="convert it to a number column")
        number = self.nw.col(value).cast(self.nw.Float64)
        return -number if self.ranks else number

    def stream(self, rows: int, *, by_query: bool = False) -> Generator[Any] | None:
        """Pieces of about so many rows, with the ids as they are; None where the engine or the policy has none.

        by_query: sorted, so that the rows of a query follow each other; None if the engine would do that in memory
        """
        if self._drops_same_id or (by_query and not self.engine.sorts_on_disk):
            return None
        query, document, *_ = self._columns
        ids = (self.nw.col(name).alias(what) for what, name in zip(self.whole, (query, document)))
        frame = self._frame.select(*ids, self._number.alias("value"))
        frame = frame.sort("query") if by_query else frame
        pieces = self.engine.guarded(lambda: self.engine.stream(frame.to_native(), rows))
        return None if pieces is None else self._each(pieces)

    def _each(self, pieces: Generator[Any]) -> Generator[Any]:
        with closing(pieces):
            while (piece := self.engine.guarded(partial(next, pieces, None))) is not None:
                yield self.engine.wrapped(piece)

    @cached_property
    def _all(self) -> Any:
        return self.standard(self._frame)

    @cached_property
    def parts(self) -> list[Any]:
        """The run in pieces of whole queries: one, unless the engine would have to keep too much in memory."""
        # A piece is a range of query ids: in a file ordered by query, as most are, the engine skips the rest.
        nw, frame, query = self.nw, self._frame, self._columns[0]
        its = nw.col(query)
        ordered = self._schema[query].is_integer() or self._schema[query] == nw.String
        most = self.engine.rows_at_once
        if most is None or not ordered or self.engine.rows(frame.select(nw.len()))[0][0] <= most:
            return [self._all]
        sizes = frame.filter(~its.is_null()).group_by(query).agg(nw.len().alias("rows"))
        so_far = nw.col("rows").cum_sum().over(order_by=query)
        ranges = sizes.with_columns(((so_far - 1) // most).alias("part")).group_by("part")
        ends = self.engine.rows(ranges.agg(its.min().alias("first"), its.max().alias("last")).sort("part"))
        return [self.standard(frame.filter((its >= first) & (its <= last))) for _, first, last in ends]

    def prepared(self, rows: Any) -> Any:
        col = self.nw.col
        if self._drops_same_id:
            rows = rows.filter(col("query") != col("document"))
        if self.keeps_best:
            rows = rows.group_by("query", "document", "text").agg(col("value").max())
        return rows

    @cached_property
    def rows(self) -> Any:
        return self.prepared(self._all)

    def some(self, what: str, n: int, queries: Any = None) -> list[str]:
        """A few different ids, for errors: of "query" or "document", of all rows or of those of some queries."""
        rows = self.rows if queries is None else self.rows.join(queries, on="query", how="semi")
        distinct = rows.group_by(what).agg(self.nw.len().alias("rows")).sort(what).head(n)
        return [str(row[0]) for row in self.engine.rows(distinct.select(what))]

    # Whether every row can be used.

    @property
    def _unusable(self) -> Any:
        col = self.nw.col
        missing = col("query").is_null() | col("document").is_null() | col("value").is_null()
        return (missing | ~col("value").is_finite()).fill_null(True)

    @cached_property
    def flagged(self) -> Any:
        """All rows: `unusable` and `documents` are 1 where one is unusable, and where it counts as a document."""
        nw, col = self.nw, self.nw.col
        kept = col("query") != col("document") if self._drops_same_id else nw.lit(True)
        return self._all.with_columns(
            self._unusable.cast(nw.Int64).alias("unusable"), kept.fill_null(False).cast(nw.Int64).alias("documents")
        )

    @cached_property
    def by_query(self) -> Any:
        """The queries: how many documents each has, and how many unusable rows."""
        col, rows = self.nw.col, self.flagged
        if self.keeps_best:
            rows = rows.group_by("query", "document").agg(col("unusable").sum(), col("documents").max())
        return rows.group_by("query").agg(col("unusable", "documents").sum())

    def check(self, unusable: int, repeated: bool = True) -> None:
        """Refuse this many unusable rows, and documents that appear twice for a query, which may be known not to be."""
        if unusable:
            raise self._error_of_unusable(unusable)
        if repeated and not self.keeps_best:
            for part in self.parts:
                self._refuse_duplicates(part)

    def _error_of_unusable(self, count: int) -> InputError:
        rows = self._all.filter(self._unusable).select("query", "document", "value").head(EXAMPLES)
        examples = []
        for query, document, value in self.engine.rows(rows):
            value = -value if self.ranks and value is not None else value
            if query is None or document is None:
                what = "the query id" if query is None else "the document id"
                fact = f"{what} is missing or empty"
            elif value is None:
                fact = f"the {'score' if self.role == 'run' else 'grade'} is missing"
            else:
                fact = f"{value} is not a finite number"
            shown = ["" if part is None else part for part in (query, document)]
            examples.append("query '{}', document '{}': {}".format(*shown, fact))
        fact = f"{count:,} row{'s' * (count != 1)} cannot be used: {'; '.join(sorted(examples))}."
        return InputError(self.source, fact)

    def _refuse_duplicates(self, rows: Any) -> None:
        nw, col = self.nw, self.nw.col
        rows = self.prepared(rows).select("query", "document", "value")
        keyed = self.engine.with_key(rows)
        if keyed is not None:
            shared = self.engine.guarded(lambda: self.engine.shared(keyed))
            if shared is None:
                return
            rows = keyed.join(shared, on="key", how="semi")  # two documents may share a key, hence a closer look
        counts = rows.group_by("query", "document").agg(
            nw.len().alias("rows"), col("value").min().alias("least"), col("value").max().alias("most")
        )
        examples = self.engine.rows(counts.filter(col("rows") > 1).sort("query", "document").head(EXAMPLES))
        if not examples:
            return
        (query, document, count, least, most), *others = examples
        if self.role == "qrels":
            raise DuplicateError(self.source, duplicate_message(query, document, least, most))
        times = "twice" if count == 2 else f"{count} times"
        also = "".join(f"; also '{other}' of query '{its}'" for its, other, *_ in others)
        fact = f"document '{document}' appears {times} in the ranking of query '{query}'{also}."
        hint = any_of("keep one", f"choose the highest score with {given('duplicates', 'best', policy=True)}")
        raise DuplicateError(self.source, fact, hint=hint)
