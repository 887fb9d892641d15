"""Order: what an order of judging is, over what runs return first, and how one is followed while people judge."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, zip_longest
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from cranfield.errors import InputError
from cranfield.judging.store.merging import BY_PEOPLE, RULES
from cranfield.judging.store.random_orders import place
from cranfield.judging.store.store import Store
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.overlap import SHOWN
from cranfield.ranks.policy import Policy
from cranfield.ranks.run import Wants, open_run

if TYPE_CHECKING:
    from cranfield.measures import Measure


QueryDocument = tuple[str, str]
GradesSoFar = Mapping[str, Mapping[str, float | None]]  # None: seen, but could not be judged
USUAL_DEPTH = 10  # down to which runs are judged
RELEVANT = 1.0  # the lowest grade that is

FoundByRuns = dict[str, dict[str, int]]  # of a query, by document: the rank in each run that returned it
NO_RANKINGS = "it contains no rankings."

# Yields a document; receives whether it is relevant, or None if that is not known yet.
Steps = Generator[str, bool | None, None]


@dataclass(frozen=True)
class RankedQuery:
    """What runs return for a query down to a depth."""

    query: str
    rankings: Mapping[str, Sequence[str]]  # by run, best first
    seed: int = 0

    @cached_property
    def best_ranks(self) -> dict[str, int]:
        best: dict[str, int] = {}
        for ranking in self.rankings.values():
            for rank, document in enumerate(ranking, 1):
                best[document] = min(rank, best.get(document, rank))
        return best

    def chance(self) -> Random:
        """Random numbers to break ties: the same at every replay."""
        return Random(place("order", self.seed, self.query))


@dataclass(frozen=True)
class RankedPool:
    """What runs return down to a depth, by query and run."""

    by_query: Mapping[str, Mapping[str, Sequence[str]]]
    depth: int
    seed: int = 0

    @cached_property
    def queries(self) -> list[RankedQuery]:
        return [RankedQuery(query, rankings, self.seed) for query, rankings in self.by_query.items()]


def returned_first(
    runs: Mapping[str, Any], known: Sequence[str], wanted: Sequence[str], depth: int, format: str | None = None
) -> tuple[dict[str, FoundByRuns], dict[str, int]]:
    """The first documents of runs for the wanted queries; and for each run, how many of its queries are unknown."""
    by_query: dict[str, FoundByRuns] = {query: {} for query in wanted}
    unknown: dict[str, int] = {}
    unjudged = Judgments({query: {} for query in known}, name="the queries")
    for name, run in runs.items():
        reading = open_run(run, format).read(unjudged, Policy(), Wants(first=depth, held=True))
        if (reading.scanned.retrieved < 0).all():
            theirs = _some(reading.queries(SHOWN + 1))
            fact = f"no query of the run is among the queries: run: {theirs}; queries: {_some(known)}."
            raise InputError(reading.place, fact if reading.scanned.extra else NO_RANKINGS)
        if reading.scanned.extra:
            unknown[name] = reading.scanned.extra
        _add(by_query, name, reading.first(wanted, depth))
    return by_query, unknown


class ReturnedByRuns(NamedTuple):
    runs: tuple[str, ...]
    by_query: Mapping[str, FoundByRuns]


def all_returned_first(runs: Mapping[str, Any], depth: int, format: str | None = None) -> ReturnedByRuns:
    by_query: dict[str, FoundByRuns] = {}
    for name, thing in runs.items():
        run = open_run(thing, format)
        rankings = run.first(depth, Policy())
        if not rankings:
            raise InputError(run.place, NO_RANKINGS)
        _add(by_query, name, rankings)
    return ReturnedByRuns(tuple(runs), by_query)


def _add(by_query: dict[str, FoundByRuns], name: str, rankings: Mapping[str, Sequence[str]]) -> None:
    for query, documents in rankings.items():
        ranks = by_query.setdefault(query, {})
        for rank, document in enumerate(documents, 1):
            ranks.setdefault(document, {})[name] = rank


def pool_of_runs(runs: Mapping[str, Any], depth: int, seed: int, format: str | None = None) -> RankedPool:
    if depth < 1:
        raise InputError("the runs", "is not a rank.", parameter="depth", value=depth, hint="give 1 or more")
    by_query = all_returned_first(runs, depth, format).by_query
    return RankedPool({query: rankings(by_document) for query, by_document in by_query.items()}, depth, seed)


def rankings(by_document: FoundByRuns) -> dict[str, list[str]]:
    by_run: dict[str, dict[int, str]] = {}
    for document, ranks in by_document.items():
        for run, rank in ranks.items():
            by_run.setdefault(run, {})[rank] = document
    return {run: [its[rank] for rank in sorted(its)] for run, its in by_run.items()}


def chosen_queries(query_ids: Sequence[str], known: Sequence[str], source: str) -> list[str]:
    names = list(dict.fromkeys([query_ids] if isinstance(query_ids, str) else query_ids))
    there = set(known)
    for name in names:
        if name not in there:
            raise InputError(source, f"query '{name}' is not among the queries.", hint=f"there are {_some(known)}")
    return names


def _some(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names[:SHOWN]) + (", …" if len(names) > SHOWN else "")


class OrderedPool(Protocol):
    def next(self, count: int) -> list[QueryDocument]:
        """The unjudged documents to judge next, at most this many."""

    def next_of_each(self, count: int | None) -> dict[str, list[str]]:
        """Of each query so many unjudged documents at most, or all of them."""


class FollowPlan(NamedTuple):
    """How an order is followed as people judge."""

    depth: int | None = None  # of each ranking; by default 10, or the cutoff of the measure
    seed: int = 0
    measure: Measure | None = None  # for orders that look at one
    all_pairs: bool = False  # for orders that compare runs
    format: str | None = None  # of the runs


@dataclass(frozen=True)
class Order:
    """An order of judging."""

    name: str
    meaning: str  # which documents come first, in a few words
    advice: str  # when to use it
    begin: Callable[[RankedPool, GradesSoFar], OrderedPool]  # puts a pool in order, given the grades so far
    follows_grades: bool = False  # what is chosen depends on grades, so such judgments are a biased sample
    samples: bool = False  # its first documents are a random sample of all, from which measures are estimated
    measure: str = ""  # the usual one, if it looks at a measure

    @property
    def chosen_by(self) -> str:
        """What a store records with the documents: the order, if its choice affects measures."""
        return self.name if self.follows_grades else ""

    def follow(self, store: Store, runs: Mapping[str, Any], asked: FollowPlan) -> Followed:
        depth = USUAL_DEPTH if asked.depth is None else asked.depth
        return FollowedOrder(store, self, pool_of_runs(runs, depth, asked.seed, asked.format))


@dataclass(frozen=True)
class QueryByQuery:
    steps: Callable[[RankedQuery], Steps]
    pool: RankedPool
    grades: GradesSoFar

    def next(self, count: int) -> list[QueryDocument]:
        """The first document of each query, then the second of each, and so on."""
        lines = [[(query, document) for document in documents] for query, documents in self.next_of_each(count).items()]
        return [pair for turn in zip_longest(*lines) for pair in turn if pair is not None][:count]

    def next_of_each(self, count: int | None) -> dict[str, list[str]]:
        return {ranked.query: self.of_query(ranked, count) for ranked in self.pool.queries}

    def of_query(self, ranked: RankedQuery, count: int | None) -> list[str]:
        known = self.grades.get(ranked.query, {})
        chosen: list[str] = []
        steps = self.steps(ranked)
        document = next(steps, None)
        while document is not None and (count is None or len(chosen) < count):
            relevant = None
            if document in known:
                grade = known[document]
                relevant = grade is not None and grade >= RELEVANT
            else:
                chosen.append(document)
            try:
                document = steps.send(relevant)
            except StopIteration:
                break
        return chosen


def in_fixed_order(documents: Callable[[RankedQuery], Iterable[str]]) -> Callable[[RankedQuery], Steps]:
    def steps(ranked: RankedQuery) -> Steps:
        for document in documents(ranked):
            _ = yield document

    return steps


def query_by_query(steps: Callable[[RankedQuery], Steps]) -> Callable[[RankedPool, GradesSoFar], OrderedPool]:
    return lambda pool, grades: QueryByQuery(steps, pool, grades)


class FollowedGrades:
    """The grades that people gave to `wanted` documents, or to all. Where two differ, the majority counts."""

    def __init__(self, store: Store, wanted: Collection[QueryDocument] | None = None) -> None:
        self._store, self._wanted = store, wanted
        self._seen = 0  # the number of the last event that is known
        self._events: dict[QueryDocument, dict[int, tuple[str, float | None]]] = {}  # by event: who, and the grade

    def read(self) -> bool:
        """Read the events since the last time; returns whether one was taken back."""
        withdrawn = False
        for event in self._store.events(after=self._seen):
            self._seen, pair = event.number, (event.query_id, event.doc_id)
            if event.kind not in BY_PEOPLE or (self._wanted is not None and pair not in self._wanted):
                continue
            if event.undoes is None:
                self._events.setdefault(pair, {})[event.number] = (event.assessor, event.grade)
            else:
                withdrawn = True
                self._events.get(pair, {}).pop(event.undoes, None)
                if not self._events.get(pair, True):
                    del self._events[pair]
        return withdrawn

    def only(self, wanted: Collection[QueryDocument]) -> None:
        self._wanted = wanted
        self._events = {pair: events for pair, events in self._events.items() if pair in wanted}

    @property
    def any_grade(self) -> bool:
        return any(grade is not None for events in self._events.values() for _, grade in events.values())

    def grades(self) -> dict[str, dict[str, float | None]]:
        grades: dict[str, dict[str, float | None]] = {}
        for (query, document), events in self._events.items():
            known = [grade for grade in dict(events.values()).values() if grade is not None]
            grades.setdefault(query, {})[document] = RULES["majority"].merge(known) if known else None
        return grades

    def __contains__(self, pair: QueryDocument) -> bool:
        return pair in self._events

    def open_to(self, assessor: str, pair: QueryDocument) -> bool:
        """Whether an assessor may judge a document: nobody has judged it, and they have not skipped it."""
        return all(who != assessor and grade is None for who, grade in self._events.get(pair, {}).values())


TURN = 10  # documents of a query, before the next query comes: after stopping, all are judged about equally deep


class Followed(Protocol):
    """Where the page gets its documents."""

    def unjudged(self) -> list[QueryDocument]:
        """All documents that could be asked for."""

    def wait(self, why: str) -> None:
        """Let documents wait in the store: all of them, or those that are chosen, now and later."""

    def wait_for_all(self) -> None:
        """Let all documents wait that could still come, for judging whether it is needed or not."""

    def next(self, assessor: str, count: int) -> list[QueryDocument]:
        """What an assessor should judge next: at least this many documents, if there are any."""

    def summary(self) -> dict[str, Any] | None:
        """What the page shows about it, if anything."""


class FollowedOrder:
    """An order that treats each query by itself, in a store in which people judge. It is safe for several threads."""

    def __init__(self, store: Store, order: Order, pool: RankedPool) -> None:
        self._store, self._order, self._pool = store, order, pool
        self._lock = threading.Lock()
        everything = {(ranked.query, document) for ranked in pool.queries for document in ranked.best_ranks}
        self._everything, self._grades = everything, FollowedGrades(store, everything)
        self._grades.read()

    def unjudged(self) -> list[QueryDocument]:
        return sorted(pair for pair in self._everything if pair not in self._grades)

    def wait(self, why: str) -> None:
        """Let all of them wait: each will be judged sooner or later."""
        self._store.wait(self.unjudged(), why=why, chosen_by=self._order.chosen_by)

    def wait_for_all(self) -> None:
        """All of them wait from the start."""

    def next(self, assessor: str, count: int) -> list[QueryDocument]:
        with self._lock:
            self._grades.read()
            return list(islice(self._next(assessor), count + TURN))

    def summary(self) -> None:
        """The page shows nothing about an order."""

    def _next(self, assessor: str) -> Iterator[QueryDocument]:
        grades = self._grades.grades()
        done = {query: len(grades.get(query, ())) for query in self._pool.by_query}
        for query in sorted(done, key=lambda query: (done[query] // TURN, place(assessor, query))):
            known = {
                document: grade
                for document, grade in grades.get(query, {}).items()
                if not self._grades.open_to(assessor, (query, document))  # others may judge what one assessor could not
            }
            ranked = RankedPool({query: self._pool.by_query[query]}, self._pool.depth, self._pool.seed)
            yield from self._order.begin(ranked, {query: known}).next(TURN - done[query] % TURN)
