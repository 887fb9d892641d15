"""What a collection looks like: the numbers that decide which measures suit it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from cranfield.evaluation.result import Evaluation
from cranfield.ranks.columns import Numbers
from cranfield.ranks.grades import graded
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.policy import Policy

ENOUGH_JUDGED = 0.8  # of the first ten; below it unjudged documents decide comparisons


RUN_MEASURES = ("NumRet", "Judged@10", "Unjudged@10")


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What a run looks like. Shares are over the queries that it answers."""

    run: str
    missing: int  # judged queries that it lacks
    deepest: int  # documents in its longest ranking
    judged_at_10: float  # the share of the first ten that is judged
    unjudged_at_10: float  # how many of the first ten are not, in the mean
    tied: float  # the share of retrieved judged documents with the score of another


@dataclass(frozen=True, slots=True)
class Facts:
    """What a collection looks like. Documents are relevant from grade 1."""

    queries: int
    judged: float  # documents of a query: the median
    relevant: float  # the same
    one_relevant: float  # share of the queries with exactly one relevant document
    none_relevant: float  # share without
    nonrelevant: int  # judgments that say a document is not relevant
    pooled: int  # judgments with a negative grade: pooled, not judged
    grades: tuple[float, ...]  # the different grades above 0
    runs: tuple[RunFacts, ...]
    judgments: Judgments = field(repr=False, compare=False)
    complete: bool = False  # a document without a judgment is not relevant, and nobody needs to judge it

    @property
    def graded(self) -> bool:
        """Whether some relevant documents are better than others."""
        return len(self.grades) > 1

    @property
    def highest(self) -> float:
        """The highest grade."""
        return self.grades[-1] if self.grades else 0.0

    @property
    def one_answer(self) -> bool:
        """Whether most queries have a single relevant document."""
        return self.one_relevant > 0.5

    @property
    def incomplete(self) -> bool:
        """Whether unjudged documents stand among the first ten of some run in numbers."""
        return any(run.judged_at_10 < ENOUGH_JUDGED for run in self.runs)

    @property
    def first_page(self) -> int:
        """Ten, or as deep as all runs go."""
        return min([10, *(run.deepest for run in self.runs if run.deepest)])

    def n_relevant(self, rel: float = 1) -> Numbers:
        """How many relevant documents each query has."""
        return _per_query(self.judgments, self.judgments.grades >= rel)


def facts_of(judgments: Judgments, results: Sequence[Evaluation], policy: Policy) -> Facts:
    """The facts of judgments, and of runs from their evaluations by `RUN_MEASURES`."""
    grades = graded(judgments.grades, policy)
    relevant, judged = _per_query(judgments, grades >= 1), _per_query(judgments, grades >= 0)
    return Facts(
        queries=len(judgments),
        judged=float(np.median(judged)),
        relevant=float(np.median(relevant)),
        one_relevant=float((relevant == 1).mean()),
        none_relevant=float((relevant == 0).mean()),
        nonrelevant=int(((grades >= 0) & (grades < 1)).sum()),
        pooled=int((grades < 0).sum()),
        grades=tuple(np.unique(grades[grades > 0]).tolist()),
        runs=tuple(map(_run_facts, results)),
        judgments=judgments,
        complete=policy.complete,
    )


def _run_facts(result: Evaluation) -> RunFacts:
    retrieved = result.column("NumRet")
    answered = retrieved > 0
    judged, unjudged = result.column("Judged@10")[answered], result.column("Unjudged@10")[answered]
    return RunFacts(
        run=result.run,
        missing=result.counts.missing,
        deepest=int(retrieved.max(initial=0)),
        judged_at_10=float(judged.mean()) if answered.any() else 0.0,
        unjudged_at_10=10 * float(unjudged.mean()) if answered.any() else 0.0,
        tied=result.counts.tied,
    )


def _per_query(judgments: Judgments, counted: npt.NDArray[np.bool_]) -> Numbers:
    return np.bincount(judgments.query, weights=counted, minlength=len(judgments)).astype(np.float64)
