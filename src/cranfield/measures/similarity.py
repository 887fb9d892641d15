"""Similarity: how alike two rankings are, or a ranking and the ideal one."""

from __future__ import annotations

import numpy as np

from cranfield.measures.arithmetic import ratio
from cranfield.measures.registry import measure
from cranfield.ranks.columns import Integers, Numbers
from cranfield.ranks.tables.ranks import JudgedRanks

DEPTH = 1000  # that of the authors' program


@measure(
    "Compat",
    aliases=("compatibility",),
    reference="Clarke, Vtyurina & Smucker 2020",
    advice="For preferences and fine grades: how close the ranking comes to an ideal one, mostly at the top.",
)
def compatibility(judged: JudgedRanks, *, p: float = 0.95, normalize: bool = True, depth: int | str = DEPTH) -> Numbers:
    """Rank-biased overlap with the ideal ranking that is nearest, divided by the ideal's overlap with itself.

    Compat = Σ p^(d-1) · |A_d ∩ I_d| / d, divided by Σ p^(d-1), over the depths d ≤ 1000

    Both overlaps go down to the same depth: 1,000, as in the program of the authors, also where both rankings are
    shorter. ir_measures stops where the longer one ends: depth="rankings". The ideal ranking I holds the documents with
    a positive grade, the highest first; equal grades in the order of the ranking A, those it lacks last.
    """
    wanted = judged.grade > 0
    longer = np.maximum(judged.retrieved, judged.judged_sum(judged.judged_grades > 0)).astype(np.int64)
    depths = longer if isinstance(depth, str) else np.full(len(judged), depth)
    deepest = int(depths.max(initial=0)) + 1
    # overlap[d]: the worth of a document that both rankings have down to depth d
    steps = np.arange(1.0, deepest + 1)
    overlap = np.concatenate(([0.0], np.cumsum(np.power(p, steps - 1) / steps)))
    weight = np.concatenate(([0.0], np.cumsum(np.power(p, steps - 1))))

    def together(query: Integers, shared: Integers) -> Numbers:
        worth = overlap[depths[query]] - overlap[np.minimum(shared, depths[query] + 1) - 1]
        return np.bincount(query, weights=worth, minlength=len(judged)).astype(np.float64, copy=False)

    shared = np.maximum(judged.rank[wanted], ideal_place(judged)[wanted])
    value = together(judged.query[wanted], shared)
    if not normalize:
        return ratio(value, weight[depths])
    ideal = judged.judged_grades > 0
    return ratio(value, together(judged.judged_query[ideal], judged.ideal_rank[ideal]))


def ideal_place(judged: JudgedRanks) -> Integers:
    """For each row, its rank in the ideal ranking: after all higher grades, and equal grades above it."""
    place = np.zeros(len(judged.rank), dtype=np.int64)
    for grade in judged.distinct_grades:
        same = judged.grade == grade
        better = judged.n_relevant(grade) - judged.judged_sum(judged.judged_grades == grade)
        place += same * (better.astype(np.int64)[judged.query] + judged.running(same))
    return place
