"""Grades of parts of documents: judgments that hold however a text is cut into chunks.

`read/formats/store.py` finds this module by its name, because a room does not import an edge.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from cranfield.errors import InputError
from cranfield.judging.checked_input import checked_kind
from cranfield.judging.kinds import BY_PEOPLE
from cranfield.judging.merging import find_rule

if TYPE_CHECKING:
    from cranfield.judging.event_log import CurrentGrade
    from cranfield.judging.stored_judgments import StoredJudgments
    from cranfield.read.formats.store import JudgmentView


class MarkedPassage(NamedTuple):
    """A grade of a part of a document, from character `start` to before `end`; both are None for all of it."""

    query_id: str
    doc_id: str
    start: int | None
    end: int | None
    grade: float


def open_passages(where: str, wanted: JudgmentView) -> tuple[list[MarkedPassage], str]:
    """The passages of a store that is named where judgments are expected, and its part of the signature."""
    from cranfield.judging.store import open_store

    with open_store(where, read_only=True) as store:
        merge, kinds = wanted.merge or "majority", wanted.kinds or BY_PEOPLE
        found, judges = _read(store, wanted.assessors or None, merge, kinds)
    return found, f"judges:{len(judges)}|merge:{merge}"


def marked_in(
    store: StoredJudgments, assessors: Iterable[str] | None, merge: str, kinds: Iterable[str]
) -> list[MarkedPassage]:
    """The passages of a store. See `Store.to_passages`."""
    found, _ = _read(store, assessors, merge, kinds)
    if not any(each.end for each in found):
        raise InputError(
            store.name, "no passage is marked in it.", hint="'cranfield judge': select text, then give it a grade"
        )
    return found


def _read(
    store: StoredJudgments, assessors: Iterable[str] | None, merge: str, kinds: Iterable[str]
) -> tuple[list[MarkedPassage], set[str]]:
    """All grades of parts, and of documents of which no part has one; and who gave them."""
    from cranfield.judging.event_log import standing
    from cranfield.judging.schema import EVENTS
    from cranfield.judging.views import chosen_assessors

    wanted = [checked_kind(kind, store.name) for kind in kinds]
    rule = find_rule(merge, store.name).merge
    chosen = EVENTS.c.kind.in_(wanted)
    found: list[MarkedPassage] = []
    judges: set[str] = set()
    with store._reading() as connection:
        if assessors is not None:
            chosen = chosen & EVENTS.c.assessor.in_(chosen_assessors(store.name, assessors, connection))
        for query, document, events in standing(connection, chosen):
            judges.update(each.assessor for each in events)
            parts = dict(_by_part(events))
            if len(parts) > 1:  # a grade of a part says more than a grade of the document
                parts.pop((0, 0), None)
            for (start, end), grades in parts.items():
                found.append(MarkedPassage(query, document, start if end else None, end or None, rule(grades)))
    return found, judges


def _by_part(events: Iterable[CurrentGrade]) -> Iterator[tuple[tuple[int, int], list[float]]]:
    """The grades of each part, in the order in which they were given."""
    parts: dict[tuple[int, int], list[float]] = {}
    for each in events:
        if each.grade is not None and not each.adjudicates:
            parts.setdefault((each.part_start, each.part_end), []).append(each.grade)
    yield from sorted(parts.items())
