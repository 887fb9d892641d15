"""The two views of a store that correct a model: its grades of all queries, and people's of a random sample of them.

Both hold the same documents, those of the pool, and the store is read once for both. What would make the correction
wrong is refused: `_check` has the list.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from cranfield.comparison.corrected import CorrectionBasis
from cranfield.comparison.correcting import FEWEST
from cranfield.errors import InputError
from cranfield.judging.kinds import BY_PEOPLE, KINDS
from cranfield.judging.merging import find_rule
from cranfield.judging.pool_choice import DEPTH
from cranfield.judging.store import Store
from cranfield.judging.views import ByQuery, graded, known_assessors, refuse_unknown
from cranfield.layout import count
from cranfield.ranks.judgments import Judgments

if TYPE_CHECKING:
    from cranfield.judging.sampling import QuerySample

PEOPLE = "people"  # all assessors of these kinds
MODEL = "model"
MOST_MISSING = 0.05  # of a model's grades: more are no accident
_ASSESSOR, _KIND, _GRADE, _JUDGE = 5, 6, 7, 9  # columns of what is read: those of Said, and the judge


class SampledViews(NamedTuple):
    """The judgments of a model for all queries, those of people for the sampled ones, and what they rest on."""

    by_model: Judgments
    by_people: Judgments
    basis: CorrectionBasis


@dataclass(slots=True)
class _Read:
    """What was read of a store."""

    by_model: ByQuery
    by_people: ByQuery
    judges: Counter[str] = field(default_factory=Counter)
    people: set[str] = field(default_factory=set)
    not_judged: set[tuple[str, str]] = field(default_factory=set)
    unused: set[str] = field(default_factory=set)


def sampled_views(store: Store, model: str, people: str | Iterable[str], merge: str) -> SampledViews:
    """Read both views.

    people: "people" for all of them, or their names
    """
    from cranfield.judging.sampling import read_sample

    names = None if people == PEOPLE else list(dict.fromkeys([people] if isinstance(people, str) else people))
    rule = find_rule(merge, store.name).merge
    with store._reading() as connection:
        sample = read_sample(connection)
        if sample is None:
            raise InputError(
                store.name,
                "no random sample of queries was drawn in it, and only such a sample corrects a model.",
                hint=f"cranfield pool {store.name} QUERIES RUN… --sample 20, then judge what was drawn",
            )
        _check_names(store.name, known_assessors(connection), model, names)
        pooled = _pooled(connection, sample)
        read = _read(connection, sample, pooled, model, names, rule)
    _check(store.name, read, sample, pooled, model)
    [judge] = read.judges
    of_sample = [document for query in sample.drawn for document in pooled[query]]
    basis = CorrectionBasis(
        store=store.name,
        model=model,
        judge=judge,
        people=tuple(names) if names else BY_PEOPLE,
        merge=merge,
        sampled=len(sample.drawn),
        queries=len(sample.queries),
        seed=sample.seed,
        drawn_at=sample.at,
        pooled=sum(map(len, pooled.values())),
        missing=sum(map(len, pooled.values())) - sum(map(len, read.by_model.values())),
        not_judged=len(of_sample) - sum(map(len, read.by_people.values())),
        unused=len(read.unused),
    )
    said = f"model:{model}|judge:{basis.told_judge}"
    return SampledViews(
        Judgments(read.by_model, name=store.name, provenance=said),
        Judgments(read.by_people, name=store.name, provenance=f"judges:{len(read.people)}|merge:{merge}"),
        basis,
    )


def _check_names(source: str, known: Mapping[str, str], model: str, people: Sequence[str] | None) -> None:
    """Refuse people who are called models, and models that are called people."""
    refuse_unknown(source, [model, *(people or ())] if people is None or people else [], known)
    if known[model] != MODEL:
        raise InputError(
            source,
            f"{model}'s grades are of the kind '{known[model]}', not of a model.",
            hint=f"name a model; grades of one are brought in with: cranfield convert FILE {source} --assessor NAME "
            f"--kind {MODEL}",
        )
    for name in people or ():
        if not KINDS[known[name]].people:
            raise InputError(
                source,
                f"{name}'s grades are of the kind '{known[name]}', and only people correct a model.",
                hint="name people, or leave their names out: --correct-with people",
            )


def _pooled(connection: Any, sample: QuerySample) -> dict[str, set[str]]:
    """By query, the documents that a model judges: all but those that a sample of documents left out."""
    import sqlalchemy as sa

    from cranfield.judging.recording import BATCH
    from cranfield.judging.schema import WAITING

    found: dict[str, set[str]] = {query: set() for query in sample.queries}
    wanted = (WAITING.c.assessors > 0) | WAITING.c.stratum.startswith(DEPTH)
    rows = sa.select(WAITING.c.query_id, WAITING.c.doc_id).where(wanted)
    with connection.execute(rows, execution_options={"yield_per": BATCH}) as result:
        for query, document in chain.from_iterable(result.partitions()):
            if query in found:
                found[query].add(document)
    return found


def _read(
    connection: Any,
    sample: QuerySample,
    pooled: Mapping[str, set[str]],
    model: str,
    people: Sequence[str] | None,
    rule: Callable[[Sequence[float]], float],
) -> _Read:
    from cranfield.judging.recording import StandingEvents
    from cranfield.judging.schema import EVENTS

    of_people = EVENTS.c.kind.in_(BY_PEOPLE)
    if people is not None:
        of_people = of_people & (EVENTS.c.assessor.in_(people) | EVENTS.c.adjudicates)
    wanted = ((EVENTS.c.kind == MODEL) & (EVENTS.c.assessor == model)) | of_people
    found = _Read({query: {} for query in sample.queries}, {query: {} for query in sample.drawn})
    rows: Iterator[tuple[str, str, list[Any]]] = StandingEvents(wanted, more=(EVENTS.c.judge,)).read(connection)
    for query, document, said in rows:
        if len(said) == 1 and said[0][_KIND] == MODEL and said[0][_GRADE] is not None:  # as nearly always
            if document in pooled.get(query, ()):
                found.by_model[query][document] = said[0][_GRADE]
                found.judges[said[0][_JUDGE]] += 1
            continue
        by_model = [each for each in said if each[_KIND] == MODEL]
        if by_model and document in pooled.get(query, ()):
            _add_model(found, query, document, by_model)
        if len(by_model) < len(said):
            _add_people(found, query, document, [each for each in said if each[_KIND] != MODEL], pooled, rule)
    return found


def _add_model(found: _Read, query: str, document: str, said: Sequence[Any]) -> None:
    """The same where it judged parts of a document, or could not judge it, or people judged it as well."""
    of_document = graded(query, document, [_as_said(each) for each in said])
    grade = None if of_document is None else max(of_document.grades.values(), default=of_document.settled)
    if grade is not None:
        found.judges.update(each[_JUDGE] for each in said)
        found.by_model[query][document] = float(grade)


def _add_people(
    found: _Read,
    query: str,
    document: str,
    said: Sequence[Any],
    pooled: Mapping[str, set[str]],
    rule: Callable[[Sequence[float]], float],
) -> None:
    if query not in found.by_people:
        found.unused.add(query)
        return
    found.people.update(each[_ASSESSOR] for each in said)
    if document not in pooled[query]:
        return
    of_document = graded(query, document, [_as_said(each) for each in said])
    if of_document is None:
        found.not_judged.add((query, document))
    elif of_document.settled is not None:
        found.by_people[query][document] = of_document.settled
    else:
        found.by_people[query][document] = float(rule(list(of_document.grades.values())))


def _as_said(row: Any) -> Any:
    from cranfield.judging.recording import Said

    return Said(*row[:_JUDGE])


def _check(source: str, read: _Read, sample: QuerySample, pooled: Mapping[str, set[str]], model: str) -> None:
    """Refuse what would make the correction wrong."""
    if len(sample.drawn) < FEWEST:
        raise InputError(
            source,
            f"its sample has {count(len(sample.drawn), 'query', 'queries')}, and fewer than {FEWEST} cannot correct a "
            "model.",
            hint=f"enlarge it: cranfield pool {source} QUERIES RUN… --sample {2 * FEWEST} --seed {sample.seed}",
        )
    if model in read.people:
        raise InputError(
            source,
            f"some of {model}'s grades are recorded as those of a person.",
            hint=f"bring a model's grades in with --kind {MODEL}, under a name that no person has",
        )
    _check_people(source, read, sample, pooled)
    _check_model(source, read, pooled, model)


def _check_people(source: str, read: _Read, sample: QuerySample, pooled: Mapping[str, set[str]]) -> None:
    left = {
        query: sum((query, each) not in read.not_judged for each in pooled[query] - read.by_people[query].keys())
        for query in sample.drawn
    }
    open_queries = sum(each > 0 for each in left.values())
    if open_queries:
        documents = sum(left.values())
        raise InputError(
            source,
            f"{count(documents, 'document')} of {open_queries} of the {len(sample.drawn)} sampled queries "
            f"{'is' if documents == 1 else 'are'} still to be judged by people.",
            hint=f"cranfield judge {source}",
        )


def _check_model(source: str, read: _Read, pooled: Mapping[str, set[str]], model: str) -> None:
    again = f"cranfield judge {source} --assessor {model}"
    if len(read.judges) > 1:
        ways = ", ".join(f"{judge[:8] or 'imported'}: {number:,}" for judge, number in read.judges.most_common())
        raise InputError(
            source,
            f"{model} was asked in {len(read.judges)} ways, and its grades are not those of one judge ({ways}).",
            hint="let it judge all documents in one way, or under another name",
        )
    unjudged = [query for query, documents in pooled.items() if documents and not read.by_model[query]]
    if unjudged:
        raise InputError(
            source,
            f"{model} has not judged {len(unjudged)} of the {len(pooled)} queries that the sample was drawn from.",
            hint=again,
        )
    total = sum(map(len, pooled.values()))
    missing = total - sum(map(len, read.by_model.values()))
    if missing > MOST_MISSING * total:
        raise InputError(
            source,
            f"{model} has no grade for {missing:,} of {total:,} documents; up to {MOST_MISSING:.0%} could be left out.",
            hint=again,
        )
