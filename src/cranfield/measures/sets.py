"""Sets: the documents retrieved, in any order."""

from __future__ import annotations

import math

import numpy as np

from cranfield.measures.arithmetic import harmonic, ratio
from cranfield.measures.registry import measure, monotone_measure
from cranfield.ranks.columns import Numbers
from cranfield.ranks.tables.ranks import JudgedRanks


@monotone_measure(
    "SetP", aliases=("set_P",), reference="Cleverdon 1967", advice="For results without an order.", averages_ties=True
)
def set_precision(judged: JudgedRanks, *, rel: float = 1) -> Numbers:
    """Share of the retrieved documents that are relevant.

    SetP = relevant retrieved / n
    """
    return ratio(judged.sum(judged.relevant(rel)), judged.retrieved)


@monotone_measure(
    "SetR",
    aliases=("set_recall",),
    reference="Cleverdon 1967",
    advice="For results without an order.",
    averages_ties=True,
)
def set_recall(judged: JudgedRanks, *, rel: float = 1) -> Numbers:
    """Share of the relevant documents that are retrieved.

    SetR = relevant retrieved / R
    """
    return ratio(judged.sum(judged.relevant(rel)), judged.n_relevant(rel))


@monotone_measure(
    "SetF",
    aliases=("set_F",),
    reference="van Rijsbergen 1979",
    advice="For one number that needs both precision and recall; beta above 1 favours recall.",
    averages_ties=True,
)
def set_f(judged: JudgedRanks, *, beta: float = 1, rel: float = 1) -> Numbers:
    """Weighted harmonic mean of precision and recall of the set. Here beta is β; trec_eval's parameter is β².

    SetF = (1 + β²) · P · R / (β² · P + R)
    """
    return harmonic(set_precision(judged, rel=rel), set_recall(judged, rel=rel), beta)


@measure(
    "E",
    reference="van Rijsbergen 1979",
    advice="The loss that goes with F: 0 is perfect, 1 is worst.",
    lower_is_better=True,
    averages_ties=True,
)
def effectiveness_loss(judged: JudgedRanks, *, beta: float = 1, rel: float = 1) -> Numbers:
    """Van Rijsbergen's E, one minus F of the set; lower is better.

    E = 1 - SetF
    """
    return 1 - set_f(judged, beta=beta, rel=rel)


@monotone_measure(
    "SetRelP",
    aliases=("set_relative_P",),
    advice="Precision that can be 1 even if few documents are relevant.",
    averages_ties=True,
)
def set_relative_precision(judged: JudgedRanks, *, rel: float = 1) -> Numbers:
    """Relevant documents retrieved, divided by how many could have been.

    SetRelP = relevant retrieved / min(n, R)
    """
    return ratio(judged.sum(judged.relevant(rel)), np.minimum(judged.retrieved, judged.n_relevant(rel)))


@monotone_measure("SetAP", aliases=("set_map",), advice="Precision times recall of the set.")
def set_average_precision(judged: JudgedRanks, *, rel: float = 1) -> Numbers:
    """Precision times recall of the set.

    SetAP = (relevant retrieved)² / (n · R)
    """
    return ratio(judged.sum(judged.relevant(rel)) ** 2, judged.retrieved * judged.n_relevant(rel))


@measure(
    "Utility",
    aliases=("utility",),
    reference="Hull 1997",
    advice="For filtering, where a false alarm has a cost.",
    range=(-math.inf, math.inf),
    averages_ties=True,
)
def utility(
    judged: JudgedRanks,
    *,
    a: float = 1,
    b: float = -1,
    c: float = 0,
    d: float = 0,
    documents: int | None = None,
    rel: float = 1,
) -> Numbers:
    """The total worth of retrieving and not retrieving; `documents` is the size of the collection.

    Utility = a · relevant retrieved + b · others retrieved + c · relevant missed + d · others not retrieved
    """
    found, total = judged.sum(judged.relevant(rel)), judged.n_relevant(rel)
    n = judged.retrieved
    size = documents or 0  # 0 where it is not known, as in trec_eval
    return a * found + b * (n - found) + c * (total - found) + d * (size + found - n - total)


@measure(
    "Accuracy",
    reference="Manning, Raghavan & Schütze 2008",
    advice="Misleads: nearly all documents are irrelevant, so retrieving nothing is nearly perfect. Use F instead.",
    averages_ties=True,
)
def accuracy(judged: JudgedRanks, *, documents: int, rel: float = 1) -> Numbers:
    """Share of the whole collection that is correctly retrieved or correctly left out.

    Accuracy = (relevant retrieved + others not retrieved) / documents
    """
    found, total = judged.sum(judged.relevant(rel)), judged.n_relevant(rel)
    return (found + documents - judged.retrieved - total + found) / documents
