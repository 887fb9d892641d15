"""Orders of judging: which documents of a pool come first. Each order is an entry in ORDERS.

Most orders treat each query by itself. Such an order is a generator: it yields a document and receives whether it is
relevant, so its code reads like its description. To get the next documents, it is replayed from the beginning with the
grades so far, and the first ones without a grade are taken. So an order needs no memory of its own: with the same
grades and the same seed, it takes the same course.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from cranfield.errors import InputError, choice_hint
from cranfield.judging.pool.order import (
    FollowPlan,
    GradesSoFar,
    Order,
    OrderedPool,
    QueryDocument,
    RankedPool,
    RankedQuery,
    Steps,
    in_fixed_order,
    query_by_query,
)
from cranfield.judging.store.random_orders import SAMPLE, drawn, place

if TYPE_CHECKING:
    from cranfield.judging.decide.decision import Decision
    from cranfield.judging.pool.order import Followed
    from cranfield.judging.store.store import Store


def best_rank_first(ranked: RankedQuery) -> list[str]:
    """By the best rank in any run; documents of the same rank come at random."""
    best = ranked.best_ranks
    return sorted(best, key=lambda document: (best[document], place(ranked.query, document)))


DEPTH = Order(
    name="depth",
    meaning="the best rank in any run first",
    advice="new systems will be evaluated with the same judgments, and you can judge the pool down to some depth",
    begin=query_by_query(in_fixed_order(best_rank_first)),
)


def move_to_front(ranked: RankedQuery) -> Steps:
    """Go down the ranking of a run while its documents are relevant; after one that is not, its priority falls by 1.

    All runs begin with the same priority; the next one is drawn from those with the highest. A document whose grade is
    not known yet counts like one that is not relevant, so several documents at once come from several runs.
    """
    chance = ranked.chance()
    priority = dict.fromkeys(ranked.rankings, 0)
    rest = {run: iter(ranking) for run, ranking in ranked.rankings.items()}
    asked: set[str] = set()
    while priority:
        highest = max(priority.values())
        run = chance.choice([run for run, its in priority.items() if its == highest])
        for document in rest[run]:
            if document in asked:
                continue
            asked.add(document)
            if not (yield document):
                priority[run] -= 1
                break
        else:
            del priority[run]


MOVE_TO_FRONT = Order(
    name="mtf",
    meaning="move-to-front: stay with a run while it returns relevant documents",
    advice="you want many relevant documents early, by a method that is easy to explain",
    begin=query_by_query(move_to_front),
    follows_grades=True,
)


def best_mean(keep: float) -> Callable[[RankedQuery], Steps]:
    """Take the next document of the run with the largest mean of its Beta distribution; of several, one at random.

    Beta(1 + relevant, 1 + judged − relevant) has the mean (1 + relevant) / (2 + judged). A judgment counts for all runs
    that return the document.

    keep: how much of the earlier counts stays at each judgment: all (1) or nothing (0)
    """

    def steps(ranked: RankedQuery) -> Steps:
        chance = ranked.chance()
        relevant = dict.fromkeys(ranked.rankings, 0.0)
        judged = dict.fromkeys(ranked.rankings, 0.0)
        members = {run: set(ranking) for run, ranking in ranked.rankings.items()}
        rest = {run: list(reversed(ranking)) for run, ranking in ranked.rankings.items()}
        asked: set[str] = set()
        while True:
            for ranking in rest.values():
                while ranking and ranking[-1] in asked:
                    ranking.pop()
            means = {run: (1 + relevant[run]) / (2 + judged[run]) for run, ranking in rest.items() if ranking}
            if not means:
                return
            largest = max(means.values())
            run = chance.choice([run for run, its in means.items() if its == largest])
            document = rest[run].pop()
            asked.add(document)
            judged_relevant = yield document
            if judged_relevant is not None:
                for run, its in members.items():
                    if document in its:
                        relevant[run] = keep * relevant[run] + judged_relevant
                        judged[run] = keep * judged[run] + 1

    return steps


MAX_MEAN = Order(
    name="mm",
    meaning="bandit: the run with the largest share of relevant documents so far",
    advice="you want many relevant documents early, and some runs are better than others all the way down",
    begin=query_by_query(best_mean(keep=1)),
    follows_grades=True,
)


MAX_MEAN_LAST = Order(
    name="mm-ns",
    meaning="bandit: a run whose last judged document was relevant",
    advice="you want as many relevant documents as early as possible: it adapts as runs get worse further down",
    begin=query_by_query(best_mean(keep=0)),
    follows_grades=True,
)


BETA = 0.1
LEVEL = 1e-9  # scores with a smaller relative difference are equal


def largest_weight(ranked: RankedQuery) -> Steps:
    """Take the document with the largest Σ w ln(Z / rank) over the runs; of several, one at random.

    Z is the length of the longest ranking. A run that does not return a document has it at all ranks below its own,
    down to the number of documents of all runs, and takes the mean over these. Every weight begins with 1 and changes
    to w β^loss, where the loss is ½ ln(Z / rank), and less than 0 by as much if the document is relevant.
    """
    import numpy as np

    documents = sorted(ranked.best_ranks, key=lambda document: place("hedge", ranked.seed, ranked.query, document))
    column = {document: number for number, document in enumerate(documents)}
    longest = max(map(len, ranked.rankings.values()), default=1)
    by_rank = np.log(longest / np.arange(1, len(documents) + 1))
    votes = np.empty((len(ranked.rankings), len(documents)))  # ln(Z / rank): a line for each run
    for line, ranking in zip(votes, ranked.rankings.values(), strict=True):
        line[:] = by_rank[len(ranking) :].mean() if len(ranking) < len(documents) else 0.0
        line[[column[document] for document in ranking]] = by_rank[: len(ranking)]
    weights = np.ones(len(votes))
    left = np.ones(len(documents), dtype=np.bool_)
    while left.any():
        score = np.where(left, weights @ votes, -np.inf)
        best = score.max()
        chosen = int(np.argmax(score >= best - LEVEL * max(abs(best), 1.0)))
        left[chosen] = False
        relevant = yield documents[chosen]
        if relevant is not None:
            loss = (-0.5 if relevant else 0.5) * votes[:, chosen]
            weights = weights * BETA**loss
            weights /= weights.max()  # only their proportions matter


HEDGE = Order(
    name="hedge",
    meaning="documents ranked highest by the runs that did best so far",
    advice="you have many runs and want to follow those that agree with the judgments",
    begin=query_by_query(largest_weight),
    follows_grades=True,
)


def at_random(ranked: RankedQuery) -> list[str]:
    """In the random order in which a pool draws samples: a larger sample holds a smaller one."""
    return drawn(ranked.best_ranks, len(ranked.best_ranks), SAMPLE, ranked.seed, ranked.query)


UNIFORM = Order(
    name="uniform",
    meaning="a random sample, for xinfAP, infNDCG and statAP",
    advice="you want unbiased estimates for deep rankings, or of the share of relevant documents",
    begin=query_by_query(in_fixed_order(at_random)),
    samples=True,
)


@dataclass(frozen=True)
class UntilDecided:
    """A pool in the order of a decision. Some queries need more judgments than others."""

    decision: Decision
    queries: tuple[str, ...]

    def next(self, count: int) -> list[QueryDocument]:
        return [] if self.decision.look().done else self.decision.next(count)

    def next_of_each(self, count: int | None) -> dict[str, list[str]]:
        """So many times the number of queries, but of no query more than so many."""
        documents: dict[str, list[str]] = {query: [] for query in self.queries}
        most = self.decision.look().left if count is None else count * len(self.queries)
        for query, document in self.next(most):
            if count is None or len(documents[query]) < count:
                documents[query].append(document)
        return documents


def until_decided(pool: RankedPool, grades: GradesSoFar) -> OrderedPool:
    """The runs as a decision between the first and the others, by nDCG down to the depth of the pool."""
    from cranfield.judging.decide.decision import Decision

    runs: dict[str, dict[str, list[str]]] = {}
    for query, rankings in pool.by_query.items():
        for run, ranking in rankings.items():
            runs.setdefault(run, {})[query] = list(ranking)
    queries = [query for query, rankings in pool.by_query.items() if rankings]
    judged = {
        query: {document: grade for document, grade in known.items() if grade is not None}
        for query, known in grades.items()
    }
    known = judged if any(judged.values()) else None
    decision = Decision.of(runs, f"nDCG@{pool.depth}", known, depth=pool.depth, queries=queries, seed=pool.seed)
    return UntilDecided(decision, tuple(pool.by_query))


class DecidingOrder(Order):
    def follow(self, store: Store, runs: Mapping[str, Any], asked: FollowPlan) -> Followed:
        from cranfield.judging.decide.decide import FollowedDecision

        return FollowedDecision(store, self.beginning(store, runs, asked))

    def beginning(self, store: Store, runs: Mapping[str, Any], asked: FollowPlan) -> Callable[[Any], Decision]:
        """A function that makes the decision from the judgments so far, or from None."""
        from cranfield.judging.decide.decision import Decision, read_first
        from cranfield.measures import parse_measure

        measure = asked.measure or parse_measure(self.measure)
        read = read_first(runs, measure, asked.depth, format=asked.format)
        scale = [step.grade for step in store.scale]
        return partial(Decision.of, read, measure, scale=scale, all_pairs=asked.all_pairs, seed=asked.seed)


DECIDE = DecidingOrder(
    name="decide",
    meaning="documents that say most about whether other runs beat the first one",
    advice="you only want to know which of these runs is better",
    begin=until_decided,
    measure="nDCG@10",
    follows_grades=True,
)


ORDERS: dict[str, Order] = {
    order.name: order for order in (DEPTH, MOVE_TO_FRONT, MAX_MEAN, MAX_MEAN_LAST, HEDGE, UNIFORM, DECIDE)
}


def find_order(name: str) -> Order:
    if name not in ORDERS:
        hint = choice_hint("orders are", ORDERS, name)
        raise InputError("pool", f"there is no order of judging '{name}'.", hint=hint)
    return ORDERS[name]
