"""Do two measures say the same, over the runs and over the queries? Do two runs find the same queries hard?"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from cranfield.comparison.order_agreement import kendall_tau
from cranfield.comparison.pairing import Paired
from cranfield.ranks.columns import Numbers

MANY = 500  # values, from where Kendall's τ is better counted by sorting than by comparing all pairs


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
        RunAgreement(measure.name, values.runs[one], values.runs[other], tau(table[:, one], table[:, other]))
        for measure, table in values.columns.items()
        for one, other in combinations(range(len(values.runs)), 2)
    ]


def tau(one: Numbers, other: Numbers) -> float | None:
    """Kendall's τ_b; None where all values of one side are the same, which is no order."""
    # Differences due to rounding count as ties.
    one, other = np.round(one, 12), np.round(other, 12)
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        return None
    if len(one) > MANY:
        return kendall_tau(dict(enumerate(one.tolist())), dict(enumerate(other.tolist())))
    # For so few, comparing all pairs takes less time than SciPy takes to be imported.
    signs = [np.sign(np.subtract.outer(each, each)) for each in (one, other)]
    agreeing = (signs[0] * signs[1]).sum()
    orders = [np.abs(each).sum() for each in signs]  # pairs that are no tie, counted twice
    return float(np.clip(agreeing / np.sqrt(orders[0] * orders[1]), -1, 1))


def _over_queries(one: Numbers, other: Numbers) -> float | None:
    found = [tau(one[:, run], other[:, run]) for run in range(one.shape[1])]
    known = [value for value in found if value is not None]
    return float(np.mean(known)) if known else None
