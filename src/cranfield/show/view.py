"""What is shown of evaluations in any format: the numbers of every table, line and file."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from cranfield.evaluation.overview import Overview
from cranfield.evaluation.result import Evaluation
from cranfield.evaluation.values import Bounds, QueryValue
from cranfield.evaluation.weighting import MARK

if TYPE_CHECKING:
    from cranfield.comparison.within_groups import WithinGroups
    from cranfield.evaluation.query_facts import QueryFacts
    from cranfield.judging.decide import ModelledValue

ALL = "all"  # stands for all queries where a row is about a query
WEIGHTED = "all (weighted)"  # the same for a mean of queries that have weights


class View:
    """Evaluations of one or more runs by the same measures, in the words and the order of a table.

    ranked_by: the measure whose best run comes first, where runs are numbered
    modelled: what means would probably be if more documents were judged, where that is wanted
    groups: what happens within groups of queries, where there are any
    """

    def __init__(
        self,
        overview: Overview,
        ranked_by: str | None = None,
        modelled: Iterable[ModelledValue] = (),
        groups: Iterable[WithinGroups] = (),
    ) -> None:
        self.overview, self.ranked_by, self.modelled = overview, ranked_by, list(modelled)
        self.groups = list(groups)
        self.evaluations, self.per_query = overview.evaluations, overview.per_query
        self.bounds, self.worst = overview.bounds is not None, overview.worst is not None
        self.measures = list(self.evaluations[0])
        self.heads = [self.evaluations[0].heading(measure) for measure in self.measures]
        self.segment_names = list(overview.segments or ())  # those that have a query, in the order of their names

    def segment_queries(self, result: Evaluation, segment: str) -> int:
        return self.overview.segment_queries[result.run].get(segment, 0)

    def mean(self, result: Evaluation, measure: str, segment: str | None = None) -> float:
        means = self.overview.means if segment is None else (self.overview.segments or {})[segment]
        return means[result.run][measure]

    def mean_bounds(self, result: Evaluation, measure: str) -> Bounds:
        return (self.overview.bounds or {})[result.run][measure]

    def describe_bounds(self, scale: Iterable[float]) -> str:
        """What the bounds allow for, in words; `scale` are the grades that an unjudged document may have."""
        if all(result.policy.complete for result in self.evaluations):
            return "the same, since documents without a judgment count as judged and not relevant"
        grades = ", ".join(f"{grade:g}" for grade in sorted(scale))
        others = "those it did not retrieve count as not relevant"
        if self.overview.unseen:
            others = f"up to {self.overview.unseen} that it did not retrieve may be relevant, too"
        grades = f" of {grades}" if grades else ""
        return f"any grade{grades} for the unjudged documents that a run retrieved; {others}"

    def best(self, measure: str) -> set[str]:
        """The runs with the best mean, where there are several runs and one can be better than another."""
        definition = self.evaluations[0].definition(measure)
        if len(self.evaluations) < 2 or definition.aggregate == "sum" or definition.of_holes:
            return set()
        means = {result.run: round(self.mean(result, measure), 4) for result in self.evaluations}
        top = (min if definition.lower_is_better else max)(means.values())
        return {run for run, mean in means.items() if mean == top}

    def shown(self, value: float, measure: str) -> str:
        return f"{value:.0f}" if self.evaluations[0].definition(measure).aggregate == "sum" else f"{value:.4f}"

    def warnings(self, *, ties: bool = True) -> list[str]:
        warnings, about_ties = self.overview.warnings.items(), self.overview.tie_warnings
        return self._labelled({run: [*texts, *filter(None, [about_ties[run]] * ties)] for run, texts in warnings})

    def weighting(self) -> list[str]:
        """By which weights means are, in words; nothing without any."""
        texts = {
            result.run: [f"{MARK} {its.sentence}"] if (its := result.weights) else [] for result in self.evaluations
        }
        return self._labelled(texts) if len({*map(tuple, texts.values())}) > 1 else next(iter(texts.values()))

    def other_names(self) -> list[str]:
        return [f"{name} is {ours}" for name, ours in self.canonical_names.items()]

    @property
    def canonical_names(self) -> dict[str, str]:
        return {measure.name: measure.canonical for measure in self.evaluations[0].measures if measure.typed}

    def places(self) -> list[int]:
        """The place of each run by the measure that they are ranked by; runs with the same value share one."""
        means = [self.mean(result, self.ranked_by or self.measures[0]) for result in self.evaluations]
        places: list[int] = []
        for at, mean in enumerate(means):
            places.append(places[-1] if at and mean == means[at - 1] else at + 1)
        return places

    def tie_warnings(self) -> list[str]:
        return self._labelled({run: [text] if text else [] for run, text in self.overview.tie_warnings.items()})

    def _labelled(self, warnings: Mapping[str, Sequence[str]]) -> list[str]:
        if len(self.evaluations) == 1:
            return [text for texts in warnings.values() for text in texts]
        labelled = ((run, text) for run, texts in warnings.items() for text in texts)
        common = set.intersection(*map(set, warnings.values()))  # a warning that all runs share appears once
        return list(dict.fromkeys(f"{'all runs' if text in common else run}: {text}" for run, text in labelled))

    def rows(self) -> Iterator[QueryValue]:
        """Every value: those of the queries first, if they are wanted, then the means, for one run after the other."""
        for result in self.evaluations:
            yield from (QueryValue(*row) for row in result.per_query) if self.per_query else ()
            over = {name: ALL if result.heading(name) == name else WEIGHTED for name in result}
            for segment in self.segment_names:
                for measure in result:
                    mean = self.mean(result, measure, segment)
                    yield QueryValue(result.run, f"{over[measure]}:{segment}", measure, mean)
            for measure in result:
                yield QueryValue(result.run, over[measure], measure, self.mean(result, measure))

    def poor(self, result: Evaluation) -> Sequence[QueryFacts]:
        return (self.overview.worst or {})[result.run]

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
        shared = {name: n if all(its[name] == n for its in counts) else None for name, n in counts[0].items()}
        ours = self.canonical_names
        return {
            "measures": self.measures,
            **({"canonical_names": ours} if ours else {}),
            "runs": [self._run(result) for result in self.evaluations],
            "counts": shared,
            "signature": self.signature(),
            **({"weights": weights.to_dict()} if (weights := self.evaluations[0].weights) is not None else {}),
            **({"modelled": [value._asdict() for value in self.modelled]} if self.modelled else {}),
            **({"basis": asdict(basis)} if (basis := self.evaluations[0].basis) is not None else {}),
        }

    def _run(self, result: Evaluation) -> dict[str, Any]:
        content: dict[str, Any] = {
            "run": result.run,
            "mean": {name: self.mean(result, name) for name in result},
            "warnings": [*self.overview.warnings[result.run], *filter(None, [self.overview.tie_warnings[result.run]])],
        }
        if self.bounds:
            ends = {name: self.mean_bounds(result, name) for name in result}
            content["bounds"] = {
                name: {
                    "low": _finite(b.low),
                    "high": _finite(b.high),
                    "exact": b.exact,
                    "scale": [*b.scale],
                    "unseen": self.overview.unseen,
                }
                for name, b in ends.items()
            }
        if self.overview.segments is not None:
            content["segments"] = {
                segment: {name: self.mean(result, name, segment) for name in result} for segment in self.segment_names
            }
            content["segment_queries"] = {name: self.segment_queries(result, name) for name in self.segment_names}
        if result.answering is not None:
            content["answering"] = result.answering.to_dict()
        for its in self.groups:
            if its.run == result.run:
                content["within_groups"] = its.to_dict()
        if self.worst:
            content["worst"] = [{**poor._asdict(), "reason": poor.reason} for poor in self.poor(result)]
        if result.basis is not None:
            shares = {measure.name: result.facts(measure).judged_share() for measure in result.measures}
            content["estimates"] = {
                name: {**asdict(result.estimate(name)), "judged": share} for name, share in shares.items()
            }
        if self.per_query:
            content["per_query"] = result.to_dict()["per_query"]
        return {**content, "counts": asdict(result.counts), "signature": result.signature}


def _finite(bound: float) -> float | None:
    return bound if math.isfinite(bound) else None  # JSON has no infinite numbers
