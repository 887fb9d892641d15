"""Bounds of differences of nDCG: gains as a share of the ideal ones.

Let w be a document's discount in the first run less that in the second, and D(n) the sum of the first n discounts. The
ideal ranking only sees how many documents have each grade, so the best grades belong to the largest w, and a completion
comes down to how many documents n_j have at least the gain γ_j of the scale, for each j:

    difference = ( known + Σ_j (γ_j - γ_{j-1}) · W(n_j) ) / Σ_j (γ_j - γ_{j-1}) · D(N_j + n_j),   n_1 ≥ n_2 ≥ …

where W(n) is the sum of the n largest w, and N_j how many judged documents have at least γ_j. The largest fraction is
found as Dinkelbach (1967) does: for a value λ, the completion with the largest numerator - λ · denominator is a sum of
one term for each j, which dynamic programming finds; its fraction is the next λ, until it does not grow any more.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cranfield.comparison.joint.holes import RunPairs
from cranfield.comparison.joint.method import Highest, Method, alike, by_run
from cranfield.measures import Measure
from cranfield.measures.arithmetic import discounted, gains, ratio
from cranfield.measures.completion import Scale, has_losses
from cranfield.measures.registry import catalogue
from cranfield.ranks.columns import Integers, Numbers
from cranfield.ranks.tables.ranks import JudgedRanks

STEPS = 100  # of Dinkelbach's method, which takes five or so
SAME = 1e-15  # λ has stopped growing
CELLS = 1 << 17  # numbers of completions that are tried at a time


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
        self._discount = np.append(discounts[: self.depth], 0.0)
        self._ideal = np.append(0.0, np.cumsum(discounts))  # D(0), D(1), …
        worth = np.where(judged.judged_grades >= 0, gains(judged.judged_grades, chosen["gain"]), 0.0)
        self._gains = np.unique(gains(np.array(self.grades), chosen["gain"]))
        # Every gain that occurs is a step of the ideal ranking. A new document reaches all up to its own.
        steps = np.unique(np.concatenate([worth, self._gains]))
        self._steps = steps[steps > 0]
        self._heights = np.diff(np.append(0.0, self._steps))
        self._reached = np.searchsorted(self._gains, self._steps)  # by gains of the scale from this one on
        self._counts = [judged.judged_sum(worth >= step).astype(np.int64) for step in self._steps]

    @classmethod
    def suits(cls, measure: Measure, tables: Sequence[JudgedRanks], scale: Scale) -> bool:
        """No gain is below 0, which the ideal ranking would leave out."""
        return not has_losses(measure)

    def highest(self, pairs: RunPairs) -> Highest:
        """The largest fraction over all completions."""
        weight = self.at(self._discount, pairs.first_rank) - self.at(self._discount, pairs.second_rank)
        there = np.minimum(pairs.first_rank, pairs.second_rank) <= self.depth
        every = there.sum(axis=1) + pairs.beneath
        known = self._known[pairs.first, pairs.query] - self._known[pairs.second, pairs.query]
        base = known + self._gains[0] * weight.sum(axis=1)
        rising = np.maximum(weight, 0.0).sum(axis=1)
        # Only documents that gain something can make a fraction above 0 larger. Where all fractions are below 0,
        # whatever raises the ideal helps: documents that cost nothing are perfect, and some others may be.
        below = base + (self._gains[-1] - self._gains[0]) * rising < 0
        worth_trying = np.where(below[:, None], weight < 0, weight > 0)
        ordered = -np.sort(np.where(worth_trying, -weight, np.inf), axis=1)
        start = np.where(below, rising, 0.0)[:, None]
        free = np.where(below, every - (weight < 0).sum(axis=1), 0)
        value = np.empty(len(pairs))
        for rows, width in alike(worth_trying.sum(axis=1), CELLS // len(self._gains)):
            collected = np.cumsum(np.hstack([start[rows], ordered[rows, :width]]), axis=1)
            value[rows] = self._largest(pairs.query[rows], base[rows], every[rows], free[rows], collected)
        if self._gains[0] <= 0:  # without a gain anywhere, the value is 0
            nothing = np.all([counts[pairs.query] == 0 for counts in self._counts], axis=0)
            value = np.where(nothing, np.maximum(value, 0.0), value)
        return Highest(value, np.ones(len(pairs), dtype=np.bool_))

    def _largest(self, query: Integers, base: Numbers, every: Integers, free: Integers, collected: Numbers) -> Numbers:
        """The largest fraction of each row: `collected` is W(free), W(free + 1), …"""
        number = free[:, None] + np.arange(collected.shape[1])
        fixed = self._ideal_at(query, every, 0) + self._ideal_at(query, np.zeros_like(every), len(self._gains))
        terms = [
            (rise * collected, self._ideal_at(query, number, level))
            for level, rise in reversed([*enumerate(np.diff(self._gains), 1)])
        ]
        value = ratio(base + sum(term[:, 0] for term, _ in terms), fixed + sum(cost[:, 0] for _, cost in terms))
        rows = np.arange(len(base))
        for _ in range(STEPS):
            parts = [(term[rows], cost[rows]) for term, cost in terms]
            gained, ideal = _best(parts, value[rows])
            better = ratio(base[rows] + gained, fixed[rows] + ideal)
            growing = better > value[rows] + SAME
            rows = rows[growing]
            value[rows] = better[growing]
            if not len(rows):
                break
        return value

    def _ideal_at(self, query: Integers, number: Integers, level: int) -> Numbers:
        """What so many documents make of the ideal's steps that this gain of the scale reaches, and no lower one."""
        total = np.zeros(number.shape)
        for step in np.flatnonzero(self._reached == level).tolist():
            counts = self._counts[step][query]
            there = counts[:, None] + number if number.ndim == 2 else counts + number
            total += self._heights[step] * self._ideal[np.minimum(there, len(self._ideal) - 1)]
        return total


def _best(terms: Sequence[tuple[Numbers, Numbers]], value: Numbers) -> tuple[Numbers, Numbers]:
    """The gain and the ideal of the completion with the largest gain - value · ideal, from the highest grade down."""
    if not terms:
        return np.zeros(len(value)), np.zeros(len(value))
    gained, ideal = np.zeros_like(terms[0][0]), np.zeros_like(terms[0][1])
    for term, cost in terms:
        gained, ideal = gained + term, ideal + cost
        score = gained - value[:, None] * ideal
        # No fewer documents may have this gain than have a higher one: the best number up to each.
        so_far = np.maximum.accumulate(score, axis=1)
        record = np.hstack([np.ones((len(score), 1), dtype=np.bool_), score[:, 1:] > so_far[:, :-1]])
        place = np.maximum.accumulate(np.where(record, np.arange(score.shape[1]), 0), axis=1)
        gained, ideal = np.take_along_axis(gained, place, axis=1), np.take_along_axis(ideal, place, axis=1)
    return gained[:, -1], ideal[:, -1]
