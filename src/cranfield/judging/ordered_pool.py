"""Which documents of a pool to judge, in a given order."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

from cranfield.errors import InputError
from cranfield.judging.ordering import DEPTH, Order, find_order
from cranfield.judging.ordering.order import GradesSoFar, RankedPool
from cranfield.judging.pool_choice import FoundByRuns, PoolOfQuery, PoolPlan, choose, choose_completely, named_in

KnownStrata = Mapping[str, Mapping[str, str]]


def choose_all(
    found: Mapping[str, FoundByRuns],
    grades: GradesSoFar,
    plan: PoolPlan,
    strata: KnownStrata,
    drawn: Container[str] | None = None,
) -> dict[str, PoolOfQuery]:
    """Choose from what runs return for all queries, some of it graded; `strata`: those of earlier pools.

    drawn: the queries that people judge completely; None where none were drawn
    """
    order = DEPTH if plan.order is None else find_order(plan.order)
    judged = {query: set(grades.get(query, ())) for query in found}
    first: Mapping[str, list[str]] = {}
    if plan.order is not None or plan.limit is not None:
        ranked = RankedPool({query: rankings(its) for query, its in found.items()}, plan.depth, plan.seed)
        first = order.begin(ranked, grades).next_of_each(plan.limit)
    if order.follows_grades:
        return {query: _by_grades(its, judged[query], first[query], order) for query, its in found.items()}
    if drawn is not None:
        return {
            query: choose_completely(
                its, judged[query], plan, strata.get(query, {}), first.get(query), by_people=query in drawn
            )
            for query, its in found.items()
        }
    taken = sampling(plan) if order.samples and plan.limit is not None else plan
    return {
        query: choose(query, its, judged[query], taken, strata.get(query, {}), first.get(query))
        for query, its in found.items()
    }


def rankings(found: FoundByRuns) -> dict[str, list[str]]:
    """The documents of each run, best first.

    >>> rankings({"d1": {"bm25": 2}, "d2": {"bm25": 1, "dense": 1}})
    {'bm25': ['d2', 'd1'], 'dense': ['d2']}
    """
    by_run: dict[str, dict[int, str]] = {}
    for document, ranks in found.items():
        for run, rank in ranks.items():
            by_run.setdefault(run, {})[rank] = document
    return {run: [its[rank] for rank in sorted(its)] for run, its in by_run.items()}


def pool_of_runs(runs: Mapping[str, Any], depth: int, seed: int, format: str | None = None) -> RankedPool:
    """What runs return first for all queries that any of them has."""
    from cranfield.judging.deciding.candidates import queries_of
    from cranfield.judging.pooling import returned_first

    if depth < 1:
        raise InputError("the runs", f"depth={depth} is not a rank.", hint="give 1 or more")
    queries = queries_of(runs, format)
    found, _ = returned_first(runs, queries, queries, depth, format)
    return RankedPool({query: rankings(its) for query, its in found.items()}, depth, seed)


def sampling(plan: PoolPlan) -> PoolPlan:
    """The plan whose limit is a random sample from the first rank on: documents not drawn belong to the pool."""
    return plan._replace(depth=0, sample_below=plan.limit or 0, sample_depth=plan.depth, limit=None)


def _by_grades(found: FoundByRuns, judged: set[str], first: list[str], order: Order) -> PoolOfQuery:
    """What an order chose by the grades so far. It has no stratum: the chances of being chosen were unequal."""
    unjudged = sum(document not in judged for document in found)
    return PoolOfQuery(
        waiting={document: named_in(f"order {order.name}:", found[document]) for document in first},
        not_drawn={},
        strata={},
        pooled=len(found) - unjudged + len(first),
        judged=len(found) - unjudged,
        sampled=0,
        beyond_limit=unjudged - len(first),
        position={document: number for number, document in enumerate(first)},
    )
