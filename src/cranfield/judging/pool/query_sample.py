"""Random samples of queries that people judge completely, while a model judges all: drawn, recorded, and read.

Queries are drawn by a random order that depends on the seed alone, so a larger sample contains the smaller one. The
sample is recorded with all queries it was drawn from: only such a sample can correct a model. The store itself selects
the pooled documents, and only counts and grades leave it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import sqlalchemy as sa

from cranfield.errors import InputError, given
from cranfield.judging.pool.choice import COMPLETE
from cranfield.judging.store.event_log import CurrentEvents, CurrentGrade, not_undone, now, standing
from cranfield.judging.store.merging import BY_PEOPLE, NOT_BY_PEOPLE
from cranfield.judging.store.random_orders import drawn
from cranfield.judging.store.schema import EVENTS, QUERY_SAMPLES, SAMPLED_QUERIES, WAITING
from cranfield.judging.store.views import ByQuery, graded
from cranfield.words import count

_GRADE, _JUDGE = 7, 9  # columns of what is read: those of CurrentGrade, and the judge
# A model judges what waits, all but what a sample of documents left out.
_IS_POOLED = (WAITING.c.assessors > 0) | WAITING.c.stratum.startswith(COMPLETE)


class QuerySample(NamedTuple):
    seed: int
    at: str
    drawn: frozenset[str]  # those that people judge completely
    others: frozenset[str]  # those that it was drawn from, besides

    @property
    def queries(self) -> frozenset[str]:
        return self.drawn | self.others


def read_sample(connection: sa.Connection) -> QuerySample | None:
    last = connection.execute(sa.select(QUERY_SAMPLES).order_by(QUERY_SAMPLES.c.number.desc()).limit(1)).one_or_none()
    if last is None:
        return None
    rows = sa.select(SAMPLED_QUERIES.c.query_id, SAMPLED_QUERIES.c.drawn).where(SAMPLED_QUERIES.c.sample == last.number)
    of_drawn: dict[bool, set[str]] = {True: set(), False: set()}
    for query, is_drawn in connection.execute(rows):
        of_drawn[bool(is_drawn)].add(query)
    return QuerySample(last.seed, last.at, frozenset(of_drawn[True]), frozenset(of_drawn[False]))


def drawn_queries() -> sa.Select[tuple[str]]:
    last = sa.select(sa.func.max(QUERY_SAMPLES.c.number)).scalar_subquery()
    return sa.select(SAMPLED_QUERIES.c.query_id).where(SAMPLED_QUERIES.c.sample == last, SAMPLED_QUERIES.c.drawn)


def sample_for(
    before: QuerySample | None, queries: Sequence[str], size: int, seed: int, source: str
) -> QuerySample | None:
    """A new one, the existing one, or a larger one that contains it; a size of 0 keeps what there is."""
    if before is not None:
        _check_same_queries(before, queries, source, all_of_them=size > 0)
        if size in (0, len(before.drawn)) and (not size or seed == before.seed):
            return before
        if seed != before.seed:
            fact = f"its sample of {len(before.drawn)} queries was drawn with seed {before.seed}, not {seed}; with "
            fact += "several draws, one could pick the most convenient."
            raise InputError(source, fact, hint=f"use {given('seed', before.seed)}, or another store")
        if size < len(before.drawn):
            fact = f"its sample has {len(before.drawn)} queries already, and a sample cannot shrink."
            raise InputError(source, fact, hint=f"use {given('sample', len(before.drawn))} or more")
    if not size:
        return None
    if size > len(queries):
        fact = f"a sample of {size} cannot be drawn from {count(len(queries), 'query', 'queries')}."
        raise InputError(source, fact, hint=f"use {given('sample', len(queries))} or fewer")
    chosen = frozenset(drawn(queries, size, "query sample", seed))
    return QuerySample(seed, now(), chosen, frozenset(queries) - chosen)


def _check_same_queries(before: QuerySample, queries: Sequence[str], source: str, *, all_of_them: bool) -> None:
    new = [query for query in queries if query not in before.queries]
    gone = len(before.queries) - (len(queries) - len(new)) if all_of_them else 0
    if new or gone:
        changes = [f"{len(new)} are new" if new else "", f"{gone} are missing" if gone else ""]
        fact = f"its sample was drawn from {count(len(before.queries), 'query', 'queries')}, but these are different: "
        fact += f"{' and '.join(filter(None, changes))}."
        raise InputError(source, fact, hint="pool the same queries, or use another store for others")


def write_sample(connection: sa.Connection, sample: QuerySample) -> None:
    if sample == read_sample(connection):
        return
    [number] = connection.execute(
        QUERY_SAMPLES.insert().returning(QUERY_SAMPLES.c.number), {"seed": sample.seed, "at": sample.at}
    ).one()
    rows = [
        {"sample": number, "query_id": query, "drawn": is_drawn}
        for is_drawn, queries in ((True, sample.drawn), (False, sample.others))
        for query in sorted(queries)
    ]
    connection.execute(SAMPLED_QUERIES.insert(), rows)


def pool_sizes(connection: Any, sample: QuerySample) -> dict[str, int]:
    """By query, how many documents a model judges. They are counted in the store: millions would take long to read."""
    documents = sa.func.count(WAITING.c.doc_id.distinct())
    rows = sa.select(WAITING.c.query_id, documents).where(_IS_POOLED).group_by(WAITING.c.query_id)
    counted = dict(connection.execute(rows).all())
    return {query: counted.get(query, 0) for query in sample.queries}


def pooled_of_drawn(connection: Any, sample: QuerySample) -> dict[str, set[str]]:
    documents: dict[str, set[str]] = {query: set() for query in sample.drawn}
    pairs = sa.select(WAITING.c.query_id, WAITING.c.doc_id).where(WAITING.c.query_id.in_(drawn_queries()))
    for query, document in connection.execute(pairs.where(_IS_POOLED)):
        documents[query].add(document)
    return documents


@dataclass(slots=True)
class ModelGrades:
    """A model's grades of pooled documents, and how many of them it gave, by the way it was asked."""

    grades: ByQuery
    judges: Counter[str] = field(default_factory=Counter)


def read_model(connection: Any, sample: QuerySample, model: str) -> ModelGrades:
    item = (WAITING.c.query_id == EVENTS.c.query_id) & (WAITING.c.doc_id == EVENTS.c.doc_id)
    pooled = sa.exists(sa.select(WAITING.c.number).where(item, _IS_POOLED))
    wanted = EVENTS.c.kind.in_(NOT_BY_PEOPLE) & (EVENTS.c.assessor == model) & pooled
    by_model = ModelGrades({query: {} for query in sample.queries})
    for query, document, rows in CurrentEvents(wanted, more=(EVENTS.c.judge,)).read(connection):
        events: list[Any] = rows
        if query not in by_model.grades:
            continue
        if len(events) == 1 and events[0][_GRADE] is not None:  # as nearly always
            by_model.grades[query][document] = events[0][_GRADE]
            by_model.judges[events[0][_JUDGE]] += 1
            continue
        # It judged parts of the document, or could not judge it.
        of_document = graded(query, document, [CurrentGrade(*event[:_JUDGE]) for event in events])
        grade = None if of_document is None else max(of_document.grades.values(), default=of_document.settled)
        if grade is not None:
            by_model.judges.update(event[_JUDGE] for event in events)
            by_model.grades[query][document] = float(grade)
    return by_model


@dataclass(slots=True)
class PeopleGrades:
    """People's grades of the pooled documents of sampled queries."""

    grades: ByQuery
    names: set[str] = field(default_factory=set)
    not_judged: set[tuple[str, str]] = field(default_factory=set)  # documents that they saw and could not judge
    unused: set[str] = field(default_factory=set)  # queries that they judged although these were not drawn


def read_people(
    connection: Any,
    sample: QuerySample,
    pooled: Mapping[str, set[str]],
    people: Sequence[str] | None,
    rule: Callable[[Sequence[float]], float],
) -> PeopleGrades:
    wanted = EVENTS.c.kind.in_(BY_PEOPLE)
    if people is not None:
        wanted = wanted & (EVENTS.c.assessor.in_(people) | EVENTS.c.adjudicates)
    by_people = PeopleGrades({query: {} for query in sample.drawn})
    for query, document, events in standing(connection, wanted, EVENTS.c.query_id.in_(drawn_queries())):
        by_people.names.update(event.assessor for event in events)
        if document not in pooled[query]:
            continue
        of_document = graded(query, document, events)
        if of_document is None:
            by_people.not_judged.add((query, document))
        else:
            settled = of_document.settled
            grade = float(rule(list(of_document.grades.values()))) if settled is None else settled
            by_people.grades[query][document] = grade
    others = sa.select(EVENTS.c.query_id).distinct().where(wanted, not_undone())
    by_people.unused.update(query for (query,) in connection.execute(others) if query not in sample.drawn)
    return by_people
