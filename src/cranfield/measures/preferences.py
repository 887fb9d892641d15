"""Preferences: how many of the judges' preferences between two documents does the ranking fulfil?

The names and values are trec_eval's. In each group of judgments a document is preferred to those with a lower grade;
different groups may disagree. A preference is fulfilled if the better document stands above the other one, or was
retrieved and the other one not. Unjudged documents have no part in it. F, P_ret, P_imp and P_none are the preferences
fulfilled, and those whose documents were both retrieved, one of them, or none; F_ret are those of F whose documents
were both retrieved. For these measures alone trec_eval ranks the smaller document id of a tie first; to do the same,
evaluate them with `Policy(ties="smaller_doc_id")`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from cranfield.measures.arithmetic import ratio
from cranfield.measures.registry import measure
from cranfield.ranks.columns import Integers, Numbers

if TYPE_CHECKING:
    from cranfield.ranks.tables.preferences import PreferenceRanks

preference_measure = partial(measure, reference="Buckley, trec_eval", table="preferences")
count_measure = partial(measure, advice="A count.", aggregate="sum", range=(0.0, np.inf), table="preferences")


def _fulfilled(judged: PreferenceRanks) -> Integers:
    return judged.groups.fulfilled_ret + judged.groups.fulfilled_imp


def _possible_imp(judged: PreferenceRanks) -> Integers:
    return judged.groups.possible_ret + judged.groups.possible_imp


def _possible(judged: PreferenceRanks) -> Integers:
    return _possible_imp(judged) + judged.groups.possible_none


@count_measure("prefs_num_prefs_poss")
def number_possible(judged: PreferenceRanks) -> Numbers:
    """Number of preferences.

    prefs_num_prefs_poss = P_ret + P_imp + P_none
    """
    return judged.sum(_possible(judged))


@count_measure("prefs_num_prefs_ful")
def number_fulfilled(judged: PreferenceRanks) -> Numbers:
    """Number of preferences that are fulfilled.

    prefs_num_prefs_ful = F
    """
    return judged.sum(_fulfilled(judged))


@count_measure("prefs_num_prefs_ful_ret")
def number_fulfilled_retrieved(judged: PreferenceRanks) -> Numbers:
    """Number of preferences that are fulfilled by two documents that were both retrieved.

    prefs_num_prefs_ful_ret = F_ret
    """
    return judged.sum(judged.groups.fulfilled_ret)


@preference_measure("prefs_simp", advice="For preferences that all count the same.")
def simple(judged: PreferenceRanks) -> Numbers:
    """Share of the preferences that are fulfilled.

    prefs_simp = F / (P_ret + P_imp + P_none)
    """
    return ratio(judged.sum(_fulfilled(judged)), judged.sum(_possible(judged)))


@preference_measure("prefs_simp_imp", advice="prefs_simp, where documents that were never retrieved should not count.")
def simple_implied(judged: PreferenceRanks) -> Numbers:
    """Share of the preferences that are fulfilled, without those between two documents that were not retrieved.

    prefs_simp_imp = F / (P_ret + P_imp)
    """
    return ratio(judged.sum(_fulfilled(judged)), judged.sum(_possible_imp(judged)))


@preference_measure(
    "prefs_simp_ret", advice="prefs_simp for collections that change, where only what was retrieved can be judged."
)
def simple_retrieved(judged: PreferenceRanks) -> Numbers:
    """Share of the preferences between two retrieved documents that are fulfilled.

    prefs_simp_ret = F_ret / P_ret
    """
    return ratio(judged.sum(judged.groups.fulfilled_ret), judged.sum(judged.groups.possible_ret))


@preference_measure(
    "prefs_pair", advice="For pairs of documents that count the same, however many groups have judged them."
)
def pairs(judged: PreferenceRanks) -> Numbers:
    """Mean over the pairs of documents of the share of groups whose preference is fulfilled; 0 if none is retrieved.

    prefs_pair = 1/pairs · Σ c(x, y) / (c(x, y) + c(y, x)), x above y, c(x, y) = groups that prefer x
    """
    counted = judged.pairs
    return ratio(counted.agreeing_ret + counted.agreeing_imp, counted.ret + counted.imp + counted.none)


@preference_measure("prefs_pair_imp", advice="prefs_pair, where documents that were never retrieved should not count.")
def pairs_implied(judged: PreferenceRanks) -> Numbers:
    """The same as prefs_pair over pairs of which at least one document is retrieved.

    prefs_pair_imp = 1/pairs · Σ c(x, y) / (c(x, y) + c(y, x))
    """
    counted = judged.pairs
    return ratio(counted.agreeing_ret + counted.agreeing_imp, counted.ret + counted.imp)


@preference_measure("prefs_pair_ret", advice="prefs_pair for collections that change.")
def pairs_retrieved(judged: PreferenceRanks) -> Numbers:
    """The same as prefs_pair over pairs whose documents are both retrieved.

    prefs_pair_ret = 1/pairs · Σ c(x, y) / (c(x, y) + c(y, x))
    """
    return ratio(judged.pairs.agreeing_ret, judged.pairs.ret)


@preference_measure("prefs_avgjg", advice="For groups that count the same, however many preferences each has.")
def groups(judged: PreferenceRanks) -> Numbers:
    """Mean over the groups of the share of their preferences that are fulfilled.

    prefs_avgjg = 1/|J| · Σ F / (P_ret + P_imp + P_none) over the groups
    """
    return judged.mean(ratio(_fulfilled(judged), _possible(judged)))


@preference_measure(
    "prefs_avgjg_imp", advice="prefs_avgjg, where documents that were never retrieved should not count."
)
def groups_implied(judged: PreferenceRanks) -> Numbers:
    """The same as prefs_avgjg without preferences between two documents that were not retrieved.

    prefs_avgjg_imp = 1/|J| · Σ F / (P_ret + P_imp) over the groups
    """
    return judged.mean(ratio(_fulfilled(judged), _possible_imp(judged)))


@preference_measure("prefs_avgjg_ret", advice="prefs_avgjg for collections that change.")
def groups_retrieved(judged: PreferenceRanks) -> Numbers:
    """The same as prefs_avgjg for preferences between two retrieved documents.

    prefs_avgjg_ret = 1/|J| · Σ F_ret / P_ret over the groups
    """
    return judged.mean(ratio(judged.groups.fulfilled_ret, judged.groups.possible_ret))


@preference_measure(
    "prefs_avgjg_Rnonrel", advice="prefs_avgjg, where the number of documents judged not relevant should not matter."
)
def groups_balanced(judged: PreferenceRanks) -> Numbers:
    """The same as prefs_avgjg with as many documents that are not relevant (grade 0) as are relevant in each group.

    prefs_avgjg_Rnonrel = 1/|J| · Σ F' / P' over the groups

    If R relevant documents are more than the N others, F' = F + R_ret · (R - N) and P' = P + R · (R - N); if they are
    fewer, only the R others that stand highest count. As in trec_eval, P' then also counts these against all documents
    of grade 0, unless the group has subgroups; and a query of which any group has P' = 0 scores 0.
    """
    return _all_possible(judged, judged.groups.balanced_fulfilled, judged.groups.balanced_possible)


@preference_measure("prefs_avgjg_Rnonrel_ret", advice="prefs_avgjg_Rnonrel for collections that change.")
def groups_balanced_retrieved(judged: PreferenceRanks) -> Numbers:
    """The same as prefs_avgjg_Rnonrel for retrieved documents.

    prefs_avgjg_Rnonrel_ret = 1/|J| · Σ F' / P' over the groups

    R and N are the retrieved ones here, but as in trec_eval, P' = P_ret + (relevant documents) · (R - N).
    """
    return _all_possible(judged, judged.groups.balanced_fulfilled_ret, judged.groups.balanced_possible_ret)


def _all_possible(judged: PreferenceRanks, fulfilled: Integers, possible: Integers) -> Numbers:
    # trec_eval divides 0 by 0 for such a group, and a sum that is not a number counts 0.
    return np.where(judged.sum(possible == 0) > 0, 0.0, judged.mean(ratio(fulfilled, possible)))
