"""The two runs that the page speaks about first, and what their comparison says, from the side of the one."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from cranfield.comparison import Comparison, Difference
from cranfield.comparison.differences import decisive_p
from cranfield.comparison.unjudged import Reach, Reaches
from cranfield.measures import Measure

KINDS = {"Better": "better", "Worse": "worse", "Too close to call": "close", "No difference": "same"}


@dataclass(frozen=True, slots=True)
class Pair:
    """Two runs: `run` is the one the verdict is about, `baseline` the one it is measured against.

    chosen: why these two: "two" (there are no others), "baseline" (it was given) or "second" (the best and the next)
    difference: as it was computed, which may be the other way round; the properties are from the run's side
    reach: of run - baseline; None where it is not known
    """

    run: str
    baseline: str
    measure: Measure
    chosen: str
    difference: Difference
    reach: Reach | None

    @property
    def turned(self) -> bool:
        """Whether the difference was computed the other way round."""
        return self.difference.run != self.run

    @property
    def estimate(self) -> float:
        """By how much the run is above the baseline."""
        return -self.difference.estimate if self.turned else self.difference.estimate

    @property
    def mean(self) -> float:
        """The difference of the means."""
        return -self.difference.difference if self.turned else self.difference.difference

    @property
    def ends(self) -> tuple[float, float]:
        """The interval of the estimate."""
        low, high = self.difference.low, self.difference.high
        return (-high, -low) if self.turned else (low, high)

    @property
    def headline(self) -> str:
        """Better, Worse, Too close to call, or No difference."""
        said = self.difference.headline
        return {"Better": "Worse", "Worse": "Better"}.get(said, said) if self.turned else said

    @property
    def kind(self) -> str:
        """The headline as one word, for colours."""
        return KINDS[self.headline]

    @property
    def counts(self) -> tuple[int, int, int]:
        """Queries for which the run is better, the same, worse."""
        found = self.difference
        better, worse = (found.worse, found.better) if self.turned else (found.better, found.worse)
        return better, found.same, worse

    @property
    def queries(self) -> int:
        """How many were compared."""
        return sum(self.counts)

    @property
    def p(self) -> str:
        """The p-value that decides, with its sign."""
        return decisive_p(self.difference)

    @property
    def could_reverse(self) -> bool | None:
        """Whether unjudged documents could turn the difference round; None where that is not known."""
        return None if self.reach is None else self.reach.could_reverse(self.mean)

    @property
    def bounded(self) -> bool:
        """Whether the interval says something and has two ends."""
        return not self.difference.constant and all(map(isfinite, self.ends))


def chosen_pair(comparison: Comparison | None) -> Pair | None:
    """Two runs by the primary measure: the only two, the best and the baseline, or the best two."""
    if comparison is None:
        return None
    measure = comparison.measures[0]
    order = comparison.best_first(measure)
    if comparison.baseline is not None:
        chosen, baseline = "baseline", comparison.baseline
        run = next(each for each in order if each != baseline)
    elif len(order) == 2:
        chosen, (baseline, run) = "two", comparison.runs
    else:
        chosen, (run, baseline) = "second", order[:2]
    difference = comparison.between(measure, run, baseline)
    return Pair(run, baseline, measure, chosen, difference, _reach(comparison, difference, measure, run, baseline))


def _reach(comparison: Comparison, difference: Difference, measure: Measure, run: str, baseline: str) -> Reach | None:
    """How far unjudged documents reach for this pair alone, also where the comparison was made without bounds."""
    found = difference.reach
    if found is not None:
        return Reach(-found.high, -found.low, found.exact) if difference.run != run else found
    two = [next(each for each in comparison.evaluations if each.run == name) for name in (baseline, run)]
    return Reaches(two, [(0, 1)], comparison._paired.query_ids).of(measure)[0]
