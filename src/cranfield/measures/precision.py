"""Binary relevance: precision, recall, and measures built on them."""

from __future__ import annotations

import math

import numpy as np

from cranfield.measures.arithmetic import harmonic, multiple_of_relevant, ratio
from cranfield.measures.registry import measure, monotone_measure
from cranfield.ranks.columns import Numbers
from cranfield.ranks.tables.ranks import JudgedRanks


@monotone_measure(
    "P",
    aliases=("Precision", "precision"),
    reference="Cleverdon 1967",
    advice="For the first page of results. It averages badly over queries with few relevant documents.",
    averages_ties=True,
)
def precision(judged: JudgedRanks, *, cutoff: int, rel: float = 1, short: str = "filled") -> Numbers:
    """Share of the first k documents that are relevant; a short ranking counts as filled with irrelevant ones.

    P@k = relevant documents in the first k / k

    Search engines divide by as many as they returned, if these are fewer: short=returned.
    """
    found = judged.sum(judged.relevant(rel) & judged.within(cutoff))
    return found / cutoff if short == "filled" else ratio(found, np.minimum(judged.retrieved, cutoff))


@monotone_measure(
    "R",
    aliases=("Recall", "recall"),
    reference="Cleverdon 1967",
    advice="For users who must miss nothing, and for a first stage whose results are reranked.",
    averages_ties=True,
)
def recall(judged: JudgedRanks, *, cutoff: int, rel: float = 1) -> Numbers:
    """Share of the relevant documents that are among the first k.

    R@k = relevant documents in the first k / R
    """
    return ratio(judged.sum(judged.relevant(rel) & judged.within(cutoff)), judged.n_relevant(rel))


@monotone_measure(
    "F",
    aliases=("F1", "f1"),
    reference="van Rijsbergen 1979",
    advice="For one number that needs both precision and recall; beta above 1 favours recall.",
    averages_ties=True,
)
def f_measure(judged: JudgedRanks, *, cutoff: int, beta: float = 1, rel: float = 1) -> Numbers:
    """Weighted harmonic mean of precision and recall at the cutoff; recall counts beta times as much.

    F@k = (1 + β²) · P@k · R@k / (β² · P@k + R@k)
    """
    return harmonic(precision(judged, cutoff=cutoff, rel=rel), recall(judged, cutoff=cutoff, rel=rel), beta)


@monotone_measure(
    "AP",
    aliases=("MAP", "map", "average_precision"),
    reference="Buckley & Voorhees 2005",
    advice="For a whole ranking with complete binary judgments. Unjudged documents pull it down.",
    averages_ties=True,
)
def average_precision(
    judged: JudgedRanks, *, cutoff: int | None = None, rel: float = 1, denominator: str = "R"
) -> Numbers:
    """Mean of the precisions at the relevant documents, with 0 for each that was not retrieved.

    AP = 1/R · Σ P@i over the ranks i of the relevant documents

    The denominator is R, as in trec_eval, also with a cutoff; "min" takes min(R, k), so that a perfect top k scores 1;
    "found" takes the relevant documents found, as many recommender libraries do; "k" takes the cutoff.
    """
    hit = judged.relevant(rel) & judged.within(cutoff)
    total = judged.n_relevant(rel)
    if denominator == "min" and cutoff is not None:
        total = np.minimum(total, cutoff)
    elif denominator == "k" and cutoff is not None:
        total = np.where(total > 0, float(cutoff), 0.0)
    elif denominator == "found":
        total = judged.sum(hit)
    return ratio(judged._sum_by_rank(judged.running(hit), hit), total)


@monotone_measure(
    "GMAP",
    aliases=("gm_map",),
    reference="Robertson 2006",
    advice="Shows whether the hardest queries got better: the geometric mean depends on the low values.",
    aggregate="geometric",
    averages_ties=True,
)
def geometric_average_precision(judged: JudgedRanks, *, rel: float = 1) -> Numbers:
    """AP of each query; the mean over the queries is the geometric one, with 0.00001 for lower values.

    GMAP = exp( 1/|Q| · Σ ln max(AP, 0.00001) )
    """
    return average_precision(judged, rel=rel)


@monotone_measure(
    "RR",
    aliases=("recip_rank", "reciprocal_rank"),
    reference="Voorhees 1999",
    advice="For questions with one good answer. It sees nothing after the first relevant document.",
    averages_ties=True,
)
def reciprocal_rank(judged: JudgedRanks, *, cutoff: int | None = None, rel: float = 1) -> Numbers:
    """One over the rank of the first relevant document; 0 if there is none down to the cutoff.

    RR = 1 / min { i : grade_i ≥ rel }
    """
    hit = judged.relevant(rel) & judged.within(cutoff)
    first = judged.first_hit(hit)
    return judged._sum_by_rank(first, first)


@measure(
    "Rprec",
    aliases=("RPrec", "R-Precision", "r_precision", "Rprec_mult"),
    reference="Buckley & Voorhees 2005",
    advice="Like P@k, with a k that suits each query; it correlates with AP.",
    at="multiple",
    averages_ties=True,
)
def r_precision(judged: JudgedRanks, *, multiple: float = 1, rel: float = 1) -> Numbers:
    """Precision at rank R, where R is the number of relevant documents, or at a multiple of it.

    Rprec@m = relevant documents in the first k / k, k = ⌊m · R + 0.9⌋
    """
    depth = multiple_of_relevant(judged.n_relevant(rel), multiple)
    return ratio(judged.sum(judged.relevant(rel) & (judged.rank <= depth[judged.query])), depth)


@monotone_measure(
    "RelP",
    aliases=("relative_P",),
    advice="Precision that can be 1 even if fewer than k documents are relevant.",
    averages_ties=True,
)
def relative_precision(judged: JudgedRanks, *, cutoff: int, rel: float = 1) -> Numbers:
    """Relevant documents among the first k, divided by how many could be there.

    RelP@k = relevant documents in the first k / min(k, R)
    """
    found = judged.sum(judged.relevant(rel) & judged.within(cutoff))
    return ratio(found, np.minimum(judged.n_relevant(rel), cutoff))


@monotone_measure(
    "R_cap",
    aliases=("RCap", "recall_cap"),
    reference="Thakur et al. 2021",
    advice="BEIR's name for RelP.",
    averages_ties=True,
)
def capped_recall(judged: JudgedRanks, *, cutoff: int, rel: float = 1) -> Numbers:
    """Recall at the cutoff, where no more than k documents count as relevant.

    R_cap@k = relevant documents in the first k / min(k, R)
    """
    return relative_precision(judged, cutoff=cutoff, rel=rel)


@monotone_measure(
    "Hits", aliases=("hits",), advice="A count; divided by k, it is P@k.", range=(0.0, math.inf), averages_ties=True
)
def hits(judged: JudgedRanks, *, cutoff: int, rel: float = 1) -> Numbers:
    """Number of relevant documents among the first k.

    Hits@k = Σ [grade_i ≥ rel] over the ranks i ≤ k
    """
    return judged.sum(judged.relevant(rel) & judged.within(cutoff))


@measure(
    "YAAP",
    aliases=("yaap",),
    reference="Robertson 2006",
    advice="AP on a logarithmic scale, which spreads low and high values; it may be negative.",
    range=(-math.inf, math.inf),
)
def yet_another_average_precision(judged: JudgedRanks, *, rel: float = 1) -> Numbers:
    """Logarithm of the odds of average precision.

    YAAP = ln( (1 + S) / (1 + R - S) ), S = Σ P@i over the ranks i of the relevant documents
    """
    hit = judged.relevant(rel)
    total = judged.n_relevant(rel)
    added = judged._sum_by_rank(judged.running(hit), hit)
    return np.log((1 + added) / (1 + total - added))


@monotone_measure(
    "Success",
    aliases=("success", "HitRate", "hit"),
    advice="Shows whether a user finds anything at all; it takes many queries to detect differences.",
    averages_ties=True,
)
def success(judged: JudgedRanks, *, cutoff: int, rel: float = 1) -> Numbers:
    """Whether at least one relevant document is among the first k.

    Success@k = [ relevant documents in the first k > 0 ]
    """
    return judged.any_hit(judged.relevant(rel) & judged.within(cutoff))


@measure(
    "PairAccuracy",
    reference="MacAvaney, Macdonald & Ounis 2022",
    advice="For a reranker: the share of pairs in the right order, which is the area under the ROC curve.",
)
def pair_accuracy(judged: JudgedRanks, *, cutoff: int | None = None, rel: float = 1) -> Numbers:
    """Share of the pairs of a relevant and another retrieved document in which the relevant one comes first.

    PairAccuracy = 1 - Σ others above i / (relevant retrieved · others retrieved), i: ranks of the relevant documents

    This is what ir_measures calls Accuracy. Unjudged documents are among the others. Without a pair the value is 1 if
    anything relevant was retrieved, and 0 if not; ir_measures has no value or fails there.
    """
    hit = judged.relevant(rel) & judged.within(cutoff)
    found = judged.sum(hit)
    others = (judged.retrieved if cutoff is None else np.minimum(judged.retrieved, cutoff)) - found
    above = judged.sum(hit * (judged.rank - judged.running(hit)))
    return np.where(found > 0, 1 - ratio(above, found * others), 0.0)
