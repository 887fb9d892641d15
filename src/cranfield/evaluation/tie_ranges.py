"""How much the order of equal scores matters: a mean in the worst order of ties, and in the best."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import NamedTuple

import numpy as np

from cranfield.measures import Measure
from cranfield.measures.aggregates import aggregate
from cranfield.measures.lookup import comes_with_us
from cranfield.measures.scope import last_rank
from cranfield.ranks.columns import Flags, Numbers
from cranfield.ranks.policy import Policy
from cranfield.ranks.ranking import TieOrders

ARBITRARY = ("doc_id", "smaller_doc_id")  # default orders; any other was chosen


class TieRange(NamedTuple):
    """The mean of a measure in the worst order of ties, and in the best; the best is lower where lower is better."""

    worst: float
    best: float

    @property
    def matters(self) -> bool:
        """Whether the order makes a difference that is printed."""
        return written(self.best) != written(self.worst)


def tie_ranges(
    columns: Mapping[Measure, Numbers], orders: TieOrders, kept: Flags, weight: Numbers | None = None
) -> dict[Measure, TieRange | None]:
    """The ranges of measures of ranks and grades; None for any other, and for one of unjudged documents.

    columns: the values in the order of the policy; kept: the queries that these are of; weight: how much each counts.

    Subtopics, preferences and groups would have to be looked up again in each order. Measures of unjudged documents say
    how far others can be trusted, and nobody compares systems by them.
    """
    table, highest = (orders.table(), orders.highest) if len(orders.queries) else (None, 0)
    averaged = kept[orders.queries]
    places = (np.cumsum(kept) - 1)[orders.queries[averaged]]

    def mean(measure: Measure, other: Numbers) -> float:
        values = columns[measure].copy()  # those of all other queries are the same in any order
        values[places] = other[averaged]
        return aggregate(values, measure.definition.aggregate, weight, of=measure.name)

    ranges: dict[Measure, TieRange | None] = {}
    for measure, values in columns.items():
        definition = measure.definition
        if definition.table != "ranks" or definition.of_holes:
            ranges[measure] = None
        elif table is None or (last_rank(measure) or inf) < highest:
            only = aggregate(values, definition.aggregate, weight, of=measure.name)
            ranges[measure] = TieRange(only, only)
        else:
            half = len(table) // 2
            ours = comes_with_us(definition.function)  # a measure of a user's sees each query once
            tables = [table] if ours else [table._between(0, half), table._between(half, 2 * half)]
            both = np.concatenate([measure(each) for each in tables])
            worst, best = both[:half], both[half:]
            lowest = mean(measure, worst)
            ranges[measure] = TieRange(lowest, lowest if np.array_equal(worst, best) else mean(measure, best))
    return ranges


def tie_warning_text(ranges: dict[Measure, TieRange], means: dict[Measure, float], policy: Policy) -> str:
    """The values that depend on ties, in words; empty if there are none, or if the order was chosen."""
    if policy.ties not in ARBITRARY:
        return ""
    parts: list[str] = []
    for measure, its in ranges.items():
        if its.matters:
            worst, best = ("", "") if parts else (" (worst order of ties)", " (best)")
            mean, low, high = map(written, (means[measure], *its))
            parts.append(f"{measure} {mean}, between {low}{worst} and {high}{best}")
    return f"ties matter: {'; '.join(parts)}" if parts else ""


def written(mean: float) -> str:
    """A mean as evaluations print it; -0.0000 is 0."""
    return f"{mean:.4f}".replace("-0.0000", "0.0000")
