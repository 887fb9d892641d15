"""Graded relevance: gains, discounted by rank."""

from __future__ import annotations

import math

import numpy as np

from cranfield.measures.arithmetic import MaxGrade, all_ranks, discounted, gains, ideal_gains, ratio, scaled_gain
from cranfield.measures.parameters import GainMap
from cranfield.measures.registry import measure, monotone_measure
from cranfield.ranks.columns import Numbers
from cranfield.ranks.tables.ranks import JudgedRanks

JARVELIN = "Järvelin & Kekäläinen 2002"

Gain = str | GainMap
SUM = (0.0, math.inf)


@monotone_measure(
    "CG",
    aliases=("cg",),
    reference=JARVELIN,
    advice="For teaching: it ignores the order.",
    range=SUM,
    averages_ties=True,
)
def cumulative_gain(judged: JudgedRanks, *, cutoff: int | None = None, gain: Gain = "linear") -> Numbers:
    """Sum of the gains down to the cutoff.

    CG@k = Σ gain_i over the ranks i ≤ k
    """
    return judged.sum(judged.within(cutoff) * gains(judged.grade, gain))


@monotone_measure(
    "DCG",
    aliases=("dcg", "dcg_burges(gain=exponential)"),
    reference=JARVELIN,
    advice="Use nDCG to compare queries.",
    range=SUM,
    averages_ties=True,
)
def discounted_cumulative_gain(
    judged: JudgedRanks, *, cutoff: int | None = None, gain: Gain = "linear", base: float = 2, discount: str = "all"
) -> Numbers:
    """Sum of the gains, each divided by the logarithm of its rank plus one.

    DCG@k = Σ gain_i / log_b(i + 1) over the ranks i ≤ k

    The gain is the grade, or 2^grade - 1 if exponential, or 1 if binary, or what a map such as {1:3,2:9} says. The
    paper of 2002 divides by log_b(i), and only from rank b on: discount=late.
    """
    worth = discounted(gains(judged.grade, gain), judged.rank, base, discount)
    return judged.sum(judged.within(cutoff) * worth)


@measure(
    "IDCG",
    aliases=("ideal_dcg", "idcg"),
    reference=JARVELIN,
    advice="The denominator of nDCG.",
    range=SUM,
    averages_ties=True,
)
def ideal_discounted_cumulative_gain(
    judged: JudgedRanks, *, cutoff: int | None = None, gain: Gain = "linear", base: float = 2, discount: str = "all"
) -> Numbers:
    """DCG of the ideal ranking: all judged documents, the best first, retrieved or not.

    IDCG@k = Σ gain_i / log_b(i + 1) over the ranks i ≤ k of the ideal ranking
    """

    def calculate() -> Numbers:
        ideal = judged.ideal
        return ideal.sum(ideal.within(cutoff) * discounted(ideal_gains(judged, gain), ideal.rank, base, discount))

    idcg: Numbers = judged.all_judged.kept(("IDCG", cutoff, gain, base, discount), calculate)
    return idcg.copy()


@monotone_measure(
    "nDCG",
    aliases=("NDCG", "ndcg", "ndcg_cut", "ndcg_burges(gain=exponential)"),
    reference=JARVELIN,
    advice="The usual choice for graded judgments and the first results. Test whether close values differ.",
    averages_ties=True,
)
def normalized_discounted_cumulative_gain(
    judged: JudgedRanks,
    *,
    cutoff: int | None = None,
    gain: Gain = "linear",
    base: float = 2,
    discount: str = "all",
    ideal: str = "judged",
) -> Numbers:
    """DCG divided by the best possible DCG: that of all judged documents, the best first.

    nDCG@k = DCG@k / IDCG@k

    The base of the logarithm makes a difference only where the discount comes late: otherwise it cancels out. Other
    libraries divide by another ideal: `ideal` names them.
    """
    dcg = discounted_cumulative_gain(judged, cutoff=cutoff, gain=gain, base=base, discount=discount)
    if ideal in ("judged", "uncut"):
        depth = cutoff if ideal == "judged" else None
        best = ideal_discounted_cumulative_gain(judged, cutoff=depth, gain=gain, base=base, discount=discount)
        return ratio(dcg, best)
    return ratio(dcg, _other_ideal(judged, ideal, cutoff, gain, base, discount))


def _other_ideal(
    judged: JudgedRanks, ideal: str, cutoff: int | None, gain: Gain, base: float, discount: str
) -> Numbers:
    """The DCG of an ideal ranking that depends on what was retrieved, for each query."""
    depth = judged.retrieved if cutoff is None else np.minimum(judged.retrieved, cutoff)
    if ideal == "full":
        depths = judged.retrieved if cutoff is None else np.full(len(judged), cutoff)
        ranks = all_ranks(int(depths.max(initial=0)))
        highest = np.zeros(len(judged))
        np.maximum.at(highest, judged.ideal.query, ideal_gains(judged, gain))
        best: Numbers = np.append(0.0, np.cumsum(discounted(np.ones(len(ranks)), ranks, base, discount)))[depths]
        return highest * best
    if ideal == "returned":
        table, worth = judged.ideal, ideal_gains(judged, gain)
        return table.sum((table.rank <= depth[table.query]) * discounted(worth, table.rank, base, discount))
    worth = np.maximum(gains(judged.grade, gain), 0.0)
    worth = worth[np.lexsort((-worth, judged.query))]
    place = np.arange(len(worth)) - judged.first[judged.query] + 1
    return judged.sum((place <= depth[judged.query]) * discounted(worth, place, base, discount))


@monotone_measure(
    "SDCG",
    reference="Moffat, Thomas & Scholer 2013",
    advice="nDCG against a ranking of perfect documents only, so the scale does not depend on the judgments.",
    averages_ties=True,
)
def scaled_discounted_cumulative_gain(judged: JudgedRanks, *, cutoff: int, max_grade: MaxGrade = 1) -> Numbers:
    """DCG of grades scaled to 1, divided by the DCG of k documents with the highest grade there is.

    SDCG@k = Σ min(grade_i / max, 1) / log2(i + 1) over the ranks i ≤ k, divided by Σ 1 / log2(i + 1)
    """
    worth = scaled_gain(judged, max_grade)
    most = float(discounted(np.ones(1), all_ranks(cutoff)).sum())
    return judged.sum(judged.within(cutoff) * discounted(worth, judged.rank)) / most


@monotone_measure(
    "binG",
    reference="Buckley, trec_eval",
    advice="Like AP, but a relevant document loses little if a few others are ranked above it.",
)
def binary_gain(judged: JudgedRanks, *, rel: float = 1) -> Numbers:
    """Mean over the relevant documents of one over the logarithm of how many others are ranked above.

    binG = 1/R · Σ 1 / log2(2 + documents above that are not relevant), over the relevant documents
    """
    hit = judged.relevant(rel)
    others = judged.rank - judged.running(hit)
    return ratio(judged.sum(hit / np.log2(2.0 + others)), judged.n_relevant(rel))


@measure(
    "G",
    reference="Buckley, trec_eval",
    advice="Experimental: a document is discounted by the gain that is missing above it.",
)
def misplaced_gain(judged: JudgedRanks, *, gain: Gain = "linear") -> Numbers:
    """Gains discounted by how much better the ranking down to each could have been, divided by all gains.

    G = 1/Σ ideal · Σ gain_i / log2(2 + Σ max(ideal_j, 1) - Σ gain_j), sums over the ranks j ≤ i
    """
    worth, ideal = gains(judged.grade, gain), judged.ideal
    ideal_worth = ideal_gains(judged, gain)
    best = judged.in_ideal(ideal.running_sum(np.maximum(ideal_worth, 1)))
    best += np.maximum(judged.rank - ideal.retrieved[judged.query], 0)
    lost = best - judged.running_sum(worth)
    return ratio(judged.sum(worth / np.log2(2 + lost)), ideal.sum(ideal_worth))


@measure(
    "nDCGrel",
    aliases=("ndcg_rel",),
    reference="Buckley, trec_eval",
    advice="Experimental: nDCG averaged over the ranks of all relevant documents.",
    rewards_order=False,
)
def ndcg_over_relevant(judged: JudgedRanks, *, gain: Gain = "linear") -> Numbers:
    """Mean of nDCG at the documents that have a gain; those not retrieved count with nDCG at the end.

    nDCGrel = 1/K · ( Σ nDCG@i over the ranks i of documents with a gain + (K - found) · nDCG ), K documents with a gain
    """
    ideal = judged.ideal
    worth, ideal_worth = gains(judged.grade, gain), ideal_gains(judged, gain)
    dcg = judged.running_sum(discounted(worth, judged.rank))
    idcg = ideal.running_sum(discounted(ideal_worth, ideal.rank))
    total, found = ideal.sum(ideal_worth > 0), judged.sum(worth > 0)
    at_end = ratio(judged.last(dcg), ideal.last(idcg))
    return ratio(judged.sum((worth > 0) * ratio(dcg, judged.in_ideal(idcg))) + (total - found) * at_end, total)


@measure(
    "RnDCG",
    aliases=("Rndcg",),
    reference="Buckley, trec_eval",
    advice="Experimental: nDCG at the depths where the ideal ranking changes from one grade to the next.",
)
def r_ndcg(judged: JudgedRanks, *, gain: Gain = "linear") -> Numbers:
    """Mean of nDCG at the depths where each grade of the ideal ranking ends.

    RnDCG = mean of nDCG@B over B = documents with a gain ≥ g, for each positive gain g of the query

    nDCG of the whole ranking counts as one more where it has at least two documents more than have a gain.
    """
    ideal, ideal_worth = judged.ideal, ideal_gains(judged, gain)
    dcg = judged.running_sum(discounted(gains(judged.grade, gain), judged.rank))
    idcg = ideal.running_sum(discounted(ideal_worth, ideal.rank))
    falls = (ideal_worth[:-1] != ideal_worth[1:]) | (ideal.query[:-1] != ideal.query[1:])
    point = np.flatnonzero(np.append(falls, True)[: len(idcg)] & (ideal_worth > 0))
    query = ideal.query[point]
    at_points = ratio(judged.at(dcg, query, ideal.rank[point]), idcg[point])
    total = ideal.sum(ideal_worth > 0)
    longer = (judged.retrieved > total + 1) & (total > 0)
    added = np.bincount(query, at_points, minlength=len(judged)) + longer * ratio(judged.last(dcg), ideal.last(idcg))
    return ratio(added, np.bincount(query, minlength=len(judged)) + longer)


@monotone_measure(
    "Q",
    aliases=("Qmeasure", "Q-measure"),
    reference="Sakai 2004",
    advice="AP for graded judgments: precision blended with the share of the ideal gain.",
    rewards_order=False,
    averages_ties=True,
)
def q_measure(
    judged: JudgedRanks, *, cutoff: int | None = None, gain: Gain = "linear", beta: float = 1, rel: float = 1
) -> Numbers:
    """Mean of the blended ratio at the relevant documents, with 0 for each that was not retrieved.

    Q = 1/R · Σ (relevant in the first i + β · CG@i) / (i + β · ICG@i) over the ranks i of the relevant documents
    """
    hit = judged.relevant(rel) & judged.within(cutoff)
    worth, ideal = gains(judged.grade, gain), judged.ideal
    best = judged.in_ideal(ideal.running_sum(ideal_gains(judged, gain)))
    blended = ratio(judged.running_sum(hit + beta * worth), judged.rank + beta * best)
    return ratio(judged.sum(hit * blended), judged.n_relevant(rel))
