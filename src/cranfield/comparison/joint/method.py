"""Ways to bound the difference of two runs: what all share, and those for sums, first documents and numbers found."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cranfield.comparison.joint.holes import Holes, Ranks, RunPairs
from cranfield.measures import Measure
from cranfield.measures.arithmetic import ratio
from cranfield.measures.completion import Scale, cutoff_of, is_sum, worth_most_first
from cranfield.measures.scope import chosen_parameters
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
    def suits(cls, measure: Measure, scale: Scale, lengths: bool) -> bool:
        """Whether the method fits the measure with its parameters; `lengths`: those of documents are known."""
        return True

    @classmethod
    def enough(cls, measure: Measure) -> int | None:
        """How many documents beneath the cutoff count: more of them make no difference. None: all of them count."""
        return 0

    def depths(self, holes: Holes) -> Integers:
        """Down to which rank this looks at unjudged documents, for each query that is compared."""
        return np.full(len(holes.queries), self.depth)

    @abstractmethod
    def highest(self, pairs: RunPairs) -> Highest: ...

    def ends(self, pairs: RunPairs) -> Ends:
        high, low = self.highest(pairs), self.highest(pairs.swapped())
        return Ends(-low.value, high.value, high.exact & low.exact)

    def alone(self, grade: float) -> Numbers:
        """What a document of this grade is worth in a ranking without any other, at rank 1, 2, …; then nothing."""
        return np.append(self.measure(single_documents(self.depth, grade)), 0.0)

    def at(self, by_rank: npt.NDArray[np.float64], rank: Ranks) -> Numbers:
        """A value by rank, such as `alone` gives, for ranks of which some are deeper than the cutoff."""
        values: Numbers = by_rank[np.minimum(rank, self.depth + 1) - 1]
        return values


def by_run(tables: Sequence[JudgedRanks], measure: Measure) -> Numbers:
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


def may_be_either(measure: Measure, scale: Scale) -> bool:
    """Whether an unjudged document may be relevant, and may be not."""
    return len(worth_most_first(measure, scale)) == 2


class Shared(Method):
    """The judgments alone decide, which both runs share."""

    def highest(self, pairs: RunPairs) -> Highest:
        return Highest(np.zeros(len(pairs)), np.ones(len(pairs), dtype=np.bool_))


class Sums(Method):
    """Every document counts for itself: it is as good as can be where the first run ranks it higher."""

    def __init__(self, measure: Measure, tables: Sequence[JudgedRanks], scale: Scale, work: int) -> None:
        super().__init__(measure, tables, scale, work)
        self._known = by_run(tables, measure)
        self._ends = [self.alone(grade) for grade in (self.grades[0], self.grades[-1])]

    @classmethod
    def suits(cls, measure: Measure, scale: Scale, lengths: bool) -> bool:
        """Lengths of documents would make ranks count differently from query to query."""
        return is_sum(measure) and not lengths

    def highest(self, pairs: RunPairs) -> Highest:
        """Where a rank is worth a share of the grade, the best or the worst grade makes the most difference."""
        best, worst = (self.at(end, pairs.first_rank) - self.at(end, pairs.second_rank) for end in self._ends)
        known = self._known[pairs.first, pairs.query] - self._known[pairs.second, pairs.query]
        return Highest(known + np.maximum(best, worst).sum(axis=1), np.ones(len(pairs), dtype=np.bool_))


class Firsts(Method):
    """Only the first relevant document counts, so no more than one new one helps the first run, and none may."""

    def __init__(self, measure: Measure, tables: Sequence[JudgedRanks], scale: Scale, work: int) -> None:
        super().__init__(measure, tables, scale, work)
        self._known = by_run(tables, measure)
        self._alone = self.alone(self.grades[0])

    @classmethod
    def suits(cls, measure: Measure, scale: Scale, lengths: bool) -> bool:
        return may_be_either(measure, scale)

    def depths(self, holes: Holes) -> Integers:
        """Nothing below the first judged relevant document makes a difference."""
        rel = chosen_parameters(self.measure)["rel"]
        by_run = []
        for table in self.tables:
            hit = table.relevant(rel)
            first = table.sum(np.where(hit & (table.running(hit) == 1), table.rank, 0))
            by_run.append(np.where(first > 0, first, table.retrieved))
        deepest: Integers = np.stack(by_run).max(axis=0).astype(np.int64)
        return np.minimum(deepest, self.depth)[holes.queries]

    def highest(self, pairs: RunPairs) -> Highest:
        """All single documents are tried."""
        first, second = self._known[pairs.first, pairs.query], self._known[pairs.second, pairs.query]
        with_it = np.maximum(first[:, None], self.at(self._alone, pairs.first_rank))
        against = np.maximum(second[:, None], self.at(self._alone, pairs.second_rank))
        best = (with_it - against).max(axis=1, initial=-np.inf)
        return Highest(np.maximum(first - second, best), np.ones(len(pairs), dtype=np.bool_))


# A share of R relevant documents, of n retrieved, for each that was found: what the number of them is multiplied by.
ShareFormula = Callable[[Numbers, Numbers, dict[str, Any]], Numbers]
SHARES: dict[str, ShareFormula] = {
    "R": lambda R, n, chosen: ratio(1, R),
    "SetR": lambda R, n, chosen: ratio(1, R),
    "RelP": lambda R, n, chosen: ratio(1, np.minimum(R, chosen["cutoff"])),
    "R_cap": lambda R, n, chosen: ratio(1, np.minimum(R, chosen["cutoff"])),
    "SetRelP": lambda R, n, chosen: ratio(1, np.minimum(R, n)),
    "SetP": lambda R, n, chosen: ratio(1, n),
    "F": lambda R, n, chosen: ratio(1 + chosen["beta"] ** 2, chosen["beta"] ** 2 * R + chosen["cutoff"]),
    "SetF": lambda R, n, chosen: ratio(1 + chosen["beta"] ** 2, chosen["beta"] ** 2 * R + n),
    "E": lambda R, n, chosen: -ratio(1 + chosen["beta"] ** 2, chosen["beta"] ** 2 * R + n),
}
BY_LENGTH = {"SetRelP", "SetP", "SetF", "E"}  # whose share depends on n
UP_TO_CUTOFF = {"RelP", "R_cap"}  # whose share stays the same once there are as many relevant documents as the cutoff


class Shares(Method):
    """With R fixed, every document found counts the same. So all numbers of new relevant documents are tried.

    Those that only the first run found come first, those that only the second found last. Where the share is the same
    for both runs, it is enough to try where one of these kinds is used up: in between, a fraction of two straight lines
    rises or falls all the way.
    """

    def __init__(self, measure: Measure, tables: Sequence[JudgedRanks], scale: Scale, work: int) -> None:
        super().__init__(measure, tables, scale, work)
        self._chosen = chosen_parameters(measure)
        self._share = SHARES[measure.definition.name]
        rel = self._chosen["rel"]
        self._found = np.stack([table.sum(table.relevant(rel) & table.within(self.cutoff)) for table in tables])
        self._relevant = tables[0].n_relevant(rel)
        self._retrieved = np.stack([table.retrieved for table in tables]).astype(np.float64)

    @classmethod
    def suits(cls, measure: Measure, scale: Scale, lengths: bool) -> bool:
        return may_be_either(measure, scale)

    @classmethod
    def enough(cls, measure: Measure) -> int | None:
        """Each raises R, by which all that was found is divided."""
        return cutoff_of(measure) if measure.definition.name in UP_TO_CUTOFF else None

    def highest(self, pairs: RunPairs) -> Highest:
        """Documents that both found are as good as those that neither found, or better, if they count more in first."""
        in_first, in_second = pairs.first_rank <= self.depth, pairs.second_rank <= self.depth
        alone, against = (in_first & ~in_second).sum(axis=1), (in_second & ~in_first).sum(axis=1)
        both = (in_first & in_second).sum(axis=1)
        every = alone + against + both + pairs.beneath
        new = self._numbers(pairs, alone, against, every)
        relevant = self._relevant[pairs.query][:, None] + new
        shares, found = [], []
        for run in (pairs.first, pairs.second):
            shares.append(self._share(relevant, self._retrieved[run, pairs.query][:, None], self._chosen))
            found.append(self._found[run, pairs.query][:, None])
        if self.measure.definition.lower_is_better:  # documents that only second found come first
            alone, against = against, alone
        left = np.maximum(new - alone[:, None], 0)
        last = np.maximum(left - (every - alone - against)[:, None], 0)
        middle = left - last
        favoured = shares[0] > shares[1]
        shared = np.where(favoured, np.minimum(middle, both[:, None]), np.maximum(middle - pairs.beneath[:, None], 0))
        gained = [np.minimum(new, alone[:, None]), last]
        if self.measure.definition.lower_is_better:
            gained.reverse()
        values = shares[0] * (found[0] + gained[0] + shared) - shares[1] * (found[1] + gained[1] + shared)
        return Highest(values.max(axis=1), np.ones(len(pairs), dtype=np.bool_))

    def _numbers(self, pairs: RunPairs, alone: Integers, against: Integers, every: Integers) -> Integers:
        """The numbers of new relevant documents that are worth trying, by row."""
        if self.measure.definition.name in BY_LENGTH:
            return np.minimum(np.arange(every.max(initial=0) + 1), every[:, None])
        full = (self.cutoff or 0) - self._relevant[pairs.query].astype(np.int64)
        ends = [np.zeros_like(every), alone, every - against, every, np.clip(full, 0, every)]
        return np.stack(ends, axis=1)
