"""What a method of bounding differences returns, and what all methods share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cranfield.comparison.joint.holes import Ranks, RunPairs
from cranfield.measures import Measure
from cranfield.measures.completion import Scale, cutoff_of, worth_most_first
from cranfield.ranks.columns import Flags, Integers, Numbers
from cranfield.ranks.filling import single_documents
from cranfield.ranks.tables.ranks import JudgedRanks


class Ends(NamedTuple):
    """For each row the lowest and the highest difference first - second, and whether some completion attains both."""

    low: Numbers
    high: Numbers
    exact: Flags


class Highest(NamedTuple):
    """For each row the highest difference, and whether some completion attains it."""

    value: Numbers
    exact: Flags


class Method(ABC):
    """A way to bound the difference of two runs by a measure.

    tables: the judged ranks of each run
    scale: the grades that an unjudged document may have
    work: how many numbers may be looked at for each row, where that could be too many
    """

    def __init__(self, measure: Measure, tables: Sequence[JudgedRanks], scale: Scale, work: int) -> None:
        self.measure = measure
        self.tables = tables
        self.grades = worth_most_first(measure, scale)
        self.work = work
        self.cutoff = cutoff_of(measure)
        deepest = max(int(table.retrieved.max(initial=0)) for table in tables)
        self.depth = deepest if self.cutoff is None else min(self.cutoff, deepest)

    @classmethod
    def suits(cls, measure: Measure, tables: Sequence[JudgedRanks], scale: Scale) -> bool:
        """Whether the method fits the measure with its parameters."""
        return True

    def depths(self) -> Integers:
        """Down to which rank this looks at unjudged documents, for each query."""
        return np.full(len(self.tables[0]), self.depth)

    @abstractmethod
    def highest(self, pairs: RunPairs) -> Highest:
        """The highest difference of each row."""

    def ends(self, pairs: RunPairs) -> Ends:
        """The bounds of each row."""
        high, low = self.highest(pairs), self.highest(pairs.swapped())
        return Ends(-low.value, high.value, high.exact & low.exact)

    def alone(self, grade: float) -> Numbers:
        """What a document of this grade is worth in a ranking without any other, at rank 1, 2, …; then nothing."""
        return np.append(self.measure(single_documents(self.depth, grade)), 0.0)

    def at(self, by_rank: npt.NDArray[np.float64], rank: Ranks) -> Numbers:
        """A value by rank, such as `alone` gives, for ranks of which some are deeper than the cutoff."""
        found: Numbers = by_rank[np.minimum(rank, self.depth + 1) - 1]
        return found


def by_run(tables: Sequence[JudgedRanks], measure: Measure) -> Numbers:
    """A value for each run and query."""
    return np.stack([measure(table) for table in tables])


def alike(sizes: Integers, cells: int) -> Iterator[tuple[Integers, int]]:
    """Rows of about the same size, and the largest size among them; no more than so many cells at a time."""
    order = np.argsort(sizes, kind="stable")
    low = 0
    while low < len(order):
        # The sizes rise: as many rows as fit if all were as large as the last one that could be among them.
        high = low + max(cells // (int(sizes[order[low]]) + 1), 1)
        high = low + max(cells // (int(sizes[order[min(high, len(order)) - 1]]) + 1), 1)
        rows = order[low:high]
        yield rows, int(sizes[rows].max())
        low = high
