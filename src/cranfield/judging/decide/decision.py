"""Decision: which documents to judge until the verdict on runs is final, and whether it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any, Self

import numpy as np

from cranfield.errors import ComparisonError, MeasureError
from cranfield.evaluation.naming import named_runs
from cranfield.judging.decide.candidates import Candidates
from cranfield.judging.decide.choosing import choose
from cranfield.judging.decide.compared_pair import ComparedPair, Completions
from cranfield.judging.decide.looks import (
    ALL_JUDGED,
    DECIDED,
    NOT_WORTH,
    OPEN,
    STATES,
    Look,
    PairLook,
)
from cranfield.judging.decide.outlook import LIKELY
from cranfield.judging.pool.order import USUAL_DEPTH, ReturnedByRuns, all_returned_first, returned_first
from cranfield.judging.store.scale import DEFAULT_SCALE
from cranfield.measures import Measure, parse_measure
from cranfield.measures.completion import cutoff_of
from cranfield.measures.registry import require_ranks
from cranfield.ranks.first_documents import Grades
from cranfield.ranks.judgments import Judgments
from cranfield.words import count, listed

LEAST = 40  # judged documents before any verdict is final
BATCH = 10  # documents chosen together
CONFIDENCE = 0.96


@dataclass(frozen=True, eq=False)
class Decision:
    """Judge until the verdict on runs is settled: on each run against a baseline, or on every pair of runs.

    Make one with `Decision.of`.

    The verdict in question is that of Student's paired t-test, as `compare` gives it, if all documents that any run
    returns down to a depth were judged. A decision knows the grades so far and never changes: `with_grades` makes the
    next one.

    >>> from random import Random
    >>> chance = Random(1)
    >>> qrels = {f"q{q}": {f"d{d}": float(chance.randrange(4)) for d in range(20)} for q in range(30)}
    >>> good = {q: sorted(g, key=lambda d: -g[d] + chance.gauss(0, 1)) for q, g in qrels.items()}
    >>> bad = {q: sorted(g, key=lambda d: -g[d] + chance.gauss(0, 5)) for q, g in qrels.items()}
    >>> decision = Decision.of({"bad": bad, "good": good})
    >>> while not decision.look().done:
    ...     for query, document in decision.next(10):
    ...         decision = decision.judge(query, document, qrels[query][document])
    >>> look = decision.look()
    >>> decision.judged == look.judged, decision.with_grades({"q0": {bad["q0"][0]: 1}}).measure.name
    (True, 'nDCG@10')
    >>> look.state, look.judged < 100 < look.left, look.pairs[0].low > 0
    ('better', True, True)
    """

    _candidates: Candidates
    measure: Measure
    alpha: float = 0.05
    confidence: float = CONFIDENCE
    seed: int = 0
    all_pairs: bool = False

    def __repr__(self) -> str:
        runs, judged = listed(self._candidates.runs), count(self.judged, "document")
        return f"<Decision between {runs} by {self.measure}: {judged} judged>"

    @classmethod
    def of(
        cls,
        runs: Mapping[str, Any] | Iterable[Any],
        measure: str | Measure = "nDCG@10",
        grades: Any = None,
        *,
        scale: Sequence[float] | None = None,
        alpha: float = 0.05,
        confidence: float = CONFIDENCE,
        depth: int | None = None,
        queries: Sequence[str] | None = None,
        all_pairs: bool = False,
        seed: int = 0,
        format: str | None = None,
    ) -> Self:
        """Start a decision, or continue one with existing judgments.

        runs: {name: run} or a list of runs, which are what `evaluate` takes; the first is the baseline, and each of the
            others is compared with it.
        measure: any measure of ranks and grades whose queries are averaged. Choosing is fastest for nDCG and for sums
            over documents (P, DCG, RBP and the like); for others, each document is tried with two grades.
        grades: the judgments so far: qrels of any kind; None if there are none.
        scale: the grades that can be given; by default 0, 1, 2, 3.
        alpha: the level of significance.
        confidence: how probable a verdict must be before it is final.
        depth: how many documents of each ranking count; by default the cutoff of the measure, or 10 without one.
        queries: their ids; by default all that any run has. All of them count in the comparison.
        all_pairs: compare every pair of runs, not only each run with the first: decide the order of all of them.
        seed: the seed of the random draws.
        format: of the runs, if it cannot be detected.
        Returns a `Decision`.
        """
        if not 0 < confidence < 1:
            raise ComparisonError(f"invalid confidence {confidence}.", hint="it lies between 0 and 1")
        known, chosen = candidates_of(runs, measure, grades, scale, alpha, depth, queries, format)
        if len(known.query_ids) < 2:
            raise ComparisonError("a decision needs at least two queries.")
        return cls(known, chosen, alpha, confidence, seed, all_pairs)

    def judge(self, query: str, document: str, grade: float | None) -> Self:
        """The decision with one more grade.

        query, document: their ids.
        grade: a number; None for a document that cannot be judged, which then counts as not relevant.
        Returns the next decision.
        """
        return self.with_grades({query: {document: grade}})

    def with_grades(self, grades: Mapping[str, Mapping[str, float | None]]) -> Self:
        """The decision with more grades.

        grades: by query and document, as in `judge`.
        Returns the next decision.
        """
        return replace(self, _candidates=self._candidates.with_grades(grades))

    def _open_pairs(self) -> list[tuple[str, str]]:
        matters = np.any([pair.matters for pair in self._pairs], axis=0)
        return list(map(self._candidates.names_of, np.flatnonzero(matters).tolist()))

    def next(self, count: int = BATCH) -> list[tuple[str, str]]:
        """The documents to judge next.

        count: how many documents, at most.
        Returns (query, document) for each, the most telling first; none if all that matter are judged. With several
        runs, the value of a document is the sum of its values for all undecided pairs.
        """
        undecided = [pair for pair, state in zip(self._pairs, self._states, strict=True) if state == OPEN]
        wanted = [pair.wanted for pair in undecided or self._pairs]
        places = choose(self._completions.linear, wanted, count)
        return [self._candidates.names_of(place) for place in places.tolist()]

    def look(self) -> Look:
        """The current state of the decision.

        A verdict is final once at least 40 documents are judged and it is probable enough. "Not worth judging further"
        also needs that at most 40% of the uncertainty comes from documents that are not judged.
        Returns a `Look`.
        """
        return self._look

    @property
    def judged(self) -> int:
        """How many of the first documents of all runs are judged."""
        return int(self._candidates.observed.sum())

    @cached_property
    def _completions(self) -> Completions:
        return Completions(self._candidates, self.measure, self.seed)

    @cached_property
    def _pairs(self) -> tuple[ComparedPair, ...]:
        compared = compared_runs(len(self._candidates.runs), self.all_pairs)
        return tuple(ComparedPair(self._completions, runs, self.alpha) for runs in compared)

    @cached_property
    def _states(self) -> list[str]:
        return [self._state(pair, self._confidence) for pair in self._pairs]

    @cached_property
    def _confidence(self) -> float:
        """How probable the verdict on each pair must be.

        The last of several pairs may be so near to the edge of significance that it takes as many judgments as all
        others together. So several may also be decided as a whole: if half as many verdicts are expected to be wrong.
        """
        chances = [max(pair.outlook.probabilities) for pair in self._pairs]
        as_a_whole = len(chances) > 1 and float(np.mean(chances)) >= (1 + self.confidence) / 2
        return min(LIKELY, self.confidence) if as_a_whole and self._all_final(LIKELY) else self.confidence

    def _all_final(self, confidence: float) -> bool:
        return all(self._final(pair, confidence) for pair in self._pairs)

    def _state(self, pair: ComparedPair, confidence: float) -> str:
        if not pair.differing:
            return NOT_WORTH
        if not pair.left:
            return ALL_JUDGED
        return STATES[pair.outlook.verdict] if self._final(pair, confidence) else OPEN

    def _final(self, pair: ComparedPair, confidence: float) -> bool:
        return not pair.left or (self.judged >= LEAST and pair.outlook.sure(confidence))

    @cached_property
    def _look(self) -> Look:
        pairs = tuple(self._pair_look(pair, state) for pair, state in zip(self._pairs, self._states, strict=True))
        left = int(np.any([pair.matters for pair in self._pairs], axis=0).sum())
        # A document may tell about several pairs, or about one only.
        few = max(pair.likely_needed[0] for pair in pairs)
        many = min(sum(pair.likely_needed[1] for pair in pairs), left)
        state = self._states[0] if len(pairs) == 1 else OPEN if OPEN in self._states else DECIDED
        documents = int(self._candidates.returned.sum())
        return Look(state, self.judged, documents, left, (few, many), pairs)

    def _pair_look(self, pair: ComparedPair, state: str) -> PairLook:
        baseline, run = (self._candidates.runs[place] for place in pair.runs)
        needed = (0, 0)
        if state == OPEN:
            least = max(LEAST - self.judged, 1)
            few, many = (min(max(number, least), pair.left) for number in pair.needed(self.confidence))
            needed = (few, many)
        look = PairLook(baseline, run, self.measure.name, pair.left, needed, state)
        if pair.left and not self.judged:  # the model knows nothing yet that would tell the runs apart
            return look
        outlook = pair.outlook
        likely = state == OPEN and self.judged >= LEAST and outlook.sure(LIKELY)
        return look._replace(
            difference=outlook.difference,
            low=outlook.low,
            high=outlook.high,
            full_low=outlook.full_low,
            full_high=outlook.full_high,
            from_judging=outlook.share_from_judging,
            from_queries=1 - outlook.share_from_judging,
            better=outlook.better,
            worse=outlook.worse,
            neither=outlook.neither,
            verdict=outlook.verdict,
            heading=STATES[outlook.verdict] if likely else "",
        )


def candidates_of(
    runs: Any,
    measure: str | Measure,
    grades: Any,
    scale: Sequence[float] | None,
    alpha: float,
    depth: int | None,
    queries: Sequence[str] | None,
    format: str | None,
    fewest: int = 2,
) -> tuple[Candidates, Measure]:
    """The first documents of runs with the grades that are known, and the measure; all of it checked."""
    chosen = parse_measure(measure) if isinstance(measure, str) else measure
    _check(chosen, alpha, depth)
    levels = [step.grade for step in DEFAULT_SCALE] if scale is None else [float(grade) for grade in scale]
    if len(set(levels)) < 2 or min(levels) < 0:
        raise ComparisonError(f"{scale} is not a scale.", hint="give two grades or more, none below 0")
    returned = read_first(runs, chosen, depth, queries, format, fewest)
    known: Grades = {} if grades is None else Judgments.read(grades).by_query
    return Candidates.of(returned, known, levels), chosen


def depth_of(measure: Measure, depth: int | None) -> int:
    return depth or cutoff_of(measure) or USUAL_DEPTH


def read_first(
    runs: Any,
    measure: Measure,
    depth: int | None,
    queries: Sequence[str] | None = None,
    format: str | None = None,
    fewest: int = 2,
) -> ReturnedByRuns:
    """What runs return first, as deep as a measure looks; what was read before stays as it is."""
    if isinstance(runs, ReturnedByRuns):
        return runs
    named = named_runs(runs)
    if len(named) < fewest:
        if fewest == 1:
            raise ComparisonError("there is no run.", hint="give at least one")
        raise ComparisonError("a decision needs at least two runs.", hint="the first is the baseline")
    deepest = depth_of(measure, depth)
    if queries is None:
        return all_returned_first(named, deepest, format)
    wanted = list(dict.fromkeys(queries))
    return ReturnedByRuns(tuple(named), returned_first(named, wanted, wanted, deepest, format)[0])


def compared_runs(count: int, all_pairs: bool) -> list[tuple[int, int]]:
    return list(combinations(range(count), 2)) if all_pairs else [(0, run) for run in range(1, count)]


def _check(measure: Measure, alpha: float, depth: int | None) -> None:
    if measure.definition.table == "strata" or measure.definition.name == "infAP":
        fact = "cannot be modelled: it is estimated from a random sample, and here what is judged is chosen."
        hint = "AP and nDCG@10 can; evaluate() estimates them from a random sample of judgments"
        raise MeasureError(f"{measure.name} {fact}", hint=hint)
    require_ranks(measure)
    skips = measure.definition.skips_unjudged or dict(measure.parameters).get("judged_only", False)
    if measure.definition.of_holes or skips or measure.definition.aggregate != "mean":
        fact = f"{measure.name} cannot be modelled: it is about unjudged documents, or is not a mean over queries."
        raise MeasureError(fact, hint="nDCG@10, P@10, RBP, AP and RR can")
    if not 0 < alpha < 1:
        raise ComparisonError(f"invalid alpha {alpha}.", hint="it lies between 0 and 1")
    if depth is not None and depth < 1:
        raise ComparisonError("is not a rank.", parameter="depth", value=depth, hint="give 1 or more")
