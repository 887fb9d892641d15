"""pool(store, queries, runs) → Pooled: the first documents of runs, except judged ones, wait to be judged."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cranfield.errors import InputError
from cranfield.evaluation.naming import named_runs
from cranfield.judging.pool.choice import PoolOfQuery, PoolPlan, assessors_of, choose_all
from cranfield.judging.pool.order import chosen_queries, returned_first
from cranfield.judging.pool.orders import find_order
from cranfield.judging.store.checked_input import checked_id, text_rows
from cranfield.judging.store.events import StoredDocument, StoredQuery
from cranfield.judging.store.merging import BY_PEOPLE
from cranfield.judging.store.store import Store, open_store
from cranfield.words import count

if TYPE_CHECKING:
    from cranfield.judging.pool.query_sample import QuerySample

_NOBODY = 0  # the number of assessors for documents of the pool that are not to be judged


@dataclass(frozen=True, slots=True)
class Pooled:
    """The result of `pool`.

    store: its name
    queries, runs: how many
    documents: in the pool, judged or not; a document of two queries counts twice
    judged: those that people have judged already
    waiting: those that are to be judged
    waiting_queries: the number of queries that they belong to
    new: those of `waiting` that did not wait before
    twice: those of `waiting` that are for two assessors
    sampled: those of `waiting` that were drawn from below the depth
    not_drawn: in the pool, but neither judged nor to be judged: they were not drawn from below the depth
    beyond_limit: unjudged documents that the limit, or an order that follows grades, left out; not in the pool
    chosen_by: the order of judging, if it follows grades, so that its choice is a biased sample. Otherwise ""
    empty: queries for which no run returned anything
    without_text: documents to be judged that have no text in the store
    unknown: by run, how many of its queries are not among the queries, if any
    drawn: of a pool with a sample of queries, those that people judge completely
    seed: the seed of the sample
    for_models: documents of the other queries, which only models are to judge

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = pool(f"{folder}/judgments.db", {"q1": "cats"}, {"bm25": {"q1": ["a", "b"], "q9": ["c"]}}, 1)
    >>> found.waiting, found.unknown
    (1, {'bm25': 1})
    """

    store: str
    queries: int
    runs: int
    documents: int
    judged: int
    waiting: int
    waiting_queries: int
    new: int
    twice: int
    sampled: int
    not_drawn: int
    beyond_limit: int
    chosen_by: str
    empty: tuple[str, ...] = field(repr=False)
    without_text: tuple[str, ...] = field(repr=False)
    unknown: Mapping[str, int] = field(repr=False)
    drawn: tuple[str, ...] = field(default=(), repr=False)
    seed: int = 0
    for_models: int = 0

    def __repr__(self) -> str:
        documents, queries = count(self.documents, "document"), count(self.queries, "query", "queries")
        return f"<Pooled {documents} of {queries}: {self.waiting:,} to judge>"


def pool(
    store: Store | str | os.PathLike[str],
    queries: Mapping[Any, Any] | Iterable[Any],
    runs: Mapping[str, Any] | Iterable[Any],
    depth: int = 10,
    *,
    documents: Mapping[Any, Any] | Iterable[Any] = (),
    query_ids: Sequence[str] | None = None,
    sample: int = 0,
    sample_below: int = 0,
    sample_depth: int = 100,
    limit: int | None = None,
    order: str | None = None,
    overlap: float = 0.0,
    seed: int = 0,
    format: str | None = None,
) -> Pooled:
    """Collect the first documents of all runs for judging, except those that people have judged already.

    store: a `Store`, or where it is; a file that does not exist yet is created.
    queries: what `Store.add_queries` takes. All of them go into the store.
    runs: {name: run}, or a list of runs or paths; a run is what `evaluate` takes. Ties are broken as there.
    depth: how many documents of each ranking; 0 for only a sample.
    documents: texts, as `Store.add_documents` takes them; only those of documents to be judged are kept.
    query_ids: pool only these queries.
    sample: this many queries, drawn at random, are for people, who judge their documents completely; those of the other
        queries are for models alone. The store records what was drawn, see `corrected_judgments`. Once drawn, a sample
        holds for later pools; with the same seed a larger one contains it.
    sample_below: also this many documents of each query, drawn at random from those whose best rank is below the depth.
        The others down there belong to the pool, too: see `Store.to_strata` and `pooled` of `Store.view`.
    sample_depth: the last rank that documents are drawn from.
    limit: at most this many unjudged documents of each query: the first ones of the order, by default those with the
        best rank in any run.
    order: the name of an order of judging, such as "depth" or "mtf"; `cranfield pool --help` lists them. By default
        documents come at random. Orders that follow grades use those in the store: pool, judge, and pool again for the
        next ones. Their choice is a biased sample: never estimate from it how much is relevant.
    overlap: the share of the documents that is for two assessors.
    seed: the seed of the random draws; with the same seed the same queries and documents are drawn.
    format: of the runs, if it cannot be detected.
    Returns a `Pooled`: what waits now, and what to check.

    >>> import tempfile
    >>> runs = {"bm25": {"q1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}}, "dense": {"q1": ["d4", "d1"]}}
    >>> with tempfile.TemporaryDirectory() as folder, open_store(f"{folder}/judgments.db", create=True) as store:
    ...     event = store.judge("q1", "d2", 1, assessor="ann")
    ...     found = pool(store, {"q1": "cats", "q2": "dogs"}, runs, 2, documents={"d1": "Cats sleep."})
    >>> found.documents, found.judged, found.waiting, found.empty, found.without_text
    (3, 1, 2, ('q2',), ('d4',))
    """
    plan = PoolPlan(depth, sample_below, sample_depth, limit, overlap, seed, sample, order)
    plan.check()
    with ExitStack() as opened:
        if not isinstance(store, Store):
            store = opened.enter_context(open_store(store, create=True))
        texts = list(text_rows(queries, StoredQuery, store.name))
        return _pooled(store, texts, named_runs(runs), plan, documents, query_ids, format)


def _pooled(
    store: Store,
    texts: Sequence[Mapping[str, str]],
    runs: Mapping[str, Any],
    plan: PoolPlan,
    documents: Any,
    query_ids: Sequence[str] | None,
    format: str | None,
) -> Pooled:
    from cranfield.judging.store.views import merged_grades
    from cranfield.judging.store.waiting import strata_of_queries

    known = [row["query_id"] for row in texts]
    wanted = known if query_ids is None else chosen_queries(query_ids, known, store.name)
    with store._reading() as connection:
        sample, strata = query_sample(store, connection, wanted, plan), strata_of_queries(connection)
    returned, unknown = returned_first(runs, known, wanted, plan.deepest, format)
    grades = merged_grades(store, "majority", BY_PEOPLE)
    choices = choose_all(returned, grades, plan, strata, None if sample is None else sample.drawn)
    to_judge = {document for chosen in choices.values() for document in (*chosen.waiting, *chosen.for_models)}
    kept = list(text_rows(_only(documents, to_judge), StoredDocument, store.name))
    new, without_text = _write(store, texts, kept, choices, to_judge, plan, sample)
    waiting = [(query, document) for query, chosen in choices.items() for document in chosen.waiting]
    return Pooled(
        store=store.name,
        queries=len(wanted),
        runs=len(runs),
        documents=sum(chosen.pooled for chosen in choices.values()),
        judged=sum(chosen.judged for chosen in choices.values()),
        waiting=len(waiting),
        waiting_queries=sum(bool(chosen.waiting) for chosen in choices.values()),
        new=new,
        twice=sum(assessors_of(*item, plan) == 2 for item in waiting),
        sampled=sum(chosen.sampled for chosen in choices.values()),
        not_drawn=sum(len(chosen.not_drawn) for chosen in choices.values()),
        beyond_limit=sum(chosen.beyond_limit for chosen in choices.values()),
        chosen_by=_chosen_by(plan),
        empty=tuple(query for query in wanted if not returned[query]),
        without_text=without_text,
        unknown=unknown,
        drawn=tuple(query for query in wanted if sample and query in sample.drawn),
        seed=plan.seed if sample is None else sample.seed,
        for_models=sum(
            len(chosen.for_models) for query, chosen in choices.items() if sample and query in sample.others
        ),
    )


def query_sample(store: Store, connection: Any, queries: Sequence[str], plan: PoolPlan) -> QuerySample | None:
    from cranfield.judging.pool.query_sample import read_sample, sample_for

    sample = sample_for(read_sample(connection), queries, plan.sample, plan.seed, store.name)
    if sample is not None and (plan.sample_below or plan.limit is not None):
        what = "sample_below" if plan.sample_below else "limit"
        fact = f"it has a sample of queries that are judged completely, so {what} cannot be used."
        raise InputError(store.name, fact, hint=f"leave out {what}, or use another store")
    if sample is not None and plan.order is not None and find_order(plan.order).follows_grades:
        fact = f"it has a sample of queries that are judged completely, so {plan.order} chooses nothing."
        raise InputError(store.name, fact, hint="leave out the order, or use another store")
    return sample


def _chosen_by(plan: PoolPlan) -> str:
    return find_order(plan.order).chosen_by if plan.order is not None else ""


def add_missing_texts(store: Store, documents: Callable[[], Iterable[Any]], others: Iterable[str] = ()) -> int:
    """Give texts to the documents that wait, and to `others`, where they have none; returns how many still have none.

    documents: reads what `Store.add_documents` takes; not called where nothing is missing
    """
    import sqlalchemy as sa

    from cranfield.judging.store.contents import without_text
    from cranfield.judging.store.schema import WAITING, is_open

    with store._reading() as connection:
        waiting = connection.execute(sa.select(WAITING.c.doc_id).where(is_open(WAITING.c.remaining)).distinct())
        wanted = {*waiting.scalars(), *others}
        lacking = without_text(connection, wanted)
    if not lacking:
        return 0
    store.add_documents(list(_only(documents(), {*lacking})))
    with store._reading() as connection:
        return len(without_text(connection, lacking))


def _only(documents: Any, wanted: set[str]) -> Iterator[Any]:
    for pair in documents.items() if isinstance(documents, Mapping) else documents:
        name = pair if isinstance(pair, str) else pair[0]
        if (name if isinstance(name, str) else checked_id(name, "the documents", "a document")) in wanted:
            yield pair


def _write(
    store: Store,
    texts: Iterable[Mapping[str, str]],
    documents: Iterable[Mapping[str, str]],
    choices: Mapping[str, PoolOfQuery],
    to_judge: set[str],
    plan: PoolPlan,
    sample: QuerySample | None,
) -> tuple[int, tuple[str, ...]]:
    from cranfield.judging.pool.query_sample import write_sample
    from cranfield.judging.store.contents import add_documents, add_queries, without_text
    from cranfield.judging.store.waiting import WaitingRow, add_waiting

    def to_be_judged() -> Iterator[WaitingRow]:
        for query, chosen in choices.items():
            for document, why in chosen.waiting.items():
                checked = checked_id(document, store.name, f"query '{query}'")
                assessors = assessors_of(query, document, plan)
                stratum, position = chosen.strata.get(document, ""), chosen.position.get(document)
                yield WaitingRow(query, checked, 0, 0, why, assessors, stratum, _chosen_by(plan), position)

    def only_pooled() -> Iterator[WaitingRow]:
        for query, chosen in choices.items():
            for document, stratum in chosen.strata.items():
                if document not in chosen.waiting:
                    checked = checked_id(document, store.name, f"query '{query}'")
                    why = chosen.not_drawn.get(document) or chosen.for_models.get(document, "")
                    yield WaitingRow(query, checked, 0, 0, why, _NOBODY, stratum)

    with store._writing("the pool") as connection:
        add_queries(connection, texts)
        if sample is not None:
            write_sample(connection, sample)
        add_documents(connection, documents)
        new = add_waiting(connection, to_be_judged())
        add_waiting(connection, only_pooled())
        return new, without_text(connection, to_judge)
