"""Relevant or not: precision, recall and what is made of them."""

from __future__ import annotations

import numpy as np

from cranfield.judge.judgments import Numbers
from cranfield.judge.ranks import JudgedRanks
from cranfield.measures.arithmetic import ratio
from cranfield.measures.registry import measure


@measure(
    "P",
    aliases=("Precision", "precision"),
    reference="Cleverdon 1967",
    advice="For the first page of results. It averages badly over queries with few relevant documents.",
)
def precision(judged: JudgedRanks, *, cutoff: int, rel: float = 1) -> Numbers:
    """Share of the first k documents that are relevant; a short ranking counts as filled with irrelevant ones.

    P@k = relevant documents in the first k / k
    """
    return judged.sum(judged.relevant(rel) & judged.within(cutoff)) / cutoff


@measure(
    "R",
    aliases=("Recall", "recall"),
    reference="Cleverdon 1967",
    advice="For whoever must miss nothing, and for a first stage whose results another ranker reorders.",
)
def recall(judged: JudgedRanks, *, cutoff: int, rel: float = 1) -> Numbers:
    """Share of the relevant documents that stand among the first k.

    R@k = relevant documents in the first k / R
    """
    return ratio(judged.sum(judged.relevant(rel) & judged.within(cutoff)), judged.n_relevant(rel))


@measure(
    "F",
    aliases=("F1", "f1"),
    reference="van Rijsbergen 1979",
    advice="For one number that needs both precision and recall; beta above 1 favours recall.",
)
def f_measure(judged: JudgedRanks, *, cutoff: int, beta: float = 1, rel: float = 1) -> Numbers:
    """Weighted harmonic mean of precision and recall at the cutoff; recall counts beta times as much.

    F@k = (1 + β²) · P@k · R@k / (β² · P@k + R@k)
    """
    p, r = precision(judged, cutoff=cutoff, rel=rel), recall(judged, cutoff=cutoff, rel=rel)
    return ratio((1 + beta**2) * p * r, beta**2 * p + r)


@measure(
    "AP",
    aliases=("MAP", "map", "average_precision"),
    reference="Buckley & Voorhees 2005",
    advice="For a whole ranking with complete binary judgments. Unjudged documents pull it down.",
)
def average_precision(judged: JudgedRanks, *, cutoff: int | None = None, rel: float = 1) -> Numbers:
    """Mean of the precisions at the relevant documents; one that is not retrieved counts 0.

    AP = 1/R · Σ P@i over the ranks i of the relevant documents
    """
    hit = judged.relevant(rel) & judged.within(cutoff)
    return ratio(judged.sum(hit * judged.running(hit) / judged.rank), judged.n_relevant(rel))


@measure(
    "RR",
    aliases=("MRR", "mrr", "recip_rank", "reciprocal_rank"),
    reference="Voorhees 1999",
    advice="For questions with one good answer. It sees nothing after the first relevant document.",
)
def reciprocal_rank(judged: JudgedRanks, *, cutoff: int | None = None, rel: float = 1) -> Numbers:
    """One over the rank of the first relevant document; 0 if there is none down to the cutoff.

    RR = 1 / min { i : grade_i ≥ rel }
    """
    hit = judged.relevant(rel) & judged.within(cutoff)
    first = hit & (judged.running(hit) == 1)
    return judged.sum(first / judged.rank)


@measure(
    "Rprec",
    aliases=("RPrec", "R-Precision", "r_precision"),
    reference="Buckley & Voorhees 2005",
    advice="Like P@k, with a k that suits each query; it goes up and down with AP.",
)
def r_precision(judged: JudgedRanks, *, rel: float = 1) -> Numbers:
    """Precision at rank R, where R is the number of relevant documents.

    Rprec = relevant documents in the first R / R
    """
    total = judged.n_relevant(rel)
    return ratio(judged.sum(judged.relevant(rel) & (judged.rank <= total[judged.query])), total)


@measure(
    "Success",
    aliases=("success", "hit_rate", "HitRate", "hit"),
    advice="For whether a user finds anything at all; differences need many queries to show.",
)
def success(judged: JudgedRanks, *, cutoff: int, rel: float = 1) -> Numbers:
    """Whether at least one relevant document stands among the first k.

    Success@k = [ relevant documents in the first k > 0 ]
    """
    hits = judged.sum(judged.relevant(rel) & judged.within(cutoff))
    return (hits > 0).astype(np.float64)
