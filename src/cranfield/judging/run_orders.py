"""Does the order of the runs depend on whose grades are used? That matters most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from cranfield.comparison.correlation import tau
from cranfield.evaluation.evaluating import evaluate_runs
from cranfield.judging.grade_counts import JudgedItem
from cranfield.ranks.columns import Numbers
from cranfield.ranks.judgments import Judgments


class RunOrder(NamedTuple):
    """Runs by the grades of one assessor and by those of another, on the documents that both judged.

    tau: Kendall's τ_b of the two orders; None where one of them puts all runs level
    moved: the run whose rank changes most, and by how many ranks
    means: the means of each run, by the one and by the other
    """

    measure: str
    tau: float | None
    moved: tuple[str, int]
    means: Mapping[str, tuple[float, float]]


def order_of_runs(
    items: Sequence[JudgedItem], pair: tuple[str, str], runs: Any, measure: str, format: str | None = None
) -> RunOrder | None:
    """The order of runs by the grades of each of two assessors; None where they judged nothing in common.

    >>> items = [JudgedItem("q", "a", {"ann": 1, "bob": 0}), JudgedItem("q", "b", {"ann": 0, "bob": 1})]
    >>> found = order_of_runs(items, ("ann", "bob"), {"x": {"q": ["a", "b"]}, "y": {"q": ["b", "a"]}}, "RR")
    >>> found.tau, found.moved, found.means["x"]
    (-1.0, ('x', 1), (1.0, 0.5))
    """
    both = [item for item in items if all(name in item.grades for name in pair)]
    if not both:
        return None
    columns: list[dict[str, float]] = []
    for name in pair:
        by_query: dict[str, dict[str, float]] = {}
        for item in both:
            by_query.setdefault(item.query_id, {})[item.doc_id] = item.grades[name]
        found = evaluate_runs(Judgments(by_query, name=name), runs, [measure], format=format, check_ids=False)
        columns.append({run: each[measure] for run, each in found.items()})
    names = list(columns[0])
    one, other = (np.array([column[name] for name in names]) for column in columns)
    moves = np.abs(_ranks(one) - _ranks(other))
    most = int(moves.argmax())
    means = {name: (columns[0][name], columns[1][name]) for name in names}
    return RunOrder(measure, tau(one, other), (names[most], int(moves[most])), means)


def _ranks(values: Numbers) -> Numbers:
    """1 for the best; runs that are level share the best of their ranks."""
    rounded = np.round(values, 12)
    return np.asarray(1 + (rounded[None, :] > rounded[:, None]).sum(axis=1), dtype=np.float64)
