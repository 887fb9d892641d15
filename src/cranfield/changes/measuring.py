"""Both runs measured by what was counted of them: their judged documents were looked up while they were read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cranfield.changes.counting import JudgedPlaces
from cranfield.comparison.comparing import compare_evaluations
from cranfield.comparison.differences import Difference
from cranfield.evaluation.result import Evaluation
from cranfield.measures import Measure
from cranfield.ranks.columns import Integers
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.policy import Policy
from cranfield.ranks.ranking import rank_scanned
from cranfield.ranks.scan.counting import Scanned


class MeasuredPair(NamedTuple):
    """The means of both runs, and their difference as `compare` tells it; None with a single judged query.

    values: of each judged query, in both runs
    """

    before: float
    now: float
    difference: Difference | None
    values: dict[str, tuple[float, float]]


def measured_pair(
    names: tuple[str, str],
    judgments: Judgments,
    queries: Sequence[str],
    sizes: Integers,
    places: JudgedPlaces,
    measure: Measure,
    policy: Policy,
) -> MeasuredPair:
    """sizes: how many documents each run has for each query, a column for each"""
    number = np.array([judgments.number.get(query, -1) for query in queries], dtype=np.int64)
    evaluations = []
    for side, name in enumerate(names):
        here = np.flatnonzero((number >= 0) & (sizes[:, side] > 0))
        retrieved = np.full(len(judgments), -1, dtype=np.int64)
        retrieved[number[here]] = sizes[here, side]
        ranks = rank_scanned(judgments, Scanned(retrieved, int((number < 0).sum()), places.of(side)), policy, name)
        evaluations.append(Evaluation.of(ranks, measure, policy=policy, name=name))
    before, now = evaluations
    difference = None
    if len(before.query_ids) > 1 and measure.definition.aggregate == "mean":
        [difference] = compare_evaluations(evaluations, [measure], baseline=names[0], bounds=False)
    one, other = (evaluation.by_query(measure) for evaluation in evaluations)
    values = {query: (value, other[query]) for query, value in one.items() if query in other}
    return MeasuredPair(before[measure], now[measure], difference, values)
