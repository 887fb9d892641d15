"""What unjudged documents leave undecided."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import NamedTuple

import numpy as np

from cranfield.errors import CranfieldError
from cranfield.measures import Measure
from cranfield.result import Evaluation

BUDGET = 10_000_000  # for the bounds of one measure of one run: a fraction of a second


class Reach(NamedTuple):
    """How low and how high a difference of means could be, whatever the unjudged documents turn out to be."""

    low: float
    high: float

    def could_reverse(self, difference: float) -> bool:
        """Whether the other run could turn out better; of a difference of 0, whether it could be anything else."""
        if difference == 0:
            return self.low < 0 or self.high > 0
        return self.low < 0 if difference > 0 else self.high > 0

    def to_dict(self) -> dict[str, float | None]:
        """The ends for JSON, which has no infinite numbers: None where there is no end."""
        return {name: end if isfinite(end) else None for name, end in self._asdict().items()}


# By query the lowest and the highest value.
RunBounds = dict[str, tuple[float, float]]


def all_bounds(evaluations: Sequence[Evaluation], measure: Measure) -> list[RunBounds | None]:
    """The bounds of each run's values; None where they cannot be known (a saved evaluation, judgments with groups).

    What only another run has retrieved may be relevant too, and then every run should have found more: as many
    documents as any other run has unjudged are counted as missed.
    """
    holes: list[dict[str, int] | None] = []
    for each in evaluations:
        try:
            holes.append(each.unjudged())
        except CranfieldError:
            holes.append(None)
    found: list[RunBounds | None] = []
    for place, each in enumerate(evaluations):
        others = [counts for at, counts in enumerate(holes) if at != place]
        missed = {query: max((counts or {}).get(query, 0) for counts in others) for query in each.query_ids}
        try:
            found.append(each.bounds(measure, budget=BUDGET, missed=missed).by_query)
        except CranfieldError:
            found.append(None)
    return found


def reach(baseline: RunBounds | None, run: RunBounds | None, query_ids: Sequence[str]) -> Reach | None:
    """The bounds of run - baseline: each run at its lowest where the other is at its highest.

    This is wider than the truth, since both runs are judged alike: an unjudged document that both retrieved has one
    grade, and what makes one run miss more makes the other miss it too, or find it. So "could be reversed" may be said
    too often, and is never left unsaid. Policy(depth=10) shows what hangs on the first ten documents alone.
    """
    if baseline is None or run is None:
        return None
    one, other = (np.array([bounds[query] for query in query_ids]) for bounds in (baseline, run))
    return Reach(float((other[:, 0] - one[:, 1]).mean()), float((other[:, 1] - one[:, 0]).mean()))
