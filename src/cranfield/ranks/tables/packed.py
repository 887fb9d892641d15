"""A table of ranks that is kept for later, in a quarter of its memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from cranfield.ranks.columns import Integers
from cranfield.ranks.tables.ranks import JudgedRanks

SMALL = np.iinfo(np.int32).max


class PackedRanks:
    """The part of a table that does not follow from the judgments; queries and grades are those of its rows there."""

    def __init__(self, table: JudgedRanks) -> None:
        self._row, self._rank, self._tied = packed(table.row), packed(table.rank), table.tied
        self._without_rows = table.rows(np.zeros(0, dtype=np.bool_))

    def __len__(self) -> int:
        return len(self._row)

    def table(self) -> JudgedRanks:
        """The table again; a new one for each call."""
        row: Integers = self._row.astype(np.int64)
        query, grade = self._without_rows.all_judged.by_row
        return replace(
            self._without_rows,
            query=query[row],
            rank=self._rank.astype(np.int64),
            grade=grade[row],
            tied=self._tied,
            row=row,
        )


def packed(column: Integers) -> Any:
    return column.astype(np.int32) if column.max(initial=0) <= SMALL else column
