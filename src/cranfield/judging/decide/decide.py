"""decide(store, runs) → Decision: documents are judged until a comparison is decided, by an assessor or on the page."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from typing import Any

from cranfield.errors import ComparisonError
from cranfield.judging.decide.decision import BATCH, CONFIDENCE, Decision
from cranfield.judging.decide.looks import Look, decision_summary
from cranfield.judging.pool.order import FollowedGrades, QueryDocument
from cranfield.judging.pool.orders import DECIDE
from cranfield.judging.store.merging import BY_PEOPLE
from cranfield.judging.store.store import Store, open_store
from cranfield.measures import Measure


class FollowedDecision:
    """A decision, kept up to date with a store in which people judge. It is safe for several threads."""

    def __init__(self, store: Store, make: Callable[[Any], Decision]) -> None:
        self._store, self._make = store, make
        self._lock = threading.Lock()
        self._queue: list[QueryDocument] = []
        self._why: str | None = None  # they wait in the store
        self._waited = 0  # how many were chosen so far
        self._all_wait = False
        self._withdrawn = False  # a grade was taken back since the last choice: the decision begins anew
        self._candidates: set[QueryDocument] = set()
        self._decision = self._begin()
        self._choose()

    def unjudged(self) -> list[QueryDocument]:
        return sorted(pair for pair in self._candidates if pair not in self._grades)

    def wait(self, why: str) -> None:
        """Let the chosen documents wait, now and later: once the verdict is final, the others need no judging."""
        with self._lock:
            self._why = why
            self._let_wait()

    def wait_for_all(self) -> None:
        with self._lock:
            if not self._all_wait:
                self._store.wait(self.unjudged(), why=self._why or "")
            self._all_wait = True

    def look(self) -> Look:
        """As of the last choice of documents."""
        with self._lock:
            return self._decision.look()

    def last_look(self) -> Look:
        """With all grades that are in the store by now."""
        with self._lock:
            self._decision = self._begin()
            return self._decision.look()

    def summary(self) -> dict[str, Any]:
        """The last look, and how many of all documents that may be asked for are judged by now."""
        with self._lock:
            self._withdrawn = self._grades.read() or self._withdrawn
            told = decision_summary(self._decision.look(), self._decision.measure.name, self._decision.alpha)
            judged = sum(pair in self._grades for pair in self._candidates)
            return {**told, "judged": judged, "documents": len(self._candidates)}

    def next(self, assessor: str, count: int) -> list[QueryDocument]:
        with self._lock:
            self._withdrawn = self._grades.read() or self._withdrawn
            if self._withdrawn or sum(self._grades.open_to(assessor, pair) for pair in self._queue) < count:
                begun_again, self._withdrawn = self._withdrawn, False
                self._decision = self._begin() if begun_again else self._decision.with_grades(self._grades.grades())
                self._choose()
            return [pair for pair in self._queue if self._grades.open_to(assessor, pair)]

    def _begin(self) -> Decision:
        self._grades = FollowedGrades(self._store)
        self._grades.read()
        decision = self._make(self._store.view() if self._grades.any_grade else None)
        names_of, count = decision._candidates.names_of, len(decision._candidates.doc_ids)
        self._candidates = {names_of(place) for place in range(count)}
        self._grades.only(self._candidates)
        return decision.with_grades(self._grades.grades())

    def _choose(self) -> None:
        self._queue = [] if self._decision.look().done else self._decision.next(BATCH)
        self._let_wait()

    def _let_wait(self) -> None:
        from cranfield.judging.store.waiting import WaitingRow, add_waiting

        if self._why is None:
            return
        rows = [
            WaitingRow(*pair, 0, 0, self._why, 1, chosen_by=DECIDE.chosen_by, position=self._waited + number)
            for number, pair in enumerate(self._queue)
        ]
        self._waited += len(rows)
        with self._store._writing("what is to be judged") as connection:
            add_waiting(connection, rows, claim=True)


Assessor = Callable[[str, str], float | None]


def decide(
    store: Store | str | os.PathLike[str],
    runs: Mapping[str, Any] | Iterable[Any],
    measure: str | Measure = "nDCG@10",
    *,
    assessor: Assessor,
    name: str = "assessor",
    kind: str = "person",
    alpha: float = 0.05,
    confidence: float = CONFIDENCE,
    depth: int | None = None,
    queries: Sequence[str] | None = None,
    all_pairs: bool = False,
    batch: int = BATCH,
    most: int | None = None,
    seed: int = 0,
    format: str | None = None,
) -> Look:
    """Let an assessor judge what can still change the verdict on runs, until it is final. Grades go into the store.

    store: a `Store`, or where it is; a file that does not exist yet is created. Judgments in it count from the start.
    runs: {name: run} or a list of runs, which are what `evaluate` takes; the first is the baseline.
    measure: the measure that decides, as in `Decision.of`.
    assessor: a function of the ids of a query and of a document, which returns the grade; None if it cannot be judged.
    name: the name of the assessor in the store.
    kind: what the assessor is, such as "person" or "model". People's grades always count; other kinds
        count only if the assessor is of that kind.
    alpha: the level of significance.
    confidence: how probable a verdict must be before it is final.
    depth: how many documents of each ranking count; by default the cutoff of the measure, or 10 without one.
    queries: their ids; by default all that any run has.
    all_pairs: compare every pair of runs, not only each run with the first.
    batch: how many documents are judged between two looks.
    most: stop after this many judgments, decided or not.
    seed: the seed of the random draws.
    format: of the runs, if it cannot be detected.
    Returns the last `Look`; its `state` says why it is the last one.

    >>> import tempfile
    >>> bad = {f"q{q}": [f"n{d}" for d in range(10)] for q in range(20)}
    >>> good = {f"q{q}": [f"r{d}" for d in range(10)] for q in range(20)}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     look = decide(f"{folder}/judgments.db", {"bad": bad, "good": good}, assessor=lambda q, d: 2 * (d[0] == "r"))
    >>> look.state, look.judged, look.left
    ('better', 40, 360)
    """
    if batch < 1 or (most is not None and most < 0):
        hint = "a batch is 1 or more, most is 0 or more"
        raise ComparisonError(f"batch={batch}, most={most} is not possible.", hint=hint)
    with ExitStack() as opened:
        if not isinstance(store, Store):
            store = opened.enter_context(open_store(store, create=True))
        decision = Decision.of(
            runs,
            measure,
            judged_so_far(store, kind),
            scale=[step.grade for step in store.scale],
            alpha=alpha,
            confidence=confidence,
            depth=depth,
            queries=queries,
            all_pairs=all_pairs,
            seed=seed,
            format=format,
        )
        done = 0
        while not decision.look().done and (most is None or done < most):
            chosen = decision.next(batch if most is None else min(batch, most - done))
            note_chosen(store, chosen)
            grades: dict[str, dict[str, float | None]] = {}
            for query, document in chosen:
                grade = assessor(query, document)
                store.judge(query, document, grade, assessor=name, kind=kind)
                grades.setdefault(query, {})[document] = grade
            done += len(chosen)
            decision = decision.with_grades(grades)
        return decision.look()


def note_chosen(store: Store, chosen: Sequence[tuple[str, str]]) -> None:
    """Record that these documents were chosen by grades; no other assessor is asked to judge them."""
    from cranfield.judging.store.waiting import WaitingRow, add_waiting

    rows = (WaitingRow(*pair, 0, 0, "to decide", 0, chosen_by=DECIDE.chosen_by) for pair in chosen)
    with store._writing("what is judged") as connection:
        add_waiting(connection, rows)


def _kinds(kind: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*BY_PEOPLE, kind)))


def judged_so_far(store: Store, kind: str) -> Any:
    from cranfield.judging.store.views import graded_documents

    kinds = _kinds(kind)
    with closing(graded_documents(store, None, kinds)) as judged:
        nothing = next(judged, None) is None
    return None if nothing else store.view(kinds=kinds)
