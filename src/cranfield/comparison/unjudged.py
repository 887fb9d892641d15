"""What unjudged documents leave undecided."""

from __future__ import annotations

from collections.abc import Sequence
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


# By query the lowest and the highest value.
RunBounds = dict[str, tuple[float, float]]


def run_bounds(evaluation: Evaluation, measure: Measure) -> RunBounds | None:
    """The bounds of a run's values; None where they cannot be known (a saved evaluation, judgments with groups)."""
    try:
        return evaluation.bounds(measure, budget=BUDGET).by_query
    except CranfieldError:
        return None


def reach(baseline: RunBounds | None, run: RunBounds | None, query_ids: Sequence[str]) -> Reach | None:
    """The bounds of run - baseline: each run at its lowest where the other is at its highest.

    This is wider than the truth where both runs retrieved the same unjudged document: it has one grade, and cannot be
    relevant for one and not for the other. So "could be reversed" may be said too often, and is never left unsaid.
    """
    if baseline is None or run is None:
        return None
    one, other = (np.array([bounds[query] for query in query_ids]) for bounds in (baseline, run))
    return Reach(float((other[:, 0] - one[:, 1]).mean()), float((other[:, 1] - one[:, 0]).mean()))
