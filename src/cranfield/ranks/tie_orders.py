"""Other orders of equal scores: the counts of a scan are enough for any order of tied documents."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cranfield.ranks.columns import Integers
from cranfield.ranks.policy import Policy, Ties
from cranfield.ranks.ranking import GradeColumns, Graded, rank_counted
from cranfield.ranks.scan.counting import Places, Scanned
from cranfield.ranks.tables.packed import packed
from cranfield.ranks.tables.ranks import JudgedRanks

ORDERS: tuple[Ties, Ties] = ("worst", "best")


class TieOrders:
    """The ranks that a run would have if the documents of each tie were in the worst order, or in the best.

    queries: the numbers of those that have a judged document in a tie; all others have one order only
    scanned: the result of the scan, for these queries only
    """

    def __init__(self, judgments: Graded, scanned: Scanned, policy: Policy) -> None:
        """Keep the part of a scan that other orders need: nothing, if nothing is tied."""
        self._judgments = GradeColumns.of(judgments)
        self._policy = policy
        query, found = self._judgments.query, scanned.found
        concerned = np.zeros(len(scanned.retrieved), dtype=np.bool_)
        concerned[query[found.row[np.flatnonzero(found.tied > 1)]]] = True
        self.queries: Integers = np.flatnonzero(concerned)
        rows = np.flatnonzero(concerned[query[found.row]]) if len(self.queries) else slice(0)
        kept = Places(*(packed(column[rows]) for column in found))
        self.scanned = scanned._replace(retrieved=scanned.retrieved[self.queries], found=kept)

    @property
    def highest(self) -> int:
        """The first rank whose document the order of ties decides."""
        above, tied = self.scanned.found.above, self.scanned.found.tied
        return int(above[tied > 1].min()) + 1

    def tables(self) -> tuple[JudgedRanks, JudgedRanks]:
        """The ranks of these queries, with the highest grade of each tie last, and first.

        They are made for each call: for many runs, keeping them would take most of the memory.
        """
        judgments = self._judgments.only(self.queries)
        row, *counted = (column.astype(np.int64, copy=False) for column in self.scanned.found)
        moved = self._judgments.first[self.queries] - judgments.first[:-1]
        its_query = np.searchsorted(self.queries, self._judgments.query[row])
        scanned = self.scanned._replace(found=Places(row - moved[its_query], *counted))
        worst, best = (rank_counted(judgments, scanned, replace(self._policy, ties=ties)) for ties in ORDERS)
        return worst, best
