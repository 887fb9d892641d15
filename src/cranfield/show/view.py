"""What is shown of evaluations in any format: the numbers of every table, line and file."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from cranfield.evaluation.overview import Overview
from cranfield.evaluation.result import Evaluation
from cranfield.evaluation.values import Bounds, QueryValue

if TYPE_CHECKING:
    from cranfield.evaluation.query_facts import QueryFacts

ALL = "all"  # stands for all queries where a row is about a query


class View:
    """Evaluations of one or more runs by the same measures, in the words and the order of a table.

    ranked_by: the measure whose best run comes first, where runs are numbered
    """

    def __init__(self, found: Overview, ranked_by: str | None = None) -> None:
        self.found = found
        self.ranked_by = ranked_by

    @property
    def evaluations(self) -> Sequence[Evaluation]:
        return self.found.evaluations

    @property
    def per_query(self) -> bool:
        return self.found.per_query

    @property
    def bounds(self) -> bool:
        return self.found.bounds is not None

    @property
    def worst(self) -> bool:
        return self.found.worst is not None

    @property
    def measures(self) -> list[str]:
        return list(self.evaluations[0])

    @property
    def segment_names(self) -> list[str]:
        """The segments that have a query, in the order of their names."""
        return list(self.found.segments or ())

    def mean(self, result: Evaluation, measure: str, segment: str | None = None) -> float:
        """The mean of a measure, over all queries or over a segment; or its substitute for a mean."""
        means = self.found.means if segment is None else (self.found.segments or {})[segment]
        return means[result.run][measure]

    def mean_bounds(self, result: Evaluation, measure: str) -> Bounds:
        return (self.found.bounds or {})[result.run][measure]

    def describe_bounds(self, scale: Iterable[float]) -> str:
        """What the bounds allow for, in words; `scale` are the grades that an unjudged document may have."""
        if all(result.policy.complete for result in self.evaluations):
            return "which are the same, since documents without a judgment count as judged and not relevant"
        grades = ", ".join(f"{grade:g}" for grade in sorted(scale))
        others = "unjudged documents that it did not retrieve count as not relevant"
        if self.found.unseen:
            several = "unjudged document" if self.found.unseen == 1 else "unjudged documents"
            others = f"up to {self.found.unseen} {several} that it did not retrieve may be relevant, too"
        return (
            "whatever the unjudged documents that a run retrieved turn out to be"
            f"{f' (grades {grades})' if grades else ''}; {others}"
        )

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
        about_ties = self.found.tie_warnings
        return self._labelled(
            {
                run: [*texts, about_ties[run]] if ties and about_ties[run] else texts
                for run, texts in self.found.warnings.items()
            }
        )

    def other_names(self) -> list[str]:
        return [f"{name} is {ours}" for name, ours in self.canonical_names.items()]

    @property
    def canonical_names(self) -> dict[str, str]:
        return {each.name: str(each.canonical) for each in self.evaluations[0].measures if each.typed}

    def places(self) -> list[int]:
        """The place of each run by the measure that they are ranked by; runs with the same value share one."""
        found: list[int] = []
        for at, result in enumerate(self.evaluations):
            measure = self.ranked_by or self.measures[0]
            before = self.evaluations[at - 1]
            same = at > 0 and self.mean(before, measure) == self.mean(result, measure)
            found.append(found[-1] if same else at + 1)
        return found

    def tie_warnings(self) -> list[str]:
        """The warnings about ties, which are about means without weights."""
        behind = " (without weights)" if self.found.weighted else ""
        return self._labelled({run: [text + behind] if text else [] for run, text in self.found.tie_warnings.items()})

    def _labelled(self, found: Mapping[str, Sequence[str]]) -> list[str]:
        if len(self.evaluations) == 1:
            return [text for texts in found.values() for text in texts]
        warnings = ((run, text) for run, texts in found.items() for text in texts)
        common = set.intersection(*map(set, found.values()))  # a warning that all runs share appears once
        return list(dict.fromkeys(f"{'all runs' if text in common else run}: {text}" for run, text in warnings))

    def rows(self) -> Iterator[QueryValue]:
        """Every value: those of the queries first, if they are wanted, then the means, for one run after the other."""
        for result in self.evaluations:
            if self.per_query:
                for row in result.per_query:
                    yield QueryValue(*row)
            for segment in self.segment_names:
                for measure in result:
                    yield QueryValue(result.run, f"{ALL}:{segment}", measure, self.mean(result, measure, segment))
            for measure in result:
                yield QueryValue(result.run, ALL, measure, self.mean(result, measure))

    def poor(self, result: Evaluation) -> Sequence[QueryFacts]:
        return (self.found.worst or {})[result.run]

    def signature(self) -> str:
        parts = [result.signature.split("|") for result in self.evaluations]
        return "|".join(part for part in parts[0] if all(part in others for others in parts))

    def own_signatures(self) -> dict[str, str]:
        shared = self.signature().split("|")
        return {
            result.run: "|".join(part for part in result.signature.split("|") if part not in shared)
            for result in self.evaluations
        }

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data. Counts in which the runs differ are None in the counts of all."""
        counts = [asdict(result.counts) for result in self.evaluations]
        shared = {
            name: count if all(each[name] == count for each in counts) else None for name, count in counts[0].items()
        }
        ours = self.canonical_names
        return {
            "measures": self.measures,
            **({"canonical_names": ours} if ours else {}),
            "runs": [self._run(result) for result in self.evaluations],
            "counts": shared,
            "signature": self.signature(),
            **({"basis": asdict(basis)} if (basis := self.evaluations[0].basis) is not None else {}),
        }

    def _run(self, result: Evaluation) -> dict[str, Any]:
        found: dict[str, Any] = {
            "run": result.run,
            "mean": {name: self.mean(result, name) for name in result},
            "warnings": [*self.found.warnings[result.run], *filter(None, [self.found.tie_warnings[result.run]])],
        }
        if self.bounds:
            ends = {name: self.mean_bounds(result, name) for name in result}
            found["bounds"] = {
                name: {
                    "low": _finite(b.low),
                    "high": _finite(b.high),
                    "exact": b.exact,
                    "scale": [*b.scale],
                    "unseen": self.found.unseen,
                }
                for name, b in ends.items()
            }
        if self.found.segments is not None:
            found["segments"] = {
                segment: {name: self.mean(result, name, segment) for name in result} for segment in self.segment_names
            }
        if self.worst:
            found["worst"] = [{**poor._asdict(), "reason": poor.reason} for poor in self.poor(result)]
        if result.basis is not None:
            shares = {each.name: result.facts(each).judged_share() for each in result.measures}
            found["estimates"] = {
                name: {**asdict(result.estimate(name)), "judged": share} for name, share in shares.items()
            }
        if self.per_query:
            found["per_query"] = result.to_dict()["per_query"]
        return {**found, "counts": asdict(result.counts), "signature": result.signature}


def _finite(bound: float) -> float | None:
    """A bound for JSON, which has no infinite numbers: None where there is no bound."""
    return bound if math.isfinite(bound) else None
