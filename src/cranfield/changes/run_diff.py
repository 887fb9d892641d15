"""RunDiff: what changed between two runs, over all queries and in those that changed most."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cranfield.changes.counting import Counted
from cranfield.changes.listing import ChangedQuery, ListedDocument, WaitingDocument
from cranfield.drawing import as_html
from cranfield.errors import InputError
from cranfield.words import count, percent

if TYPE_CHECKING:
    from cranfield.comparison.differences import Difference
    from cranfield.systems.collection import Collection


class QueryChange(NamedTuple):
    """What changed in a query.

    overlap: the share of the first k documents that both runs have, of the longer list
    rbo: rank-biased overlap, extrapolated
    same_first, same_order: whether the first result is the same, and whether all of the first k are, in their order
    entered, left: how many documents are among the first k of the second run only, and of the first run only
    moved: the mean rank change of the documents that both return, one of them among the first k; None if there is none
    largest: the largest of these changes
    """

    overlap: float
    rbo: float
    same_first: bool
    same_order: bool
    entered: int
    left: int
    moved: float | None
    largest: int


class JudgedShare(NamedTuple):
    """Of the documents that enter or leave, how many are judged, and how many of these are relevant."""

    documents: int
    judged: int
    relevant: int


class JudgedChange(NamedTuple):
    """What of the change is judged.

    entered, left: of the documents that enter the first k, and of those that leave them
    rel: the lowest grade that is relevant
    before, now: the means of the measure; difference: as `compare` tells it, None with a single judged query
    """

    entered: JudgedShare
    left: JudgedShare
    rel: float
    measure: str
    lower_is_better: bool
    before: float
    now: float
    difference: Difference | None

    def __repr__(self) -> str:
        return f"<JudgedChange: {self.measure} {self.before:.4f} → {self.now:.4f}>"


@dataclass(frozen=True, slots=True, eq=False)
class RunDiff:
    """What changed between two runs.

    runs: their names
    k: how many documents of each ranking a user sees; depth: the deepest rank read, None for all
    p: that of rank-biased overlap
    query_ids: the queries of both runs together
    missing: the queries that only the first run has, and those that only the second has; they count as changed
    changed_most: the queries that changed most, with both lists
    judged: with judgments, what of the change is judged; otherwise None
    to_judge: the documents to judge first to know whether the change is an improvement
    between: what else changed, in sentences: settings, and for kept results queries, judgments and documents
    warnings: what is odd about the runs, in sentences

    >>> from cranfield import diff
    >>> changes = diff({"1": ["a", "b"], "2": ["c"]}, {"1": ["a", "b"], "2": ["d", "c"]})
    >>> changes
    <RunDiff: the top 10 changed for 1 of 2 queries (50%); 1 document entered, none left>
    >>> changes.overlap, changes.same_first, changes.changed, changes.by_query["2"].entered
    (0.75, 0.5, 0.5, 1)
    >>> changes.changed_most[0].other[1]
    ListedDocument(doc_id='c', rank=2, other_rank=1, grade=None, title='')
    >>> changes.same(0.5), changes.same(0.2), changes.changed_queries, changes.to_dict()["k"]
    (True, False, 1, 10)
    >>> changes.left, changes.entered, round(changes.rbo, 4), changes.moved, changes.largest
    (0, 1, 0.725, 0.3333333333333333, (1, '2'))
    >>> print(changes.sentence)
    the top 10 changed for 1 of 2 queries (50%); 1 document entered, none left
    """

    runs: tuple[str, str]
    k: int
    depth: int | None
    p: float
    query_ids: tuple[str, ...]
    missing: tuple[tuple[str, ...], tuple[str, ...]]
    changed_most: tuple[ChangedQuery, ...]
    judged: JudgedChange | None = None
    to_judge: tuple[WaitingDocument, ...] = ()
    between: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    _counted: Counted = field(kw_only=True, repr=False)

    def __repr__(self) -> str:
        return f"<RunDiff: {self.sentence}>"

    def __str__(self) -> str:
        return self.sentence

    def _repr_html_(self) -> str:
        return as_html("diff", self)

    @property
    def sentence(self) -> str:
        """What changed, in one sentence."""
        changed, queries = self.changed_queries, count(len(self.query_ids), "query", "queries")
        if not changed:
            return f"the top {self.k} is the same for {queries if len(self.query_ids) == 1 else f'all {queries}'}"
        share = f"{changed:,} of {queries} ({percent(self.changed)})"
        if not self.entered + self.left:
            return f"the top {self.k} changed its order for {share}, and has the same documents"
        left = f"{self.left:,}" if self.left else "none"
        return f"the top {self.k} changed for {share}; {count(self.entered, 'document')} entered, {left} left"

    @property
    def changed_queries(self) -> int:
        """The number of queries whose first k documents are not the same in the same order."""
        return int((~self._counted.same_order).sum())

    @property
    def changed(self) -> float:
        """The share of the queries whose first k documents are not the same in the same order."""
        return self.changed_queries / len(self.query_ids)

    @property
    def overlap(self) -> float:
        """The mean share of the first k documents that both runs have."""
        return math.fsum(self._counted.overlap) / len(self.query_ids)

    @property
    def rbo(self) -> float:
        """The mean rank-biased overlap, extrapolated."""
        return math.fsum(self._counted.rbo) / len(self.query_ids)

    @property
    def same_first(self) -> float:
        """The share of the queries whose first result is the same."""
        return float(self._counted.same_first.mean())

    @property
    def entered(self) -> int:
        """The number of documents that are among the first k of the second run only, over all queries."""
        return self._only(1)

    @property
    def left(self) -> int:
        """The number of documents that are among the first k of the first run only, over all queries."""
        return self._only(0)

    def _only(self, side: int) -> int:
        return int((np.minimum(self._counted.sizes[:, side], self.k) - self._counted.shared).sum())

    @property
    def moved(self) -> float | None:
        """The mean rank change of documents that both runs return, one of them among the first k."""
        near = int(self._counted.near.sum())
        return int(self._counted.moved.sum()) / near if near else None

    @property
    def largest(self) -> tuple[int, str]:
        """The largest rank change, and its query."""
        at = int(self._counted.largest.argmax())
        return int(self._counted.largest[at]), self.query_ids[at]

    @property
    def by_query(self) -> dict[str, QueryChange]:
        """What changed in each query."""
        c, first = self._counted, np.minimum(self._counted.sizes, self.k)
        entered, left = ((first[:, side] - c.shared).tolist() for side in (1, 0))
        moved = [total / near if near else None for total, near in zip(c.moved.tolist(), c.near.tolist(), strict=True)]
        same = c.same_first.tolist(), c.same_order.tolist()
        columns = (c.overlap.tolist(), c.rbo.tolist(), *same, entered, left, moved, c.largest.tolist())
        return dict(zip(self.query_ids, map(QueryChange, *columns), strict=True))

    def same(self, most: float = 0.0) -> bool:
        """Whether no larger share of the queries changed, as a refactoring is to be checked.

        most: the largest share that is allowed.
        Returns whether it holds.
        """
        if not 0 <= most <= 1:
            raise InputError("diff", "is not a share from 0 to 1.", parameter="max_changed", value=most)
        return self.changed <= most

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, ready for JSON."""
        largest, query = self.largest
        judged = self.judged
        return {
            "runs": list(self.runs),
            "sentence": self.sentence,
            "k": self.k,
            "depth": self.depth,
            "p": self.p,
            "queries": len(self.query_ids),
            "missing": [list(queries) for queries in self.missing],
            "changed": self.changed,
            "changed_queries": self.changed_queries,
            "overlap": self.overlap,
            "rbo": self.rbo,
            "same_first": self.same_first,
            "entered": self.entered,
            "left": self.left,
            "moved": self.moved,
            "largest": {"places": largest, "query_id": query},
            "judged": judged
            and {
                **judged._asdict(),
                "entered": judged.entered._asdict(),
                "left": judged.left._asdict(),
                "difference": judged.difference and judged.difference.to_dict(),
            },
            "changed_most": [
                {
                    **query._asdict(),
                    "one": [document._asdict() for document in query.one],
                    "other": [document._asdict() for document in query.other],
                }
                for query in self.changed_most
            ],
            "to_judge": [{**document._asdict(), "ranks": list(document.ranks)} for document in self.to_judge],
            "between": list(self.between),
            "warnings": list(self.warnings),
            "by_query": {query: change._asdict() for query, change in self.by_query.items()},
        }


_TITLE = 10  # words of a document without a title


def with_texts(diff: RunDiff, collection: Collection | None) -> RunDiff:
    """The same with the texts of queries and the titles of documents, as far as the collection has them."""
    if collection is None:
        return diff
    wanted = {document.doc_id for query in diff.changed_most for document in (*query.one, *query.other)}
    wanted |= {document.doc_id for document in diff.to_judge}
    known = {
        document.doc_id: document.title or " ".join(document.text.split()[:_TITLE])
        for document in (collection._shown() if wanted else ())
        if document.doc_id in wanted
    }
    texts = collection.queries

    def titled(documents: tuple[ListedDocument, ...]) -> tuple[ListedDocument, ...]:
        return tuple(document._replace(title=known.get(document.doc_id, "")) for document in documents)

    changed = (
        query._replace(text=texts.get(query.query_id, ""), one=titled(query.one), other=titled(query.other))
        for query in diff.changed_most
    )
    waiting = (
        document._replace(text=texts.get(document.query_id, ""), title=known.get(document.doc_id, ""))
        for document in diff.to_judge
    )
    return replace(diff, changed_most=tuple(changed), to_judge=tuple(waiting))
