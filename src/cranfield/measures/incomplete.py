"""Incomplete judgments: measures that do not count unjudged documents as irrelevant."""

from __future__ import annotations

import numpy as np

from cranfield.measures.arithmetic import ratio
from cranfield.measures.registry import measure
from cranfield.ranks.columns import Numbers
from cranfield.ranks.tables.ranks import JudgedRanks

BUCKLEY = "Buckley & Voorhees 2004"


@measure(
    "Bpref",
    aliases=("bpref", "BPref"),
    reference=BUCKLEY,
    advice="For incomplete judgments: unjudged documents are ignored instead of counting as irrelevant.",
    skips_unjudged=True,
)
def binary_preference(judged: JudgedRanks, *, rel: float = 1, variant: str = "trec") -> Numbers:
    """Share of judged pairs in which the relevant document is ranked above the irrelevant one.

    Bpref = 1/R · Σ (1 - min(n_above, R) / min(R, N)), n_above: judged irrelevant documents above a relevant one

    N is the number of judged irrelevant documents. The paper of 2004 divides by R instead of min(R, N), which gives
    higher values where fewer irrelevant than relevant documents were judged: variant="2004".
    """
    total = judged.n_relevant(rel)
    others = judged.n_judged() - total
    return _preference(judged, rel, total, np.minimum(total, others) if variant == "trec" else total)


@measure(
    "GMBpref",
    aliases=("gm_bpref",),
    reference=BUCKLEY,
    advice="Bpref with a mean that depends on the hardest queries.",
    aggregate="geometric",
    skips_unjudged=True,
)
def geometric_binary_preference(judged: JudgedRanks, *, rel: float = 1) -> Numbers:
    """Bpref of each query; the mean over the queries is the geometric one, with 0.00001 for lower values.

    GMBpref = exp( 1/|Q| · Σ ln max(Bpref, 0.00001) )
    """
    return binary_preference(judged, rel=rel)


@measure(
    "Bpref10",
    aliases=("bpref10", "bpref_10", "bpref_top10pRnonrel"),
    reference=BUCKLEY,
    advice="Bpref for queries with only one or two relevant documents, where Bpref is coarse.",
    skips_unjudged=True,
)
def binary_preference_10(judged: JudgedRanks, *, rel: float = 1) -> Numbers:
    """Bpref that looks at ten more irrelevant documents than there are relevant ones.

    Bpref10 = 1/R · Σ (1 - min(n_above, 10 + R) / (10 + R))
    """
    total = judged.n_relevant(rel)
    return _preference(judged, rel, 10 + total, 10 + total)


def _preference(judged: JudgedRanks, rel: float, most: Numbers, denominator: Numbers) -> Numbers:
    hit = judged.relevant(rel)
    above = judged.running(judged.judged & ~hit)
    worse = ratio(np.minimum(above, most[judged.query]), denominator[judged.query])
    return ratio(judged.sum(hit * (1 - worse)), judged.n_relevant(rel))


@measure(
    "infAP",
    aliases=("inf_ap", "InfAP"),
    reference="Yilmaz & Aslam 2006",
    advice="AP estimated from a random sample of the pool: documents that were pooled but not judged have grade -1.",
    infers_pooled=True,
)
def inferred_average_precision(judged: JudgedRanks, *, rel: float = 1) -> Numbers:
    """Expected AP, if the judged documents are a random sample of the pooled ones.

    infAP = 1/R · Σ ( 1/k + (k-1)/k · (a+b+u)/(k-1) · (a+ε)/(a+b+2ε) ) over the ranks k of the relevant documents

    a, b and u are the documents above that are relevant, judged irrelevant, and pooled but not judged; ε = 0.00001, so
    that a perfect ranking scores a little below 1, as in trec_eval.
    """
    hit = judged.relevant(rel)
    above_relevant = judged.running(hit) - hit
    above_others = judged.running(judged.judged & ~hit) - (judged.judged & ~hit)
    above_pooled = judged.running(~judged.judged) - ~judged.judged
    k, tiny = judged.rank, 0.00001
    pooled = ratio(above_relevant + above_others + above_pooled, k - 1)
    share = (above_relevant + tiny) / (above_relevant + above_others + 2 * tiny)
    expected = np.where(k == 1, 1.0, 1 / k + (k - 1) / k * pooled * share)
    return ratio(judged.sum(hit * expected), judged.n_relevant(rel))
