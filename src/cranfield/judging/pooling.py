"""pool(store, queries, runs) → Pooled: what runs return first, less what is judged, waits to be judged."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cranfield.errors import InputError
from cranfield.evaluation.naming import named_runs
from cranfield.judging.checked_input import checked_id, text_rows
from cranfield.judging.kinds import BY_PEOPLE
from cranfield.judging.ordered_pool import choose_all
from cranfield.judging.ordering import find_order
from cranfield.judging.pool_choice import FoundByRuns, PoolOfQuery, PoolPlan, assessors_of
from cranfield.judging.store import DOCUMENT_FIELDS, QUERY_FIELDS, Store, open_store
from cranfield.layout import count
from cranfield.ranks.first_documents import first_documents
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.overlap import SHOWN, SourceIds
from cranfield.ranks.policy import Policy
from cranfield.ranks.ranking import scan_source
from cranfield.read.source import open_source

if TYPE_CHECKING:
    from cranfield.judging.sampling import QuerySample

_NOBODY = 0  # assessors of what belongs to the pool and is not to be judged


@dataclass(frozen=True, slots=True)
class Pooled:
    """What a pool put into a store.

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
    chosen_by: the order of judging, if it follows grades: what it chooses is a biased sample. Otherwise ""
    empty: queries for which no run returned anything
    without_text: documents to be judged that have no text in the store
    unknown: by run, the number of its queries that are not among the queries, if there are any
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
    depth: how many documents of each ranking; 0 for a sample alone.
    documents: texts, as `Store.add_documents` takes them; only those of documents to be judged are kept.
    query_ids: pool only these queries.
    sample: this many queries, drawn at random, are for people, who judge their documents completely; those of the other
        queries are for models alone. The store records what was drawn, see `evaluate_corrected`. Once drawn, a sample
        holds for later pools; with the same seed a larger one contains it.
    sample_below: also this many documents of each query, drawn at random from those whose best rank is below the depth.
        The others down there belong to the pool, too: see `Store.to_strata` and `pooled` of `Store.view`.
    sample_depth: the last rank that documents are drawn from.
    limit: at most this many unjudged documents of each query: the first ones of the order, by default those with the
        best rank in any run.
    order: the name of an order of judging, such as "depth" or "mtf"; `cranfield pool --help` lists them. By default
        documents come at random. Orders that follow grades take those that are in the store: pool, judge, and pool
        again for the next ones. What they choose is a biased sample: never estimate from it how much is relevant.
    overlap: the share of the documents that is for two assessors.
    seed: the seed of the random draws; with the same seed the same queries and documents are drawn.
    format: of the runs, if it cannot be detected.
    Returns a `Pooled`: what waits now, and what to look at.

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
        texts = list(text_rows(queries, QUERY_FIELDS, "query_id", store.name))
        return _pool(store, texts, named_runs(runs), plan, documents, query_ids, format)


def _pool(
    store: Store,
    texts: Sequence[Mapping[str, str]],
    runs: Mapping[str, Any],
    plan: PoolPlan,
    documents: Any,
    query_ids: Sequence[str] | None,
    format: str | None,
) -> Pooled:
    known = [row["query_id"] for row in texts]
    wanted = known if query_ids is None else chosen_queries(query_ids, known, store.name)
    sample = _sampled(store, wanted, plan)
    found, unknown = returned_first(runs, known, wanted, plan.deepest, format)
    choices = choose_all(found, _grades(store), plan, _strata(store), None if sample is None else sample.drawn)
    to_judge = {document for each in choices.values() for document in (*each.waiting, *each.for_models)}
    kept = list(text_rows(_only(documents, to_judge), DOCUMENT_FIELDS, "doc_id", store.name))
    new, without_text = _write(store, texts, kept, choices, to_judge, plan, sample)
    waiting = [(query, document) for query, each in choices.items() for document in each.waiting]
    return Pooled(
        store=store.name,
        queries=len(wanted),
        runs=len(runs),
        documents=sum(each.pooled for each in choices.values()),
        judged=sum(each.judged for each in choices.values()),
        waiting=len(waiting),
        waiting_queries=sum(bool(each.waiting) for each in choices.values()),
        new=new,
        twice=sum(assessors_of(*item, plan) == 2 for item in waiting),
        sampled=sum(each.sampled for each in choices.values()),
        not_drawn=sum(len(each.not_drawn) for each in choices.values()),
        beyond_limit=sum(each.beyond_limit for each in choices.values()),
        chosen_by=_chosen_by(plan),
        empty=tuple(query for query in wanted if not found[query]),
        without_text=without_text,
        unknown=unknown,
        drawn=tuple(query for query in wanted if sample and query in sample.drawn),
        seed=plan.seed if sample is None else sample.seed,
        for_models=sum(len(each.for_models) for query, each in choices.items() if sample and query in sample.others),
    )


def _sampled(store: Store, queries: Sequence[str], plan: PoolPlan) -> QuerySample | None:
    """The sample of queries that the store has, or gets."""
    from cranfield.judging.sampling import read_sample, sample_for

    with store._reading() as connection:
        sample = sample_for(read_sample(connection), queries, plan.sample, plan.seed, store.name)
    if sample is not None and (plan.sample_below or plan.limit is not None):
        what = "sample_below" if plan.sample_below else "limit"
        fact = f"it has a sample of queries that are judged completely, so {what} cannot be used."
        raise InputError(store.name, fact, hint=f"leave out {what}, or use another store")
    if sample is not None and plan.order is not None and find_order(plan.order).follows_grades:
        fact = f"it has a sample of queries that are judged completely, so {plan.order} chooses nothing."
        raise InputError(store.name, fact, hint="leave out the order, or use another store")
    return sample


def chosen_queries(query_ids: Sequence[str], known: Sequence[str], source: str) -> list[str]:
    """Some of the queries, each once; an error for one that is not among them."""
    names = list(dict.fromkeys([query_ids] if isinstance(query_ids, str) else query_ids))
    there = set(known)
    for name in names:
        if name not in there:
            raise InputError(source, f"query '{name}' is not among the queries.", hint=f"there are {_some(known)}")
    return names


def _some(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names[:SHOWN]) + (", …" if len(names) > SHOWN else "")


def returned_first(
    runs: Mapping[str, Any], known: Sequence[str], wanted: Sequence[str], depth: int, format: str | None = None
) -> tuple[dict[str, FoundByRuns], dict[str, int]]:
    """What runs return first for the wanted queries; and of each run how many of its queries are not known at all."""
    nothing: dict[str, dict[str, float]] = {query: {} for query in known}
    asked = {query: nothing[query] for query in wanted}
    found: dict[str, FoundByRuns] = {query: {} for query in wanted}
    unknown: dict[str, int] = {}
    unjudged, policy = Judgments(nothing, name="the queries"), Policy()
    for name, run in runs.items():
        source = open_source(run, "run", format)
        # The scan finds what is wrong with a run; what comes after it reads only what it needs.
        scanned = scan_source(source, unjudged, policy)
        if (scanned.retrieved < 0).all():
            theirs = _some(SourceIds(source, unjudged, policy).queries(SHOWN + 1))
            fact = f"no query of the run is among the queries: run: {theirs}; queries: {_some(known)}."
            raise InputError(source.name, fact if scanned.extra else "it contains no rankings.")
        if scanned.extra:
            unknown[name] = scanned.extra
        for query, documents in first_documents(source, asked, depth, policy).items():
            ranks = found[query]
            for rank, document in enumerate(documents, 1):
                ranks.setdefault(document, {})[name] = rank
    return found, unknown


def _grades(store: Store) -> dict[str, dict[str, float]]:
    """What people have judged; where they differ, by majority."""
    from cranfield.judging.views import merged_grades

    return merged_grades(store, "majority", BY_PEOPLE)


def _chosen_by(plan: PoolPlan) -> str:
    return find_order(plan.order).chosen_by if plan.order is not None else ""


def _strata(store: Store) -> dict[str, dict[str, str]]:
    """The strata that earlier pools put documents into."""
    from cranfield.judging.waiting import strata_of_queries

    with store._reading() as connection:
        return strata_of_queries(connection)


def _only(documents: Any, wanted: set[str]) -> Iterator[Any]:
    """The texts of some documents, of any kind of texts."""
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
    """Everything at once, or nothing; how many documents did not wait before, and which have no text."""
    from cranfield.judging.sampling import write_sample
    from cranfield.judging.store_contents import add_documents, add_queries, without_text
    from cranfield.judging.waiting import WaitingRow, add_waiting

    def to_be_judged() -> Iterator[WaitingRow]:
        for query, each in choices.items():
            for document, why in each.waiting.items():
                checked = checked_id(document, store.name, f"query '{query}'")
                assessors = assessors_of(query, document, plan)
                stratum, position = each.strata.get(document, ""), each.position.get(document)
                yield WaitingRow(query, checked, 0, 0, why, assessors, stratum, _chosen_by(plan), position)

    def only_pooled() -> Iterator[WaitingRow]:
        for query, each in choices.items():
            for document, stratum in each.strata.items():
                if document not in each.waiting:
                    checked = checked_id(document, store.name, f"query '{query}'")
                    why = each.not_drawn.get(document) or each.for_models.get(document, "")
                    yield WaitingRow(query, checked, 0, 0, why, _NOBODY, stratum)

    with store._writing("the pool") as connection:
        add_queries(connection, texts)
        if sample is not None:
            write_sample(connection, sample)
        add_documents(connection, documents)
        new = add_waiting(connection, to_be_judged())
        add_waiting(connection, only_pooled())
        return new, without_text(connection, to_judge)
