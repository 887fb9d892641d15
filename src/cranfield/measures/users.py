"""User models: following a user down the ranking until patience runs out."""

from __future__ import annotations

import numpy as np

from cranfield.measures.arithmetic import MaxGrade, highest, ratio, scaled_gain
from cranfield.measures.registry import measure, monotone_measure
from cranfield.ranks.columns import Numbers
from cranfield.ranks.tables.ranks import JudgedRanks

ROOM = 1 << 20  # ranks whose weights are added at a time


@monotone_measure(
    "RBP",
    aliases=("rbp(p=0.9,max_grade=query)",),
    reference="Moffat & Zobel 2008",
    advice="For a user who reads on with probability p. Its residual says how much unjudged documents could add.",
    averages_ties=True,
)
def rank_biased_precision(
    judged: JudgedRanks, *, cutoff: int | None = None, p: float = 0.8, rel: float = 1, max_grade: MaxGrade | None = None
) -> Numbers:
    """Expected share of relevant documents seen by a user who goes on to the next with probability p.

    RBP = (1 - p) · Σ gain_i · p^(i-1)

    The gain is 1 for a relevant document; with a max_grade it is grade / max_grade, at most 1. Tools differ: trec_eval
    has p = 0.9 and takes the highest grade of each query, at least 1, for max_grade: max_grade=query.
    """
    gain = judged.relevant(rel) if max_grade is None else scaled_gain(judged, max_grade)
    return (1 - p) * judged.sum(judged.within(cutoff) * gain * _chances(judged, p)[judged.rank - 1])


def _chances(judged: JudgedRanks, p: float) -> Numbers:
    """p^0, p^1, … to the end of the longest ranking, each multiplied from the one before, as trec_eval does."""
    deepest = max(judged.retrieved.max(initial=0), judged.rank.max(initial=0))
    return np.cumprod(np.append(1.0, np.full(int(deepest), p)))


@measure(
    "RBPResidual",
    aliases=("RBP_residual", "rbp_resid(p=0.9,tail=unjudged)"),
    reference="Moffat & Zobel 2008",
    advice="Report it with RBP: the true value lies between RBP and RBP plus this.",
    lower_is_better=True,
    of_holes=True,
    averages_ties=True,
)
def rank_biased_precision_residual(judged: JudgedRanks, *, p: float = 0.8, tail: str = "always") -> Numbers:
    """What RBP could still gain if all unjudged documents, and all below the end of the ranking, were relevant.

    RBPResidual = 1 - (1 - p) · Σ p^(i-1) over the ranks i of the judged documents

    trec_eval leaves out what lies below the end where every document retrieved is judged: tail=unjudged.
    """
    chance = _chances(judged, p)
    if tail == "always":
        return 1 - (1 - p) * judged.sum(judged.judged * chance[judged.rank - 1])
    unknown = judged.retrieved > judged.sum(judged.judged)
    return np.where(unknown, chance[judged.retrieved] + (1 - p) * _unjudged(judged, chance), 0.0)


def _unjudged(judged: JudgedRanks, chance: Numbers) -> Numbers:
    """For each query the sum over the ranks of unjudged documents, from the first rank down.

    Added in this order, it equals trec_eval's to the last bit, which matters where rounding is close.
    """
    total = np.append(0.0, np.cumsum(chance))[judged.retrieved]
    known = judged.rows(judged.judged)
    queries = np.unique(known.query)
    size = max(ROOM // len(chance), 1)
    for start in range(0, len(queries), size):
        some = queries[start : start + size]
        rows = slice(known.first[some[0]], known.first[some[-1] + 1])
        table = np.where(np.arange(len(chance)) < judged.retrieved[some, None], chance, 0.0)
        table[np.searchsorted(some, known.query[rows]), known.rank[rows] - 1] = 0.0  # which changes no sum
        total[some] = np.cumsum(table, axis=1, out=table)[:, -1]
    return total


@monotone_measure(
    "ERR",
    aliases=("err",),
    reference="Chapelle et al. 2009",
    advice="For a user who stops at the first satisfying document; documents below it count less.",
    averages_ties=True,
)
def expected_reciprocal_rank(judged: JudgedRanks, *, cutoff: int | None = None, max_grade: MaxGrade = 4) -> Numbers:
    """Expected reciprocal of the rank where the user is satisfied.

    ERR@k = Σ 1/i · R_i · Π (1 - R_j) over j < i, for the ranks i ≤ k; R_i = (2^grade_i - 1) / 2^max_grade
    """
    satisfied = judged.within(cutoff) * (np.exp2(np.maximum(judged.grade, 0)) - 1) / np.exp2(highest(judged, max_grade))
    return judged.sum(judged.stops(np.minimum(satisfied, 1)) / judged.rank)


@monotone_measure(
    "nERR",
    aliases=("nerr",),
    reference="Chapelle et al. 2009",
    advice="Use it to compare queries: ERR alone depends on the grades that a query has.",
    averages_ties=True,
)
def normalized_expected_reciprocal_rank(
    judged: JudgedRanks, *, cutoff: int | None = None, max_grade: MaxGrade = 4
) -> Numbers:
    """ERR divided by the best possible ERR: that of all judged documents, the best first.

    nERR@k = ERR@k / ERR@k of the ideal ranking
    """
    err = expected_reciprocal_rank(judged, cutoff=cutoff, max_grade=max_grade)
    return ratio(err, expected_reciprocal_rank(judged.ideal, cutoff=cutoff, max_grade=max_grade))
