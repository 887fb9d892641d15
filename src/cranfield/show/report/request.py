"""What a page is asked to show, and the evaluations that answer it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from cranfield.comparison import Comparison, compare_evaluations
from cranfield.errors import CranfieldError, InputError
from cranfield.evaluation import evaluate_runs
from cranfield.judge.grouped import GroupedJudgments
from cranfield.judge.judgments import Judgments
from cranfield.judge.policy import Policy
from cranfield.measures import Measure, parse_measure
from cranfield.result import Evaluation
from cranfield.show.pictures import cutoffs_of, family, recall_levels
from cranfield.systems.collection import Collection

FAMILIES = 4  # measures shown rank by rank


@dataclass(frozen=True)
class Request:
    """What `write_report` was called with, read and checked."""

    judgments: Judgments | GroupedJudgments
    runs: Mapping[str, Any]
    measures: Sequence[Measure]
    title: str
    collection: Collection | None
    segments: Mapping[str, str]
    bounds: bool
    queries: int
    depth: int
    charts: bool
    removal: bool
    test: str
    correction: str
    alpha: float
    policy: Policy
    format: str | None

    @property
    def flat(self) -> Judgments:
        """One grade for each document."""
        return self.judgments if isinstance(self.judgments, Judgments) else self.judgments.flat

    @property
    def ordinary(self) -> bool:
        """Whether all measures are made of ranks and grades, so that more can be measured on the same judgments."""
        return isinstance(self.judgments, Judgments)

    @cached_property
    def families(self) -> dict[str, Measure]:
        """The first measures that have cutoffs, by their names without one: shown rank by rank."""
        known = {family(each): each for each in self.measures if "cutoff" in each.definition.kinds}
        wanted = {name: each for name, each in known.items() if not each.definition.of_holes}
        return dict(list(wanted.items())[:FAMILIES]) if self.ordinary else {}

    @cached_property
    def evaluations(self) -> list[Evaluation]:
        """Every run by every measure that the page shows somewhere."""
        more: list[Measure] = []
        if self.ordinary:
            more = [parse_measure("Judged@10"), *recall_levels()]
            more += [cut for each in self.families.values() for cut in cutoffs_of(each, self.depth)]
        every = dict.fromkeys((*self.measures, *more))
        return list(evaluate_runs(self.judgments, self.runs, every, policy=self.policy, format=self.format).values())

    @cached_property
    def query_ids(self) -> list[str]:
        """The queries that a run is measured on, in the order of the judgments."""
        measured = {query for each in self.evaluations for query in each.query_ids}
        return [query for query in self.flat.query_ids if query in measured]

    @cached_property
    def comparison(self) -> Comparison | None:
        """All pairs of runs by the measures that are means, where there are runs and queries enough."""
        means = [each for each in self.measures if each.definition.aggregate == "mean" and not each.definition.of_holes]
        if len(self.evaluations) < 2 or len(self.query_ids) < 2 or not means:
            return None
        return compare_evaluations(
            self.evaluations, means, test=self.test, correction=self.correction, alpha=self.alpha, bounds=self.bounds
        )


def named_runs(runs: Mapping[str, Any] | Iterable[Any]) -> dict[str, Any]:
    """Runs by name; each must be there to be read again."""
    from cranfield.evaluation import run_name
    from cranfield.read.source import open_source

    if isinstance(runs, str | os.PathLike):
        runs = [runs]
    given = runs.items() if isinstance(runs, Mapping) else ((None, run) for run in runs)
    found: dict[str, Any] = {}
    for name, run in given:
        if hasattr(run, "read") or (isinstance(run, str) and run == "-"):
            raise InputError(str(name or "the run"), "a report reads a run twice.", hint="write it to a file first")
        base = title = str(name) if name is not None else run_name(open_source(run, "run").name)
        while title in found:
            title = f"{base} ({sum(each.startswith(base) for each in found) + 1})"
        found[title] = run
    if not found:
        raise CranfieldError("a report needs a run.", hint="give at least one")
    return found
