"""FollowedGrades: the grades that people have given in a store, updated as they judge."""

from __future__ import annotations

from collections.abc import Collection

from cranfield.judging.kinds import BY_PEOPLE
from cranfield.judging.merging import RULES
from cranfield.judging.ordering.order import QueryDocument
from cranfield.judging.store import Store


class FollowedGrades:
    """The grades that people gave to some documents, or to all. Where two differ, the majority counts, as in a view.

    store: in which people judge
    wanted: the documents that matter; None for all
    """

    def __init__(self, store: Store, wanted: Collection[QueryDocument] | None = None) -> None:
        self._store, self._wanted = store, wanted
        self._seen = 0  # the number of the last event that is known
        self._events: dict[QueryDocument, dict[int, tuple[str, float | None]]] = {}  # by event: who, and the grade

    def read(self) -> bool:
        """Read the events since the last time; returns whether one was taken back."""
        withdrawn = False
        for event in self._store.events(after=self._seen):
            self._seen, pair = event.number, (event.query_id, event.doc_id)
            if event.kind not in BY_PEOPLE or (self._wanted is not None and pair not in self._wanted):
                continue
            if event.undoes is None:
                self._events.setdefault(pair, {})[event.number] = (event.assessor, event.grade)
            else:
                withdrawn = True
                self._events.get(pair, {}).pop(event.undoes, None)
                if not self._events.get(pair, True):
                    del self._events[pair]
        return withdrawn

    def only(self, wanted: Collection[QueryDocument]) -> None:
        """Forget all other documents."""
        self._wanted = wanted
        self._events = {pair: events for pair, events in self._events.items() if pair in wanted}

    @property
    def any_grade(self) -> bool:
        """Whether anything has a grade."""
        return any(grade is not None for events in self._events.values() for _, grade in events.values())

    def grades(self) -> dict[str, dict[str, float | None]]:
        """The grades by query and document; None for one that could not be judged."""
        found: dict[str, dict[str, float | None]] = {}
        for (query, document), events in self._events.items():
            known = [grade for grade in dict(events.values()).values() if grade is not None]
            found.setdefault(query, {})[document] = RULES["majority"].merge(known) if known else None
        return found

    def last(self, count: int) -> list[QueryDocument]:
        """The documents that were judged last."""
        graded = {
            pair: max(number for number, (_, grade) in events.items() if grade is not None)
            for pair, events in self._events.items()
            if any(grade is not None for _, grade in events.values())
        }
        return sorted(graded, key=graded.__getitem__, reverse=True)[:count]

    def __contains__(self, pair: QueryDocument) -> bool:
        """Whether there is an event about a document."""
        return pair in self._events

    def open_to(self, assessor: str, pair: QueryDocument) -> bool:
        """Whether an assessor may judge a document: nobody has judged it, and they have not skipped it."""
        return all(who != assessor and grade is None for who, grade in self._events.get(pair, {}).values())
