"""Reading a store to correct a model: its grades of all queries, and people's of the sampled ones.

The store itself selects the pooled documents, and only counts and grades leave it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from cranfield.judging.pool.choice import COMPLETE
from cranfield.judging.pool.corrected_judgments import MODEL
from cranfield.judging.pool.query_sample import QuerySample, drawn_queries
from cranfield.judging.store.event_log import CurrentEvents, CurrentGrade, not_undone, standing
from cranfield.judging.store.merging import BY_PEOPLE
from cranfield.judging.store.schema import EVENTS, WAITING
from cranfield.judging.store.views import ByQuery, graded

_GRADE, _JUDGE = 7, 9  # columns of what is read: those of CurrentGrade, and the judge
# A model judges what waits, all but what a sample of documents left out.
_IS_POOLED = (WAITING.c.assessors > 0) | WAITING.c.stratum.startswith(COMPLETE)


@dataclass(slots=True)
class ModelGrades:
    """A model's grades of pooled documents, and how many of them it gave, by the way it was asked."""

    grades: ByQuery
    judges: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class PeopleGrades:
    """People's grades of the pooled documents of sampled queries.

    names: who they are
    not_judged: documents that they saw and could not judge
    unused: queries that they judged although these were not drawn
    """

    grades: ByQuery
    names: set[str] = field(default_factory=set)
    not_judged: set[tuple[str, str]] = field(default_factory=set)
    unused: set[str] = field(default_factory=set)


def pool_sizes(connection: Any, sample: QuerySample) -> dict[str, int]:
    """By query, how many documents a model judges. They are counted in the store: millions would take long to read."""
    documents = sa.func.count(WAITING.c.doc_id.distinct())
    rows = sa.select(WAITING.c.query_id, documents).where(_IS_POOLED).group_by(WAITING.c.query_id)
    counted = dict(connection.execute(rows).all())
    return {query: counted.get(query, 0) for query in sample.queries}


def pooled_of_drawn(connection: Any, sample: QuerySample) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {query: set() for query in sample.drawn}
    of_drawn = WAITING.c.query_id.in_(drawn_queries())
    for query, document in connection.execute(
        sa.select(WAITING.c.query_id, WAITING.c.doc_id).where(_IS_POOLED, of_drawn)
    ):
        found[query].add(document)
    return found


def read_model(connection: Any, sample: QuerySample, model: str) -> ModelGrades:
    item = (WAITING.c.query_id == EVENTS.c.query_id) & (WAITING.c.doc_id == EVENTS.c.doc_id)
    pooled = sa.exists(sa.select(WAITING.c.number).where(item, _IS_POOLED))
    wanted = (EVENTS.c.kind == MODEL) & (EVENTS.c.assessor == model) & pooled
    found = ModelGrades({query: {} for query in sample.queries})
    rows: Iterator[tuple[str, str, list[Any]]] = CurrentEvents(wanted, more=(EVENTS.c.judge,)).read(connection)
    for query, document, grades_given in rows:
        grades = found.grades.get(query)
        if grades is None:
            continue
        if len(grades_given) == 1 and grades_given[0][_GRADE] is not None:  # as nearly always
            grades[document] = grades_given[0][_GRADE]
            found.judges[grades_given[0][_JUDGE]] += 1
        else:
            _add_model(found, query, document, grades_given)
    return found


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
    found = PeopleGrades({query: {} for query in sample.drawn})
    for query, document, grades_given in standing(connection, wanted, EVENTS.c.query_id.in_(drawn_queries())):
        found.names.update(each.assessor for each in grades_given)
        if document in pooled[query]:
            _add_people(found, query, document, grades_given, rule)
    others = sa.select(EVENTS.c.query_id).distinct().where(wanted, not_undone())
    found.unused.update(query for (query,) in connection.execute(others) if query not in sample.drawn)
    return found


def _add_model(found: ModelGrades, query: str, document: str, grades_given: Sequence[Any]) -> None:
    """The same where it judged parts of a document, or could not judge it."""
    of_document = graded(query, document, [CurrentGrade(*each[:_JUDGE]) for each in grades_given])
    grade = None if of_document is None else max(of_document.grades.values(), default=of_document.settled)
    if grade is not None:
        found.judges.update(each[_JUDGE] for each in grades_given)
        found.grades[query][document] = float(grade)


def _add_people(
    found: PeopleGrades,
    query: str,
    document: str,
    grades_given: Sequence[CurrentGrade],
    rule: Callable[[Sequence[float]], float],
) -> None:
    of_document = graded(query, document, grades_given)
    if of_document is None:
        found.not_judged.add((query, document))
    elif of_document.settled is not None:
        found.grades[query][document] = of_document.settled
    else:
        found.grades[query][document] = float(rule(list(of_document.grades.values())))
