"""Other orders of equal scores: what a scan has counted is enough to put tied documents in any."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from cranfield.ranks.policy import Policy, Ties
from cranfield.ranks.ranking import GradeColumns, Graded, rank_counted
from cranfield.ranks.scan.counting import Scanned
from cranfield.ranks.tables.ranks import JudgedRanks


@dataclass(frozen=True)
class TieOrders:
    """The ranks that a run would have if the documents of each tie were in the worst order, or in the best.

    scanned: None where no judged document is tied with another, so that there is one order only.
    """

    judgments: GradeColumns
    scanned: Scanned | None
    policy: Policy

    @classmethod
    def of(cls, judgments: Graded, scanned: Scanned, policy: Policy) -> TieOrders:
        """Keep what other orders need of a scan: nothing, where nothing is tied."""
        columns = GradeColumns(judgments.query_ids, judgments.first, judgments.query, judgments.grades)
        return cls(columns, scanned if (scanned.found.tied > 1).any() else None, policy)

    @cached_property
    def worst(self) -> JudgedRanks | None:
        """The ranks with the highest grade of each tie last; None where nothing is tied."""
        return self._ranked("worst")

    @cached_property
    def best(self) -> JudgedRanks | None:
        """The ranks with the highest grade of each tie first; None where nothing is tied."""
        return self._ranked("best")

    def _ranked(self, ties: Ties) -> JudgedRanks | None:
        if self.scanned is None:
            return None
        return rank_counted(self.judgments, self.scanned, replace(self.policy, ties=ties))
