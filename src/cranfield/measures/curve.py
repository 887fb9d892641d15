"""The precision-recall curve: precision and recall down to each rank, and the same after interpolation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cranfield.measures.arithmetic import ratio
from cranfield.ranks.columns import Numbers
from cranfield.ranks.tables.ranks import JudgedRanks


class Curve(NamedTuple):
    """Recall and precision down to the ranks 1, 2, 3, …"""

    recall: Numbers
    precision: Numbers

    def interpolated(self) -> Curve:
        """The levels of recall that are reached, from 0, and the highest precision at each of them or beyond.

        >>> curve = precision_recall_curve(JudgedRanks.of_grades([0, 1, 1, 0, 0, 1]))
        >>> curve.precision.round(4).tolist()
        [0.0, 0.5, 0.6667, 0.5, 0.4, 0.5]
        >>> [column.round(4).tolist() for column in curve.interpolated()]
        [[0.0, 0.3333, 0.6667, 1.0], [0.6667, 0.6667, 0.6667, 0.5]]
        """
        best = np.maximum.accumulate(self.precision[::-1])[::-1]
        levels, first = np.unique(np.append(0.0, self.recall), return_index=True)
        return Curve(levels, best[np.maximum(first - 1, 0)])


def precision_recall_curve(judged: JudgedRanks, *, rel: float = 1, queries: int | None = None) -> Curve:
    """Mean precision and mean recall down to each rank of the longest ranking.

    queries: how many they are the mean of, where those that the run lacks do not count.
    """
    depth = max(int(judged.retrieved.max(initial=0)), 1)
    hit = judged.relevant(rel)
    rank = judged.rank[hit]
    weight = ratio(np.ones(len(judged)), judged.n_relevant(rel))[judged.query[hit]]
    found, share = (np.cumsum(np.bincount(rank, each, depth + 1))[1:] for each in (np.ones(len(rank)), weight))
    count = max(len(judged) if queries is None else queries, 1)
    return Curve(share / count, found / count / np.arange(1, depth + 1))
