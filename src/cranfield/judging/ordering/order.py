"""Order: what an order of judging is, and how one that treats each query by itself is followed."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from cranfield.judging.random_orders import place

if TYPE_CHECKING:
    from cranfield.judging.ordering.followed_order import Followed
    from cranfield.judging.store import Store
    from cranfield.measures import Measure

QueryDocument = tuple[str, str]
GradesSoFar = Mapping[str, Mapping[str, float | None]]  # None: seen, but could not be judged
USUAL_DEPTH = 10  # down to which runs are judged
RELEVANT = 1.0  # the lowest grade that is

# Yields a document; receives whether it is relevant, or None if that is not known yet.
Steps = Generator[str, bool | None, None]


@dataclass(frozen=True)
class RankedQuery:
    """What runs return for a query down to a depth.

    query: its id
    rankings: by run, best first
    seed: for what is drawn
    """

    query: str
    rankings: Mapping[str, Sequence[str]]
    seed: int = 0

    @cached_property
    def best_ranks(self) -> dict[str, int]:
        """The best rank of each document over all runs."""
        found: dict[str, int] = {}
        for ranking in self.rankings.values():
            for rank, document in enumerate(ranking, 1):
                found[document] = min(rank, found.get(document, rank))
        return found

    def chance(self) -> Random:
        """Random numbers to break ties: the same at every replay."""
        return Random(place("order", self.seed, self.query))


@dataclass(frozen=True)
class RankedPool:
    """What runs return down to a depth, by query and run.

    >>> RankedPool({"q1": {"bm25": ["a", "b"], "dense": ["b", "c"]}}, depth=2).queries[0].best_ranks
    {'a': 1, 'b': 1, 'c': 2}
    """

    by_query: Mapping[str, Mapping[str, Sequence[str]]]
    depth: int
    seed: int = 0

    @cached_property
    def queries(self) -> list[RankedQuery]:
        """Each query by itself."""
        return [RankedQuery(query, rankings, self.seed) for query, rankings in self.by_query.items()]


class OrderedPool(Protocol):
    """A pool with the grades so far, in the order of judging."""

    def next(self, count: int) -> list[QueryDocument]:
        """The unjudged documents to judge next, at most this many."""

    def next_of_each(self, count: int | None) -> dict[str, list[str]]:
        """Of each query so many unjudged documents at most, or all of them."""


class FollowPlan(NamedTuple):
    """How an order is followed as people judge.

    depth: how many documents of each ranking; by default 10, or the cutoff of the measure
    measure: for orders that look at one
    all_pairs: compare each run with each other one, for orders that compare
    format: of the runs, if it cannot be detected
    """

    depth: int | None = None
    seed: int = 0
    measure: Measure | None = None
    all_pairs: bool = False
    format: str | None = None


@dataclass(frozen=True)
class Order:
    """An order of judging.

    name: as users choose it
    meaning: which documents come first, in a few words
    advice: when to use it
    begin: puts a pool in order, given the grades so far
    follows_grades: whether what is chosen depends on grades; such judgments are a biased sample
    samples: whether its first documents are a random sample of all, from which measures are estimated
    measure: the usual one, if it looks at a measure
    """

    name: str
    meaning: str
    advice: str
    begin: Callable[[RankedPool, GradesSoFar], OrderedPool]
    follows_grades: bool = False
    samples: bool = False
    measure: str = ""

    @property
    def chosen_by(self) -> str:
        """What a store records with the documents: the order, if its choice affects measures."""
        return self.name if self.follows_grades else ""

    def follow(self, store: Store, runs: Mapping[str, Any], asked: FollowPlan) -> Followed:
        """Follow the order over the first documents of runs, as people judge them in a store."""
        from cranfield.judging.ordered_pool import pool_of_runs
        from cranfield.judging.ordering.followed_order import FollowedOrder

        depth = USUAL_DEPTH if asked.depth is None else asked.depth
        return FollowedOrder(store, self, pool_of_runs(runs, depth, asked.seed, asked.format))


@dataclass(frozen=True)
class QueryByQuery:
    """A pool in an order that treats each query by itself."""

    steps: Callable[[RankedQuery], Steps]
    pool: RankedPool
    grades: GradesSoFar

    def next(self, count: int) -> list[QueryDocument]:
        """The first document of each query, then the second of each, and so on."""
        lines = [[(query, each) for each in found] for query, found in self.next_of_each(count).items()]
        return [pair for turn in zip_longest(*lines) for pair in turn if pair is not None][:count]

    def next_of_each(self, count: int | None) -> dict[str, list[str]]:
        """Of each query so many unjudged documents at most, or all of them."""
        return {each.query: self.of_query(each, count) for each in self.pool.queries}

    def of_query(self, ranked: RankedQuery, count: int | None) -> list[str]:
        """The unjudged documents of a query that come next."""
        known = self.grades.get(ranked.query, {})
        found: list[str] = []
        steps = self.steps(ranked)
        document = next(steps, None)
        while document is not None and (count is None or len(found) < count):
            relevant = None
            if document in known:
                grade = known[document]
                relevant = grade is not None and grade >= RELEVANT
            else:
                found.append(document)
            try:
                document = steps.send(relevant)
            except StopIteration:
                break
        return found


def in_fixed_order(documents: Callable[[RankedQuery], Iterable[str]]) -> Callable[[RankedQuery], Steps]:
    """An order that grades do not change."""

    def steps(ranked: RankedQuery) -> Steps:
        for document in documents(ranked):
            _ = yield document

    return steps


def query_by_query(steps: Callable[[RankedQuery], Steps]) -> Callable[[RankedPool, GradesSoFar], OrderedPool]:
    """`Order.begin` for an order that treats each query by itself."""
    return lambda pool, grades: QueryByQuery(steps, pool, grades)
