"""SimulatedSamples: a pool with grades as they may turn out, sampled again and again as `pool` would draw it.

The error of an estimate from a sample is its difference to the value with the whole pool judged. Its distribution over
the samples is found for each of several worlds, in which the documents have grades drawn from a `RelevanceModel`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cranfield.judging.pool.choice import PoolOfQuery, PoolPlan, choose_all
from cranfield.judging.pool.order import FoundByRuns, GradesSoFar, rankings
from cranfield.judging.pool.relevance_model import RelevanceModel, consensus
from cranfield.judging.store.random_orders import drawn
from cranfield.judging.store.views import OUTSIDE, POOLED
from cranfield.measures import Measure
from cranfield.ranks.columns import Integers, Numbers
from cranfield.ranks.grouped_judgments import GroupedJudgments
from cranfield.ranks.policy import Policy
from cranfield.ranks.run import open_run
from cranfield.ranks.tables.strata import StratumRanks

WORLDS, SAMPLES = 20, 8
FIRST_WORLDS = 4  # from which the runs are chosen that are known least well
MOST_RUNS = 4
MOST_QUERIES = 200  # that are simulated, drawn at random; the error of a mean follows from theirs
COVERED = 0.95
ROUNDING = 1e-9  # errors that are this small are none
LIKELY, CAUTIOUS = 0.5, 0.9  # the shares of worlds in which intervals are at most as wide


class DrawnSample(NamedTuple):
    """Which sample `pool` draws: how many documents of each query from below the depth, and how many are judged."""

    below: int
    documents: int
    counts: Integers  # by stratum of a query, judged already or to be judged


class HalfWidths(NamedTuple):
    """Half of the 95% interval of the run that is known least well, or of such a difference between two runs."""

    likely: float
    cautious: float
    difference: float | None


@dataclass(frozen=True)
class PooledRuns:
    """What runs return, and what is known of it: grades, strata of earlier pools, and the grades that can be given."""

    returned: Mapping[str, FoundByRuns]
    runs: Sequence[str]
    known: GradesSoFar
    strata: Mapping[str, Mapping[str, str]]
    grades: Sequence[float]

    def chosen(self, plan: PoolPlan, below: int) -> dict[str, PoolOfQuery]:
        return choose_all(self.returned, self.known, plan._replace(sample_below=below), self.strata)


class SimulatedSamples:
    """`worlds`: the grades of all documents of the pool in each, in the order of `documents`; by default drawn."""

    def __init__(self, pool: PooledRuns, plan: PoolPlan, measure: Measure, worlds: Iterable[Numbers] = ()) -> None:
        self._pool, self._plan, self._measure = pool, plan, measure
        answered = [query for query, its in pool.returned.items() if its]
        self._answered = len(answered)  # the values of the others are 0, whatever is judged
        self._queries = sorted(drawn(answered, MOST_QUERIES, "simulated", plan.seed))
        self._grouped = self._by_stratum()
        flat = self._grouped.flat
        self.documents = [
            (query, document)
            for query, first, end in zip(flat.query_ids, flat.first.tolist(), flat.first[1:].tolist(), strict=False)
            for document in flat.document_ids[first:end]
        ]
        grades = [pool.known.get(query, {}).get(document) for query, document in self.documents]
        self._known = np.array(grades, dtype=np.float64)  # NaN where there is none
        given = list(worlds)
        self._worlds = given or list(self._model().worlds(WORLDS, np.random.default_rng(plan.seed % 2**64)))
        self._tables = self._read()

    def _by_stratum(self) -> GroupedJudgments:
        """The strata are the same for samples of all sizes; only the counts of what is drawn differ."""
        choices = self._pool.chosen(self._plan, 1)
        by_query: dict[str, dict[tuple[str, str], dict[str, float]]] = {}
        for query in self._queries:
            before, now = self._pool.strata.get(query, {}), choices[query].strata
            groups = by_query.setdefault(query, {})
            for document in self._pool.returned[query]:
                stratum = now.get(document) or before.get(document) or OUTSIDE
                groups.setdefault((stratum, ""), {})[document] = POOLED
        return GroupedJudgments(by_query, name="the pool")

    def _model(self) -> RelevanceModel:
        pool, deepest = self._pool, self._plan.deepest
        agreed = {query: consensus(pool.returned[query], len(pool.runs), deepest) for query in self._queries}
        x = np.sqrt([agreed[query][document] for query, document in self.documents])
        return RelevanceModel(self._grouped.flat.query, x, len(self._queries), pool.grades, self._known)

    def _read(self) -> list[StratumRanks]:
        by_run: dict[str, dict[str, list[str]]] = {run: {} for run in self._pool.runs}
        for query in self._queries:
            for run, ranking in rankings(self._pool.returned[query]).items():
                by_run[run][query] = ranking
        flat = self._grouped.flat
        # A run without any of these queries has the same value, 0, whatever is judged.
        readings = [open_run(ranking).read(flat, Policy()) for ranking in by_run.values() if ranking]
        return [StratumRanks.of(self._grouped, reading.ranks()) for reading in readings]

    def sample(self, below: int) -> DrawnSample:
        choices = self._pool.chosen(self._plan, below)
        waits = np.array([document in choices[query].waiting for query, document in self.documents], dtype=np.bool_)
        # Of a stratum that was sampled before, any documents could have been drawn: which ones they are is chance, too.
        groups = self._grouped.group[(waits | ~np.isnan(self._known))[self._grouped.row]]
        counts = np.bincount(groups, minlength=len(self._grouped.group_ids))
        return DrawnSample(below, sum(len(chosen.waiting) for chosen in choices.values()), counts)

    def keep_widest(self, sample: DrawnSample) -> None:
        """Go on with those runs whose values or differences are known least well, if there are many."""
        if len(self._tables) <= MOST_RUNS:
            return
        single, pairs = self._by_world(self.errors(sample, FIRST_WORLDS))
        first, second = np.unravel_index(int(pairs.mean(axis=0).argmax()), pairs.shape[1:])
        widest = np.argsort(-single.mean(axis=0), kind="stable").tolist()
        kept = list(dict.fromkeys([int(first), int(second), *widest]))[:MOST_RUNS]
        self._tables = [self._tables[run] for run in sorted(kept)]

    def half_widths(self, sample: DrawnSample) -> HalfWidths:
        single, pairs = self._by_world(self.errors(sample))
        likely, cautious = np.quantile(single, [LIKELY, CAUTIOUS], axis=0).max(axis=1).tolist()
        difference = float(np.quantile(pairs, CAUTIOUS, axis=0).max()) if len(self._tables) > 1 else None
        return HalfWidths(likely, cautious, difference)

    def errors(self, sample: DrawnSample, worlds: int | None = None, samples: int = SAMPLES) -> Numbers:
        """Estimates from samples, minus the values with all documents judged: worlds × samples × runs × queries."""
        errors = []
        for number, world in enumerate(self._worlds[:worlds]):
            grades = world[self._grouped.row]
            complete = self._values(grades)
            for turn in range(samples):
                # The same random orders for samples of all sizes: a larger one holds a smaller one.
                judged = self._places([number, turn]) < sample.counts[self._grouped.group]
                errors.append(self._values(np.where(judged, grades, POOLED)) - complete)
        return np.reshape(errors, (-1, samples, len(self._tables), len(self._queries)))

    def _values(self, grades: Numbers) -> Numbers:
        return np.array([self._measure(table.regraded(grades)) for table in self._tables])

    def _places(self, turn: Sequence[int]) -> Integers:
        """Of each document, its place in a random order of its stratum."""
        group = self._grouped.group
        key = np.random.default_rng([self._plan.seed % 2**64, *turn]).random(len(group))
        order = np.lexsort((key, group))
        sizes = np.bincount(group, minlength=len(self._grouped.group_ids))
        place = np.empty(len(group), dtype=np.int64)
        place[order] = np.arange(len(group)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return place

    def _by_world(self, errors: Numbers) -> tuple[Numbers, Numbers]:
        """Half widths by world and run, and by world and pair of runs.

        Samples of different queries are drawn independently of each other, so the variance of a mean is the sum of
        theirs, of which some stand for all.
        """
        answered, queries = self._answered, len(self._pool.returned)
        bias = errors.mean(axis=(1, 3)) * answered / queries
        off = errors - errors.mean(axis=1, keepdims=True)
        summed = np.einsum("wsrq,wsoq->wro", off, off) / (errors.shape[1] - 1) / errors.shape[3]
        shared = summed * answered / queries**2
        variance = np.diagonal(shared, axis1=1, axis2=2)
        between = variance[:, :, None] + variance[:, None, :] - 2 * shared
        return _covering(bias, variance), _covering(bias[:, :, None] - bias[:, None, :], between)


def _covering(bias: Numbers, variance: Numbers) -> Numbers:
    """The distance from 0 within which 95% of normally distributed errors are."""
    from scipy.special import ndtr

    exact = (variance <= ROUNDING**2) & (np.abs(bias) <= ROUNDING)
    deviation = np.sqrt(np.maximum(variance, ROUNDING**2))
    low, high = np.zeros_like(bias), np.abs(bias) + 4 * deviation
    for _ in range(40):
        middle = (low + high) / 2
        enough = ndtr((middle - bias) / deviation) - ndtr((-middle - bias) / deviation) >= COVERED
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return np.where(exact, 0.0, high)
