"""What can be wrong with the groups of judgments: several grades in one group, or preferences that contradict."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cranfield.errors import InputError

if TYPE_CHECKING:
    from cranfield.ranks.grouped_judgments import GroupedJudgments


def judged_document(grouped: GroupedJudgments, row: int) -> str:
    """What errors call the document of a row of `flat`."""
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


def inconsistent(grouped: GroupedJudgments, group: int, row: int, what: str) -> InputError:
    """The error for a group whose preferences contradict one another."""
    return InputError(
        grouped.name,
        f"{judged_document(grouped, row)} {what} of group '{grouped.group_ids[group]}'.",
        hint="the preferences of one group must agree; different groups need not",
    )
