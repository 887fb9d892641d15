"""Facts about a query beside its value, and the words that explain the value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from cranfield.drawing import as_html
from cranfield.measures.scope import Scope
from cranfield.ranks.columns import Flags, Integers, Numbers
from cranfield.ranks.tables.ranks import JudgedRanks
from cranfield.words import count


class QueryFacts(NamedTuple):
    """A query, its value, and what the measure looked at: counts are by the measure's own rel and cutoff."""

    query_id: str
    value: float
    relevant: int
    found: int  # of them, down to the cutoff
    first: int | None  # the rank of the first of those
    retrieved: int  # documents in the ranking
    unjudged: int  # of the documents down to the cutoff; 0 for a measure that leaves them out
    deeper: int  # relevant documents that were retrieved, but below the cutoff
    cutoff: int | None  # None: the measure looks at the whole ranking
    rel: float | None  # None: documents with a positive gain are relevant
    judged_only: bool  # ranks are those among the judged documents
    answerable: bool = True  # without an answer, right is to return nothing

    def __repr__(self) -> str:
        return f"<query {self.query_id}: {self.value:.4f}; {self.reason}>"

    @property
    def reason(self) -> str:
        """What went wrong, in words."""
        if not self.answerable:
            returned = f"{self.retrieved:,} returned" if self.retrieved else "nothing returned"
            return f"{returned}, and it has no answer"
        if self.relevant and not self.retrieved:
            return f"nothing retrieved, {self.relevant} relevant"
        unjudged = self._unjudged if self.relevant else self.unjudged_text
        return f"{self._found}; {unjudged}" if self.unjudged else self._found

    @property
    def unjudged_text(self) -> str:
        """How many documents are not judged, and where."""
        if self.cutoff is None:
            return f"{self.unjudged} of {self.retrieved} retrieved unjudged"
        return f"{self.unjudged} unjudged in the top {self.cutoff}"

    @property
    def _unjudged(self) -> str:
        if self.cutoff == 1:
            return "its document is unjudged"
        of = f"the {self.cutoff}" if self.cutoff and self.cutoff <= self.retrieved else f"{self.retrieved} retrieved"
        return f"{self.unjudged} of {of} unjudged"

    @property
    def found_text(self) -> str:
        """How many relevant documents were found, and where."""
        where = "retrieved" if self.cutoff is None else f"in the top {self.cutoff}"
        return f"{self.found} of {self.relevant} relevant {where}"

    @property
    def _found(self) -> str:
        if not self.relevant:
            usual = self.rel is None or self.rel == 1
            return "no relevant document is judged" if usual else f"no judged document has grade {self.rel:g} or higher"
        if self.found:
            only = ", counting judged documents only" if self.judged_only else ""
            return f"{self.found_text}, the first at rank {self.first}{only}"
        if self.cutoff is None:
            return f"none of {self.relevant} relevant among {self.retrieved} retrieved"
        deeper = f", {self.deeper} further down" if self.deeper else ""
        return f"none of {self.relevant} relevant in the top {self.cutoff}{deeper}"


class QueryList(list[QueryFacts]):
    """Queries in an order, such as the worst first, with their values of a measure; notebooks show them as a table."""

    def __init__(self, queries: Iterable[QueryFacts] = (), measure: str = "value") -> None:
        super().__init__(queries)
        self.measure = measure

    def __repr__(self) -> str:
        return "\n".join(map(repr, self)) or "<no query>"

    def _repr_html_(self) -> str:
        return as_html("queries", self)


@dataclass(frozen=True, slots=True, repr=False)
class FactColumns:
    """The facts of all queries for the measures of one scope; `first` is 0 and `cutoff` -1 where there is none."""

    relevant: Integers
    found: Integers
    first: Integers
    retrieved: Integers
    unjudged: Integers
    deeper: Integers
    cutoff: Integers

    def __repr__(self) -> str:
        return f"<FactColumns of {count(len(self.relevant), 'query', 'queries')}>"

    @classmethod
    def of(cls, judged: JudgedRanks, scope: Scope, kept: Flags) -> FactColumns:
        """Count what measures of this scope look at, for the queries that are kept."""
        depth = scope.depth(judged)
        # Where judgments are complete, no document is left out, and none is unjudged.
        table = judged.condensed if scope.judged_only and not judged.complete else judged
        within = np.ones(len(table.rank), dtype=np.bool_) if depth is None else table.rank <= depth[table.query]
        relevant = scope.relevant(table.grade)
        hit = relevant & within
        seen = table.retrieved if depth is None else np.minimum(table.retrieved, depth)
        counts = (
            scope.n_relevant(judged),
            table.sum(hit),
            table.sum(np.where(hit & (table.running(hit) == 1), table.rank, 0)),
            judged.retrieved,
            np.zeros(len(judged)) if judged.complete else seen - table.sum(table.judged & within),
            table.sum(relevant & ~within),
            np.full(len(judged), -1) if depth is None else depth,
        )
        return cls(*(column[kept].astype(np.int64) for column in counts))

    def query(self, at: int, query_id: str, value: float, scope: Scope) -> QueryFacts:
        """The facts of one query."""
        return query_facts([int(column[at]) for column in _columns(self)], scope, query_id, value)

    def judged_share(self) -> float | None:
        """The share of the documents down to the cutoff that is judged, averaged over the queries that have any."""
        seen = np.where(self.cutoff >= 0, np.minimum(self.cutoff, self.retrieved), self.retrieved)
        share: Numbers = 1 - self.unjudged[seen > 0] / seen[seen > 0]
        return float(share.mean()) if len(share) else None


def _columns(facts: FactColumns) -> list[Integers]:
    return [getattr(facts, column.name) for column in fields(facts)]


def fact_rows(facts: FactColumns) -> list[tuple[int, ...]]:
    """The facts of each query as plain numbers; queries with the same numbers have the same reason."""
    return list(zip(*(column.tolist() for column in _columns(facts)), strict=True))


def query_facts(row: Sequence[int], scope: Scope, query_id: str = "", value: float = 0.0) -> QueryFacts:
    """The facts of a query, given as in a row of the columns."""
    relevant, found, first, retrieved, unjudged, deeper, cutoff = row
    return QueryFacts(
        query_id=query_id,
        value=value,
        relevant=relevant,
        found=found,
        first=first or None,
        retrieved=retrieved,
        unjudged=unjudged,
        deeper=deeper,
        cutoff=None if cutoff < 0 else cutoff,
        rel=scope.rel,
        judged_only=scope.judged_only,
    )
