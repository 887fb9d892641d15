"""SaidSoFar: what people say of documents in a store, brought up to date as they go on."""

from __future__ import annotations

from collections.abc import Collection

from cranfield.judging.kinds import BY_PEOPLE
from cranfield.judging.merging import RULES
from cranfield.judging.ordering.order import QueryDocument
from cranfield.judging.store import Store


class SaidSoFar:
    """The grades that people gave to some documents, or to all. Where two differ, the majority counts, as in a view.

    store: in which people judge
    wanted: the documents that matter; None for all
    """

    def __init__(self, store: Store, wanted: Collection[QueryDocument] | None = None) -> None:
        self._store, self._wanted = store, wanted
        self._seen = 0  # the number of the last event that is known
        self._said: dict[QueryDocument, dict[int, tuple[str, float | None]]] = {}  # by event: who, and the grade

    def read(self) -> bool:
        """What was said since the last time; whether something was taken back."""
        withdrawn = False
        for event in self._store.events(after=self._seen):
            self._seen, pair = event.number, (event.query_id, event.doc_id)
            if event.kind not in BY_PEOPLE or (self._wanted is not None and pair not in self._wanted):
                continue
            if event.undoes is None:
                self._said.setdefault(pair, {})[event.number] = (event.assessor, event.grade)
            else:
                withdrawn = True
                self._said.get(pair, {}).pop(event.undoes, None)
                if not self._said.get(pair, True):
                    del self._said[pair]
        return withdrawn

    def only(self, wanted: Collection[QueryDocument]) -> None:
        """Forget all other documents."""
        self._wanted = wanted
        self._said = {pair: said for pair, said in self._said.items() if pair in wanted}

    @property
    def any_grade(self) -> bool:
        """Whether anything has a grade."""
        return any(grade is not None for said in self._said.values() for _, grade in said.values())

    def grades(self) -> dict[str, dict[str, float | None]]:
        """By query and document; None for one that nobody could judge."""
        found: dict[str, dict[str, float | None]] = {}
        for (query, document), said in self._said.items():
            known = [grade for grade in dict(said.values()).values() if grade is not None]
            found.setdefault(query, {})[document] = RULES["majority"].merge(known) if known else None
        return found

    def last(self, count: int) -> list[QueryDocument]:
        """The documents that were judged last."""
        graded = {
            pair: max(number for number, (_, grade) in said.items() if grade is not None)
            for pair, said in self._said.items()
            if any(grade is not None for _, grade in said.values())
        }
        return sorted(graded, key=graded.__getitem__, reverse=True)[:count]

    def __contains__(self, pair: QueryDocument) -> bool:
        """Whether anybody said something of a document."""
        return pair in self._said

    def open_to(self, assessor: str, pair: QueryDocument) -> bool:
        """Whether an assessor may judge a document: nobody has, and they did not say that they cannot."""
        return all(who != assessor and grade is None for who, grade in self._said.get(pair, {}).values())
