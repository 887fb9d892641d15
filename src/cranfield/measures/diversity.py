"""Diversity: does the ranking cover the subtopics of a query without repeating itself?

The subtopic is the second column of a TREC qrels file. S is the number of subtopics with a relevant document. In the
formulas G_i = Σ (1 - α)ⁿ over the subtopics that the document at rank i is relevant to, where n documents above it
are relevant to the same subtopic: what is seen again is worth less. The values are those of ndeval, which calls p β;
a query without a relevant document scores 0 here also where ndeval divides 0 by 0 (nNRBP). The ideal ranking takes at
every rank the document with the largest G_i, and of equals the one with the larger id. There may be a better one, so a
share of it may be above 1. It is at most e / (e - 1): the gain down to a rank is a submodular function of the
documents, of which taking the largest step each time gives at least 1 - 1/e of the maximum (Nemhauser, Wolsey & Fisher
1978), at every rank and so also in a sum with discounts that fall.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from cranfield.measures.arithmetic import all_ranks, ratio
from cranfield.measures.registry import measure
from cranfield.ranks.columns import Numbers

if TYPE_CHECKING:
    from cranfield.ranks.tables.subtopics import SubtopicRanks

subtopic_measure = partial(measure, table="subtopics")
OF_IDEAL = (0.0, math.e / (math.e - 1))  # the range of a share of the ideal ranking
LEAST = -745.2  # e to the power of less is 0


def _by_log(rank: Numbers) -> Numbers:
    return 1 / np.log2(rank + 1)


def _by_rank(rank: Numbers) -> Numbers:
    return 1 / rank


def _discounted(
    judged: SubtopicRanks, discount: Callable[[Numbers], Numbers], alpha: float, rel: float, cutoff: int | None
) -> Numbers:
    """Σ G_i · discount(i) over the ranks i down to the cutoff."""
    hit = judged.relevant(rel) & judged.within(cutoff)
    return judged.sum(hit * (1.0 - alpha) ** judged.earlier(hit) * discount(judged.rank.astype(np.float64)))


def _of_all(
    judged: SubtopicRanks, discount: Callable[[Numbers], Numbers], alpha: float, rel: float, cutoff: int
) -> Numbers:
    """As a share of what k documents would give that are all relevant to all S subtopics."""
    last = cutoff
    if 0 < alpha < 1:  # further down, (1 - α)ⁱ⁻¹ is 0
        last = int(min(cutoff, 2 + LEAST / math.log1p(-alpha)))
    rank = all_ranks(cutoff)[:last].astype(np.float64)
    best = ((1.0 - alpha) ** (rank - 1) * discount(rank)).sum()
    return ratio(_discounted(judged, discount, alpha, rel, cutoff), best * judged.n_subtopics(rel))


def _of_ideal(
    judged: SubtopicRanks, discount: Callable[[Numbers], Numbers], alpha: float, rel: float, cutoff: int | None = None
) -> Numbers:
    """As a share of what the ideal ranking gives."""
    ideal = judged.ideal(rel, alpha, cutoff)
    return ratio(_discounted(judged, discount, alpha, rel, cutoff), _discounted(ideal, discount, alpha, rel, cutoff))


@subtopic_measure(
    "alpha_DCG",
    aliases=("α_DCG",),
    reference="Clarke et al. 2008",
    advice="alpha_nDCG against a perfect ranking that may not exist; alpha is how much a repetition loses.",
)
def alpha_dcg(judged: SubtopicRanks, *, cutoff: int, alpha: float = 0.5, rel: float = 1) -> Numbers:
    """Discounted cumulative gain for new subtopics, divided by that of k documents about all of them.

    alpha_DCG@k = Σ G_i / log2(i + 1) / Σ S · (1 - α)ⁱ⁻¹ / log2(i + 1) over the ranks i ≤ k
    """
    return _of_all(judged, _by_log, alpha, rel, cutoff)


@subtopic_measure(
    "alpha_nDCG",
    aliases=("α_nDCG",),
    reference="Clarke et al. 2008",
    advice="The usual choice for ambiguous queries. alpha is how much a repetition loses.",
    range=OF_IDEAL,
)
def alpha_ndcg(judged: SubtopicRanks, *, cutoff: int | None = None, alpha: float = 0.5, rel: float = 1) -> Numbers:
    """Discounted cumulative gain for new subtopics, divided by the best possible one.

    alpha_nDCG@k = Σ G_i / log2(i + 1) over the ranks i ≤ k / the same for the ideal ranking

    The ideal ranking is chosen greedily, so that a value may be above 1, though rarely, and never above 1.582.
    """
    return _of_ideal(judged, _by_log, alpha, rel, cutoff)


@subtopic_measure(
    "ERR_IA",
    reference="Chapelle et al. 2011",
    advice="For users who stop at what they were looking for, and look for different things.",
)
def err_ia(judged: SubtopicRanks, *, cutoff: int, alpha: float = 0.5, rel: float = 1) -> Numbers:
    """ERR averaged over the subtopics, for users whom a relevant document satisfies with probability alpha.

    ERR_IA@k = Σ G_i / i / Σ S · (1 - α)ⁱ⁻¹ / i over the ranks i ≤ k

    As in ndeval, it is a share of what k documents about all subtopics would give.
    """
    return _of_all(judged, _by_rank, alpha, rel, cutoff)


@subtopic_measure(
    "nERR_IA",
    reference="Clarke et al. 2011",
    advice="ERR_IA for queries whose best rankings differ.",
    range=OF_IDEAL,
)
def nerr_ia(judged: SubtopicRanks, *, cutoff: int | None = None, alpha: float = 0.5, rel: float = 1) -> Numbers:
    """ERR_IA divided by the best possible ERR_IA.

    nERR_IA@k = Σ G_i / i over the ranks i ≤ k / the same for the ideal ranking

    The ideal ranking is that of alpha_nDCG, so a value may be above 1.
    """
    return _of_ideal(judged, _by_rank, alpha, rel, cutoff)


@subtopic_measure(
    "NRBP",
    reference="Clarke, Kolla & Vechtomova 2009",
    advice="RBP for ambiguous queries: users go on to the next document with probability p.",
)
def novelty_rbp(judged: SubtopicRanks, *, alpha: float = 0.5, p: float = 0.5, rel: float = 1) -> Numbers:
    """Rank-biased precision for new subtopics.

    NRBP = (1 - (1 - α) · p) / S · Σ G_i · pⁱ⁻¹
    """
    total = _discounted(judged, lambda rank: p ** (rank - 1), alpha, rel, None)
    return ratio((1 - (1 - alpha) * p) * total, judged.n_subtopics(rel))


@subtopic_measure(
    "nNRBP",
    reference="Clarke, Kolla & Vechtomova 2009",
    advice="NRBP for queries whose best rankings differ.",
    range=OF_IDEAL,
)
def normalized_novelty_rbp(judged: SubtopicRanks, *, alpha: float = 0.5, p: float = 0.5, rel: float = 1) -> Numbers:
    """NRBP divided by the best possible NRBP.

    nNRBP = Σ G_i · pⁱ⁻¹ / the same for the ideal ranking

    The ideal ranking is that of alpha_nDCG, so a value may be above 1.
    """
    return _of_ideal(judged, lambda rank: p ** (rank - 1), alpha, rel)


@subtopic_measure(
    "P_IA", reference="Agrawal et al. 2009", advice="Precision averaged over the subtopics; repetitions cost nothing."
)
def precision_ia(judged: SubtopicRanks, *, cutoff: int, rel: float = 1) -> Numbers:
    """Precision averaged over the subtopics.

    P_IA@k = 1/S · Σ P@k for subtopic s over the subtopics s
    """
    return ratio(judged.sum(judged.relevant(rel) & judged.within(cutoff)), cutoff * judged.n_subtopics(rel))


@subtopic_measure(
    "AP_IA",
    aliases=("MAP_IA",),
    reference="Agrawal et al. 2009",
    advice="AP averaged over the subtopics; repetitions cost nothing.",
)
def average_precision_ia(judged: SubtopicRanks, *, cutoff: int | None = None, rel: float = 1) -> Numbers:
    """Average precision averaged over the subtopics.

    AP_IA = 1/S · Σ AP for subtopic s over the subtopics s
    """
    hit = judged.relevant(rel) & judged.within(cutoff)
    precision = hit * (judged.earlier(hit) + 1) / judged.rank
    added = judged.sum(ratio(precision, judged.n_relevant(rel)[judged.subtopic]))
    return ratio(added, judged.n_subtopics(rel))


@subtopic_measure(
    "StRecall",
    aliases=("strec", "S_recall", "subtopic_recall"),
    reference="Zhai, Cohen & Lafferty 2003",
    advice="Shows how many of the subtopics a user gets to see at all.",
)
def subtopic_recall(judged: SubtopicRanks, *, cutoff: int | None = None, rel: float = 1) -> Numbers:
    """Share of the subtopics to which a document among the first k is relevant.

    StRecall@k = subtopics covered in the first k / S
    """
    hit = judged.relevant(rel) & judged.within(cutoff)
    return ratio(judged.sum(hit & (judged.earlier(hit) == 0)), judged.n_subtopics(rel))
