"""decide: the documents that say most about which run is better (see `cranfield.Decision`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cranfield.judging.ordering.order import FollowPlan, GradesSoFar, Order, OrderedPool, QueryDocument, RankedPool

if TYPE_CHECKING:
    from cranfield.judging.deciding.decision import Decision
    from cranfield.judging.ordering.followed_order import Followed
    from cranfield.judging.store import Store


@dataclass(frozen=True)
class UntilDecided:
    """A pool in the order of a decision. Some queries need more judgments than others."""

    decision: Decision
    queries: tuple[str, ...]

    def next(self, count: int) -> list[QueryDocument]:
        """The most informative documents; none once the verdict is final."""
        return [] if self.decision.look().done else self.decision.next(count)

    def next_of_each(self, count: int | None) -> dict[str, list[str]]:
        """So many times the number of queries, but of no query more than so many."""
        found: dict[str, list[str]] = {query: [] for query in self.queries}
        most = self.decision.look().left if count is None else count * len(self.queries)
        for query, document in self.next(most):
            if count is None or len(found[query]) < count:
                found[query].append(document)
        return found


def until_decided(pool: RankedPool, grades: GradesSoFar) -> OrderedPool:
    """The runs as a decision between the first and the others, by nDCG down to the depth of the pool."""
    from cranfield.judging.deciding.decision import Decision

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
    """The order of a decision, which says when judging may stop."""

    def follow(self, store: Store, runs: Mapping[str, Any], asked: FollowPlan) -> Followed:
        """The decision, as people judge in a store."""
        from cranfield.judging.deciding.followed_decision import FollowedDecision

        return FollowedDecision(store, self.beginning(store, runs, asked))

    def beginning(self, store: Store, runs: Mapping[str, Any], asked: FollowPlan) -> Callable[[Any], Decision]:
        """A function that makes the decision from the judgments so far, or from None."""
        from cranfield.judging.deciding.decision import Decision

        scale = [each.grade for each in store.scale]
        measure = asked.measure or self.measure

        def make(grades: Any) -> Decision:
            return Decision.of(
                runs,
                measure,
                grades,
                scale=scale,
                depth=asked.depth,
                all_pairs=asked.all_pairs,
                seed=asked.seed,
                format=asked.format,
            )

        return make


DECIDE = DecidingOrder(
    name="decide",
    meaning="documents that say most about whether other runs beat the first one",
    advice="you only want to know which of these runs is better",
    begin=until_decided,
    measure="nDCG@10",
    follows_grades=True,
)
