"""Judgments as views of the events: assessors are chosen, and their grades are merged by a named rule."""

from __future__ import annotations

import json
from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, NamedTuple

import sqlalchemy as sa

from cranfield.errors import InputError, given
from cranfield.io.formats.store import JudgmentView
from cranfield.judging.store.checked_input import checked_kind, refuse_unknown
from cranfield.judging.store.event_log import CurrentGrade, standing
from cranfield.judging.store.merging import BY_PEOPLE, CLICKS, KINDS, find_rule
from cranfield.judging.store.schema import DOCUMENTS, EVENTS, JUDGES, QUERIES
from cranfield.judging.store.stored_judgments import StoredJudgments
from cranfield.judging.store.waiting import count_chosen, pooled_documents, strata_of_queries
from cranfield.ranks.chosen_warning import chosen_part

ByQuery = dict[str, dict[str, float]]
ByStratum = dict[str, dict[str, dict[str, float]]]
POOLED = -1.0  # the grade that means: in the pool, and not judged
OUTSIDE = "not sampled"  # the stratum of documents that are in no other: none of them was drawn
MAJORITY = "majority"  # how grades are merged, if nothing else is said


class Conflict(NamedTuple):
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


def merged(store: StoredJudgments, wanted: JudgmentView) -> tuple[ByQuery, str]:
    """One grade for each document, and the choice as it appears in a signature: by default all people, by majority."""
    merge, kinds = wanted.merge or MAJORITY, tuple(dict.fromkeys(BY_PEOPLE if wanted.kinds is None else wanted.kinds))
    counts = _ViewCounts(set())
    by_query = merged_grades(store, merge, kinds, wanted.assessors, counts)
    if not by_query:
        hint = other_kinds(store, kinds) or f"cranfield judge {store.name}"
        raise InputError(store.name, "it contains no judgments.", hint=hint)
    with store._reading() as connection:
        chosen = count_chosen(connection, by_query)
        pooled = _add_pooled(connection, by_query) if wanted.pooled else 0
        clicks = _how_clicks_count(connection, counts.assessors) if CLICKS in kinds else []
    parts = [f"judges:{len(counts.assessors)}", f"merge:{merge}"]
    if set(kinds) != set(BY_PEOPLE):
        parts.append(f"kinds:{','.join(kind for kind in KINDS if kind in kinds)}")
    parts += [f"clicks:{','.join(clicks)}"] * bool(clicks)
    numbers = {"parts": counts.parts, "adjudicated": counts.adjudicated, "conflicts": counts.conflicts}
    parts += [f"{name}:{number}" for name, number in numbers.items() if number]
    parts += [chosen_part(chosen)] * bool(chosen) + [f"pooled:{pooled}"] * bool(pooled)
    return by_query, "|".join(parts)


def _how_clicks_count(connection: sa.Connection, assessors: Collection[str]) -> list[str]:
    """Whether grades by clicks are corrected for rank; nothing where they were imported."""
    chosen = sa.select(EVENTS.c.judge).where(EVENTS.c.kind == CLICKS, EVENTS.c.assessor.in_(assessors))
    rows = connection.execute(sa.select(JUDGES.c.settings).where(JUDGES.c.judge.in_(chosen)))
    return sorted({str(json.loads(row.settings).get("clicks")) for row in rows})


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


def _add_pooled(connection: sa.Connection, by_query: ByQuery) -> int:
    """Give -1 to pooled documents without a grade, in queries that have grades; returns how many."""
    added = 0
    for query, document in pooled_documents(connection):
        if query in by_query and document not in by_query[query]:
            by_query[query][document] = POOLED
            added += 1
    return added


def graded_documents(
    store: StoredJudgments, assessors: Iterable[str] | None, kinds: Sequence[str], *, differently: bool = False
) -> Generator[GradedEvent]:
    """All documents that chosen assessors judged, query by query; `differently`: at least those with several grades."""
    chosen = EVENTS.c.kind.in_([checked_kind(kind, store.name) for kind in kinds])
    with store._reading() as connection:
        if assessors is not None:
            names, known = chosen_assessors(store.name, assessors, connection)
            _refuse_other_kinds(connection, store.name, {name: known[name] for name in names}, kinds)
            # Adjudicated grades count whichever assessors are chosen: that is their purpose.
            chosen = chosen & (EVENTS.c.assessor.in_(names) | EVENTS.c.adjudicates)
        if differently:
            # Few documents ever got several grades, so the others need not be read.
            pair = (EVENTS.c.query_id, EVENTS.c.doc_id)
            several = sa.func.min(EVENTS.c.grade) < sa.func.max(EVENTS.c.grade)
            chosen = chosen & sa.tuple_(*pair).in_(sa.select(*pair).group_by(*pair).having(several))
        for query, document, events in standing(connection, chosen):
            if (document_grades := graded(query, document, events)) is not None:
                yield document_grades


def query_texts(store: StoredJudgments) -> dict[str, str]:
    """The texts of queries, of those that have one."""
    with store._reading() as connection:
        rows = connection.execute(sa.select(QUERIES.c.query_id, QUERIES.c.text).where(QUERIES.c.text != ""))
        return {row.query_id: row.text for row in rows}


def graded(query: str, document: str, events: Sequence[CurrentGrade]) -> GradedEvent | None:
    if len(events) == 1:  # as nearly always
        [(_, _, _, _, part_end, assessor, _, grade, adjudicates)] = events
        if grade is None:
            return None
        if not adjudicates:
            return GradedEvent(query, document, {assessor: grade}, None, part_end > 0)
    settling = [event for event in events if event.adjudicates and event.grade is not None]
    settled = max(settling, key=lambda event: (not event.part_end, event.number)).grade if settling else None
    grades: dict[str, float] = {}
    parts = False
    for assessor in dict.fromkeys(event.assessor for event in sorted(events, key=itemgetter(0))):
        mine = [event for event in events if event.assessor == assessor and not event.adjudicates]
        own = [(event.grade, event.part_end) for event in mine if event.grade is not None]
        whole = [(grade, end) for grade, end in own if not end]
        if own:
            parts = parts or not whole
            grades[assessor] = max(grade for grade, _ in whole or own)
    return GradedEvent(query, document, grades, settled, parts) if grades or settled is not None else None


def known_assessors(connection: Any) -> dict[str, str]:
    """By name, of which kind each assessor was first."""
    # One step along the index for each assessor: reading all of it would take long.
    kinds: dict[str, str] = {}
    lowest, name = sa.select(sa.func.min(EVENTS.c.assessor)), ""
    while (name := connection.execute(lowest.where(EVENTS.c.assessor > name)).scalar()) is not None:
        first = sa.select(EVENTS.c.kind).where(EVENTS.c.assessor == name).order_by(EVENTS.c.number).limit(1)
        kinds[name] = connection.execute(first).scalar_one()
    return kinds


def chosen_assessors(source: str, assessors: Iterable[str], connection: Any) -> tuple[list[str], dict[str, str]]:
    """Names of assessors, each once, and all that there are; an error for one who has judged nothing."""
    names = list(dict.fromkeys([assessors] if isinstance(assessors, str) else assessors))
    known = known_assessors(connection)
    refuse_unknown(source, names, known)
    return names, known


def _refuse_other_kinds(connection: Any, source: str, named: Mapping[str, str], kinds: Sequence[str]) -> None:
    for name, kind in named.items():
        if kind in kinds:
            continue
        some = sa.select(EVENTS.c.number).where(EVENTS.c.assessor == name, EVENTS.c.kind.in_(kinds)).limit(1)
        if connection.execute(some).first() is None:
            every = list(dict.fromkeys([*(other for other in named.values() if other in kinds), kind]))
            fact = f"{name}'s grades are of the kind '{kind}', which was not selected."
            raise InputError(source, fact, hint=f"add {given('kinds', every)}")


def other_kinds(store: StoredJudgments, kinds: Sequence[str]) -> str:
    """A hint that there are judgments of other kinds; empty if there are none."""
    with store._reading() as connection:
        others = sorted({kind for kind in known_assessors(connection).values() if kind not in kinds})
    if not others:
        return ""
    return f"there are some of the kind {', '.join(map(str, others))}: add {given('kinds', others)}"


def conflicts(store: StoredJudgments, assessors: Iterable[str] | None, kinds: Iterable[str]) -> list[Conflict]:
    differing = [
        Conflict(query, document, grades)
        for query, document, grades, settled, _ in graded_documents(store, assessors, tuple(kinds), differently=True)
        if settled is None and len(set(grades.values())) > 1
    ]

    def widest_first(conflict: Conflict) -> tuple[float, str, str]:
        grades = conflict.grades.values()
        return min(grades) - max(grades), conflict.query_id, conflict.doc_id

    return sorted(differing, key=widest_first)


def by_stratum(store: StoredJudgments, wanted: JudgmentView) -> tuple[ByStratum, str]:
    """A stratum is a part of a query's pool of which a random sample is to be judged, or all of it."""
    by_query, provenance = merged(store, wanted._replace(pooled=True))
    with store._reading() as connection:
        known = strata_of_queries(connection)
    if not known:
        hint = f"cranfield pool {store.name} QUERIES RUNS --sample-below 20, then judge; or take AP or nDCG"
        fact = "its documents have no strata, because they were judged without a pool."
        raise InputError(store.name, fact, hint=hint)
    strata: ByStratum = {}
    for query, grades in by_query.items():
        of_document = known.get(query, {})
        for document, grade in grades.items():
            strata.setdefault(query, {}).setdefault(of_document.get(document, OUTSIDE), {})[document] = grade
    return strata, provenance


def with_texts(store: StoredJudgments, wanted: JudgmentView) -> tuple[list[tuple[str, ...]], str]:
    """All documents that have a text, whoever judged them: id, title, text, url and image."""
    columns = [DOCUMENTS.c[name] for name in ("doc_id", "title", "text", "url", "image")]
    with store._reading() as connection:
        rows = connection.execute(sa.select(*columns).where(sa.or_(columns[1] != "", columns[2] != "")))
        return [tuple(row) for row in rows], ""


class MarkedPassage(NamedTuple):
    """A grade of a part of a document, from character `start` to before `end`; both are None for all of it."""

    query_id: str
    doc_id: str
    start: int | None
    end: int | None
    grade: float


def marked_in(store: StoredJudgments, wanted: JudgmentView) -> tuple[list[MarkedPassage], str]:
    """All grades of parts, and of documents of which no part has one; and how the choice appears in a signature."""
    rule = find_rule(wanted.merge or MAJORITY, store.name).merge
    kinds = BY_PEOPLE if wanted.kinds is None else wanted.kinds
    chosen = EVENTS.c.kind.in_([checked_kind(kind, store.name) for kind in kinds])
    passages: list[MarkedPassage] = []
    judges: set[str] = set()
    with store._reading() as connection:
        if wanted.assessors is not None:
            names, _ = chosen_assessors(store.name, wanted.assessors, connection)
            chosen = chosen & EVENTS.c.assessor.in_(names)
        for query, document, events in standing(connection, chosen):
            judges.update(event.assessor for event in events)
            parts: dict[tuple[int, int], list[float]] = {}
            for event in events:
                if event.grade is not None and not event.adjudicates:
                    parts.setdefault((event.part_start, event.part_end), []).append(event.grade)
            if len(parts) > 1:  # a grade of a part says more than a grade of the document
                parts.pop((0, 0), None)
            for (start, end), grades in sorted(parts.items()):
                passages.append(MarkedPassage(query, document, start if end else None, end or None, rule(grades)))
    return passages, f"judges:{len(judges)}|merge:{wanted.merge or MAJORITY}"
