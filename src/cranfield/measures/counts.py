"""Counts: documents retrieved, relevant, judged."""

from __future__ import annotations

import math

import numpy as np

from cranfield.measures.arithmetic import ratio
from cranfield.measures.registry import measure
from cranfield.ranks.columns import Numbers
from cranfield.ranks.tables.ranks import JudgedRanks

COUNT = (0.0, math.inf)


@measure("NumQ", aliases=("num_q",), aggregate="sum", range=COUNT, of_holes=True, averages_ties=True)
def number_of_queries(judged: JudgedRanks) -> Numbers:
    """1 for every query, so the sum is the number of queries in the mean.

    NumQ = 1
    """
    return np.ones(len(judged))


@measure("NumRet", aliases=("num_ret",), aggregate="sum", range=COUNT, of_holes=True, averages_ties=True)
def number_retrieved(judged: JudgedRanks) -> Numbers:
    """Number of documents retrieved.

    NumRet = n
    """
    return judged.retrieved.astype(np.float64)


@measure("NumRel", aliases=("num_rel",), aggregate="sum", range=COUNT, averages_ties=True)
def number_relevant(judged: JudgedRanks, *, rel: float = 1) -> Numbers:
    """Number of relevant documents, retrieved or not.

    NumRel = R
    """
    return judged.n_relevant(rel)


@measure("NumRelRet", aliases=("num_rel_ret",), aggregate="sum", range=COUNT, monotone=True, averages_ties=True)
def number_relevant_retrieved(judged: JudgedRanks, *, rel: float = 1) -> Numbers:
    """Number of relevant documents retrieved.

    NumRelRet = Σ [grade_i ≥ rel]
    """
    return judged.sum(judged.relevant(rel))


@measure("NumNonRelRet", aliases=("num_nonrel_judged_ret",), aggregate="sum", range=COUNT, averages_ties=True)
def number_nonrelevant_retrieved(judged: JudgedRanks, *, rel: float = 1) -> Numbers:
    """Number of documents retrieved that were judged and are not relevant.

    NumNonRelRet = Σ [0 ≤ grade_i < rel]
    """
    return judged.sum(judged.judged & ~judged.relevant(rel))


@measure(
    "Unjudged",
    aliases=("unj",),
    lower_is_better=True,
    advice="The share of holes in a ranking. Not 1 - Judged: a short ranking counts as filled with judged documents.",
    of_holes=True,
    averages_ties=True,
)
def unjudged_share(judged: JudgedRanks, *, cutoff: int) -> Numbers:
    """Share of the first k ranks that hold an unjudged document; ranks beyond the end of the ranking do not.

    Unjudged@k = unjudged documents in the first k / k
    """
    return judged.n_unjudged(cutoff) / cutoff


@measure(
    "Judged",
    advice="Report it with every other value: if it is low, unjudged documents decide the comparison.",
    of_holes=True,
    averages_ties=True,
)
def judged_share(judged: JudgedRanks, *, cutoff: int | None = None) -> Numbers:
    """Share of the documents down to the cutoff that were judged; short rankings are not padded.

    Judged@k = judged documents in the first k / min(k, n)

    It is 0 of a ranking without documents, and 1 of all rankings where the judgments are complete.
    """
    if judged.complete:
        return np.ones(len(judged))
    depth = judged.retrieved if cutoff is None else np.minimum(judged.retrieved, cutoff)
    return ratio(judged.sum(judged.judged & judged.within(cutoff)), depth)
