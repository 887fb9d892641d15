"""Several evaluations at once: their means and everything else that a table of them shows, calculated beforehand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import isclose
from typing import TYPE_CHECKING, NamedTuple

from cranfield.evaluation.result import Evaluation
from cranfield.evaluation.values import Bounds
from cranfield.measures import Measure
from cranfield.measures.aggregates import aggregate

if TYPE_CHECKING:
    from cranfield.evaluation.query_facts import QueryFacts

Means = Mapping[str, Mapping[str, float]]  # of each run, by measure


class Overview(NamedTuple):
    """Evaluations of one or more runs by the same measures, and what was calculated from them.

    means: of each run by measure, with its weights if it has any; or the measure's substitute for a mean
    segments: the means of each segment that has a query, by name; None where none was asked for
    segment_queries: of each run by segment, how many queries these are
    bounds: of each run by measure, how low and how high the mean could be; None where none was asked for
    worst: of each run, the worst queries by the first measure that are not perfect; None where none was asked for
    warnings, tie_warnings: of each run
    per_query: whether the value of every query is wanted too
    unseen: that of `Evaluation.bounds`
    """

    evaluations: tuple[Evaluation, ...]
    means: Means
    segments: Mapping[str, Means] | None
    segment_queries: Mapping[str, Mapping[str, int]]
    bounds: Mapping[str, Mapping[str, Bounds]] | None
    worst: Mapping[str, Sequence[QueryFacts]] | None
    warnings: Mapping[str, Sequence[str]]
    tie_warnings: Mapping[str, str]
    per_query: bool
    unseen: int


def overview(
    evaluations: Sequence[Evaluation],
    *,
    per_query: bool = False,
    worst: int = 0,
    segments: Mapping[str, str] | None = None,
    bounds: bool = False,
    scale: Sequence[float] | None = None,
    unseen: int = 0,
    warnings: bool = True,
    rel: float | None = None,
) -> Overview:
    """Calculate everything that is shown of evaluations.

    worst: how many of the queries that perform worst
    segments: the part that each query belongs to; by default those of the evaluations
    bounds, scale, unseen: also the bounds of each mean; those of `Evaluation.bounds`
    rel: the lowest grade that counts as relevant in what is said about queries, for a measure without one of its own
    warnings: also reasons to doubt the values, which takes measuring in other orders of ties

    >>> from cranfield import evaluate
    >>> result = evaluate({"1": {"a": 1}, "2": {"a": 1}}, {"1": ["a"], "2": ["b", "a"]}, "RR", name="mine")
    >>> shown = overview([result.weighted({"1": 3, "2": 1})], segments={"2": "hard"}, worst=1)
    >>> shown.means, shown.segments, shown.worst["mine"][0].query_id
    ({'mine': {'RR': 0.875}}, {'hard': {'mine': {'RR': 0.5}}}, '2')
    """
    segments = evaluations[0].segments if segments is None else segments
    known = segments or {}
    names = sorted({known[query] for query in evaluations[0].query_ids if query in known})
    ties = {result.run: result.tie_warning if warnings else "" for result in evaluations}
    return Overview(
        evaluations=tuple(evaluations),
        means={result.run: dict(result) for result in evaluations},
        segments=None
        if segments is None
        else {name: {result.run: _segment_means(result, segments, name) for result in evaluations} for name in names},
        segment_queries={
            result.run: Counter(known[query] for query in result.query_ids if query in known) for result in evaluations
        },
        bounds={
            result.run: {name: result.bounds(name, scale=scale, unseen=unseen) for name in result}
            for result in evaluations
        }
        if bounds
        else None,
        worst={result.run: below_perfect(result, evaluations[0].measures[0], worst, rel) for result in evaluations}
        if worst
        else None,
        warnings={result.run: list(result._warnings_of_input) if warnings else [] for result in evaluations},
        tie_warnings=ties,
        per_query=per_query,
        unseen=unseen,
    )


def best_first(values: Overview, measure: str) -> Overview:
    """The same with the runs in the order of their means, the best first.

    >>> from cranfield import evaluate
    >>> runs = {"bad": {"1": ["b", "a"]}, "good": {"1": ["a"]}}
    >>> results = [evaluate({"1": {"a": 1}}, run, "RR", name=name) for name, run in runs.items()]
    >>> [result.run for result in best_first(overview(results), "RR").evaluations]
    ['good', 'bad']
    """
    sign = 1 if values.evaluations[0].definition(measure).lower_is_better else -1
    order = sorted(values.evaluations, key=lambda result: sign * values.means[result.run][measure])
    return values._replace(evaluations=tuple(order))


def below_perfect(result: Evaluation, measure: Measure, most: int, rel: float | None = None) -> list[QueryFacts]:
    """The worst queries by a measure, as many as there are that could be better.

    >>> from cranfield import evaluate, parse_measure
    >>> result = evaluate({"1": {"a": 1}, "2": {"a": 1}}, {"1": ["a"], "2": ["b", "a"]}, "RR", name="mine")
    >>> [query.query_id for query in below_perfect(result, parse_measure("RR"), 2)]
    ['2']
    """
    least, largest = measure.definition.range
    best = least if measure.definition.lower_is_better else largest
    return [query for query in result.worst(measure, most, rel=rel) if not isclose(query.value, best, abs_tol=1e-9)]


def _segment_means(result: Evaluation, segments: Mapping[str, str], segment: str) -> dict[str, float]:
    kept = [at for at, query in enumerate(result.query_ids) if segments.get(query) == segment]
    its = result._weight_of(kept)
    return {
        name: aggregate(
            result.column(name)[kept], result.definition(name).aggregate, its, of=f"{name} in segment '{segment}'"
        )
        for name in result
    }
