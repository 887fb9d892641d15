"""How far to trust a comparison: how many queries smaller differences take, and how much measures and runs agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cranfield.comparison.order_agreement import kendall_tau
from cranfield.comparison.pairing import Paired
from cranfield.comparison.power import SizeRow
from cranfield.evaluation.estimating import estimated
from cranfield.ranks.columns import Numbers

if TYPE_CHECKING:
    from cranfield.comparison.conclusions import Comparison

MANY = 500  # from this many values on, Kendall's τ is faster by sorting than by comparing all pairs
CELLS = 1_000_000  # differences worked on at a time


class MeasureAgreement(NamedTuple):
    """Kendall's τ_b of two measures.

    runs: of the orders in which they put the runs; None with fewer than two runs that differ.
    queries: of the orders in which they put the queries of a run, the mean over the runs in which both vary.
    """

    one: str
    other: str
    runs: float | None
    queries: float | None


def measure_agreement(values: Paired) -> list[MeasureAgreement]:
    return [
        MeasureAgreement(
            one.name,
            other.name,
            tau(estimated(values.of(one)).value, estimated(values.of(other)).value),
            _over_queries(values.columns[one], values.columns[other]),
        )
        for one, other in combinations(values.columns, 2)
    ]


class RunAgreement(NamedTuple):
    """Kendall's τ_b of two runs: of the orders in which a measure puts their queries; None where one has no order."""

    measure: str
    one: str
    other: str
    queries: float | None


def run_agreement(values: Paired) -> list[RunAgreement]:
    return [
        RunAgreement(measure.name, values.runs[one], values.runs[other], known[one, other])
        for measure, table in values.columns.items()
        for known in [taus(table)]
        for one, other in combinations(range(len(values.runs)), 2)
    ]


def tau(one: Numbers, other: Numbers) -> float | None:
    """Kendall's τ_b; None where all values of one side are the same, which is no order."""
    return taus(np.stack([one, other], axis=1))[0, 1]


def taus(table: Numbers) -> dict[tuple[int, int], float | None]:
    """Kendall's τ_b of every pair of columns, the first before the second."""
    table = np.round(table, 12)  # differences due to rounding count as ties
    pairs = list(combinations(range(table.shape[1]), 2))
    by_pair: dict[tuple[int, int], float | None] = dict.fromkeys(pairs)
    ordered = np.ptp(table, axis=0) > 0
    known = [pair for pair in pairs if ordered[[*pair]].all()]
    if len(table) > MANY:
        numbered = [dict(enumerate(column)) for column in table.T.tolist()]
        return by_pair | {(one, other): kendall_tau(numbered[one], numbered[other]) for one, other in known}
    # For so few, comparing all pairs of rows takes less time than SciPy takes to be imported.
    agreeing = np.zeros((table.shape[1], table.shape[1]))
    for rows in np.array_split(table, table.size * len(table) // CELLS + 1):
        signs = np.sign(rows[:, None] - table).reshape(-1, table.shape[1])
        agreeing += signs.T @ signs
    orders = agreeing.diagonal()  # pairs that are not tied, counted twice
    for one, other in known:
        by_pair[one, other] = float(np.clip(agreeing[one, other] / np.sqrt(orders[one] * orders[other]), -1, 1))
    return by_pair


def _over_queries(one: Numbers, other: Numbers) -> float | None:
    by_run = (tau(one[:, run], other[:, run]) for run in range(one.shape[1]))
    known = [value for value in by_run if value is not None]
    return float(np.mean(known)) if known else None


class Reliability(NamedTuple):
    """What a comparison says about its queries, its measures and its runs.

    sizes: of each measure, how many queries detect a given difference
    discriminative_power: of each measure, the share of the pairs that it separates
    measures, runs: how much each pair of them agrees; empty where only two runs were compared
    """

    sizes: Mapping[str, Sequence[SizeRow]]
    discriminative_power: Mapping[str, float]
    measures: Sequence[MeasureAgreement] = ()
    runs: Sequence[RunAgreement] = ()


def reliability(comparison: Comparison) -> Reliability:
    sizes = {measure.name: comparison.query_set_sizes(measure) for measure in comparison.measures}
    power = comparison.discriminative_power()
    if len(comparison.runs) <= 2:
        return Reliability(sizes, power)
    return Reliability(sizes, power, comparison.agreement(), comparison.run_agreement())
