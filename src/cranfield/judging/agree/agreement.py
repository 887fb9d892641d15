"""agreement(store) → Agreement: how well assessors agree beyond chance."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import inf
from typing import Any, NamedTuple

import numpy as np

from cranfield.comparison.correlation import tau
from cranfield.drawing import as_html, as_text
from cranfield.errors import ComparisonError, InputError, choice_hint
from cranfield.evaluation.evaluating import evaluate_runs
from cranfield.io.mappings import id_text
from cranfield.judging.agree.statistics import STATISTICS, CountedGrades, Estimate, Grid, JudgedItem, by_grade, estimate
from cranfield.judging.agree.verdict import VERDICT, RunOrder, agreement_sentence, order_sentence
from cranfield.judging.agree.with_people import ModelCase, ModelDifference, model_cases, model_difference
from cranfield.judging.store.checked_input import checked_grade
from cranfield.judging.store.merging import BY_PEOPLE, KINDS, MODEL, PERSON
from cranfield.judging.store.store import Store, open_store
from cranfield.ranks.columns import Numbers
from cranfield.ranks.judgments import Judgments
from cranfield.words import count

MOST_SENTENCES = 3  # about models and people


def order_of_runs(
    items: Sequence[JudgedItem], pair: tuple[str, str], runs: Any, measure: str, format: str | None = None
) -> RunOrder | None:
    """By the grades of each of two assessors; None where they judged nothing in common."""
    both = [item for item in items if all(name in item.grades for name in pair)]
    if not both:
        return None
    columns: list[dict[str, float]] = []
    for name in pair:
        by_query: dict[str, dict[str, float]] = {}
        for item in both:
            by_query.setdefault(item.query_id, {})[item.doc_id] = item.grades[name]
        evaluated = evaluate_runs(Judgments(by_query, name=name), runs, [measure], format=format, check_ids=False)
        columns.append({run: evaluation[measure] for run, evaluation in evaluated.items()})
    means = {run: (columns[0][run], columns[1][run]) for run in columns[0]}
    one, other = np.array([*means.values()]).T
    moves = np.abs(_ranks(one) - _ranks(other))
    most = int(moves.argmax())
    return RunOrder(measure, tau(one, other), ([*means][most], int(moves[most])), means)


def _ranks(values: Numbers) -> Numbers:
    """1 for the best; runs that are level share the best of their ranks."""
    rounded = np.round(values, 12)
    return np.asarray(1 + (rounded[None, :] > rounded[:, None]).sum(axis=1), dtype=np.float64)


TABLE = "the judgments"


class QueryAgreement(NamedTuple):
    """One query: the documents judged by several assessors, the share agreed on, and how far apart grades are."""

    documents: int
    agreement: float
    distance: float


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Two assessors; the rows of the table are the first, and `order` is there if runs were given.

    model: which of them is a model, if the other one is a person
    too_high, too_low: then, some documents to read, which the model grades higher or lower than the person
    """

    assessors: tuple[str, str]
    documents: int
    queries: int
    statistics: Mapping[str, Estimate]
    by_grade: Mapping[float, Estimate]
    table: tuple[tuple[int, ...], ...]
    order: RunOrder | None = None
    model: str = ""
    too_high: tuple[ModelCase, ...] = ()
    too_low: tuple[ModelCase, ...] = ()

    def __repr__(self) -> str:
        return f"<PairAgreement of {' and '.join(self.assessors)} on {count(self.documents, 'document')}>"


@dataclass(frozen=True, slots=True, repr=False)
class Agreement:
    """How well assessors agree: all together, each pair, each grade, each query, and where they differ most.

    assessors, grades: all of them, in order
    documents, queries: those that at least two assessors judged
    statistics: agreement, kappa, linear kappa, quadratic kappa, nominal alpha, ordinal alpha and interval alpha; for
        more than two assessors a kappa is the mean of those of the pairs
    by_grade: if one assessor gave this grade, how likely another one did
    worst: the documents whose grades are furthest apart
    texts: of the queries, where a store has them
    models: every two models, and which of them agrees better with people; the intervals draw the same queries for both

    >>> ann = {"q1": {"a": 0, "b": 1, "c": 1}, "q2": {"a": 1, "b": 0}}
    >>> bob = {"q1": {"a": 0, "b": 1, "c": 0}, "q2": {"a": 1, "b": 0}}
    >>> found = agreement({"ann": ann, "bob": bob})
    >>> found
    <Agreement of 2 assessors on 5 documents of 2 queries>
    >>> found.documents, found.queries, round(found.statistics["agreement"].value, 2)
    (5, 2, 0.8)
    >>> found.pairs[0].table, found.worst[0].doc_id
    (((2, 0), (1, 2)), 'c')
    >>> found.sentence[:38]
    'Too few documents judged by both to te'
    >>> sorted(found.to_dict())[:3], found.to_json()[:13]
    (['assessors', 'by_grade', 'by_query'], '{"sentence": ')
    """

    assessors: tuple[str, ...]
    grades: tuple[float, ...]
    documents: int
    queries: int
    statistics: Mapping[str, Estimate]
    by_grade: Mapping[float, Estimate]
    pairs: tuple[PairAgreement, ...]
    by_query: Mapping[str, QueryAgreement]
    worst: tuple[JudgedItem, ...]
    texts: Mapping[str, str] = field(default_factory=dict)
    models: tuple[ModelDifference, ...] = ()

    def __repr__(self) -> str:
        shared = f"{count(self.documents, 'document')} of {count(self.queries, 'query', 'queries')}"
        return f"<Agreement of {len(self.assessors)} assessors on {shared}>"

    @property
    def sentence(self) -> str:
        """How well they agree, no more than its interval allows, and whether the order of the runs depends on it.

        Among several assessors, a model and a person have a sentence of their own: models that agree with each other
        say nothing about people.
        """
        values = self._of_models() if len(self.pairs) > 1 else []
        if not values:
            everyone = self.documents, self.queries, len(self.assessors)
            values = [agreement_sentence(self.statistics[VERDICT], *everyone)]
        order = order_sentence([(pair.assessors, pair.order) for pair in self.pairs if pair.order is not None])
        return " ".join([*values, order]).strip()

    def _of_models(self) -> list[str]:
        """Of the models that agree best with a person."""
        mixed = [pair for pair in self.pairs if pair.model]
        best = sorted(mixed, key=lambda pair: -_or_lowest(pair.statistics[VERDICT].value))
        sentences = []
        for pair in best[:MOST_SENTENCES]:
            [person] = {*pair.assessors} - {pair.model}
            both = (pair.model, person)
            sentences.append(agreement_sentence(pair.statistics[VERDICT], pair.documents, pair.queries, 2, both))
        if more := len(best) - len(sentences):
            sentences.append(
                f"{count(more, 'other pair')} of a model and a person {'is' if more == 1 else 'are'} below."
            )
        return sentences

    def _repr_html_(self) -> str:
        return as_html("text", str(self))

    def __str__(self) -> str:
        return as_text("judging_text.agreement_text", self)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain dicts, ready for JSON."""
        return {
            "sentence": self.sentence,
            "assessors": list(self.assessors),
            "grades": list(self.grades),
            "documents": self.documents,
            "queries": self.queries,
            "statistics": _plain(self.statistics),
            "by_grade": _plain(self.by_grade),
            "pairs": [
                {
                    "assessors": list(pair.assessors),
                    "documents": pair.documents,
                    "queries": pair.queries,
                    "statistics": _plain(pair.statistics),
                    "by_grade": _plain(pair.by_grade),
                    "table": [list(row) for row in pair.table],
                    **({"order": pair.order._asdict()} if pair.order else {}),
                    **(_plain_cases(pair) if pair.model else {}),
                }
                for pair in self.pairs
            ],
            "by_query": _plain(self.by_query),
            "worst": [{**item._asdict(), "grades": dict(item.grades)} for item in self.worst],
            "texts": dict(self.texts),
            "models": [
                {
                    "sentence": compared.sentence,
                    **compared._asdict(),
                    "alphas": [alpha._asdict() for alpha in compared.alphas],
                    "difference": compared.difference._asdict(),
                }
                for compared in self.models
            ],
        }

    def to_json(self) -> str:
        """The same as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)


def _or_lowest(value: float | None) -> float:
    return -inf if value is None else value


def _plain(named: Mapping[Any, NamedTuple]) -> dict[str, Any]:
    return {f"{name:g}" if isinstance(name, float) else name: row._asdict() for name, row in named.items()}


def _plain_cases(pair: PairAgreement) -> dict[str, Any]:
    cases = {"too_high": pair.too_high, "too_low": pair.too_low}
    return {"model": pair.model, **{name: [case._asdict() for case in its] for name, its in cases.items()}}


def agreement(
    judgments: Any,
    assessors: Iterable[str] | None = None,
    *,
    runs: Any = None,
    measure: str = "nDCG@10",
    kinds: Iterable[str] = BY_PEOPLE,
    models: Iterable[str] = (),
    worst: int = 10,
    draws: int = 2000,
    seed: int = 0,
    format: str | None = None,
) -> Agreement:
    """How well assessors agree on the grades of documents that several of them judged.

    judgments: a store, its path or URL; {assessor: judgments} with anything that `Judgments.read` takes; or rows
        (query, document, assessor, grade).
    assessors: some of them.
    runs, measure: for each pair of assessors, whether their grades put these runs in the same order by this measure;
        runs are given as to `evaluate_runs`.
    kinds: of a store, which kinds of assessors; by default people.
    models: which assessors are models, unless a store knows it; those are compared with people.
    worst: how many documents to list, those with the widest apart grades first.
    draws, seed: of the queries, for the intervals.
    format: of the runs, if it cannot be detected.
    Returns an `Agreement`: the statistics of all together and of each pair, and the worst disagreements.

    >>> rows = [("q1", "a", "ann", 2), ("q1", "a", "bob", 2), ("q2", "b", "ann", 0), ("q2", "b", "bob", 1)]
    >>> round(agreement(rows).statistics["kappa"].value, 4)
    0.3333
    """
    for name, number, least in (("worst", worst, 0), ("draws", draws, 1)):
        if isinstance(number, bool) or not isinstance(number, int) or number < least:
            raise ComparisonError("is too small.", parameter=name, value=number, hint=f"give {least} or more")
    source, items, texts, others, kind_of = _items(judgments, assessors, tuple(kinds))
    known = sorted({name for item in items for name in item.grades})
    if len(known) < 2:
        nobody = (
            "nobody has judged anything yet." if not others else "nobody of the chosen kinds has judged anything yet."
        )
        fact = f"there is only one assessor to compare, {known[0]}." if known else nobody
        hint = others or "agreement needs two assessors who judged the same documents"
        raise InputError(source, fact, hint=hint)
    grid = Grid(items, known, source)
    if not grid.items:
        raise InputError(source, "no document was judged by two assessors.", hint="give some documents to two of them")
    pairs = tuple(_pair(grid, one, other, draws, seed) for one, other in grid.pairs())
    if runs is not None:
        runs = (
            dict(runs) if isinstance(runs, Mapping) else [runs] if isinstance(runs, str | os.PathLike) else list(runs)
        )
        pairs = tuple(
            replace(pair, order=order_of_runs(grid.items, pair.assessors, runs, measure, format)) for pair in pairs
        )
    kind_of = _kinds(known, kind_of, [models] if isinstance(models, str) else list(models), source)
    by_model = [name for name in known if not KINDS[kind_of[name]].people]
    people = [name for name in known if KINDS[kind_of[name]].people]
    pairs = _with_cases(judgments, grid, pairs, by_model, people, texts)
    counted = grid.of_all()
    together, of_grades = _estimates(counted, grid, draws, seed)
    return Agreement(
        assessors=grid.assessors,
        grades=tuple(grid.grades.tolist()),
        documents=len(grid.items),
        queries=len(grid.query_ids),
        statistics=together,
        by_grade=of_grades,
        pairs=pairs,
        by_query=_by_query(grid, counted),
        worst=tuple(_worst(grid.items, worst)),
        texts={query: texts[query] for query in grid.query_ids if query in texts},
        models=_compared_models(grid, by_model, people, draws, seed),
    )


def _kinds(known: Sequence[str], kinds: Mapping[str, str], models: Sequence[str], source: str) -> dict[str, str]:
    for name in models:
        if name not in known:
            raise InputError(source, f"there is no assessor '{name}'.", hint=choice_hint("there are", known, name))
    return {name: MODEL if name in models else kinds.get(name, PERSON) for name in known}


def _with_cases(
    judgments: Any,
    grid: Grid,
    pairs: tuple[PairAgreement, ...],
    models: Sequence[str],
    people: Sequence[str],
    texts: Mapping[str, str],
) -> tuple[PairAgreement, ...]:
    done: list[PairAgreement] = []
    for pair in pairs:
        [model, *others] = sorted(pair.assessors, key=lambda name: name not in models)
        if model in models and others[0] in people:
            high, low = (
                tuple(_described(judgments, model, cases, texts)) for cases in model_cases(grid.items, others[0], model)
            )
            pair = replace(pair, model=model, too_high=high, too_low=low)
        done.append(pair)
    return tuple(done)


def _described(judgments: Any, model: str, cases: Sequence[ModelCase], texts: Mapping[str, str]) -> Iterable[ModelCase]:
    """With the texts that a store has: of the query, the document's title, and the model's reason."""
    if not cases or not isinstance(judgments, Store | str | os.PathLike):
        return cases
    from cranfield.judging.models.ledger import reason_of, texts_of_documents

    with _opened(judgments) as store, store._reading() as connection:
        tasks = texts_of_documents(connection, [(case.query_id, case.doc_id) for case in cases])
        return [
            case._replace(
                query=texts.get(case.query_id, ""),
                title=task.title,
                reason=reason_of(connection, model, case.query_id, case.doc_id, case.model),
            )
            for case, task in zip(cases, tasks, strict=True)
        ]


def _compared_models(
    grid: Grid, models: Sequence[str], people: Sequence[str], draws: int, seed: int
) -> tuple[ModelDifference, ...]:
    columns = {name: at for at, name in enumerate(grid.assessors)}
    judges = [columns[name] for name in people]
    pairs = combinations((columns[name] for name in models), 2) if judges else ()
    compared = (model_difference(grid, pair, judges, draws, seed) for pair in pairs)
    return tuple(each for each in compared if each is not None)


def _opened(judgments: Any) -> AbstractContextManager[Store]:
    return nullcontext(judgments) if isinstance(judgments, Store) else open_store(judgments, read_only=True)


def _estimates(
    counted: CountedGrades, grid: Grid, draws: int, seed: int
) -> tuple[dict[str, Estimate], dict[float, Estimate]]:
    of_grades = by_grade(grid.grades)
    estimates = estimate(counted, [*STATISTICS.values(), *of_grades.values()], grid.grades, draws, seed)
    named = dict(zip(STATISTICS, estimates))
    return named, dict(zip(of_grades, estimates[len(named) :], strict=True))


def _pair(grid: Grid, one: int, other: int, draws: int, seed: int) -> PairAgreement:
    counted = grid.of_pair(one, other)
    statistics, of_grades = _estimates(counted, grid, draws, seed)
    table = tuple(map(tuple, counted.shares.sum(axis=0).astype(np.int64).tolist()))
    names = (grid.assessors[one], grid.assessors[other])
    return PairAgreement(names, counted.items, len(counted.query_ids), statistics, of_grades, table)


def _by_query(grid: Grid, counted: CountedGrades) -> dict[str, QueryAgreement]:
    apart = np.abs(grid.grades[:, None] - grid.grades[None, :])
    agreed = np.trace(counted.shares, axis1=1, axis2=2).tolist()
    distances = (counted.shares * apart).sum(axis=(1, 2)).tolist()
    sizes = np.bincount(grid.query, minlength=len(grid.query_ids)).tolist()
    rows = zip(grid.query_ids, sizes, agreed, distances, strict=True)
    return {query: QueryAgreement(size, same / size, distance / size) for query, size, same, distance in rows}


def _worst(items: Sequence[JudgedItem], most: int) -> list[JudgedItem]:
    """The furthest apart first: by the range of the grades, then by their spread."""

    def furthest_first(item: JudgedItem) -> tuple[float, float, str, str]:
        grades = list(item.grades.values())
        return min(grades) - max(grades), -float(np.var(grades)), item.query_id, item.doc_id

    return sorted((item for item in items if len(set(item.grades.values())) > 1), key=furthest_first)[:most]


def _items(
    judgments: Any, assessors: Iterable[str] | None, kinds: tuple[str, ...]
) -> tuple[str, list[JudgedItem], dict[str, str], str, dict[str, str]]:
    """The source's name, what was judged, the texts of queries, a hint about other kinds, and whose kind is known."""
    if isinstance(judgments, Store | str | os.PathLike):
        with _opened(judgments) as store:
            from cranfield.judging.store.views import graded_documents, known_assessors, other_kinds, query_texts

            documents = graded_documents(store, assessors, kinds)
            items = [JudgedItem(judged.query_id, judged.doc_id, judged.grades) for judged in documents]
            with store._reading() as connection:
                kind_of = known_assessors(connection)
            return store.name, items, query_texts(store), other_kinds(store, kinds), kind_of
    by_item = _of_mapping(judgments) if isinstance(judgments, Mapping) else _of_rows(judgments)
    if assessors is not None:
        chosen = list(assessors)
        known = {name for grades in by_item.values() for name in grades}
        for name in chosen:
            if name not in known:
                hint = choice_hint("there are", sorted(known), name)
                raise InputError(TABLE, f"there is no assessor '{name}'.", hint=hint)
        by_item = {key: {name: grades[name] for name in chosen if name in grades} for key, grades in by_item.items()}
    return TABLE, [JudgedItem(query, document, grades) for (query, document), grades in by_item.items()], {}, "", {}


ByItem = dict[tuple[str, str], dict[str, float]]


def _of_mapping(judgments: Mapping[Any, Any]) -> ByItem:
    by_item: ByItem = {}
    for name, qrels in judgments.items():
        assessor = id_text(name, TABLE, "an assessor")
        for query, graded in Judgments.read(qrels).by_query.items():
            for document, grade in graded.items():
                by_item.setdefault((query, document), {})[assessor] = grade
    return by_item


def _of_rows(rows: Iterable[Any]) -> ByItem:
    by_item: ByItem = {}
    for row in rows:
        if isinstance(row, str | bytes) or not isinstance(row, Sequence) or len(row) != 4:
            hint = "a row is (query, document, assessor, grade)"
            raise InputError(TABLE, f"{row!r:.60} is not a judgment.", hint=hint)
        query, document, assessor = (id_text(name, TABLE, f"{row!r:.60}") for name in row[:3])
        grade = checked_grade(row[3], TABLE)
        grades = by_item.setdefault((query, document), {})
        if assessor in grades:
            raise InputError(TABLE, f"'{assessor}' judges document '{document}' twice for query '{query}'.")
        if grade is not None:
            grades[assessor] = grade
    return by_item
