"""Do two measures agree, over the runs and over the queries? Do two runs find the same queries hard?"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from cranfield.comparison.order_agreement import kendall_tau
from cranfield.comparison.pairing import Paired
from cranfield.ranks.columns import Numbers

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
    """Every pair of measures."""
    return [
        MeasureAgreement(
            one.name,
            other.name,
            tau(values.columns[one].mean(axis=0), values.columns[other].mean(axis=0)),
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
    """Every pair of runs, by every measure."""
    return [
        RunAgreement(measure.name, values.runs[one], values.runs[other], found[one, other])
        for measure, table in values.columns.items()
        for found in [taus(table)]
        for one, other in combinations(range(len(values.runs)), 2)
    ]


def tau(one: Numbers, other: Numbers) -> float | None:
    """Kendall's τ_b; None where all values of one side are the same, which is no order."""
    return taus(np.stack([one, other], axis=1))[0, 1]


def taus(table: Numbers) -> dict[tuple[int, int], float | None]:
    """Kendall's τ_b of every pair of columns, the first before the second."""
    table = np.round(table, 12)  # differences due to rounding count as ties
    pairs = list(combinations(range(table.shape[1]), 2))
    found: dict[tuple[int, int], float | None] = dict.fromkeys(pairs)
    ordered = np.ptp(table, axis=0) > 0
    known = [pair for pair in pairs if ordered[[*pair]].all()]
    if len(table) > MANY:
        numbered = [dict(enumerate(column)) for column in table.T.tolist()]
        return found | {(one, other): kendall_tau(numbered[one], numbered[other]) for one, other in known}
    # For so few, comparing all pairs of rows takes less time than SciPy takes to be imported.
    agreeing = np.zeros((table.shape[1], table.shape[1]))
    for rows in np.array_split(table, table.size * len(table) // CELLS + 1):
        signs = np.sign(rows[:, None] - table).reshape(-1, table.shape[1])
        agreeing += signs.T @ signs
    orders = agreeing.diagonal()  # pairs that are not tied, counted twice
    for one, other in known:
        found[one, other] = float(np.clip(agreeing[one, other] / np.sqrt(orders[one] * orders[other]), -1, 1))
    return found


def _over_queries(one: Numbers, other: Numbers) -> float | None:
    found = [tau(one[:, run], other[:, run]) for run in range(one.shape[1])]
    known = [value for value in found if value is not None]
    return float(np.mean(known)) if known else None
