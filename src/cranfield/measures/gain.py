"""Graded relevance: what a document is worth, less for every rank it stands deeper."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cranfield.judge.judgments import Numbers
from cranfield.judge.ranks import JudgedRanks
from cranfield.measures.arithmetic import discounted, ratio
from cranfield.measures.registry import measure


def gains(grades: npt.NDArray[Any], gain: str) -> Numbers:
    """What documents of these grades are worth; a document that was pooled but not judged is worth nothing."""
    worth: Numbers = np.maximum(grades, 0.0)
    return np.exp2(worth) - 1.0 if gain == "exponential" else worth


@measure(
    "nDCG",
    aliases=("NDCG", "ndcg", "ndcg_cut", "ndcg_burges(gain=exponential)"),
    reference="Järvelin & Kekäläinen 2002",
    advice="For graded judgments, and the usual choice for the first results. Values near each other need a test.",
)
def normalized_discounted_cumulative_gain(
    judged: JudgedRanks, *, cutoff: int | None = None, gain: str = "linear"
) -> Numbers:
    """Discounted gain of the ranking, as a share of that of the ideal ranking of all judged documents.

    nDCG@k = DCG@k / IDCG@k, DCG@k = Σ gain_i / log2(i + 1) over the ranks i ≤ k
    """
    dcg = judged.sum(judged.within(cutoff) * discounted(gains(judged.grade, gain), judged.rank))
    ideal = judged.ideal_rank if cutoff is None else np.where(judged.ideal_rank <= cutoff, judged.ideal_rank, np.inf)
    return ratio(dcg, judged.judged_sum(discounted(gains(judged.judged_grades, gain), ideal)))
