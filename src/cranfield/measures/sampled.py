"""Sampled pools: measures estimated from judgments of a random sample in each stratum of a pool.

In each stratum s, N_s documents were pooled and n_s of them judged, drawn at random; the others have the grade -1. A
judged document represents N_s/n_s documents. The stratum is the fourth column of a qrels file for sample_eval, or the
group of any other judgments with groups; judgments without are one stratum. Documents in no stratum count as not
relevant. R is estimated here: the sum of N_s/n_s over the documents judged relevant. The estimate is unbiased: its mean
over all samples that could have been drawn is the true R. A ratio of two such estimates is not, nor is a mean of
ratios: they have a bias, which is small where many relevant documents were judged, and 0 where everything was. A
stratum of which nothing was judged adds nothing, so R is then too low.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from cranfield.measures.arithmetic import ratio
from cranfield.measures.registry import measure
from cranfield.ranks.columns import Numbers

if TYPE_CHECKING:
    from cranfield.ranks.tables.strata import StratumRanks

YILMAZ = "Yilmaz, Kanoulas & Aslam 2008"
TINY = 0.00001  # what sample_eval adds, so that a stratum without judgments above a document has a share, of one third
ROUNDING = 1e-9  # the rounding error of sums of fractions


@measure(
    "xinfAP",
    aliases=("xinf_ap", "extended_infAP"),
    reference=YILMAZ,
    advice="AP estimated from a pool of which some parts were judged completely and others sampled.",
    infers_pooled=True,
    table="strata",
)
def extended_inferred_average_precision(judged: StratumRanks, *, rel: float = 1) -> Numbers:
    """Expected AP, if the judged documents of each stratum are a random sample of it; called infAP in sample_eval.

    xinfAP = 1/R · Σ N_s/n_s · 1/k · (1 + Σ D_t · (r_t+ε)/(J_t+3ε) over the strata t) over the relevant documents

    k and s are the rank and the stratum of a relevant document; D_t, J_t and r_t are the documents of stratum t above
    it that are pooled, judged and relevant; ε = 0.00001. An estimate with a bias that shrinks as more is judged.
    sample_eval multiplies by R/1000 where R > 1000, and leaves queries that are not in the run out of the mean; we do
    neither. With one stratum it is infAP, which has 2ε for 3ε.
    """
    hit = judged.relevant(rel)
    expected = np.ones(len(hit))
    for inside, _ in judged.by_stratum():
        share = (judged.above(inside & hit) + TINY) / (judged.above(inside & judged.judged) + 3 * TINY)
        expected += judged.above(inside) * share
    return ratio(judged.sum(hit * judged.weight[judged.stratum] * expected / judged.rank), judged.n_relevant(rel))


@measure(
    "infNDCG",
    aliases=("inf_ndcg", "xinfNDCG"),
    reference=YILMAZ,
    advice="nDCG estimated from a pool of which some parts were judged completely and others sampled.",
    range=(0.0, math.inf),
    infers_pooled=True,
    table="strata",
)
def inferred_ndcg(judged: StratumRanks, *, fractions: str = "counted") -> Numbers:
    """Estimated DCG divided by the best DCG that the estimated number of documents of each grade allows.

    infNDCG = Σ D_s/J_s · grade / log2(k+1) over the judged documents / the same for the ideal ranking

    k and s are the rank and the stratum of a judged document; D_s and J_s are the documents of stratum s in the whole
    ranking that are pooled and judged. The ideal ranking has Σ N_s/n_s documents of each grade, the highest grade
    first; of a rank that they fill in part, it has that part. Both sums are estimates, so the value can be above 1, and
    like every ratio of estimates it has a bias. In simulated pools of which the first ten ranks were judged, and a
    fifth of the rest, means were too high by up to 1% with about 100 relevant documents a query, and by up to 5% with
    about 6; with half of the rest, by up to 0.3% and 2%. Without the first ranks, means with few relevant documents
    were too low by up to 25% and 8%: a sample often has none of them. sample_eval drops fractions of documents from the
    ideal ranking (fractions="dropped"); in the pools whose first ranks were judged, its means were too high by 2% to
    7%. It also sorts grades as texts, so that 2 comes before 10; we sort them as numbers.
    """
    pooled = judged.count(np.ones(len(judged.rank), dtype=np.bool_))
    stands_for = ratio(pooled, judged.count(judged.judged))
    gain = np.maximum(judged.grade, 0.0) / np.log2(judged.rank + 1.0)
    ideal = _ideal_dcg(judged) if fractions == "counted" else _ideal_dcg_of_sample_eval(judged)
    return ratio(judged.sum(stands_for[judged.stratum] * gain), ideal)


def _ideal_dcg(judged: StratumRanks) -> Numbers:
    """The discounts of the ranks, and of parts of ranks, that the documents of each grade fill, times the grade."""
    filled = np.cumsum([np.zeros(len(judged)), *map(judged.n_with_grade, judged.positive_grades)], axis=0)
    ranks = np.arange(int(filled[-1].max(initial=0)) + 2)
    collected = np.interp(filled, ranks, np.cumsum(np.append(0.0, 1 / np.log2(ranks[1:] + 1.0))))
    total = np.zeros(len(judged))
    for grade, share in zip(judged.positive_grades, np.diff(collected, axis=0), strict=True):
        total += grade * share
    return total


def _ideal_dcg_of_sample_eval(judged: StratumRanks) -> Numbers:
    """Whole documents only, at ranks that go on from fractions such as 2.5."""
    total, start = np.zeros(len(judged)), np.zeros(len(judged))
    for grade in judged.positive_grades:
        count = judged.n_with_grade(grade)
        whole = np.floor(count + ROUNDING).astype(np.int64)
        query = np.repeat(np.arange(len(judged)), whole)
        step = np.arange(1, len(query) + 1) - np.repeat(np.cumsum(whole) - whole, whole)
        total += np.bincount(query, weights=grade / np.log2(start[query] + step + 1.0), minlength=len(judged))
        start += count
    return total


@measure(
    "statAP",
    aliases=("stat_ap", "statMAP"),
    reference="Aslam & Pavlu 2007",
    advice="AP estimated from each document's chance of being judged; needs 2 judgments in a stratum.",
    range=(0.0, math.inf),
    infers_pooled=True,
    table="strata",
)
def stat_average_precision(judged: StratumRanks, *, rel: float = 1) -> Numbers:
    """The sum of precisions at relevant documents, estimated without bias, over the estimated R.

    statAP = 1/R · Σ 1/k · (1/p_i + Σ 1/p_ij over the relevant documents j above i) over the relevant documents i

    k is the rank of i, and p_i = n_s/N_s its chance of being drawn; that of a pair is n_s·(n_s-1) / (N_s·(N_s-1)) in
    one stratum and p_i·p_j across strata. The sum and R are estimated without bias, but their ratio is not. Of a
    stratum with one judgment, pairs are never seen, so the sum is then too low.
    """
    return ratio(precision_sum(judged, rel), judged.n_relevant(rel))


def precision_sum(judged: StratumRanks, rel: float) -> Numbers:
    """The sum of the precisions at the relevant documents of each query, estimated without bias."""
    hit = judged.relevant(rel)
    pairs = ratio(judged.pooled * (judged.pooled - 1.0), judged.sampled * (judged.sampled - 1.0))[judged.stratum]
    own = judged.weight[judged.stratum]
    total = own.copy()
    for inside, weight in judged.by_stratum():
        total += judged.above(inside & hit) * np.where(inside, pairs, own * weight)
    return judged.sum(hit * total / judged.rank)
