"""Bounds of differences of nDCG: gains as a share of the ideal ones.

Let w be a document's discount in the first run less that in the second, and D(n) the sum of the first n discounts. The
ideal ranking only sees how many documents have each grade, so the best grades belong to the largest w, and a completion
comes down to how many documents n_j have at least the gain γ_j of the scale, for each j:

    difference = ( known + Σ_j (γ_j - γ_{j-1}) · W(n_j) ) / Σ_j (γ_j - γ_{j-1}) · D(N_j + n_j),   n_1 ≥ n_2 ≥ …

where W(n) is the sum of the n largest w, and N_j how many judged documents have at least γ_j.

Dinkelbach (1967) finds the largest fraction: for a value λ, the completion with the largest numerator - λ · denominator
is a sum of one term for each gain of the scale, which dynamic programming finds; its fraction is the next λ, until it
does not grow any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cranfield.comparison.joint.holes import Ranks, RunPairs
from cranfield.comparison.joint.method import Highest, Method, alike, by_run
from cranfield.measures import Measure
from cranfield.measures.arithmetic import discounted, gains, ratio
from cranfield.measures.completion import Scale, cutoff_of, has_losses
from cranfield.measures.registry import catalogue
from cranfield.measures.scope import chosen_parameters
from cranfield.native import native
from cranfield.ranks.columns import Integers, Numbers
from cranfield.ranks.tables.ranks import JudgedRanks

STEPS = 100  # of Dinkelbach's method, which takes five or so
SAME = 1e-15  # λ has stopped growing
CELLS = 1 << 17  # numbers of completions that are tried at a time


class Gains(Method):
    """nDCG with any gain, discount and cutoff."""

    def __init__(self, measure: Measure, tables: Sequence[JudgedRanks], scale: Scale, work: int) -> None:
        super().__init__(measure, tables, scale, work)
        chosen = chosen_parameters(measure)
        parts = {name: chosen[name] for name in ("cutoff", "gain", "base", "discount")}
        self._known = by_run(tables, catalogue()["DCG"](**parts))
        judged = tables[0]
        self._most_judged = int(np.diff(judged.judged_first).max(initial=0))
        self._discounting = chosen["base"], chosen["discount"]
        worth = np.where(judged.judged_grades >= 0, gains(judged.judged_grades, chosen["gain"]), 0.0)
        scaled = np.unique(gains(np.array(self.grades), chosen["gain"]))
        # Every gain that occurs is a step of the ideal ranking. A new document reaches all up to its own.
        steps = np.unique(np.concatenate([worth, scaled]))
        steps = steps[steps > 0]
        counts = np.zeros((len(steps), len(judged)), dtype=np.int64)
        for row, step in zip(counts, steps.tolist(), strict=True):
            row[:] = judged.judged_sum(worth >= step)
        # as `largest_fractions` takes them, after the discounts
        self._completions = (
            scaled,
            np.diff(np.append(0.0, steps)),
            np.searchsorted(scaled, steps),
            np.ascontiguousarray(counts.T),
        )

    @classmethod
    def suits(cls, measure: Measure, scale: Scale, lengths: bool) -> bool:
        """No gain is below 0, which the ideal ranking would leave out, and both runs have the same ideal ranking."""
        return not has_losses(measure) and chosen_parameters(measure)["ideal"] == "judged"

    @classmethod
    def enough(cls, measure: Measure) -> int | None:
        """The ideal ranking has no more documents than the cutoff."""
        return cutoff_of(measure)

    def highest(self, pairs: RunPairs) -> Highest:
        known = self._known[pairs.first, pairs.query] - self._known[pairs.second, pairs.query]
        work = native.largest_fractions if native else largest_fractions
        discount, ideal = self._discounts(pairs)
        first, second, beneath = pairs.first_rank, pairs.second_rank, pairs.beneath
        value = work(first, second, known, beneath, pairs.query, discount, ideal, *self._completions)
        return Highest(value, np.ones(len(pairs), dtype=np.bool_))

    def _discounts(self, pairs: RunPairs) -> tuple[Numbers, Numbers]:
        """By rank, and then 0; and D(0), D(1), … for as many documents as the ideal ranking may have."""
        most = self._most_judged + pairs.first_rank.shape[1] + int(pairs.beneath.max(initial=0))
        places = np.arange(1, max(self.depth, most if self.cutoff is None else min(most, self.cutoff)) + 1)
        discounts = discounted(np.ones(len(places)), places, *self._discounting)
        return np.append(discounts[: self.depth], 0.0), np.append(0.0, np.cumsum(discounts))


def largest_fractions(
    first_rank: Ranks,
    second_rank: Ranks,
    known: Numbers,
    beneath: Integers,
    query: Integers,
    discount: Numbers,
    ideal: Numbers,
    gains: Numbers,
    heights: Numbers,
    reached: Integers,
    counts: Integers,
) -> Numbers:
    """The largest fraction of each row: the twin of the native `largest_fractions`.

    first_rank, second_rank, beneath, query: those of `RunPairs`
    known: what the gains of the judged documents differ by
    discount: by rank, and then 0; ideal: D(0), D(1), …
    gains: of the scale, from the lowest; heights: of the steps of the ideal ranking
    reached: for each step the first gain of the scale that reaches it, in ascending order
    counts: for each query and step, how many judged documents reach it
    """
    steps = _GainSteps(ideal, heights, reached, counts)
    first, second = (np.minimum(rank, len(discount)) - 1 for rank in (first_rank, second_rank))
    weight = discount[first] - discount[second]
    every = (np.minimum(first_rank, second_rank) < len(discount)).sum(axis=1) + beneath
    base = known + gains[0] * weight.sum(axis=1)
    rising = np.maximum(weight, 0.0).sum(axis=1)
    # Only documents that gain something can make a fraction above 0 larger. Where all fractions are below 0,
    # whatever raises the ideal helps: documents that cost nothing are perfect, and some others may be.
    below = base + (gains[-1] - gains[0]) * rising < 0
    worth_trying = np.where(below[:, None], weight < 0, weight > 0)
    ordered = -np.sort(np.where(worth_trying, -weight, np.inf), axis=1)
    start = np.where(below, rising, 0.0)[:, None]
    free = np.where(below, every - (weight < 0).sum(axis=1), 0)
    value = np.empty(len(query))
    for rows, width in alike(worth_trying.sum(axis=1), CELLS // len(gains)):
        collected = np.cumsum(np.hstack([start[rows], ordered[rows, :width]]), axis=1)
        number = free[rows, None] + np.arange(width + 1)
        fixed = steps.at(query[rows], every[rows], 0) + steps.at(query[rows], np.zeros_like(every[rows]), len(gains))
        terms = [
            (rise * collected, steps.at(query[rows], number, level))
            for level, rise in reversed([*enumerate(np.diff(gains), 1)])
        ]
        value[rows] = _climbed(base[rows], fixed, terms)
    if gains[0] <= 0:  # without a gain anywhere, the value is 0
        value = np.where((counts[query] == 0).all(axis=1), np.maximum(value, 0.0), value)
    return value


class _GainSteps(NamedTuple):
    """The steps of the ideal ranking, as `largest_fractions` is given them."""

    ideal: Numbers
    heights: Numbers
    reached: Integers
    counts: Integers

    def at(self, query: Integers, number: Integers, level: int) -> Numbers:
        """What this many documents add to the ideal, in steps that this gain of the scale reaches but no lower one."""
        total = np.zeros(number.shape)
        for step in np.flatnonzero(self.reached == level).tolist():
            counts = self.counts[query, step]
            there = counts[:, None] + number if number.ndim == 2 else counts + number
            total += self.heights[step] * self.ideal[np.minimum(there, len(self.ideal) - 1)]
        return total


def _climbed(base: Numbers, fixed: Numbers, terms: Sequence[tuple[Numbers, Numbers]]) -> Numbers:
    """Dinkelbach's steps up to the largest fraction of each row."""
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
