"""Errors in the groups of judgments: several grades in one group, or contradictory preferences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cranfield.errors import InputError

if TYPE_CHECKING:
    from cranfield.ranks.grouped_judgments import GroupedJudgments


def judged_document(grouped: GroupedJudgments, row: int) -> str:
    flat = grouped.flat
    query = flat.query_ids[int(np.searchsorted(flat.first, row, side="right")) - 1]
    return f"document '{flat.document_ids[row]}' of query '{query}'"


def refuse_subgroups(grouped: GroupedJudgments) -> None:
    """Refuse a document with several grades in one group: only preferences can come in subgroups."""
    pairs, counts = np.unique(np.stack((grouped.group, grouped.row)), axis=1, return_counts=True)
    several = pairs[:, counts > 1]
    if several.size:
        group, row = several[:, 0].tolist()
        raise InputError(
            grouped.name,
            f"{judged_document(grouped, row)} is judged in several subgroups of group '{grouped.group_ids[group]}'.",
            hint="subgroups are for measures of preferences, such as prefs_simp",
        )


def refuse_other_strata(grouped: GroupedJudgments) -> None:
    """Refuse groups that cannot be strata: subgroups, or a document in two, whose chance to be drawn is unknown."""
    if grouped.subgroup.any():
        fact = "these judgments have subgroups, like preferences, so their groups are not strata."
        raise InputError(grouped.name, fact, hint="a line with a stratum is: query iteration document stratum grade")
    several = np.flatnonzero(np.bincount(grouped.row, minlength=len(grouped.flat.grades)) > 1)
    if len(several):
        row = int(several[0])
        names = [f"'{grouped.group_ids[group]}'" for group in grouped.group[grouped.row == row].tolist()]
        raise InputError(
            grouped.name,
            f"{judged_document(grouped, row)} is in {len(names)} strata: {', '.join(names)}.",
            hint="in a sampled pool, each document is in one stratum, and some of each stratum are judged",
        )


def inconsistent(grouped: GroupedJudgments, group: int, row: int, what: str) -> InputError:
    return InputError(
        grouped.name,
        f"{judged_document(grouped, row)} {what} of group '{grouped.group_ids[group]}'.",
        hint="the preferences of one group must agree; different groups need not",
    )
