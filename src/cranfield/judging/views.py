"""Qrels as a view of the events: assessors are chosen, and their grades are merged by a named rule.

`read/formats/store.py` finds this module by its name, because a room does not import an edge.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from cranfield.errors import InputError
from cranfield.judging.checked_input import checked_kind
from cranfield.judging.kinds import BY_PEOPLE, KINDS
from cranfield.judging.merging import find_rule
from cranfield.judging.store import open_store
from cranfield.judging.stored_judgments import StoredJudgments
from cranfield.ranks.chosen_warning import chosen_part
from cranfield.ranks.judgments import Judgments

if TYPE_CHECKING:
    from cranfield.judging.event_log import CurrentGrade
    from cranfield.read.formats.store import JudgmentView


ByQuery = dict[str, dict[str, float]]
POOLED = -1.0  # the grade that means: in the pool, and not judged


class Conflict(NamedTuple):
    """A document to which assessors gave different grades."""

    query_id: str
    doc_id: str
    grades: Mapping[str, float]  # by assessor


class GradedEvent(NamedTuple):
    """A document that was judged: the grade of each assessor in the order in which they gave it."""

    query_id: str
    doc_id: str
    grades: dict[str, float]
    settled: float | None  # by adjudication
    parts: bool  # some grade is that of a part


@dataclass(slots=True)
class _ViewCounts:
    assessors: set[str]
    adjudicated: int = 0
    conflicts: int = 0
    parts: int = 0


def open_view(where: str, wanted: JudgmentView) -> tuple[ByQuery, str]:
    """The view of a store that is named where judgments are expected: by default all people, by majority."""
    with open_store(where, read_only=True) as store:
        kinds = wanted.kinds or BY_PEOPLE
        return merged(store, wanted.assessors or None, wanted.merge or "majority", kinds, wanted.pooled)


def view(
    store: StoredJudgments, assessors: Iterable[str] | None, merge: str, kinds: Iterable[str], pooled: bool = False
) -> Judgments:
    """The judgments of a store. See `Store.view`."""
    by_query, provenance = merged(store, assessors, merge, kinds, pooled)
    return Judgments(by_query, name=store.name, provenance=provenance)


def merged(
    store: StoredJudgments, assessors: Iterable[str] | None, merge: str, kinds: Iterable[str], pooled: bool = False
) -> tuple[ByQuery, str]:
    """One grade for each document, and the choice as it appears in a signature."""
    wanted = tuple(dict.fromkeys(kinds))
    counts = _ViewCounts(set())
    by_query = merged_grades(store, merge, wanted, assessors, counts)
    if not by_query:
        raise InputError(store.name, "it contains no judgments.", hint=_elsewhere(store, wanted))
    provenance = "|".join([_provenance(counts, merge, wanted), *_chosen(store, by_query)])
    if pooled:
        added = _add_pooled(store, by_query)
        provenance += f"|pooled:{added}" * bool(added)
    return by_query, provenance


def merged_grades(
    store: StoredJudgments,
    merge: str,
    kinds: Sequence[str],
    assessors: Iterable[str] | None = None,
    counts: _ViewCounts | None = None,
) -> ByQuery:
    """One grade for each document, possibly for none; counts made on the way go into `counts`."""
    rule = find_rule(merge, store.name).merge
    counts = counts or _ViewCounts(set())
    by_query: ByQuery = {}
    for query, document, grades, settled, parts in graded_documents(store, assessors, kinds):
        counts.assessors.update(grades)
        counts.parts += parts
        if settled is not None:
            counts.adjudicated += 1
            grade = settled
        elif len(grades) == 1:
            [grade] = grades.values()
        else:
            given = list(grades.values())
            counts.conflicts += len(set(given)) > 1
            grade = rule(given)
        by_query.setdefault(query, {})[document] = grade
    return by_query


def _chosen(store: StoredJudgments, by_query: ByQuery) -> Iterator[str]:
    """How many of the documents were chosen by orders of judging, as it appears in a signature."""
    from cranfield.judging.chosen_judgments import count_chosen

    with store._reading() as connection:
        counts = count_chosen(connection, by_query)
    if counts:
        yield chosen_part(counts)


def _add_pooled(store: StoredJudgments, by_query: ByQuery) -> int:
    """Give -1 to pooled documents without a grade, in queries that have grades; returns how many."""
    from cranfield.judging.waiting import pooled_documents

    added = 0
    with store._reading() as connection:
        for query, document in pooled_documents(connection):
            if query in by_query and document not in by_query[query]:
                by_query[query][document] = POOLED
                added += 1
    return added


def graded_documents(
    store: StoredJudgments, assessors: Iterable[str] | None, kinds: Sequence[str], *, differently: bool = False
) -> Generator[GradedEvent]:
    """All documents that chosen assessors judged, query by query; `differently`: at least those with several grades."""
    from cranfield.judging.event_log import standing
    from cranfield.judging.schema import EVENTS

    for kind in kinds:
        checked_kind(kind, store.name)
    chosen = EVENTS.c.kind.in_(kinds)
    with store._reading() as connection:
        if assessors is not None:
            names = list(dict.fromkeys([assessors] if isinstance(assessors, str) else assessors))
            known = known_assessors(connection)
            refuse_unknown(store.name, names, known)
            _refuse_other_kinds(connection, store.name, {name: known[name] for name in names}, kinds)
            # Adjudicated grades count whichever assessors are chosen: that is their purpose.
            chosen = chosen & (EVENTS.c.assessor.in_(names) | EVENTS.c.adjudicates)
        if differently:
            chosen = chosen & _several_grades()
        for query, document, events in standing(connection, chosen):
            found = graded(query, document, events)
            if found is not None:
                yield found


def chosen_assessors(source: str, assessors: Iterable[str], connection: Any) -> list[str]:
    """Names of assessors, each once; an error for one who has judged nothing."""
    names = list(dict.fromkeys([assessors] if isinstance(assessors, str) else assessors))
    refuse_unknown(source, names, known_assessors(connection))
    return names


def _several_grades() -> Any:
    """The condition that a document ever got several grades; few did, so the others need not be read."""
    import sqlalchemy as sa

    from cranfield.judging.schema import EVENTS

    grades = sa.func.min(EVENTS.c.grade) < sa.func.max(EVENTS.c.grade)
    pair = (EVENTS.c.query_id, EVENTS.c.doc_id)
    return sa.tuple_(*pair).in_(sa.select(*pair).group_by(*pair).having(grades))


def graded(query: str, document: str, events: Sequence[CurrentGrade]) -> GradedEvent | None:
    """The grades of a document; None if no assessor could judge it."""
    if len(events) == 1:  # as nearly always
        [(_, _, _, _, part_end, assessor, _, grade, adjudicates)] = events
        if grade is None:
            return None
        if not adjudicates:
            return GradedEvent(query, document, {assessor: grade}, None, part_end > 0)
    settling = [each for each in events if each.adjudicates and each.grade is not None]
    settled = max(settling, key=lambda each: (not each.part_end, each.number)).grade if settling else None
    grades: dict[str, float] = {}
    parts = False
    for assessor in dict.fromkeys(each.assessor for each in sorted(events, key=itemgetter(0))):
        own = [each for each in events if each.assessor == assessor and not each.adjudicates and each.grade is not None]
        whole = [each for each in own if not each.part_end]
        if own:
            parts = parts or not whole
            grades[assessor] = max(each.grade for each in whole or own if each.grade is not None)
    return GradedEvent(query, document, grades, settled, parts) if grades or settled is not None else None


def known_assessors(connection: Any) -> dict[str, str]:
    """All assessors, and of which kind each was first."""
    import sqlalchemy as sa

    from cranfield.judging.schema import EVENTS

    # One step along the index for each assessor: reading all of it would take long.
    found: dict[str, str] = {}
    last = ""
    while True:
        next_one = sa.select(sa.func.min(EVENTS.c.assessor)).where(EVENTS.c.assessor > last)
        name = connection.execute(next_one).scalar()
        if name is None:
            return found
        first = sa.select(EVENTS.c.kind).where(EVENTS.c.assessor == name).order_by(EVENTS.c.number).limit(1)
        found[name] = connection.execute(first).scalar_one()
        last = name


def refuse_unknown(source: str, names: Sequence[str], known: Mapping[str, str]) -> None:
    """Refuse names of assessors who judged nothing."""
    if not names:
        raise InputError(source, "no assessor is selected.", hint="leave out assessors to use all of them")
    for name in names:
        if name not in known:
            listed = ", ".join(list(known)[:10]) or "nobody"
            raise InputError(source, f"there is no assessor '{name}'.", hint=f"assessors who judged: {listed}")


def _refuse_other_kinds(connection: Any, source: str, named: Mapping[str, str], kinds: Sequence[str]) -> None:
    """Refuse named assessors whose grades would not count because of their kind."""
    import sqlalchemy as sa

    from cranfield.judging.schema import EVENTS

    for name, kind in named.items():
        if kind in kinds:
            continue
        some = sa.select(EVENTS.c.number).where(EVENTS.c.assessor == name, EVENTS.c.kind.in_(kinds)).limit(1)
        if connection.execute(some).first() is None:
            every = list(dict.fromkeys([*(each for each in named.values() if each in kinds), kind]))
            hint = f"{' '.join(f'--kind {each}' for each in every)}, or kinds={every}"
            raise InputError(source, f"{name}'s grades are of the kind '{kind}', which was not selected.", hint=hint)


def _elsewhere(store: StoredJudgments, kinds: Sequence[str]) -> str:
    """A hint if all judgments are of another kind, or if there are none."""
    with store._reading() as connection:
        others = sorted({kind for kind in known_assessors(connection).values() if kind not in kinds})
    if not others:
        return f"cranfield judge {store.name}"
    kinds_option = " ".join(f"--kind {kind}" for kind in others)
    return f"there are some of the kind {', '.join(others)}: {kinds_option}, or view(kinds={others})"


def _provenance(counts: _ViewCounts, merge: str, kinds: Sequence[str]) -> str:
    """The choice, and what the rule had to decide, as it appears in a signature."""
    parts = [f"judges:{len(counts.assessors)}", f"merge:{merge}"]
    if set(kinds) != set(BY_PEOPLE):
        parts.append(f"kinds:{','.join(kind for kind in KINDS if kind in kinds)}")
    parts += [f"parts:{counts.parts}"] * bool(counts.parts)
    parts += [f"adjudicated:{counts.adjudicated}"] * bool(counts.adjudicated)
    parts += [f"conflicts:{counts.conflicts}"] * bool(counts.conflicts)
    return "|".join(parts)


def conflicts(store: StoredJudgments, assessors: Iterable[str] | None, kinds: Iterable[str]) -> list[Conflict]:
    """Where assessors disagree. See `Store.conflicts`."""
    found = [
        Conflict(each.query_id, each.doc_id, each.grades)
        for each in graded_documents(store, assessors, tuple(kinds), differently=True)
        if each.settled is None and len(set(each.grades.values())) > 1
    ]
    return sorted(found, key=lambda each: (-_spread(each), each.query_id, each.doc_id))


def _spread(conflict: Conflict) -> float:
    return max(conflict.grades.values()) - min(conflict.grades.values())
