"""A table of ranks that waits to be asked for, in a quarter of its room."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from cranfield.ranks.columns import Flags, Integers
from cranfield.ranks.tables.ranks import JudgedRanks

SMALL = np.iinfo(np.int32).max


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PackedRanks:
    """What the judgments do not know of a table; queries and grades are those of its rows of the judgments."""

    row: npt.NDArray[Any]
    rank: npt.NDArray[Any]
    tied: Flags
    without_rows: JudgedRanks

    @classmethod
    def of(cls, table: JudgedRanks) -> PackedRanks:
        """Pack a table."""
        return cls(packed(table.row), packed(table.rank), table.tied, table.rows(np.zeros(0, dtype=np.bool_)))

    def table(self) -> JudgedRanks:
        """The table again; a new one for each call."""
        row: Integers = self.row.astype(np.int64)
        query, grade = self.without_rows.all_judged.by_row
        return replace(
            self.without_rows,
            query=query[row],
            rank=self.rank.astype(np.int64),
            grade=grade[row],
            tied=self.tied,
            row=row,
        )


def packed(column: Integers) -> npt.NDArray[Any]:
    """Numbers from 0 in half the room, where they are small enough."""
    return column.astype(np.int32) if column.max(initial=0) <= SMALL else column
