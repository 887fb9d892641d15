"""Precision and recall of runs whose ranks are known, or of one ranking whose grades are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from cranfield.errors import CranfieldError
from cranfield.measures import Measure
from cranfield.measures.aggregates import aggregate
from cranfield.measures.recall_levels import Curve, interpolated, precision_recall_curve
from cranfield.ranks.columns import Numbers
from cranfield.ranks.tables.ranks import JudgedRanks

if TYPE_CHECKING:
    from cranfield.evaluation.result import Evaluation


def rank_curves(results: Sequence[Evaluation], measure: Measure, query: str | None = None) -> dict[str, Curve]:
    """The curve of each run; each ends with the longest ranking.

    measure: P, with the grade that makes a document relevant; query: the one to draw instead of the mean.
    """
    chosen = dict(measure.parameters)
    curves = {}
    for result in results:
        judged = result._ranked().ranks
        if chosen.get("judged_only"):
            judged = judged.condensed
        weight = None if query is not None else _weight(result)
        if query is not None:
            judged = judged.only(_place(result, query))
        curves[result.run] = precision_recall_curve(judged, rel=chosen.get("rel", 1), weight=weight)
    return curves


def _weight(result: Evaluation) -> Numbers:
    """How much each query of the ranks counts in a mean; one that the run lacks may not count."""
    kept, weight = result._ranked().kept, result._weight()
    every = np.zeros(len(kept))
    every[kept] = 1.0 if weight is None else weight
    return every


def recall_curves(results: Sequence[Evaluation], recalls: Sequence[float]) -> dict[str, list[float]]:
    """Of each run the mean of the interpolated precision at each level of recall: of IPrec, at all levels at once."""
    curves = {}
    for result in results:
        ranked = result._ranked()
        levels = interpolated(ranked.ranks, recalls, rel=1, rule="ceiling")
        weight = result._weight()
        curves[result.run] = [aggregate(values[ranked.kept], "mean", weight, of="IPrec") for values in levels]
    return curves


def _place(evaluation: Evaluation, query: str) -> int:
    judged = evaluation.ranks
    if judged is None or query not in judged.query_ids:
        some = ", ".join(evaluation.query_ids[:3]) + ", …" * (len(evaluation.query_ids) > 3)
        raise CranfieldError(f"there is no query '{query}' among the judged ones.", hint=f"there are {some}")
    return judged.query_ids.index(query)


def curve_of_grades(grades: Sequence[float | None], missed: Sequence[float] = ()) -> Curve:
    """The curve of one ranking, given the grades of its documents as for `value`."""
    return precision_recall_curve(JudgedRanks.of_grades(grades, missed))
