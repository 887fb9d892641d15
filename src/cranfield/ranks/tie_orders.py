"""Other orders of equal scores: what a scan has counted is enough to put tied documents in any."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from cranfield.ranks.policy import Policy, Ties
from cranfield.ranks.ranking import GradeColumns, Graded, rank_counted
from cranfield.ranks.scan.counting import Places, Scanned
from cranfield.ranks.tables.ranks import JudgedRanks

SMALL = np.iinfo(np.int32).max


class TieOrders:
    """The ranks that a run would have if the documents of each tie were in the worst order, or in the best.

    scanned: None where no judged document is tied with another, so that there is one order only.
    """

    def __init__(self, judgments: Graded, scanned: Scanned, policy: Policy) -> None:
        """Keep what other orders need of a scan: nothing, where nothing is tied."""
        self.scanned = _packed(scanned) if (scanned.found.tied > 1).any() else None
        self._judgments = GradeColumns.of(judgments)
        self._policy = policy

    def tables(self) -> tuple[JudgedRanks, JudgedRanks] | None:
        """The ranks with the highest grade of each tie last, and first; None where nothing is tied.

        They are made for each call: of many runs, to keep them would take more memory than all else.
        """
        if self.scanned is None:
            return None
        found = Places(*(column.astype(np.int64, copy=False) for column in self.scanned.found))
        scanned = self.scanned._replace(found=found)
        return self._ranked(scanned, "worst"), self._ranked(scanned, "best")

    def _ranked(self, scanned: Scanned, ties: Ties) -> JudgedRanks:
        return rank_counted(self._judgments, scanned, replace(self._policy, ties=ties))


def _packed(scanned: Scanned) -> Scanned:
    """The same in half the room, where the numbers allow it."""
    if max(column.max(initial=0) for column in scanned.found) > SMALL:
        return scanned
    found: Any = (column.astype(np.int32) for column in scanned.found)
    return scanned._replace(found=Places(*found))
