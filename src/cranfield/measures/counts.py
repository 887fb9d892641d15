"""How many: documents retrieved, relevant, judged."""

from __future__ import annotations

import numpy as np

from cranfield.judge.judgments import Numbers
from cranfield.judge.ranks import JudgedRanks
from cranfield.measures.arithmetic import ratio
from cranfield.measures.registry import measure


@measure("NumRet", aliases=("num_ret",), aggregate="sum")
def number_retrieved(judged: JudgedRanks) -> Numbers:
    """Number of documents retrieved.

    NumRet = n
    """
    return judged.retrieved.astype(np.float64)


@measure("NumRel", aliases=("num_rel",), aggregate="sum")
def number_relevant(judged: JudgedRanks, *, rel: float = 1) -> Numbers:
    """Number of relevant documents, retrieved or not.

    NumRel = R
    """
    return judged.n_relevant(rel)


@measure("NumRelRet", aliases=("num_rel_ret",), aggregate="sum")
def number_relevant_retrieved(judged: JudgedRanks, *, rel: float = 1) -> Numbers:
    """Number of relevant documents retrieved.

    NumRelRet = Σ [grade_i ≥ rel]
    """
    return judged.sum(judged.relevant(rel))


@measure(
    "Judged",
    advice="Read it beside every other value: where it is low, unjudged documents decide the comparison.",
)
def judged_share(judged: JudgedRanks, *, cutoff: int | None = None) -> Numbers:
    """Share of the documents down to the cutoff that were judged; short rankings are not padded.

    Judged@k = judged documents in the first k / min(k, n)
    """
    depth = judged.retrieved if cutoff is None else np.minimum(judged.retrieved, cutoff)
    return ratio(judged.sum(judged.judged & judged.within(cutoff)), depth)
