"""What a method of bounding differences gives, and what all of them are made of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cranfield.comparison.joint.holes import Pairs, Ranks
from cranfield.judge.judgments import Numbers
from cranfield.judge.ranks import Flags, JudgedRanks
from cranfield.measures import Measure
from cranfield.measures.completion import cutoff_of, worth_most_first
from cranfield.measures.filling import single_documents


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
    """

    def __init__(self, measure: Measure, tables: Sequence[JudgedRanks], scale: tuple[float, ...]) -> None:
        self.measure = measure
        self.tables = tables
        self.grades = worth_most_first(measure, scale)
        self.cutoff = cutoff_of(measure)
        deepest = max(int(table.retrieved.max(initial=0)) for table in tables)
        self.depth = deepest if self.cutoff is None else min(self.cutoff, deepest)

    @abstractmethod
    def highest(self, pairs: Pairs) -> Highest:
        """The highest difference of each row."""

    def ends(self, pairs: Pairs) -> Ends:
        """The bounds of each row."""
        high, low = self.highest(pairs), self.highest(pairs.swapped())
        return Ends(-low.value, high.value, high.exact & low.exact)

    def alone(self, grade: float) -> Numbers:
        """What a document of this grade is worth in a ranking without any other, at rank 1, 2, …; then nothing."""
        return np.append(self.measure(single_documents(self.depth, grade)), 0.0)

    def at(self, by_rank: npt.NDArray[np.float64], rank: Ranks) -> Numbers:
        """A value by rank, such as `alone` gives, for ranks of which some are deeper than the cutoff."""
        return by_rank[np.minimum(rank, self.depth + 1) - 1]


def by_run(tables: Sequence[JudgedRanks], measure: Measure) -> Numbers:
    """A value for each run and query."""
    return np.stack([measure(table) for table in tables])
