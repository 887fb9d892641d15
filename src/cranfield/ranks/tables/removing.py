"""Judged ranks as if some judgments had never been made: nothing is read or ranked again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cranfield.ranks.columns import Flags
from cranfield.ranks.tables.judged_grades import JudgedGrades
from cranfield.ranks.tables.ranks import JudgedRanks


def without(tables: Sequence[JudgedRanks], gone: Flags) -> list[JudgedRanks]:
    """Tables as if some rows of the judgments had never been made; those that share their judgments still do."""
    left: dict[JudgedGrades, JudgedGrades] = {}
    for table in tables:
        if table.all_judged not in left:
            left[table.all_judged] = table.all_judged.without(gone)
    return [replace(table.rows(~gone[table.row]), all_judged=left[table.all_judged]) for table in tables]
