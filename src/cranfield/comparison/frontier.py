"""Which runs are worth their time: those that no other one beats in speed, while being as good within a margin.

Run A is dominated by run B where two one-sided tests agree: B is not worse by the margin or more (of the paired
differences of a measure), and B takes less (of the paired differences of log latency or log cost). The larger of the
two p-values is that of the pair, and Holm's correction is over all ordered pairs. Nothing is decided by point
estimates: of two equal runs, one is nearly always a little faster and not much worse.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any, NamedTuple, Unpack

import numpy as np

from cranfield.comparison.doubts import ENOUGH
from cranfield.comparison.multiple_testing import holm
from cranfield.comparison.pairing import Paired, paired
from cranfield.drawing import as_html
from cranfield.errors import ComparisonError, InputError, choice_hint, given
from cranfield.evaluation.estimating import SAME, Columns, estimated, estimates_of
from cranfield.evaluation.evaluating import Options, evaluate_runs
from cranfield.evaluation.naming import named_runs
from cranfield.evaluation.weighting import Weights
from cranfield.io.facts import asked_numbers
from cranfield.io.pairs import read_numbers_by_run
from cranfield.measures import Measure, parse_measure
from cranfield.ranks.columns import Numbers
from cranfield.words import count, joined, listed

MARGIN = 0.01
BY = {"latency": "seconds", "cost": "cost"}  # what recordings call it


class FrontierPoint(NamedTuple):
    """A run with its quality and what a query takes.

    value, low, high: the mean of the measure and its interval
    spent: the mean of what a query takes: seconds, or cost; p50, p95: of latencies by query, otherwise None
    dominated_by: the runs that are shown to be as good within the margin and to take less; none on the frontier
    """

    run: str
    value: float
    low: float
    high: float
    spent: float
    p50: float | None
    p95: float | None
    dominated_by: tuple[str, ...]


class Domination(NamedTuple):
    """Whether a run is dominated by another.

    quality: by how much the other is better, less where it is worse; ratio: how many times as long the other takes
    not_worse, cheaper: the p-values of the two one-sided tests; p: the larger one; adjusted: corrected for all pairs
    differing: for how many queries the two differ in quality
    """

    run: str
    by: str
    quality: float
    ratio: float
    not_worse: float
    cheaper: float
    p: float
    adjusted: float
    differing: int


@dataclass(frozen=True, slots=True, eq=False)
class Frontier:
    """Which runs are on the frontier of quality and latency or cost, and which are dominated.

    measure: that of the quality; margin: how much worse counts as good enough; alpha: the level of the tests
    by: "latency" or "cost"
    points: of the runs, the one that takes least first
    pairs: of each run with each other one; empty with a single run
    queries: how many are compared; weights: how much each of them counts; None where all count alike
    warnings: where a domination rests on few queries, in sentences

    >>> from cranfield import frontier
    >>> qrels = {str(q): {"a": 1} for q in range(40)}
    >>> slow, fast = ({str(q): ["a"] if q % 9 else ["b"] for q in range(40)} for _ in range(2))
    >>> seconds = {"slow": {str(q): 0.09 for q in range(40)}, "fast": {str(q): 0.02 + q % 3 / 100 for q in range(40)}}
    >>> found = frontier(qrels, {"slow": slow, "fast": fast}, "RR", values=seconds)
    >>> found
    <Frontier: on the frontier: fast; slow is dominated by fast>
    >>> found.method[:69]
    'dominated: another run is faster and at most 0.01 worse, each by a on'
    >>> found.to_dict()["queries"], found.weights, found.pairs[0].ratio < 1
    (40, None, True)
    >>> found.on_frontier, found.points[1].dominated_by, found.sentence
    (('fast',), ('fast',), 'on the frontier: fast; slow is dominated by fast')
    """

    measure: str
    lower_is_better: bool
    margin: float
    alpha: float
    by: str
    points: tuple[FrontierPoint, ...]
    pairs: tuple[Domination, ...]
    queries: int
    weights: Weights | None = None
    warnings: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Frontier: {self.sentence}>"

    def __str__(self) -> str:
        return self.sentence

    def _repr_html_(self) -> str:
        return as_html("frontier", self)

    @property
    def on_frontier(self) -> tuple[str, ...]:
        """The runs that no other one is shown to dominate, the one that takes least first."""
        return tuple(point.run for point in self.points if not point.dominated_by)

    @property
    def sentence(self) -> str:
        """Which runs are on the frontier, and which are not, in one sentence."""
        on = self.on_frontier
        if len(on) == len(self.points):
            return f"no run is shown to be dominated: all {len(on)} stay on the frontier"
        first = f"on the frontier: {joined(on, 'and')}"
        dominated = [point for point in self.points if point.dominated_by]
        if len(dominated) > 3:
            return f"{first}; {count(len(dominated), 'run')} are dominated"
        told = (f"{point.run} is dominated by {joined(point.dominated_by, 'and')}" for point in dominated)
        return f"{first}; {', '.join(told)}"

    @property
    def method(self) -> str:
        """What a domination is, in one sentence."""
        cheaper = "faster" if self.by == "latency" else "cheaper"
        weighted = "" if self.weights is None else f"; {self.weights.sentence}"
        return (
            f"dominated: another run is {cheaper} and at most {self.margin:g} worse, each by a one-sided paired test; "
            f"{count(self.queries, 'query', 'queries')}, α = {self.alpha:g}, Holm over {count(len(self.pairs), 'pair')}"
            f"{weighted}"
        )

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, ready for JSON."""
        return {
            **{name: getattr(self, name) for name in ("measure", "by", "margin", "alpha", "queries", "sentence")},
            **({"weights": self.weights.to_dict()} if self.weights else {}),
            "points": [point._asdict() | {"dominated_by": list(point.dominated_by)} for point in self.points],
            "pairs": [pair._asdict() for pair in self.pairs],
            "warnings": list(self.warnings),
        }


def frontier(
    qrels: Any,
    runs: Mapping[str, Any] | Iterable[Any],
    measure: str | Measure = "nDCG@10",
    *,
    by: str = "latency",
    values: Any = None,
    margin: float = MARGIN,
    alpha: float = 0.05,
    **options: Unpack[Options],
) -> Frontier:
    """Which runs are worth their latency or their cost, and which are dominated by another one.

    qrels, runs, options: those of `evaluate_runs`.
    measure: that of the quality.
    by: "latency" or "cost".
    values: what each run takes: {run: {query: number}}, or {run: number} for what every query of it takes, or a file of
        one of these; by default what is kept beside runs that cranfield has recorded.
    margin: how much worse counts as good enough.
    alpha: the level of the tests.
    Returns a `Frontier`.

    A run is dominated by another one that is shown to be at most `margin` worse and shown to take less, each by a
    one-sided paired test, of the differences of the measure and of the logarithms; corrected by Holm's method for all
    ordered pairs of runs.

    >>> from cranfield import frontier
    >>> qrels, run = {"1": {"a": 1}, "2": {"b": 1}}, {"1": ["a"], "2": ["b"]}
    >>> frontier(qrels, {"large": run, "small": run}, by="cost", values={"large": 0.02, "small": 0.001}).sentence
    'no run is shown to be dominated: all 2 stay on the frontier'
    """
    if by not in BY:
        raise InputError("frontier", f"there is no '{by}'.", hint=choice_hint("it may be by", BY, by))
    if not 0 < alpha < 1:
        raise ComparisonError(f"invalid alpha {alpha}.", hint="it lies between 0 and 1")
    if not 0 <= margin < math.inf:
        raise ComparisonError("is not a margin.", parameter="margin", value=margin, hint="give 0 or more")
    named, wanted = named_runs(runs), parse_measure(measure)
    if len(named) < 2:
        raise ComparisonError("a frontier needs at least two runs.")
    spent = spent_by_run(named, by, values)
    evaluations = list(evaluate_runs(qrels, named, [wanted], **options).values())
    return frontier_of(paired(evaluations, [wanted]), spent, wanted, by=by, margin=margin, alpha=alpha)


Spent = Mapping[str, float | Mapping[str, float]]  # by run: of every query, or by query


def frontier_of(
    found: Paired, spent: Spent, measure: Measure, *, by: str = "latency", margin: float = MARGIN, alpha: float = 0.05
) -> Frontier:
    """The frontier of runs whose values are known already, by query."""
    queries, columns = _spent_columns(found, spent, by)
    rows = [found.query_ids.index(query) for query in queries] if len(queries) < len(found.query_ids) else slice(None)
    quality = found.of(measure)
    quality = quality._replace(
        values=quality.values[rows],
        weight=None if quality.weight is None else quality.weight[rows],
        group=None if quality.group is None else quality.group[rows],
    )
    exact = [not isinstance(spent[run], Mapping) for run in found.runs]
    pairs = tuple(_dominations(found.runs, quality, columns, exact, measure, margin))
    estimates = estimates_of(estimated(quality), alpha, *measure.definition.range)
    points = [
        FrontierPoint(
            run,
            estimate.value,
            estimate.low,
            estimate.high,
            float(columns[:, at].mean()),
            *_percentiles(columns[:, at], isinstance(spent[run], Mapping) and by == "latency"),
            tuple(pair.by for pair in pairs if pair.run == run and pair.adjusted <= alpha),
        )
        for at, (run, estimate) in enumerate(zip(found.runs, estimates, strict=True))
    ]
    points.sort(key=lambda point: point.spent if point.p50 is None else point.p50)
    lower = measure.definition.lower_is_better
    warnings = tuple(_few_differ([pair for pair in pairs if pair.adjusted <= alpha], measure, len(queries)))
    return Frontier(measure.name, lower, margin, alpha, by, tuple(points), pairs, len(queries), found.weights, warnings)


def _few_differ(dominations: Sequence[Domination], measure: Measure, queries: int) -> Iterator[str]:
    """Runs that differ for hardly any query may differ by much for the next: no test of a mean sees a rare loss."""
    few = [
        f"{pair.run} and {pair.by} ({pair.differing} of {queries:,})" for pair in dominations if pair.differing < ENOUGH
    ]
    if few:
        yield f"few queries differ by {measure.name} between {listed(few)}: a rare, large loss may not be among them"


def _percentiles(column: Numbers, known: bool) -> tuple[float | None, float | None]:
    if not known:
        return None, None
    p50, p95 = np.percentile(column, (50, 95))
    return float(p50), float(p95)


def _dominations(
    runs: Sequence[str], quality: Columns, spent: Numbers, exact: Sequence[bool], measure: Measure, margin: float
) -> Iterator[Domination]:
    """exact: of each run, whether what it takes is known, so that no query has to vary by chance"""
    ordered = list(permutations(range(len(runs)), 2))
    better = quality.contrast(ordered).times(measure.definition.sign)
    not_worse, _ = estimated(better.shifted(margin)).chances()
    logs = Columns(np.log(spent), quality.weight, quality.group).contrast(ordered)
    less = estimated(logs)
    known = np.array([exact[run] and exact[other] for run, other in ordered])
    cheaper = np.where(known, (less.value >= 0).astype(np.float64), less.chances()[1])
    means = estimated(better).value
    p = np.maximum(not_worse, cheaper)
    differing = (np.abs(better.values) > SAME).sum(axis=0)
    columns = (means, np.exp(less.value), not_worse, cheaper, p, holm(p), differing)
    for (run, other), *numbers in zip(ordered, *(column.tolist() for column in columns), strict=True):
        yield Domination(runs[run], runs[other], *numbers)


def spent_by_run(runs: Mapping[str, Any], by: str, values: Any = None) -> Spent:
    """What each run takes, from what is given or what was recorded."""
    if values is not None:
        known = read_numbers_by_run(values, by)
        lacking = [name for name in runs if name not in known]
        if lacking:
            raise InputError(
                f"the {by}", f"there is none of '{lacking[0]}'.", hint=choice_hint("it has", known, lacking[0])
            )
        return {name: known[name] for name in runs}
    found = {name: asked_numbers(run, BY[by]) for name, run in runs.items()}
    lacking = [name for name, its in found.items() if not its]
    if lacking:
        hint = f"'cranfield run' keeps it beside the run; or tell it: {given('values')}"
        raise InputError(lacking[0], f"its {by} by query is not known.", hint=hint)
    return found


def _spent_columns(found: Paired, spent: Spent, by: str) -> tuple[list[str], Numbers]:
    """The queries for which all runs have it, with a column for each run; all must be above 0, for logarithms."""
    by_query = [its for its in (spent[run] for run in found.runs) if isinstance(its, Mapping)]
    queries = [query for query in found.query_ids if all(query in its for its in by_query)]
    if len(queries) < 2:
        fact = f"it is known for {count(len(queries), 'query', 'queries')} that all runs have."
        raise InputError(f"the {by}", fact, hint="tests need two queries or more; are the ids written differently?")
    columns = np.empty((len(queries), len(found.runs)))
    for at, run in enumerate(found.runs):
        its = spent[run]
        columns[:, at] = [its[query] for query in queries] if isinstance(its, Mapping) else its
    wrong = np.argwhere(~(columns > 0) | ~np.isfinite(columns))
    if len(wrong):
        query, run_at = wrong[0].tolist()
        fact = f"it is {columns[query, run_at]:g} for query '{queries[query]}' of '{found.runs[run_at]}'."
        raise InputError(f"the {by}", fact, hint="it must be above 0; or give one number for each run")
    return queries, columns
