"""Judgment groups: several users or judges, each with grades of their own.

A measure of a query is the mean over its groups. The group is the second column of a TREC qrels file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cranfield.measures.precision import average_precision, precision, r_precision
from cranfield.measures.registry import measure
from cranfield.ranks.columns import Numbers

if TYPE_CHECKING:
    from cranfield.ranks.tables.groups import GroupRanks


@measure(
    "AP_avgjg",
    aliases=("map_avgjg",),
    advice="For judges who may disagree: each has the AP of their own relevant documents.",
    table="groups",
)
def mean_average_precision_of_groups(judged: GroupRanks, *, cutoff: int | None = None, rel: float = 1) -> Numbers:
    """AP for the judgments of each group, averaged over the groups; a document that a group did not judge counts 0.

    AP_avgjg = 1/|J| · Σ AP with the grades of group j over the groups j
    """
    return judged.mean(average_precision(judged.ranks, cutoff=cutoff, rel=rel))


@measure("P_avgjg", advice="P@k for judges who may disagree.", table="groups")
def mean_precision_of_groups(judged: GroupRanks, *, cutoff: int, rel: float = 1) -> Numbers:
    """P@k for the judgments of each group, averaged over the groups.

    P_avgjg@k = 1/|J| · Σ P@k with the grades of group j over the groups j
    """
    return judged.mean(precision(judged.ranks, cutoff=cutoff, rel=rel))


@measure(
    "Rprec_avgjg",
    aliases=("Rprec_mult_avgjg",),
    advice="Rprec for judges who may disagree, each with an R of their own.",
    at="multiple",
    table="groups",
)
def mean_r_precision_of_groups(judged: GroupRanks, *, multiple: float = 1, rel: float = 1) -> Numbers:
    """Rprec for the judgments of each group, averaged over the groups.

    Rprec_avgjg@m = 1/|J| · Σ Rprec@m with the grades of group j over the groups j
    """
    return judged.mean(r_precision(judged.ranks, multiple=multiple, rel=rel))
