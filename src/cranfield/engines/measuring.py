"""From judged rows to values, batch by batch: this runs inside an engine, on each of its machines.

Rows arrive sorted by query and document. Batches are cut between queries, and every batch goes through the same table
and the same measure functions as an evaluation in memory, so that every value is the same to the last bit.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from cranfield.engines.protocol import library
from cranfield.measures import Measure
from cranfield.measures.aggregates import not_finite
from cranfield.measures.lookup import comes_with_us
from cranfield.measures.registry import Aggregate, CarriedMeasure
from cranfield.measures.scope import without_relevant
from cranfield.ranks.columns import Numbers, offsets
from cranfield.ranks.policy import Policy
from cranfield.ranks.ranking import GradeColumns, rank_counted
from cranfield.ranks.scan.counting import Places, Scanned
from cranfield.ranks.tables.ranks import JudgedRanks

ROWS = 200_000  # judged rows measured at once; more only if one query has more
# The facts about each query besides its values.
FACTS = ("retrieved", "missing", "no_relevant", "no_relevant_for_all", "found", "tied", "qrels_digest", "ranks_digest")
PER_QUERY = {"run": "string", "query_id": "string", "measure": "string", "value": "double"}
UNIT = 1200  # sums are whole multiples of 2^-UNIT, as all 64-bit floats are
NAMED = 6  # missing queries that errors name


@dataclass(frozen=True)
class Measuring:
    """The work on one stream of judged rows; it is sent to where they are.

    carried: the measures that do not come with cranfield, which are unpickled before they are named
    """

    carried: tuple[CarriedMeasure, ...]
    run: str
    measures: tuple[Measure, ...]
    policy: Policy

    @classmethod
    def of(cls, run: str, measures: tuple[Measure, ...], policy: Policy) -> Measuring:
        own = {measure.definition.name: measure.definition for measure in measures}
        carried = [CarriedMeasure(known) for known in own.values() if not comes_with_us(known.function)]
        return cls(tuple(carried), run, measures, policy)

    @property
    def columns(self) -> list[str]:
        """The columns of the values: a number in place of a name, since engines read dots and brackets in names."""
        return [f"value_{number}" for number in range(len(self.measures))]

    @property
    def schema(self) -> dict[str, str]:
        facts = {name: "boolean" if name == "missing" else "bigint" for name in FACTS}
        return {"query_id": "string", **facts, **dict.fromkeys(self.columns, "double")}

    def values(self, batches: Iterable[Any]) -> Iterator[Any]:
        arrow = library("pyarrow")
        for rows in _whole_queries(arrow, batches):
            yield from arrow.table(self._measured(rows)).to_batches()

    def per_query(self, batches: Iterable[Any]) -> Iterator[Any]:
        """A row for each value, as in the table `per_query` of an evaluation in memory."""
        arrow = library("pyarrow")
        for batch in batches:
            if self.policy.missing == "skip":
                batch = batch.filter(arrow.compute.invert(batch.column("missing")))
            for name, measure in zip(self.columns, self.measures):
                run, what = (arrow.repeat(text, len(batch)) for text in (self.run, measure.name))
                columns = [run, batch.column("query_id"), what, batch.column(name)]
                yield arrow.record_batch(columns, names=list(PER_QUERY))

    def totals(self, batches: Iterable[Any]) -> Iterator[Any]:
        arrow = library("pyarrow")
        total = Totals.none(len(self.measures))
        for batch in batches:
            total += self.total(batch)
        yield arrow.record_batch({"totals": arrow.array([total.to_json()])})

    def total(self, batch: Any) -> Totals:
        facts = {name: batch.column(name).to_numpy(zero_copy_only=False) for name in FACTS}
        missing = facts["missing"].astype(np.bool_)
        kept = ~missing if self.policy.missing == "skip" else np.ones(len(missing), dtype=np.bool_)
        sums = []
        for name, measure in zip(self.columns, self.measures):
            values = batch.column(name).to_numpy()[kept]
            geometric = measure.definition.aggregate == "geometric"
            sums.append(exact_sum(np.log(np.maximum(values, 0.00001)) if geometric else values))
        query_ids = batch.column("query_id")
        return Totals(
            queries=int(kept.sum()),
            judged=len(missing),
            missing=int(missing.sum()),
            no_relevant=int(facts["no_relevant"][kept].sum()),
            no_relevant_for_all=int(facts["no_relevant_for_all"][kept].sum()),
            found=int(facts["found"].sum()),
            tied=int(facts["tied"].sum()),
            qrels_digest=sum(facts["qrels_digest"].tolist()),
            ranks_digest=sum(facts["ranks_digest"].tolist()),
            lacking=tuple(query_ids[at].as_py() for at in np.flatnonzero(missing)[:NAMED].tolist()),
            sums=tuple(sums),
        )

    def _measured(self, rows: Any) -> dict[str, Any]:
        judged, graded = self._table(rows)
        documents = rows.column("document").to_pylist()
        digests = [
            _digest(query, "\n".join(documents[start:stop]), graded.grades[start:stop])
            for query, start, stop in zip(graded.query_ids, graded.first.tolist(), graded.first[1:].tolist())
        ]
        ranks = [
            _digest(query, str(size), judged.rank[start:stop], judged.grade[start:stop])
            for query, size, start, stop in zip(
                judged.query_ids, judged.retrieved.tolist(), judged.first.tolist(), judged.first[1:].tolist()
            )
        ]
        some, every = without_relevant(self.measures, judged)
        return {
            "query_id": list(judged.query_ids),
            "retrieved": judged.retrieved,
            "missing": judged.missing,
            "no_relevant": some.astype(np.int64),
            "no_relevant_for_all": every.astype(np.int64),
            "found": judged.sum(np.ones(len(judged.rank))).astype(np.int64),
            "tied": judged.sum(judged.tied).astype(np.int64),
            "qrels_digest": np.array(digests, dtype=np.int64),
            "ranks_digest": np.array(ranks, dtype=np.int64),
            **{name: np.asarray(of(judged), dtype=np.float64) for name, of in zip(self.columns, self.measures)},
        }

    def _table(self, rows: Any) -> tuple[JudgedRanks, GradeColumns]:
        queries = rows.column("query").to_pylist()
        starts = [at for at, query in enumerate(queries) if at == 0 or query != queries[at - 1]]
        sizes = np.diff([*starts, len(queries)])
        query = np.repeat(np.arange(len(starts), dtype=np.int64), sizes)
        grades = rows.column("grade").to_numpy()
        graded = GradeColumns(tuple(queries[at] for at in starts), offsets(sizes), query, grades, {})
        columns = {
            name: rows.column(name).cast("int64").fill_null(-1).to_numpy()
            for name in ("above", "before", "tied", "retrieved")
        }
        row = np.flatnonzero(columns["above"] >= 0)
        places = Places(row, *(columns[name][row] for name in Places._fields[1:]))
        return rank_counted(graded, Scanned(columns["retrieved"][starts], 0, places), self.policy), graded


def _whole_queries(arrow: Any, batches: Iterable[Any]) -> Iterator[Any]:
    waiting: list[Any] = []
    for batch in batches:
        waiting.append(batch)
        if sum(map(len, waiting)) < ROWS:
            continue
        table = arrow.Table.from_batches(waiting)
        queries = table.column("query")
        last = arrow.compute.index(queries, queries[-1]).as_py()  # where the query starts that may go on
        if last:
            yield table.slice(0, last)
        waiting = table.slice(last).to_batches()
    if sum(map(len, waiting)):
        yield arrow.Table.from_batches(waiting)


def _digest(query: str, text: str, *columns: Any) -> int:
    """A hash of the facts about a query. Hashes are added up, so that the order of the queries does not matter."""
    digest = hashlib.sha256(f"{query}\n{text}\n".encode())
    for column in columns:
        digest.update(column.tobytes())
    return int.from_bytes(digest.digest()[:8], "little", signed=True)


@dataclass(frozen=True)
class Totals:
    """Sums over queries, exact so that neither their order nor how they are split matters."""

    queries: int  # averaged over
    judged: int
    missing: int
    no_relevant: int
    no_relevant_for_all: int
    found: int
    tied: int
    qrels_digest: int
    ranks_digest: int
    lacking: tuple[str, ...]  # some of the missing queries
    sums: tuple[int, ...]

    @classmethod
    def none(cls, measures: int) -> Totals:
        return cls(0, 0, 0, 0, 0, 0, 0, 0, 0, (), (0,) * measures)

    def __add__(self, other: Totals) -> Totals:
        added = {name: getattr(self, name) + getattr(other, name) for name in self.__dict__}
        added["lacking"] = tuple(sorted(added["lacking"])[:NAMED])
        added["sums"] = tuple(one + two for one, two in zip(self.sums, other.sums, strict=True))
        return Totals(**added)

    def aggregate(self, measure: int, how: Aggregate, *, of: str) -> float:
        """A sum, a mean or a geometric mean: the exact sum, rounded once, then divided by the number of queries."""
        try:
            total: float = self.sums[measure] / 2**UNIT  # Python rounds the quotient of two whole numbers correctly
        except OverflowError:
            raise not_finite(how, of, self.queries) from None
        if how == "sum":
            return total
        if not self.queries:
            return 0.0
        return float(np.exp(total / self.queries)) if how == "geometric" else total / self.queries

    def to_json(self) -> str:
        return json.dumps(self.__dict__, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Totals:
        content = json.loads(text)
        return cls(**{**content, "lacking": tuple(content["lacking"]), "sums": tuple(content["sums"])})


def exact_sum(values: Numbers) -> int:
    """The sum of finite numbers without any rounding, in units of 2 to the power of -UNIT."""
    total = 0
    for start in range(0, len(values), 1 << 24):  # few enough that the sums of halves below stay exact
        mantissa, exponent = np.frexp(values[start : start + (1 << 24)])
        whole = (mantissa * 2.0**53).astype(np.int64)
        high, low = whole >> 27, whole & ((1 << 27) - 1)
        lowest = int(exponent.min())
        highs = np.bincount(exponent - lowest, weights=high)
        lows = np.bincount(exponent - lowest, weights=low)
        for place, (upper, lower) in enumerate(zip(highs.tolist(), lows.tolist(), strict=True)):
            total += ((int(upper) << 27) + int(lower)) << (UNIT + lowest + place - 53)
    return total
