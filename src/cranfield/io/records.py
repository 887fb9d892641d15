"""The rows of a file with all columns and line numbers, for checking and converting it.

Measuring needs less, and reads faster. Here a bad row is passed to the caller, and reading continues.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import compress, islice, pairwise
from operator import ne
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from cranfield.errors import InputError
from cranfield.io.column_names import Role
from cranfield.io.line_layout import Layout
from cranfield.io.streams import Stream

if TYPE_CHECKING:
    import numpy.typing as npt

Bad = Callable[[InputError], None]  # what to do with a bad row


class Records(NamedTuple):
    line: Sequence[int]  # of the file, or rows counted from 1; empty where there are none
    query: list[str]
    document: list[str]
    value: npt.NDArray[np.float64]  # scores or grades; where the file has ranks, minus the rank
    text: list[str]  # the value as written
    rank: list[str] | None = None  # a column of ranks beside the scores
    name: list[str] | None = None  # the name of the run, with all that follows it
    group: list[str] | None = None  # of judgments

    def place(self, at: int) -> int | None:
        return self.line[at] if self.line else None

    def take(self, rows: slice | list[int]) -> Records:
        # Iterating loses the types of the columns, but keeps their order.
        if isinstance(rows, slice):
            return Records(*(column if column is None else column[rows] for column in self))  # type: ignore[arg-type]
        columns = [column if column is None or len(column) == 0 else [column[at] for at in rows] for column in self]
        return Records(*columns)._replace(value=self.value[rows])  # type: ignore[arg-type]

    def miscount(self, name: str) -> InputError | None:
        """The error if a column that was read as ranks does not count 1, 2, 3 in the rows of a query."""
        wrong = np.flatnonzero(-self.value != np.arange(1, len(self.value) + 1))
        if not len(wrong):
            return None
        at = int(wrong[0])
        return InputError(
            name,
            f"the third column says {self.text[at]} where rank {at + 1} is expected, so it may not be a rank.",
            line=self.place(at),
            hint="give the format: 'msmarco' for query, document, rank; 'tsv' for query, document, score",
        )

    def by_query(self) -> Iterator[Records]:
        if not self.query:
            return
        changes = compress(range(1, len(self.query)), map(ne, self.query, islice(self.query, 1, None)))
        stretches: dict[str, list[slice]] = {}
        for start, stop in pairwise([0, *changes, len(self.query)]):
            stretches.setdefault(self.query[start], []).append(slice(start, stop))
        for parts in stretches.values():
            if len(parts) == 1:
                yield self.take(parts[0])
            else:
                yield self.take([at for part in parts for at in range(part.start, part.stop)])


def joined(parts: Sequence[Records]) -> Records:
    if len(parts) == 1:
        return parts[0]
    columns: list[Any] = [
        None if column[0] is None else [each for part in column for each in part] for column in zip(*parts, strict=True)
    ]
    return Records(*columns)._replace(value=np.concatenate([part.value for part in parts]))


class RecordFile(Protocol):
    """A file whose rows can be read; made by `open_records` of a format."""

    name: str
    stream: Stream
    role: Role
    ranks: bool  # it has ranks and no scores
    left_out: tuple[str, ...]  # columns that are not read
    unit: str  # what `Records.line` counts
    provenance: str  # of judgments that were chosen from a store
    empty_queries: int  # queries that the file names without a document; only JSON can do that

    @property
    def layout(self) -> Layout | None: ...

    def batches(self, bad: Bad) -> Iterator[Records]:
        """All rows, some at a time; bad ones go to `bad`."""
