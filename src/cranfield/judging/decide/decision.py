"""Decision: which documents to judge until the verdict on runs is final, and whether it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple, Self

import numpy as np

from cranfield.errors import ComparisonError, MeasureError
from cranfield.evaluation.naming import named_runs
from cranfield.judging.decide.candidates import Candidates
from cranfield.judging.decide.compared_pair import ComparedPair
from cranfield.judging.decide.looks import (
    ALL_JUDGED,
    DECIDED,
    NOT_WORTH,
    OPEN,
    STATES,
    Look,
    PairLook,
    reason_of,
)
from cranfield.judging.pool.order import USUAL_DEPTH, ReturnedByRuns, all_returned_first, returned_first
from cranfield.judging.store.scale import DEFAULT_SCALE
from cranfield.measures import Measure, parse_measure
from cranfield.measures.completion import cutoff_of
from cranfield.measures.registry import require_ranks
from cranfield.ranks.first_documents import Grades
from cranfield.ranks.judgments import Judgments
from cranfield.words import count, listed

LEAST = 50  # judged documents before any verdict is final
BATCH = 10  # documents between two looks that count
IN_A_ROW = 2  # looks with the same verdict


class PairStanding(NamedTuple):
    """The verdict of the last look that counted, how many were judged then, and for how many looks it has held."""

    judged: int = -BATCH
    verdict: str | None = None
    looks: int = 0


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
    confidence: float = 0.95
    seed: int = 0
    all_pairs: bool = False
    _standing: tuple[PairStanding, ...] = ()

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
        confidence: float = 0.95,
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
        chosen = parse_measure(measure) if isinstance(measure, str) else measure
        _check(chosen, alpha, confidence, depth)
        levels = [step.grade for step in DEFAULT_SCALE] if scale is None else [float(grade) for grade in scale]
        if len(set(levels)) < 2 or min(levels) < 0:
            raise ComparisonError(f"{scale} is not a scale.", hint="give two grades or more, none below 0")
        returned = read_first(runs, chosen, depth, queries, format)
        if len(returned.by_query) < 2:
            raise ComparisonError("a decision needs at least two queries.")
        known: Grades = {} if grades is None else Judgments.read(grades).by_query
        standing = (PairStanding(),) * len(compared_runs(len(returned.runs), all_pairs))
        return cls(Candidates.of(returned, known, levels), chosen, alpha, confidence, seed, all_pairs, standing)

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
        standing = self._standing
        if any(self._counts(pair) for pair in standing):
            standing = tuple(map(self._stands, range(len(standing))))
        return replace(self, _candidates=self._candidates.with_grades(grades), _standing=standing)

    def _knowing(self, grades: Mapping[str, Mapping[str, float | None]]) -> Self:
        return replace(self, _candidates=self._candidates.with_grades(grades))

    def _after(self, last: Sequence[tuple[str, str]]) -> Self:
        """The same decision, with a look before the last documents were judged: there may have been a verdict."""
        if len(last) < BATCH:
            return self
        grades: dict[str, dict[str, float | None]] = {}
        for query, document in last:
            grades.setdefault(query, {})[document] = self._candidates.grade_of(query, document)
        return replace(self, _candidates=self._candidates.without(last)).with_grades(grades)

    def _observed_pairs(self) -> set[tuple[str, str]]:
        return set(map(self._candidates.names_of, np.flatnonzero(self._candidates.observed).tolist()))

    def _open_pairs(self) -> list[tuple[str, str]]:
        matters = np.any([pair.matters for pair in self._pairs], axis=0)
        return list(map(self._candidates.names_of, np.flatnonzero(matters).tolist()))

    def next(self, count: int = BATCH) -> list[tuple[str, str]]:
        """The documents to judge next.

        count: how many documents, at most.
        Returns (query, document) for each, the most telling first; none if all that matter are judged. With several
        runs, the value of a document is that for the undecided pair that needs it most.
        """
        worth: dict[int, float] = {}
        undecided = [place for place, state in enumerate(self._states) if state == OPEN]
        for place in undecided or range(len(self._pairs)):
            chosen = self._pairs[place].next(count)
            for document, value in zip(chosen.place.tolist(), chosen.worth.tolist(), strict=True):
                worth[document] = max(value, worth.get(document, 0.0))
        best = sorted(worth, key=lambda document: (-worth[document], document))
        return [self._candidates.names_of(document) for document in best[:count]]

    def look(self) -> Look:
        """The current state of the decision.

        A verdict is final once at least 50 documents are judged and it was probable enough at two looks, with 10
        judgments between them.
        Returns a `Look`.
        """
        return self._look

    @property
    def judged(self) -> int:
        """How many of the first documents of all runs are judged."""
        return int(self._candidates.observed.sum())

    @cached_property
    def _pairs(self) -> tuple[ComparedPair, ...]:
        return tuple(
            ComparedPair(self._candidates, self.measure, runs, self.alpha, self.seed)
            for runs in compared_runs(len(self._candidates.runs), self.all_pairs)
        )

    def _counts(self, standing: PairStanding) -> bool:
        return self.judged - standing.judged >= BATCH

    def _stands(self, place: int) -> PairStanding:
        before, outlook = self._standing[place], self._pairs[place].outlook
        sure = max(outlook.probabilities) >= self.confidence
        verdict = outlook.verdict if sure else None
        same = sure and verdict == before.verdict
        if not self._counts(before):
            return before if same or not sure else PairStanding(before.judged, verdict, 0)
        return PairStanding(self.judged, verdict, before.looks + 1 if same else int(sure))

    @cached_property
    def _states(self) -> list[str]:
        return [self._state(place) for place in range(len(self._pairs))]

    def _state(self, place: int) -> str:
        pair = self._pairs[place]
        if not pair.differing:
            return NOT_WORTH
        if not pair.left:
            return ALL_JUDGED
        standing, verdict = self._stands(place), pair.outlook.verdict
        sure = max(pair.outlook.probabilities) >= self.confidence
        stands = sure and standing.verdict == verdict and standing.looks >= IN_A_ROW and self.judged >= LEAST
        return STATES[verdict] if stands else OPEN

    @cached_property
    def _look(self) -> Look:
        pairs = tuple(self._pair_look(pair, state) for pair, state in zip(self._pairs, self._states, strict=True))
        matters = np.any([pair.matters for pair in self._pairs], axis=0)
        needed = max((pair.likely_needed for pair in pairs), default=0)
        state = self._states[0] if len(pairs) == 1 else OPEN if OPEN in self._states else DECIDED
        return Look(state, self.judged, int(matters.sum()), needed, pairs)

    def _pair_look(self, pair: ComparedPair, state: str) -> PairLook:
        baseline, run = (self._candidates.runs[place] for place in pair.runs)
        outlook, total = pair.outlook, pair.outlook.from_judging + pair.outlook.from_queries
        from_judging, from_queries = (
            (part / total if total > 0 else 0.0) for part in (outlook.from_judging, outlook.from_queries)
        )
        sure, name = max(outlook.probabilities), f"{run} beside {baseline}"
        heading = STATES[outlook.verdict] if state == OPEN and self.judged >= LEAST and sure > 0.5 else ""
        needed = 0
        if state == OPEN:
            needed = min(max(pair.needed(self.confidence) + BATCH, LEAST - self.judged), pair.left)
        return PairLook(
            baseline=baseline,
            run=run,
            measure=self.measure.name,
            difference=outlook.difference,
            low=outlook.low,
            high=outlook.high,
            from_judging=from_judging,
            from_queries=from_queries,
            better=outlook.better,
            worse=outlook.worse,
            neither=outlook.neither,
            verdict=outlook.verdict,
            left=pair.left,
            likely_needed=needed,
            state=state,
            heading=heading,
            reason=reason_of(state, name, sure, outlook.verdict, pair.left, heading, from_queries),
        )


def read_first(
    runs: Any, measure: Measure, depth: int | None, queries: Sequence[str] | None = None, format: str | None = None
) -> ReturnedByRuns:
    """What runs return first, as deep as a measure looks; what was read before stays as it is."""
    if isinstance(runs, ReturnedByRuns):
        return runs
    named = named_runs(runs)
    if len(named) < 2:
        raise ComparisonError("a decision needs at least two runs.", hint="the first is the baseline")
    deepest = depth or cutoff_of(measure) or USUAL_DEPTH
    if queries is None:
        return all_returned_first(named, deepest, format)
    wanted = list(dict.fromkeys(queries))
    return ReturnedByRuns(tuple(named), returned_first(named, wanted, wanted, deepest, format)[0])


def compared_runs(count: int, all_pairs: bool) -> list[tuple[int, int]]:
    return list(combinations(range(count), 2)) if all_pairs else [(0, run) for run in range(1, count)]


def _check(measure: Measure, alpha: float, confidence: float, depth: int | None) -> None:
    if measure.definition.table == "strata" or measure.definition.name == "infAP":
        fact = "cannot be decided: it is estimated from a random sample, and a decision chooses what to judge."
        hint = "AP and nDCG@10 can; evaluate() estimates them from a random sample of judgments"
        raise MeasureError(f"{measure.name} {fact}", hint=hint)
    require_ranks(measure)
    skips = measure.definition.skips_unjudged or dict(measure.parameters).get("judged_only", False)
    if measure.definition.of_holes or skips or measure.definition.aggregate != "mean":
        fact = f"{measure.name} cannot be decided: it is about unjudged documents, or is not a mean over queries."
        raise MeasureError(fact, hint="nDCG@10, P@10, RBP, AP and RR can")
    for name, value in (("alpha", alpha), ("confidence", confidence)):
        if not 0 < value < 1:
            raise ComparisonError(f"invalid {name} {value}.", hint="it lies between 0 and 1")
    if depth is not None and depth < 1:
        raise ComparisonError("is not a rank.", parameter="depth", value=depth, hint="give 1 or more")
