"""Which of the documents that runs return are to be judged, in which order, and why."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import count
from types import MappingProxyType
from typing import NamedTuple

from cranfield.errors import InputError, given
from cranfield.judging.pool.order import FoundByRuns, GradesSoFar, Order, RankedPool, rankings
from cranfield.judging.pool.orders import DEPTH, find_order
from cranfield.judging.store.random_orders import ENDS, SAMPLE, drawn, place

COMPLETE = "depth"  # the prefix of strata that are judged completely
NAMED = 3  # runs that the reason of a document names


class PoolPlan(NamedTuple):
    depth: int
    sample_below: int
    sample_depth: int
    limit: int | None
    overlap: float
    seed: int
    sample: int = 0  # queries that people judge completely
    order: str | None = None

    @property
    def deepest(self) -> int:
        return max(self.depth, self.sample_depth) if self.sample_below else self.depth

    def check(self) -> None:
        for name in ("depth", "sample_below", "sample_depth", "limit", "sample"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
                raise InputError("pool", "is not a whole number from 0.", parameter=name, value=value)
        if not self.depth and not self.sample_below:
            hint = f"give a depth, or {given('sample_below')}"
            raise InputError("pool", "depth is 0, so nothing is pooled.", hint=hint)
        if self.sample_below and self.sample_depth <= self.depth:
            fact = f"a sample from below rank {self.depth} down to rank {self.sample_depth} is empty."
            raise InputError("pool", fact, hint=f"{given('sample_depth')} must be larger than the depth")
        if self.limit is not None and self.sample_below:
            fact = "a sample that is limited by rank is no longer random."
            raise InputError("pool", fact, hint="leave one of them out")
        if self.sample and self.sample_below:
            fact = "sampled queries are judged completely, so their documents cannot be sampled as well."
            raise InputError("pool", fact, hint=f"leave out {given('sample')}, or {given('sample_below')}")
        if self.limit == 0:
            raise InputError("pool", "limit is 0, so nothing is pooled.", hint="leave it out for no limit")
        if self.order is not None:
            find_order(self.order)
            if self.sample_below:
                fact = "a sample from below the depth is drawn at random, so it cannot have another order."
                raise InputError("pool", fact, hint="leave out the order or the sample; uniform is a random order")
        if not isinstance(self.overlap, int | float) or not 0 <= self.overlap <= 1:
            raise InputError("pool", "is not a share from 0 to 1.", parameter="overlap", value=self.overlap)


_NONE: Mapping[str, str] = MappingProxyType({})


class PoolOfQuery(NamedTuple):
    """What happens to the documents that runs return for a query, and why some of them wait."""

    waiting: dict[str, str]
    pooled: int
    judged: int
    position: dict[str, int]  # of those that wait in a certain order, from 0
    strata: Mapping[str, str] = _NONE  # also of those for models or not drawn, and of those judged for an earlier pool
    not_drawn: Mapping[str, str] = _NONE
    sampled: int = 0
    beyond_limit: int = 0
    for_models: Mapping[str, str] = _NONE  # with a sample of queries, the documents that only models judge


def choose(
    query: str,
    returned: FoundByRuns,
    judged: set[str],
    plan: PoolPlan,
    known: Mapping[str, str],
    wanted: Sequence[str] | None,
) -> PoolOfQuery:
    """Choose from the documents that runs return for a query, of which some are judged.

    known: the strata of earlier pools
    wanted: the unjudged documents that are within the limit, in order; None for all, in any order
    """
    best = {document: min(ranks.values()) for document, ranks in returned.items()}
    first = [document for document, rank in best.items() if rank <= plan.depth]
    below = [document for document, rank in best.items() if rank > plan.depth]
    sample = set(drawn(below, plan.sample_below, SAMPLE, plan.seed, query)) if plan.sample_below else set()
    unjudged = [document for document in first if document not in judged]
    waiting = unjudged if wanted is None else [document for document in wanted if best[document] <= plan.depth]
    beyond = len(unjudged) - len(waiting)
    sampled = [document for document in below if document in sample and document not in judged]
    not_drawn = [document for document in below if document not in sample and document not in judged]
    both = judged & known.keys()
    to_rank = f"sample down to rank {plan.sample_depth} of"
    return PoolOfQuery(
        waiting={
            **{document: _why(f"first {plan.depth} of", returned[document], plan.depth) for document in waiting},
            **{document: _why(to_rank, returned[document], plan.deepest) for document in sampled},
        },
        not_drawn={document: _why(f"not drawn: {to_rank}", returned[document], plan.deepest) for document in not_drawn},
        strata={
            **{document: _first_stratum(known.get(document, ""), plan) for document in waiting},
            **{document: _first_stratum(known[document], plan) for document in first if document in both},
            **dict.fromkeys((*sampled, *not_drawn), _sampled_stratum(known, plan)),
            **{document: known[document] for document in (*sampled, *not_drawn) if document in known},
        },
        pooled=len(returned) - beyond,
        judged=sum(document in judged for document in returned),
        sampled=len(sampled),
        beyond_limit=beyond,
        position={document: number for number, document in enumerate(wanted or ()) if plan.order is not None},
    )


def choose_completely(
    returned: FoundByRuns,
    judged: set[str],
    plan: PoolPlan,
    known: Mapping[str, str],
    wanted: Sequence[str] | None,
    *,
    by_people: bool,
) -> PoolOfQuery:
    """People judge it all, or models alone, who also judge what people did: values must rest on the same documents."""
    first = [document for document, ranks in returned.items() if min(ranks.values()) <= plan.depth]
    why = {document: _why(f"first {plan.depth} of", returned[document], plan.depth) for document in first}
    waiting = {document for document in first if document not in judged} if by_people else set()
    return PoolOfQuery(
        waiting={document: why[document] for document in first if document in waiting},
        strata={document: _first_stratum(known.get(document, ""), plan) for document in first},
        pooled=len(first),
        judged=sum(document in judged for document in first),
        position={document: number for number, document in enumerate(wanted or ())},
        for_models={document: why[document] for document in first if document not in waiting},
    )


def _first_stratum(before: str, plan: PoolPlan) -> str:
    """The stratum of a document that is certainly judged: it leaves any stratum from which documents are drawn."""
    return before if before.startswith(COMPLETE) else f"{COMPLETE} {plan.depth}"


def _sampled_stratum(known: Mapping[str, str], plan: PoolPlan) -> str:
    """Documents of an earlier pool stay in their stratum, even if it went as deep: they had another chance."""
    name = f"{plan.depth + 1} to {plan.sample_depth}"
    taken = set(known.values())
    return next(stratum for n in count(1) if (stratum := name if n == 1 else f"{name} ({n})") not in taken)


def _why(what: str, ranks: Mapping[str, int], depth: int) -> str:
    return named_in(what, [run for run, rank in ranks.items() if rank <= depth])


def named_in(what: str, found_by: Iterable[str]) -> str:
    runs = list(found_by)
    more = f" and {len(runs) - NAMED} more" if len(runs) > NAMED else ""
    return f"{what} {', '.join(runs[:NAMED])}{more}"


def assessors_of(query: str, document: str, plan: PoolPlan) -> int:
    """Two for a random share of the documents, which is the same every time."""
    return 2 if plan.overlap and place("overlap", plan.seed, query, document) < plan.overlap * ENDS else 1


def choose_all(
    returned: Mapping[str, FoundByRuns],
    grades: GradesSoFar,
    plan: PoolPlan,
    strata: Mapping[str, Mapping[str, str]],
    drawn: Container[str] | None = None,
) -> dict[str, PoolOfQuery]:
    """strata: those of earlier pools; drawn: the queries that people judge completely, None where none were drawn."""
    order = DEPTH if plan.order is None else find_order(plan.order)
    judged = {query: set(grades.get(query, ())) for query in returned}
    first: Mapping[str, list[str]] = {}
    if plan.order is not None or plan.limit is not None:
        ranked = RankedPool({query: rankings(its) for query, its in returned.items()}, plan.depth, plan.seed)
        first = order.begin(ranked, grades).next_of_each(plan.limit)
    if order.follows_grades:
        return {query: _by_grades(its, judged[query], first[query], order) for query, its in returned.items()}
    if drawn is not None:
        return {
            query: choose_completely(
                its, judged[query], plan, strata.get(query, {}), first.get(query), by_people=query in drawn
            )
            for query, its in returned.items()
        }
    if order.samples and plan.limit is not None:  # from the first rank on: documents not drawn belong to the pool
        plan = plan._replace(depth=0, sample_below=plan.limit, sample_depth=plan.depth, limit=None)
    return {
        query: choose(query, its, judged[query], plan, strata.get(query, {}), first.get(query))
        for query, its in returned.items()
    }


def _by_grades(returned: FoundByRuns, judged: set[str], first: list[str], order: Order) -> PoolOfQuery:
    """What an order chose by the grades so far. It has no stratum: the chances of being chosen were unequal."""
    unjudged = sum(document not in judged for document in returned)
    return PoolOfQuery(
        waiting={document: named_in(f"order {order.name}:", returned[document]) for document in first},
        pooled=len(returned) - unjudged + len(first),
        judged=len(returned) - unjudged,
        beyond_limit=unjudged - len(first),
        position={document: number for number, document in enumerate(first)},
    )
