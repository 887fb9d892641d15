"""A decision that follows a store: every new grade changes what to judge next."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from cranfield.judging.deciding.decision import BATCH, Decision
from cranfield.judging.deciding.looks import Look
from cranfield.judging.deciding.page_data import decision_summary
from cranfield.judging.ordering import DECIDE
from cranfield.judging.ordering.followed_grades import FollowedGrades
from cranfield.judging.ordering.order import QueryDocument
from cranfield.judging.store import Store
from cranfield.judging.waiting import WaitingRow, add_waiting


class FollowedDecision:
    """A decision, brought up to date with a store after every batch of judgments. It is safe for several threads.

    A document that could not be judged counts as not relevant and does not come again.

    store: in which people judge
    make: makes the decision from the judgments that there are, or from None
    """

    def __init__(self, store: Store, make: Callable[[Any], Decision]) -> None:
        self._store, self._make = store, make
        self._lock = threading.Lock()
        self._queue: list[QueryDocument] = []
        self._why: str | None = None  # they wait in the store
        self._waited = 0  # how many were chosen so far
        self._all_wait = False
        self._candidates: set[QueryDocument] = set()
        self._decision = self._begin()
        self._choose()

    def unjudged(self) -> list[QueryDocument]:
        """All documents that could still come."""
        return sorted(pair for pair in self._candidates if pair not in self._grades)

    def wait(self, why: str) -> None:
        """Let the chosen documents wait, now and later: once the verdict is final, the others need no judging."""
        with self._lock:
            self._why = why
            self._let_wait()

    def wait_for_all(self) -> None:
        """Let the others wait as well, for judging on after the verdict is final."""
        with self._lock:
            if not self._all_wait:
                self._store.wait(self.unjudged(), why=self._why or "")
            self._all_wait = True

    def look(self) -> Look:
        """The state of the decision after the last batch."""
        with self._lock:
            return self._decision.look()

    def summary(self) -> dict[str, Any]:
        """The same, as the page shows it."""
        return decision_summary(self.look(), self._decision.measure.name)

    def next(self, assessor: str, count: int) -> list[QueryDocument]:
        """What an assessor should judge next, the most informative first; nothing once the verdict is final."""
        with self._lock:
            withdrawn = self._grades.read()
            if withdrawn or sum(self._grades.open_to(assessor, pair) for pair in self._queue) < count:
                self._decision = self._begin() if withdrawn else self._decision.with_grades(self._grades.grades())
                self._choose()
            return [pair for pair in self._queue if self._grades.open_to(assessor, pair)]

    def _begin(self) -> Decision:
        """The decision from all grades in the store, also after one was taken back."""
        self._grades = FollowedGrades(self._store)
        self._grades.read()
        decision = self._make(self._store.view() if self._grades.any_grade else None)
        names_of, count = decision._candidates.names_of, len(decision._candidates.doc_ids)
        self._candidates = {names_of(place) for place in range(count)}
        self._grades.only(self._candidates)
        return decision._knowing(self._grades.grades())._after(self._grades.last(BATCH))

    def _choose(self) -> None:
        self._queue = [] if self._decision.look().done else self._decision.next(BATCH)
        self._let_wait()

    def _let_wait(self) -> None:
        if self._why is None:
            return
        rows = [
            WaitingRow(*pair, 0, 0, self._why, 1, chosen_by=DECIDE.chosen_by, position=self._waited + number)
            for number, pair in enumerate(self._queue)
        ]
        self._waited += len(rows)
        with self._store._writing("what is to be judged") as connection:
            add_waiting(connection, rows, claim=True)
