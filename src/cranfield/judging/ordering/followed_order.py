"""An order of judging that follows a store: every new grade changes what to judge next."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import islice
from typing import Any, Protocol

from cranfield.judging.ordering.followed_grades import FollowedGrades
from cranfield.judging.ordering.order import Order, QueryDocument, RankedPool
from cranfield.judging.random_orders import place
from cranfield.judging.store import Store

TURN = 10  # documents of a query, before the next query comes


class Followed(Protocol):
    """Where the page gets its documents."""

    def unjudged(self) -> list[QueryDocument]:
        """All documents that could be asked for."""

    def wait(self, why: str) -> None:
        """Let documents wait in the store: all of them, or those that are chosen, now and later."""

    def wait_for_all(self) -> None:
        """Let all documents wait that could still come, for judging whether it is needed or not."""

    def next(self, assessor: str, count: int) -> list[QueryDocument]:
        """What an assessor should judge next: at least this many documents, if there are any."""

    def summary(self) -> dict[str, Any] | None:
        """What the page shows about it, if anything."""


class FollowedOrder:
    """An order that treats each query by itself, in a store in which people judge. It is safe for several threads.

    Ten documents of each query are judged one after the other, then ten more of each, and so on: after stopping, all
    queries are judged about equally deep.
    """

    def __init__(self, store: Store, order: Order, pool: RankedPool) -> None:
        self._store, self._order, self._pool = store, order, pool
        self._lock = threading.Lock()
        everything = {(each.query, document) for each in pool.queries for document in each.best_ranks}
        self._everything, self._grades = everything, FollowedGrades(store, everything)
        self._grades.read()

    def unjudged(self) -> list[QueryDocument]:
        """All documents that could be asked for."""
        return sorted(pair for pair in self._everything if pair not in self._grades)

    def wait(self, why: str) -> None:
        """Let all of them wait: each will be judged sooner or later."""
        self._store.wait(self.unjudged(), why=why, chosen_by=self._order.chosen_by)

    def wait_for_all(self) -> None:
        """All of them wait from the start."""

    def next(self, assessor: str, count: int) -> list[QueryDocument]:
        """What an assessor should judge next."""
        with self._lock:
            self._grades.read()
            return list(islice(self._next(assessor), count + TURN))

    def summary(self) -> None:
        """The page shows nothing about an order."""

    def _next(self, assessor: str) -> Iterator[QueryDocument]:
        grades = self._grades.grades()
        done = {query: len(grades.get(query, ())) for query in self._pool.by_query}
        for query in sorted(done, key=lambda query: (done[query] // TURN, place(assessor, query))):
            known = {
                document: grade
                for document, grade in grades.get(query, {}).items()
                if not self._grades.open_to(assessor, (query, document))  # others may judge what one assessor could not
            }
            ranked = RankedPool({query: self._pool.by_query[query]}, self._pool.depth, self._pool.seed)
            yield from self._order.begin(ranked, {query: known}).next(TURN - done[query] % TURN)
