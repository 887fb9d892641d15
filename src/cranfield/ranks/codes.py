"""Numbers in place of document ids, for comparing many of them: of single ids, and of the first ones of rankings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cranfield.native import native
from cranfield.ranks.columns import Integers

if TYPE_CHECKING:
    from cranfield.io.shapes import Rankings
    from cranfield.ranks.judgments import Judgments
    from cranfield.ranks.policy import Policy

# As the native scan numbers them; others need the grades. Where no order is chosen, the usual one is shown.
TIE_ORDERS = {"doc_id": 0, "smaller_doc_id": 1, "file": 2, "expected": 0}


def codes_of(ids: list[str]) -> Integers:
    """A number of 64 bits for each id: equal ids have equal numbers, as long as the process lives."""
    return native.codes(ids) if native else hashes(ids)


def hashes(ids: Sequence[str]) -> Integers:
    """The twin of the native `codes`, with hashes of Python's own."""
    return np.fromiter(map(hash, ids), np.int64, len(ids))


@dataclass(frozen=True, eq=False)
class Codes:
    """The first documents of a run's judged queries as numbers, best first.

    Those of query q are values[start[q] : start[q] + count[q]]. Equal documents have equal numbers in this process, so
    a pickled or copied object becomes None.

    depth: how many of each query are here; those of a query that has retrieved no more are complete
    """

    values: Integers
    start: Integers
    count: Integers
    depth: int

    def __reduce__(self) -> tuple[Any, ...]:
        return type(None), ()

    def of(self, query: int) -> Integers:
        return self.values[self.start[query] : self.start[query] + self.count[query]]


class GatheredCodes:
    """Codes as a scan finds them, block by block. They grow in one place, so that memory never holds them twice."""

    def __init__(self, queries: int, depth: int) -> None:
        self._bytes = bytearray()
        self._start = np.zeros(queries, np.int64)
        self._count = np.zeros(queries, np.int64)
        self._depth = depth
        self._size = 0

    def add(self, queries: Sequence[int] | Integers, retrieved: Sequence[int] | Integers, codes: Integers) -> None:
        if not self._depth:
            return
        count = np.minimum(retrieved, self._depth)
        self._start[queries] = self._size + np.cumsum(count) - count
        self._count[queries] = count
        self._size += len(codes)
        self._bytes += codes.data

    def result(self) -> Codes | None:
        if not self._depth:
            return None
        return Codes(np.frombuffer(self._bytes, np.int64), self._start, self._count, self._depth)


def codes_of_rankings(source: Rankings, judgments: Judgments, policy: Policy, depth: int) -> Codes | None:
    from cranfield.ranks.whole_rankings import rankings_of

    gathered = GatheredCodes(len(judgments), depth)
    slow = []
    for query, ranking in source.by_query.items() if depth else ():
        query_id = str(query)
        number = judgments.number.get(query_id)
        if number is None:
            continue
        codes = _codes_of(ranking, query_id, policy, depth)
        if codes is None:
            slow.append(query_id)
        else:
            gathered.add([number], [len(codes)], codes)
    if slow:
        ordered = rankings_of(source, {query: judgments.by_query[query] for query in slow}, policy)
        for query_id, documents in ordered.items():
            codes = codes_of(documents[:depth])
            gathered.add([judgments.number[query_id]], [len(codes)], codes)
    return gathered.result()


def _codes_of(ranking: Any, query: str, policy: Policy, depth: int) -> Integers | None:
    """The numbers of a ranking in memory; None if ranking it takes more than sorting by score."""
    if set(map(type, ranking)) - {str} or (policy.same_id == "drop" and query in ranking):
        return None
    ids = list(ranking)
    if isinstance(ranking, Mapping):
        try:
            scores = np.fromiter(ranking.values(), np.float64, len(ranking))
        except (TypeError, ValueError):
            return None
        order = np.argsort(-scores)[: depth + 1]
        if (np.diff(scores[order]) == 0).any():  # also of the last document that is wanted and the next
            return None
        return codes_of([ids[at] for at in order[:depth].tolist()])
    if len(set(ids)) < len(ids):  # duplicates, of which the policy keeps one
        return None
    return codes_of(ids[:depth])
