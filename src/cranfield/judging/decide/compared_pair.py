"""ComparedPair: two runs of a decision, how probable each verdict is, and what to judge next."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from cranfield.judging.decide.candidates import Candidates, Places
from cranfield.judging.decide.choosing import Wanted, slopes, weights_of
from cranfield.judging.decide.grade_model import Features, GradeModel, LinearGrades, fit
from cranfield.judging.decide.outlook import Outlook, judgments_needed, outlook
from cranfield.measures.completion import is_sum
from cranfield.measures.registry import Measure
from cranfield.ranks.columns import Flags, Integers, Numbers

CHOOSING = 0  # the seed by which documents are chosen
DRAWS, FEWEST_DRAWS = 200, 20
DRAWN_AT_ONCE = 2_000_000  # grades: with very many documents there are fewer draws
STEPS, LOOKED_AHEAD = 100, 10  # numbers of judgments to look ahead to, and for how many the variance is calculated


@dataclass(frozen=True, eq=False)
class Completions:
    """The ways in which all grades may turn out, and what each run is worth in each of them: the same for all pairs."""

    candidates: Candidates
    measure: Measure
    seed: int

    @cached_property
    def model(self) -> GradeModel:
        known = self.candidates
        features = Features.of(known.rank, known.query)
        return fit(features, len(known.query_ids), known.level, known.observed, len(known.steps) - 1)

    @cached_property
    def linear(self) -> LinearGrades:
        return self.model.linear(self.candidates.steps)

    @cached_property
    def grades(self) -> Places:
        """A line for each completion, as numbers of levels: judged documents keep theirs, those of others are drawn."""
        known = self.candidates
        if not (known.returned & ~known.judged).any():
            return known.completed(np.zeros((1, len(known.query)), dtype=np.int32))
        # The same random numbers at every look, so that what changes is due to grades alone.
        count = min(DRAWS, max(FEWEST_DRAWS, DRAWN_AT_ONCE // max(len(known.query), 1)))
        return known.completed(self.model.draw(np.random.default_rng(self.seed % 2**64), count))

    @cached_property
    def for_choosing(self) -> Completions:
        """With the same random numbers whatever the seed: it must not change which documents are judged.

        Otherwise two decisions on the same runs would soon know different documents, and end at different times.
        """
        if self.seed == CHOOSING:
            return self
        same = replace(self, seed=CHOOSING)
        same.__dict__.update(model=self.model, linear=self.linear)
        return same

    @cached_property
    def values(self) -> list[Numbers]:
        """Of each run: every run is in some pair, and together they share the ideal rankings of all completions."""
        return self.candidates.values(self.measure, range(len(self.candidates.runs)), self.grades)


@dataclass(frozen=True, eq=False)
class ComparedPair:
    """A baseline and a run, as their numbers."""

    completions: Completions
    runs: tuple[int, int]
    alpha: float

    @property
    def candidates(self) -> Candidates:
        return self.completions.candidates

    @property
    def measure(self) -> Measure:
        return self.completions.measure

    @cached_property
    def differing(self) -> bool:
        return bool(self.candidates.differing(*self.runs).any())

    @cached_property
    def matters(self) -> Flags:
        """The unjudged documents whose grades can change the difference."""
        known = self.candidates
        ranks = known.rank[list(self.runs)]
        can = known.differing(*self.runs)[known.query] & known.returned
        if is_sum(self.measure):  # then a document at the same rank in both adds the same to both
            can &= ranks[0] != ranks[1]
        return np.asarray(can & ~known.judged)

    @property
    def left(self) -> int:
        return int(self.matters.sum())

    @cached_property
    def differences(self) -> Numbers:
        return self._differences_in(self.completions)

    def _differences_in(self, completions: Completions) -> Numbers:
        """Run less baseline: a line for each completion and a column for each query."""
        baseline, run = (completions.values[place] for place in self.runs)
        return (run - baseline)[: None if self.left else 1]

    @cached_property
    def outlook(self) -> Outlook:
        return outlook(self.differences, self.alpha, self.measure, self.candidates.judged_share)

    @cached_property
    def weights(self) -> Numbers:
        """How each unknown grade moves the end of the interval that is nearer to 0."""
        drawn = self.completions.for_choosing
        slope = np.where(self.matters, slopes(self.candidates, self.measure, self.runs, drawn.grades), 0.0)
        return weights_of(self._differences_in(drawn), slope, self.candidates.query, self.outlook.critical)

    @property
    def wanted(self) -> Wanted:
        return Wanted(self.weights, self.matters)

    def needed(self, confidence: float) -> tuple[int, int]:
        """Few and many judgments until a verdict is sure."""
        steps = np.unique(np.linspace(0, self.left, min(self.left, STEPS) + 1).astype(np.int64))
        return judgments_needed(self.outlook, np.interp(steps, *self._left_after), steps, confidence)

    @cached_property
    def _left_after(self) -> tuple[Integers, Numbers]:
        """Some numbers of judgments, and the share of the variance that is left after so many, the weightiest first."""
        linear, weights = self.completions.linear, np.where(self.matters, self.weights, 0.0)
        numbers = np.unique(np.geomspace(1, self.left, min(self.left, LOOKED_AHEAD)).astype(np.int64))
        order = heaviest(weights, int(numbers[:-1].max(initial=0)))
        total = max(linear.variance_of(weights), 1e-300)
        left = [variance / total for variance in linear.variances_given(order, numbers[:-1].tolist(), weights)]
        return np.append(0, numbers), np.array([1.0, *left, 0.0])


def heaviest(weights: Numbers, count: int) -> Integers:
    """The places of the largest weights of either sign, the largest first; of equal ones, the first comes first."""
    size = np.abs(weights)
    least = np.partition(size, len(size) - count)[len(size) - count] if count else np.inf
    places = np.flatnonzero(size >= least)  # to sort these alone is several times faster
    return places[np.argsort(-size[places], kind="stable")][:count]
