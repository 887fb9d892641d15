"""Bounds of differences of nDCG: gains as a share of the ideal ones.

Let w be a document's discount in the first run less that in the second, and D(n) the sum of the first n discounts. The
ideal ranking only sees how many documents have each grade, so the best grades belong to the largest w, and a completion
comes down to how many documents n_j have at least the gain γ_j of the scale, for each j:

    difference = ( known + Σ_j (γ_j - γ_{j-1}) · W(n_j) ) / Σ_j (γ_j - γ_{j-1}) · D(N_j + n_j),   n_1 ≥ n_2 ≥ …

where W(n) is the sum of the n largest w, and N_j how many judged documents have at least γ_j.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cranfield.comparison.joint.fractions import largest_fractions
from cranfield.comparison.joint.holes import RunPairs
from cranfield.comparison.joint.method import Highest, Method, by_run
from cranfield.measures import Measure
from cranfield.measures.arithmetic import discounted, gains
from cranfield.measures.completion import Scale, has_losses
from cranfield.measures.registry import catalogue
from cranfield.ranks.scan.native import native
from cranfield.ranks.tables.ranks import JudgedRanks


class Gains(Method):
    """nDCG with any gain, discount and cutoff."""

    def __init__(self, measure: Measure, tables: Sequence[JudgedRanks], scale: Scale, work: int) -> None:
        super().__init__(measure, tables, scale, work)
        chosen = {**measure.definition.defaults, **dict(measure.parameters)}
        parts = {name: chosen[name] for name in ("cutoff", "gain", "base", "discount")}
        self._known = by_run(tables, catalogue()["DCG"](**parts))
        judged = tables[0]
        most = int(np.diff(judged.judged_first).max(initial=0)) + 2 * max(int(each.retrieved.max()) for each in tables)
        places = np.arange(1, (most if self.cutoff is None else min(most, self.cutoff)) + 1)
        discounts = discounted(np.ones(len(places)), places, chosen["base"], chosen["discount"])
        worth = np.where(judged.judged_grades >= 0, gains(judged.judged_grades, chosen["gain"]), 0.0)
        scaled = np.unique(gains(np.array(self.grades), chosen["gain"]))
        # Every gain that occurs is a step of the ideal ranking. A new document reaches all up to its own.
        steps = np.unique(np.concatenate([worth, scaled]))
        steps = steps[steps > 0]
        counts = np.zeros((len(steps), len(judged)), dtype=np.int64)
        for row, step in zip(counts, steps.tolist(), strict=True):
            row[:] = judged.judged_sum(worth >= step)
        # as `largest_fractions` takes them
        self._completions = (
            np.append(discounts[: self.depth], 0.0),
            np.append(0.0, np.cumsum(discounts)),  # D(0), D(1), …
            scaled,
            np.diff(np.append(0.0, steps)),
            np.searchsorted(scaled, steps),
            np.ascontiguousarray(counts.T),
        )

    @classmethod
    def suits(cls, measure: Measure, tables: Sequence[JudgedRanks], scale: Scale) -> bool:
        """No gain is below 0, which the ideal ranking would leave out."""
        return not has_losses(measure)

    def highest(self, pairs: RunPairs) -> Highest:
        """The largest fraction over all completions."""
        known = self._known[pairs.first, pairs.query] - self._known[pairs.second, pairs.query]
        work = native.largest_fractions if native else largest_fractions
        value = work(pairs.first_rank, pairs.second_rank, known, pairs.beneath, pairs.query, *self._completions)
        return Highest(value, np.ones(len(pairs), dtype=np.bool_))
