"""The difference of two runs, with all that is needed to judge it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from cranfield.comparison.unjudged import Reach


class Change(NamedTuple):
    """A query and its values in both runs."""

    query_id: str
    baseline: float
    run: float

    @property
    def difference(self) -> float:
        """By how much the run is above the baseline."""
        return self.run - self.baseline


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference run - baseline of a measure, and how far it can be trusted.

    low, high: its interval, at the level 1 - alpha; of this difference alone, except for Tukey's test.
    p, adjusted: the p-value, and the same corrected for the family of comparisons.
    effect: Cohen's d of paired values with Hedges' correction; None where every query differs by the same amount.
    better, same, worse: queries for which the run is better (higher, unless lower is better), the same, or worse.
    spread: the standard deviation of the differences of the queries.
    detectable: the true difference that would be found with a power of 0.8, at the alpha that the correction leaves.
    changed: the queries that differ most, the most first.
    reach: how low and high unjudged documents could make it; None where that is not known.

    >>> from cranfield import compare
    >>> qrels = {str(q): {"a": 1} for q in range(8)}
    >>> old, new = {str(q): ["b", "a"] for q in range(8)}, {str(q): ["a", "b"][: q + 1] for q in range(8)}
    >>> [difference] = compare(qrels, {"old": old, "new": new}, "RR")
    >>> difference.difference, difference.verdict, difference.could_reverse, difference.changed[0].query_id
    (0.5, 'significantly better', False, '0')
    """

    measure: str
    baseline: str
    run: str
    difference: float
    low: float
    high: float
    p: float
    adjusted: float
    significant: bool
    effect: float | None
    better: int
    same: int
    worse: int
    spread: float
    detectable: float
    changed: tuple[Change, ...]
    reach: Reach | None
    lower_is_better: bool = False

    @property
    def could_reverse(self) -> bool | None:
        """Whether unjudged documents could turn the difference round; None where that is not known."""
        return None if self.reach is None else self.reach.could_reverse(self.difference)

    @property
    def verdict(self) -> str:
        """Whether the run is better, in words."""
        if not self.significant or self.difference == 0:
            return "no significant difference"
        improved = (self.difference > 0) != self.lower_is_better
        return f"significantly {'better' if improved else 'worse'}"
