"""Normalisations: what makes the scores of different runs comparable. Each is one function of a run's lists."""

from __future__ import annotations

import numpy as np

from cranfield.mixing.lists import ScoredLists
from cranfield.mixing.registry import Registry, entry
from cranfield.ranks.columns import Numbers

NORMALISATIONS: Registry = {}


@entry(NORMALISATIONS, "min-max", aliases=("minmax",), reference="Lee 1997")
def min_max(lists: ScoredLists, *, constant: float = 1.0) -> Numbers:
    """From 0 for the lowest score of a list to 1 for the highest.

    (s - min) / (max - min)
    """
    return lists.ratio(lists.score - lists.lowest, lists.highest - lists.lowest, constant)


@entry(NORMALISATIONS, "z-score", aliases=("zmuv", "zscore"), reference="Montague & Aslam 2001")
def z_score(lists: ScoredLists, *, constant: float = 1.0) -> Numbers:
    """How many standard deviations a score is above the mean of its list.

    (s - mean) / sd
    """
    apart = lists.score - lists.mean(lists.score)
    return lists.ratio(apart, np.sqrt(lists.mean(apart**2)), constant)


@entry(NORMALISATIONS, "sum", reference="Montague & Aslam 2001")
def sum_to_one(lists: ScoredLists, *, constant: float = 1.0) -> Numbers:
    """The lowest score of a list becomes 0, and all together 1; equal scores share the constant.

    (s - min) / Σ (s - min)
    """
    above = lists.score - lists.lowest
    return lists.ratio(above, lists.sum(above), constant / lists.size)


@entry(NORMALISATIONS, "rank", reference="Lee 1997")
def by_rank(lists: ScoredLists) -> Numbers:
    """From 1 for the first document in even steps; scores only say which is first.

    1 - (r - 1) / n
    """
    return 1 - (lists.rank - 1) / lists.size


@entry(NORMALISATIONS, "none")
def as_they_are(lists: ScoredLists) -> Numbers:
    """The scores as they are, for runs whose scores mean the same.

    s
    """
    return lists.score
