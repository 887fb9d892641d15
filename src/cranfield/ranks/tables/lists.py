"""Lists: which items each user was recommended, and what is known about the items."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cranfield.errors import MeasureError, either, given
from cranfield.ranks.columns import Flags, Integers, Numbers
from cranfield.ranks.tables.ranks import JudgedRanks

BLOCK = 4_000_000  # numbers of features held at a time


@dataclass(frozen=True, eq=False)
class RecommendedLists:
    """A row for each recommended item, sorted by user and rank (from 1).

    For each row: `query` (the number of its user), `item` (its number in the catalogue), `rank`. For each user:
    `counted`, whether the mean is over them. For each item of the catalogue: `interactions` and `users`, how many there
    were before; `features`, a row of numbers, if these are known. `n_users` and `n_interactions` are all there were.
    """

    judged: JudgedRanks
    counted: Flags
    query: Integers
    item: Integers
    rank: Integers
    interactions: Integers
    users: Integers
    n_users: int
    n_interactions: int
    features: Numbers | None = None

    def __len__(self) -> int:
        return len(self.judged)

    @property
    def catalogue(self) -> int:
        return len(self.users)

    def within(self, cutoff: int | None) -> Flags:
        """The rows of counted users down to a rank."""
        kept = self.counted[self.query]
        return kept if cutoff is None else kept & (self.rank <= cutoff)

    def sum(self, values: Numbers | Flags) -> Numbers:
        return np.bincount(self.query, weights=values, minlength=len(self)).astype(np.float64, copy=False)

    def mean(self, values: Numbers, kept: Flags) -> Numbers:
        """The mean over the kept rows of each user; 0 for a user without any."""
        rows = self.sum(kept)
        total = self.sum(np.where(kept, values, 0.0))
        return np.divide(total, rows, out=np.zeros(len(self)), where=rows > 0)

    def times(self, kept: Flags) -> Integers:
        """In how many lists each item of the catalogue is."""
        return np.bincount(self.item[kept], minlength=self.catalogue)

    def contributions(self, whole: float, without: Numbers) -> Numbers:
        """A value for each user whose mean is that of the whole run, and whose spread is its jackknife error.

        value_u = V + (n - 1) · (mean of V without each user - V without user u)

        without: the value of the run without each user
        """
        values = np.full(len(self), whole)
        others = without[self.counted]
        if len(others):
            apart = (len(others) - 1) * (others.mean() - others)
            values[self.counted] += apart - apart.mean()  # which only rounding makes differ from 0
        return values

    def pairs(self, cutoff: int | None) -> Iterator[tuple[Integers, Integers, Integers]]:
        """All pairs of items in a list, some at a time: the number of the user, and the numbers of both items."""
        rows = np.flatnonzero(self.within(cutoff))
        query, item = self.query[rows], self.item[rows]
        first = np.searchsorted(query, query)
        place = np.arange(len(query)) - first
        width = 1 if self.features is None else self.features.shape[1]
        for apart in range(1, int(place.max(initial=0)) + 1):
            later = np.flatnonzero(place >= apart)
            size = max(1, BLOCK // width)
            for start in range(0, len(later), size):
                part = later[start : start + size]
                yield query[part], item[part - apart], item[part]

    @cached_property
    def known_features(self) -> Numbers:
        if self.features is None:
            raise MeasureError(
                "the features of the items are not known.",
                hint="give them: " + either("RecommenderRun(…, features={item: …})", given("features")),
            )
        return self.features

    @cached_property
    def condensed(self) -> RecommendedLists:
        """The same: what is recommended does not depend on judgments."""
        return self
