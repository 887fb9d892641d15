"""An order of judging that follows a store: what anybody says there changes what is to be judged next."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import islice
from typing import Any, Protocol

from cranfield.judging.ordering.order import Order, QueryDocument, RankedPool
from cranfield.judging.ordering.said_so_far import SaidSoFar
from cranfield.judging.random_orders import place
from cranfield.judging.store import Store

TURN = 10  # documents of a query, before the next query comes


class Followed(Protocol):
    """What the page asks for documents."""

    def unjudged(self) -> list[QueryDocument]:
        """All documents that could be asked for."""

    def wait(self, why: str) -> None:
        """Let what is to be judged wait in the store: all of it, or what is chosen, now and later."""

    def wait_for_all(self) -> None:
        """Let everything wait that could be asked for: somebody wants to judge it whether it is needed or not."""

    def next(self, assessor: str, count: int) -> list[QueryDocument]:
        """What an assessor is to judge next: so many documents or more, if there are any."""

    def told(self) -> dict[str, Any] | None:
        """What the page says about it, if anything."""


class FollowedOrder:
    """An order that treats each query by itself, in a store in which people judge. Several threads may ask it.

    Ten documents of each query are judged one after the other, then ten more of each, and so on: whoever stops has
    judged all queries about equally deep.
    """

    def __init__(self, store: Store, order: Order, pool: RankedPool) -> None:
        self._store, self._order, self._pool = store, order, pool
        self._lock = threading.Lock()
        everything = {(each.query, document) for each in pool.queries for document in each.best_ranks}
        self._everything, self._said = everything, SaidSoFar(store, everything)
        self._said.read()

    def unjudged(self) -> list[QueryDocument]:
        """All documents that could be asked for."""
        return sorted(pair for pair in self._everything if pair not in self._said)

    def wait(self, why: str) -> None:
        """Let all of them wait: each is to be judged sooner or later."""
        self._store.wait(self.unjudged(), why=why, chosen_by=self._order.chosen_by)

    def wait_for_all(self) -> None:
        """All of them wait from the start."""

    def next(self, assessor: str, count: int) -> list[QueryDocument]:
        """What an assessor is to judge next."""
        with self._lock:
            self._said.read()
            return list(islice(self._next(assessor), count + TURN))

    def told(self) -> None:
        """The page says nothing of an order."""

    def _next(self, assessor: str) -> Iterator[QueryDocument]:
        grades = self._said.grades()
        done = {query: len(grades.get(query, ())) for query in self._pool.by_query}
        for query in sorted(done, key=lambda query: (done[query] // TURN, place(assessor, query))):
            known = {
                document: grade
                for document, grade in grades.get(query, {}).items()
                if not self._said.open_to(assessor, (query, document))  # others may judge what somebody could not
            }
            ranked = RankedPool({query: self._pool.by_query[query]}, self._pool.depth, self._pool.seed)
            yield from self._order.begin(ranked, {query: known}).next(TURN - done[query] % TURN)
