"""The precision-recall curve: precision at levels of recall."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from cranfield.measures.arithmetic import ratio
from cranfield.measures.registry import measure
from cranfield.ranks.columns import Integers, Numbers
from cranfield.ranks.tables.ranks import JudgedRanks


class Curve(NamedTuple):
    """Recall and precision down to the ranks 1, 2, 3, …"""

    recall: Numbers
    precision: Numbers

    def interpolated(self) -> Curve:
        """The levels of recall that are reached, from 0, and the highest precision at each of them or beyond."""
        best = np.maximum.accumulate(self.precision[::-1])[::-1]
        levels, first = np.unique(np.append(0.0, self.recall), return_index=True)
        return Curve(levels, best[np.maximum(first - 1, 0)])


def precision_recall_curve(judged: JudgedRanks, *, rel: float = 1, weight: Numbers | None = None) -> Curve:
    """Mean precision and mean recall down to each rank of the longest ranking.

    weight: how much each query of the table counts in the mean; by default all alike.
    """
    depth = max(int(judged.retrieved.max(initial=0)), 1)
    hit = judged.relevant(rel)
    rank = judged.rank[hit]
    counts = np.ones(len(judged)) if weight is None else weight
    worths = (worth[judged.query[hit]] for worth in (counts, ratio(counts, judged.n_relevant(rel))))
    found, share = (np.cumsum(np.bincount(rank, worth, depth + 1))[1:] for worth in worths)
    total = float(counts.sum()) or 1.0
    return Curve(share / total, found / total / np.arange(1, depth + 1))


def documents_needed(total: Numbers, recall: float, rule: str) -> Integers:
    """How many of the relevant documents make a level of recall.

    The textbook takes the ceiling. trec_eval 9 rounds up from a tenth on, trec_eval 10 to the nearest; both may report
    the precision at a lower recall than requested.
    """
    level = recall * total
    if rule == "trec9":
        return np.floor(level + 0.9).astype(np.int64)
    if rule == "trec10":
        return np.floor(level + 0.5).astype(np.int64)
    return np.ceil(level - 1e-9).astype(np.int64)  # 0.3 · 10 is a little over 3 in floating point


def interpolated(judged: JudgedRanks, recalls: Iterable[float], rel: float, rule: str) -> Iterator[Numbers]:
    """For each level of recall, the highest precision at it or at a higher one."""
    hit = judged.relevant(rel)
    rows = np.flatnonzero(hit)  # between them, precision only falls
    precisions = np.append(judged.running(hit)[rows] / judged.rank[rows], 0.0)
    first = np.concatenate(([0], np.cumsum(np.bincount(judged.query[rows], minlength=len(judged)))))
    total = judged.n_relevant(rel)
    for recall in recalls:
        # From the relevant document of each query that reaches the level to the last one that it has.
        start = first[:-1] + np.maximum(documents_needed(total, recall, rule), 1) - 1
        reached = np.flatnonzero((start < first[1:]) & (total > 0))
        highest = np.zeros(len(judged))
        if len(reached):
            ends = np.stack((start[reached], first[1:][reached]), axis=1)
            highest[reached] = np.maximum.reduceat(precisions, ends.ravel())[::2]
        yield highest


@measure(
    "IPrec",
    aliases=("iprec_at_recall(rule=trec10)", "interpolated_precision"),
    reference="Manning, Raghavan & Schütze 2008",
    advice="For the precision-recall curve: one point of it.",
    at="recall",
)
def interpolated_precision(judged: JudgedRanks, *, recall: float, rel: float = 1, rule: str = "ceiling") -> Numbers:
    """Highest precision at any rank where recall is at least the level.

    IPrec@r = max { P@i : relevant documents in the first i ≥ ⌈r · R⌉ }
    """
    return next(interpolated(judged, [recall], rel, rule))


@measure(
    "IAP",
    aliases=("11pt_avg(rule=trec10)", "11pt", "eleven_point_average"),
    reference="Manning, Raghavan & Schütze 2008",
    advice="The whole precision-recall curve in one number; AP is its finer successor.",
)
def interpolated_average_precision(
    judged: JudgedRanks, *, points: int = 11, rel: float = 1, rule: str = "ceiling"
) -> Numbers:
    """Mean of the interpolated precisions at evenly spaced levels of recall, from 0 to 1.

    IAP = 1/11 · Σ IPrec@r over r = 0, 0.1, …, 1
    """
    recalls = (np.arange(points) / (points - 1)).tolist()
    return np.asarray(sum(interpolated(judged, recalls, rel, rule)) / points)


@measure(
    "PrecAtRecall",
    aliases=("precision_at_recall",),
    reference="Manning, Raghavan & Schütze 2008",
    advice="Shows how precise the results are when a share of the relevant documents has been seen.",
    at="recall",
)
def precision_at_recall(judged: JudgedRanks, *, recall: float, rel: float = 1) -> Numbers:
    """Precision at the rank where the level of recall is first reached, not interpolated; 0 if it never is.

    PrecAtRecall@r = P@i, i = the rank of relevant document number ⌈r · R⌉
    """
    hit = judged.relevant(rel)
    needed = np.maximum(documents_needed(judged.n_relevant(rel), recall, "ceiling"), 1)
    here = hit & (judged.running(hit) == needed[judged.query])
    return judged.sum(ratio(here * needed[judged.query], judged.rank))
