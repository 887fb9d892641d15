"""What assessors said of parts of documents: judgments that hold however a text is cut into chunks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from cranfield.errors import InputError
from cranfield.judging.checking import checked_kind
from cranfield.judging.merging import find_rule

if TYPE_CHECKING:
    from cranfield.judging.recording import Said
    from cranfield.judging.store import Store


class MarkedPassage(NamedTuple):
    """A grade of a part of a document, from character `start` to before `end`; both are None for all of it."""

    query_id: str
    doc_id: str
    start: int | None
    end: int | None
    grade: float


def marked_in(store: Store, assessors: Iterable[str] | None, merge: str, kinds: Iterable[str]) -> list[MarkedPassage]:
    """The passages of a store. See `Store.to_passages`."""
    from cranfield.judging.recording import standing
    from cranfield.judging.schema import EVENTS
    from cranfield.judging.views import chosen_assessors

    wanted = [checked_kind(kind, store.name) for kind in kinds]
    rule = find_rule(merge, store.name).merge
    chosen = EVENTS.c.kind.in_(wanted)
    found: list[MarkedPassage] = []
    with store._reading() as connection:
        if assessors is not None:
            chosen = chosen & EVENTS.c.assessor.in_(chosen_assessors(store.name, assessors, connection))
        for query, document, said in standing(connection, chosen):
            for (start, end), grades in _by_part(said):
                found.append(MarkedPassage(query, document, start if end else None, end or None, rule(grades)))
    if not any(each.end for each in found):
        raise InputError(
            store.name, "no passage is marked in it.", hint="'cranfield judge': select text, then give it a grade"
        )
    return found


def _by_part(said: Iterable[Said]) -> Iterator[tuple[tuple[int, int], list[float]]]:
    """The grades of each part, in the order in which they were given."""
    parts: dict[tuple[int, int], list[float]] = {}
    for each in said:
        if each.grade is not None and not each.adjudicates:
            parts.setdefault((each.part_start, each.part_end), []).append(each.grade)
    yield from sorted(parts.items())
