"""What a collection looks like: the numbers that decide which measures suit it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from cranfield.evaluation.contributions import LEAST_DEPTH, contributed, mean_of
from cranfield.evaluation.result import Evaluation
from cranfield.measures import Measure, parse_measure
from cranfield.measures.counts import judged_share
from cranfield.measures.scope import Scope
from cranfield.ranks.chosen_warning import chosen_warning
from cranfield.ranks.columns import Numbers
from cranfield.ranks.grades import graded
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.policy import Policy
from cranfield.ranks.tables.ranks import JudgedRanks, without
from cranfield.words import count

ENOUGH_JUDGED = 0.8  # of the documents a measure looks at; below that, unjudged documents decide comparisons
RUN_MEASURES = ("NumRet",)
LEFT_OUT_BY = "nDCG@10"  # the measure for runs that are left out of the pool
DEPTHS = (10, 100, 1000)


@dataclass(frozen=True, slots=True)
class RunShape:
    run: str
    missing: int  # judged queries that it lacks
    deepest: int  # documents in its longest ranking
    tied: float  # the share of retrieved judged documents with the score of another
    ranks: JudgedRanks = field(repr=False, compare=False)

    def judged(self, cutoff: int | None = None) -> float:
        """The share of its documents down to a cutoff that is judged, averaged over the queries that it answers."""
        answered = self.ranks.retrieved > 0
        shares = judged_share(self.ranks, cutoff=cutoff)[answered]
        return float(shares.mean()) if len(shares) else 0.0

    @property
    def depths(self) -> tuple[int | None, ...]:
        """The depths to look at: 10, 100 and 1000, as long as rankings are longer, and None for all of them."""
        return (*(depth for depth in DEPTHS if depth < self.deepest), None)


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
    runs: tuple[RunShape, ...]
    judgments: Judgments = field(repr=False, compare=False)
    read_grades: Numbers = field(repr=False, compare=False)  # those of the judgments, as the policy reads them
    complete: bool = False  # documents without a judgment are not relevant, and need none
    left_out: Mapping[str, float] = field(default_factory=dict)  # see `_left_out`; for judgments that were chosen

    def __repr__(self) -> str:
        queries = count(self.queries, "query", "queries")
        return f"<Facts: {queries}; median {self.judged:g} judged and {self.relevant:g} relevant>"

    @property
    def graded(self) -> bool:
        return len(self.grades) > 1

    @property
    def highest(self) -> float:
        return self.grades[-1] if self.grades else 0.0

    @property
    def one_answer(self) -> bool:
        return self.one_relevant > 0.5

    def least_judged(self, cutoff: int | None) -> tuple[str, float]:
        """The run with the smallest share of judged documents down to a cutoff, and this share."""
        share, run = min(((run.judged(cutoff), run.run) for run in self.runs), default=(1.0, ""))
        return run, share

    def incomplete(self, cutoff: int | None) -> bool:
        """Whether many documents of some run are not judged, of those down to a cutoff."""
        return self.least_judged(cutoff)[1] < ENOUGH_JUDGED

    def judged_text(self, cutoff: int | None) -> str:
        run, share = self.least_judged(cutoff)
        some = f"all documents that {run} retrieves" if cutoff is None else f"the first {cutoff} documents of {run}"
        return f"only {share:.0%} of {some} are judged"

    @property
    def first_page(self) -> int:
        """Ten, or as deep as all runs go."""
        return min([10, *(run.deepest for run in self.runs if run.deepest)])

    def n_relevant(self, measure: Measure | None = None) -> Numbers:
        """How many documents of each query are relevant to a measure, or have grade 1 or higher."""
        grades = self.read_grades
        return _per_query(self.judgments, grades >= 1 if measure is None else Scope.of(measure).relevant(grades))


def depth_text(depth: int | None) -> str:
    return "all retrieved" if depth is None else f"the first {depth}"


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
        read_grades=grades,
        left_out=_left_out(results, policy) if chosen_warning(judgments) and len(results) > 1 else {},
        complete=policy.complete,
    )


def _left_out(results: Sequence[Evaluation], policy: Policy) -> dict[str, float]:
    """By how much the value of each run would change if it had not been in the pool of the first ten."""
    tables = [result.ranks for result in results if result.ranks is not None]
    measure = parse_measure(LEFT_OUT_BY)
    changes = {}
    for at, result in enumerate(results):
        [fewer] = without([tables[at]], contributed(tables, [at], LEAST_DEPTH))
        changes[result.run] = mean_of(measure, fewer, policy) - mean_of(measure, tables[at], policy)
    return changes


def _run_facts(result: Evaluation) -> RunShape:
    assert result.ranks is not None  # which only saved evaluations lack
    deepest = int(result.column("NumRet").max(initial=0))
    return RunShape(result.run, result.counts.missing, deepest, result.counts.tied, result.ranks)


def _per_query(judgments: Judgments, counted: npt.NDArray[np.bool_]) -> Numbers:
    return np.bincount(judgments.query, weights=counted, minlength=len(judgments)).astype(np.float64)
