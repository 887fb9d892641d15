"""A decision that follows a store: what anybody says there changes what is to be judged next."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from cranfield.judging.deciding.decision import BATCH, Decision
from cranfield.judging.deciding.looks import Look
from cranfield.judging.kinds import BY_PEOPLE
from cranfield.judging.merging import RULES
from cranfield.judging.store import Store

QueryDocument = tuple[str, str]


class FollowedDecision:
    """A decision, brought up to date with a store after every batch of judgments. Several threads may ask it.

    What two people say of a document is merged by majority, as in a view; a document that nobody could judge counts as
    not relevant and is not asked for again.

    store: in which people judge
    make: makes the decision from the judgments that there are, or from None
    """

    def __init__(self, store: Store, make: Callable[[Any], Decision]) -> None:
        self._store, self._make = store, make
        self._lock = threading.Lock()
        self._seen = 0  # the number of the last event that is known
        self._said: dict[QueryDocument, dict[int, tuple[str, float | None]]] = {}  # by event: who, and the grade
        self._queue: list[QueryDocument] = []
        self._candidates: set[QueryDocument] = set()
        self._decision = self._begin()
        self._choose()

    @property
    def measure(self) -> str:
        """The name of the measure."""
        return self._decision.measure.name

    def unjudged(self) -> list[QueryDocument]:
        """All documents that could be asked for."""
        return sorted(pair for pair in self._candidates if not self._said.get(pair))

    def look(self) -> Look:
        """Where the decision stands after the last batch."""
        with self._lock:
            return self._decision.look()

    def next(self, assessor: str, count: int) -> list[QueryDocument]:
        """What an assessor is to judge next, the most telling first; nothing once the verdict stands."""
        with self._lock:
            withdrawn = self._read()
            if withdrawn or sum(self._open_to(assessor, pair) for pair in self._queue) < count:
                self._decision = self._begin() if withdrawn else self._decision.with_grades(self._grades())
                self._choose()
            return [pair for pair in self._queue if self._open_to(assessor, pair)]

    def _begin(self) -> Decision:
        """The decision from all that stands in the store: also after something was taken back."""
        self._candidates, self._said, self._seen = set(), {}, 0
        self._read()
        judged = any(grade is not None for said in self._said.values() for _, grade in said.values())
        decision = self._make(self._store.view() if judged else None)
        names_of, count = decision._candidates.names_of, len(decision._candidates.doc_ids)
        self._candidates = {names_of(place) for place in range(count)}
        self._said = {pair: said for pair, said in self._said.items() if pair in self._candidates}
        return decision.with_grades(self._grades())

    def _choose(self) -> None:
        self._queue = [] if self._decision.look().done else self._decision.next(BATCH)

    def _grades(self) -> dict[str, dict[str, float | None]]:
        found: dict[str, dict[str, float | None]] = {}
        for (query, document), said in self._said.items():
            known = [grade for grade in dict(said.values()).values() if grade is not None]
            found.setdefault(query, {})[document] = RULES["majority"].merge(known) if known else None
        return found

    def _open_to(self, assessor: str, pair: QueryDocument) -> bool:
        return all(who != assessor and grade is None for who, grade in self._said.get(pair, {}).values())

    def _read(self) -> bool:
        """What was said since the last time; whether something was taken back."""
        withdrawn = False
        for event in self._store.events(after=self._seen):
            self._seen, pair = event.number, (event.query_id, event.doc_id)
            if event.kind not in BY_PEOPLE or (self._candidates and pair not in self._candidates):
                continue
            if event.undoes is None:
                self._said.setdefault(pair, {})[event.number] = (event.assessor, event.grade)
            else:
                withdrawn = True
                self._said.get(pair, {}).pop(event.undoes, None)
                if not self._said.get(pair, True):
                    del self._said[pair]
        return withdrawn
