"""Agreement in words: how good it is, as far as its interval allows, and whether the order of systems depends on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import inf
from typing import NamedTuple

from cranfield.evaluation.estimating import SAME
from cranfield.judging.agree.statistics import Estimate
from cranfield.words import count

VERDICT = "ordinal alpha"  # of the statistics, the one that the words are about
FEWEST = 5  # queries; with fewer, intervals are too narrow


class Benchmark(NamedTuple):
    least: float
    word: str


# As Krippendorff (Content Analysis, 2004, page 241) is usually quoted: it is customary to require 0.8, and 0.667 is the
# lowest limit where tentative conclusions are still acceptable. The words are ours.
USUAL = (
    "Usual in this field: alpha 0.15 and Fleiss' kappa 0.37, the means of more than 180 students (Schaer 2012); two "
    "TREC assessors shared 42% to 49% of the documents that either called relevant (Voorhees 2000, quoted by others)."
)
BENCHMARKS = (Benchmark(-inf, "poor"), Benchmark(0.667, "fair"), Benchmark(0.8, "good"))


class RunOrder(NamedTuple):
    """Runs by the grades of one assessor and by those of another, on the documents that both judged."""

    measure: str
    tau: float | None  # Kendall's τ_b of the two orders; None where one of them puts all runs level
    moved: tuple[str, int]  # the run whose rank changes most, and by how many ranks
    means: Mapping[str, tuple[float, float]]  # of each run, by the one and by the other


def level_of(alpha: float) -> int:
    """Which benchmark a value reaches."""
    return sum(alpha >= benchmark.least for benchmark in BENCHMARKS) - 1


def agreement_sentence(
    estimate: Estimate, documents: int, queries: int, assessors: int, pair: tuple[str, str] | None = None
) -> str:
    """Where the interval reaches from the lowest word to the highest, or queries are few, it cannot be told.

    pair: a model and a person among others, whose names are then said
    """
    value, low, high = estimate[:3]
    whose = f" of {pair[0]} with {pair[1]}" if pair else ""
    if value is None:
        return f"Agreement{whose} beyond chance is not defined: {estimate.reason}."
    judged = f"{count(documents, 'document')} of {count(queries, 'query', 'queries')}"
    by = " and ".join(pair) if pair else "both" if assessors == 2 else "several assessors"
    if low is None or high is None:
        if queries >= FEWEST and value > 1 - SAME:
            return f"No disagreement on {judged} judged by {by}: {VERDICT} {value:.2f}, without an interval."
        return f"Too few documents judged by {by} to tell how well they agree: {VERDICT} {value:.2f} on {judged}."
    shown = f"{VERDICT} {value:.2f} (95% interval {low:.2f} to {high:.2f})"
    lowest, highest = level_of(low), level_of(high)
    if queries < FEWEST or highest - lowest == len(BENCHMARKS) - 1:
        return f"Too few documents judged by {by} to tell how well they agree: {shown} on {judged}."
    words = dict.fromkeys(BENCHMARKS[level].word for level in (lowest, highest))
    return f"{' to '.join(words).capitalize()} agreement{whose}: {shown}."


class Swap(NamedTuple):
    """Two runs whose order depends on the assessor, and their differences by the one and by the other."""

    runs: tuple[str, str]
    assessors: tuple[str, str]
    measure: str
    differences: tuple[float, float]

    def __str__(self) -> str:
        (one, other), (first, second) = self.runs, self.differences
        how = "swap places" if first * second else "are level for only one assessor"
        grades = " and ".join(f"{d:+.4f} by {name}" for name, d in zip(self.assessors, self.differences, strict=True))
        return f"{one} and {other} {how} ({self.measure} {grades})"


def order_sentence(orders: Sequence[tuple[tuple[str, str], RunOrder]]) -> str:
    """Of runs by the grades of each pair of assessors; empty where there are no two runs."""
    orders = [(assessors, order) for assessors, order in orders if len(order.means) > 1]
    if not orders:
        return ""
    swaps = sorted(_swaps(orders), key=lambda swap: min(map(abs, swap.differences)), reverse=True)
    if not swaps:
        return "On these documents, the order of your systems does not depend on whose grades count."
    others = len({swap.runs for swap in swaps}) - 1
    more = f"; {count(others, 'more pair changes', 'more pairs change')}, too" if others else ""
    return f"On these documents, the order of your systems depends on whose grades count: {swaps[0]}{more}."


def _swaps(orders: Sequence[tuple[tuple[str, str], RunOrder]]) -> Iterator[Swap]:
    for assessors, order in orders:
        for one, other in combinations(order.means, 2):
            pairs = zip(order.means[one], order.means[other], strict=True)
            first, second = (0.0 if abs(a - b) < SAME else a - b for a, b in pairs)
            if first * second < 0 or (first == 0) != (second == 0):
                yield Swap((one, other), assessors, order.measure, (first, second))
