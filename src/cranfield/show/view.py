"""What is to be shown of evaluations, before it is known how: the numbers of every table, line and file."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from cranfield.evaluation.facts import QueryFacts
from cranfield.evaluation.result import Evaluation
from cranfield.evaluation.values import Bounds
from cranfield.measures.aggregates import aggregate, combined
from cranfield.ranks.columns import Numbers

ALL = "all"  # stands for all queries where a row is about a query


class Row(NamedTuple):
    """One value, for files of values."""

    run: str
    query_id: str
    measure: str
    value: float


@dataclass(frozen=True)
class View:
    """Evaluations of one or more runs by the same measures.

    per_query: also the value of every query
    worst: how many of the queries that perform poorly
    weights: how much each query counts in a mean, 1 where it is not listed
    segments: the part that each query belongs to
    bounds: also how low and how high each mean could be
    scale, unseen: those of `Evaluation.bounds`
    """

    evaluations: Sequence[Evaluation]
    per_query: bool = False
    worst: int = 0
    weights: Mapping[str, float] | None = None
    segments: Mapping[str, str] | None = None
    bounds: bool = False
    scale: Sequence[float] | None = None
    unseen: int = 0

    @property
    def measures(self) -> list[str]:
        """The names of the measures."""
        return list(self.evaluations[0])

    @cached_property
    def segment_names(self) -> list[str]:
        """The segments that have a query, in the order of their names."""
        known = self.segments or {}
        return sorted({known[query] for query in self.evaluations[0].query_ids if query in known})

    def mean(self, result: Evaluation, measure: str, segment: str | None = None) -> float:
        """The mean of a measure, over all queries or over a segment; or what it has instead of a mean."""
        if segment is None and self.weights is None:
            return result[measure]
        known = self.segments or {}
        kept = np.array([segment is None or known.get(query) == segment for query in result.query_ids], dtype=np.bool_)
        how = result.definition(measure).aggregate
        weights = None if self.weights is None else self._weights(result)[kept]
        of = measure if segment is None else f"{measure} in segment '{segment}'"
        return aggregate(result.column(measure)[kept], how, weights, of=of)

    def mean_bounds(self, result: Evaluation, measure: str) -> Bounds:
        """The bounds of the mean."""
        found = result.bounds(measure, scale=self.scale, unseen=self.unseen)
        if self.weights is None:
            return found
        weights, how = self._weights(result), result.definition(measure).aggregate
        ends = (np.array(column) for column in zip(*found.by_query.values(), strict=True))
        low, high = (combined(end, how, weights, of=measure) for end in ends)
        return found._replace(low=low, high=high)

    def describe_bounds(self, scale: Iterable[float]) -> str:
        """What the bounds are bounds of, in words; `scale` are the grades that an unjudged document may have."""
        if all(result.policy.complete for result in self.evaluations):
            return "which are the same, since unjudged documents count as judged and not relevant"
        grades = ", ".join(f"{grade:g}" for grade in sorted(scale))
        others = "unjudged documents that it did not retrieve count as not relevant"
        if self.unseen:
            several = "unjudged document" if self.unseen == 1 else "unjudged documents"
            others = f"up to {self.unseen} {several} that it did not retrieve may be relevant, too"
        return (
            "whatever the unjudged documents that a run retrieved turn out to be"
            f"{f' (grades {grades})' if grades else ''}; {others}"
        )

    def _weights(self, result: Evaluation) -> Numbers:
        known = self.weights or {}
        return np.array([known.get(query, 1.0) for query in result.query_ids])

    def best(self, measure: str) -> set[str]:
        """The runs with the best mean, where there are several runs and one can be better than another."""
        definition = self.evaluations[0].definition(measure)
        if len(self.evaluations) < 2 or definition.aggregate == "sum" or definition.of_holes:
            return set()
        means = {result.run: round(self.mean(result, measure), 4) for result in self.evaluations}
        top = (min if definition.lower_is_better else max)(means.values())
        return {run for run, mean in means.items() if mean == top}

    def shown(self, value: float, measure: str) -> str:
        """A value as people read it: four decimals, or a count."""
        return f"{value:.0f}" if self.evaluations[0].definition(measure).aggregate == "sum" else f"{value:.4f}"

    def warnings(self, *, ties: bool = True) -> list[str]:
        """The warnings of all runs, or those that are not about ties."""
        found = {
            each.run: [text for text in each.warnings if ties or text != each.tie_warning] for each in self.evaluations
        }
        return self._told(found)

    def tie_warnings(self) -> list[str]:
        """The warnings about ties, which are about means without weights."""
        behind = "" if self.weights is None else " (without weights)"
        return self._told(
            {each.run: [each.tie_warning + behind] if each.tie_warning else [] for each in self.evaluations}
        )

    def _told(self, found: Mapping[str, Sequence[str]]) -> list[str]:
        several = len(self.evaluations) > 1
        return [f"{run}: {text}" if several else text for run, texts in found.items() for text in texts]

    def rows(self) -> Iterator[Row]:
        """Every value: those of the queries first, if they are wanted, then the means, for one run after the other."""
        for result in self.evaluations:
            if self.per_query:
                for row in result.per_query:
                    yield Row(*row)
            for segment in self.segment_names:
                for measure in result:
                    yield Row(result.run, f"{ALL}:{segment}", measure, self.mean(result, measure, segment))
            for measure in result:
                yield Row(result.run, ALL, measure, self.mean(result, measure))

    def poor(self, result: Evaluation) -> list[QueryFacts]:
        """The queries that perform poorly by the first measure."""
        return result.worst(self.measures[0], self.worst)

    def signature(self) -> str:
        """What the signatures of all runs share."""
        parts = [result.signature.split("|") for result in self.evaluations]
        return "|".join(part for part in parts[0] if all(part in others for others in parts))

    def own_signature(self, result: Evaluation) -> str:
        """What is left of a run's signature."""
        shared = self.signature().split("|")
        return "|".join(part for part in result.signature.split("|") if part not in shared)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data. Counts in which the runs differ are None in the counts of all."""
        counts = [asdict(result.counts) for result in self.evaluations]
        shared = {
            name: count if all(each[name] == count for each in counts) else None for name, count in counts[0].items()
        }
        return {
            "measures": self.measures,
            "runs": [self._run(result) for result in self.evaluations],
            "counts": shared,
            "signature": self.signature(),
        }

    def _run(self, result: Evaluation) -> dict[str, Any]:
        found: dict[str, Any] = {
            "run": result.run,
            "mean": {name: self.mean(result, name) for name in result},
            "warnings": list(result.warnings),
        }
        if self.bounds:
            ends = {name: self.mean_bounds(result, name) for name in result}
            found["bounds"] = {
                name: {
                    "low": _finite(b.low),
                    "high": _finite(b.high),
                    "exact": b.exact,
                    "scale": [*b.scale],
                    "unseen": self.unseen,
                }
                for name, b in ends.items()
            }
        if self.segments is not None:
            found["segments"] = {
                segment: {name: self.mean(result, name, segment) for name in result} for segment in self.segment_names
            }
        if self.worst:
            found["worst"] = [{**poor._asdict(), "reason": poor.reason} for poor in self.poor(result)]
        if self.per_query:
            found["per_query"] = result.to_dict()["per_query"]
        return {**found, "counts": asdict(result.counts), "signature": result.signature}


def _finite(bound: float) -> float | None:
    """A bound for JSON, which has no infinite numbers: None where there is no bound."""
    return bound if math.isfinite(bound) else None
