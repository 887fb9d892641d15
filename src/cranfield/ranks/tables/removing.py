"""Judged ranks as if some judgments had never been made: nothing is read or ranked again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cranfield.ranks.columns import Flags, offsets
from cranfield.ranks.tables.ranks import JudgedRanks


def without(table: JudgedRanks, gone: Flags) -> JudgedRanks:
    """The table as if some rows of the judgments had never been made."""
    kept, known = ~gone[table.row], ~gone[table.judged_row]
    return replace(
        table.rows(kept),
        judged_grades=table.judged_grades[known],
        judged_first=offsets(np.bincount(table.judged_query[known], minlength=len(table)).tolist()),
        judged_row=table.judged_row[known],
    )
