"""What the values of an evaluation rest on: the ranks they were calculated from, or the facts saved with them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from cranfield.evaluation.tie_ranges import TieRange, tie_ranges
from cranfield.measures import Measure
from cranfield.measures.scope import Scope
from cranfield.ranks.columns import Flags, Numbers
from cranfield.ranks.policy import Policy
from cranfield.ranks.ranking import PackedRanks, TieOrders
from cranfield.ranks.rising import RISING, backwards
from cranfield.ranks.run import Reading
from cranfield.ranks.tables.ranks import JudgedRanks

if TYPE_CHECKING:
    from cranfield.evaluation.query_facts import FactColumns
    from cranfield.io.made import Made


class RankedEvidence:
    """The ranks of a run that was just evaluated; facts are counted when they are first needed.

    packed: the ranks; those of many runs would otherwise take most of the memory
    kept: the queries of the ranks that are averaged over
    reading: answers for documents of the run; None for a run that stayed in an engine
    orders: the ranks in other orders of ties; None where they are not known
    made: how the run was recorded; None where that is not known
    """

    def __init__(
        self,
        ranks: JudgedRanks,
        policy: Policy,
        reading: Reading | None,
        orders: TieOrders | None,
        *,
        rising: bool = False,
    ) -> None:
        """policy: says whether queries that the run lacks are averaged over; rising: whether scores rise as written"""
        self.packed = PackedRanks(ranks)
        self.kept: Flags = ~ranks.missing if policy.missing == "skip" else np.ones(len(ranks), dtype=np.bool_)
        self.reading = reading
        self.orders = orders
        self._rising = rising
        self.made: Made | None = reading.run.made if reading is not None and reading.run is not None else None
        self._facts: dict[Scope, FactColumns] = {}
        self._ranges: dict[tuple[Measure, bytes], TieRange | None] = {}  # by measure, and by the weights of queries

    @property
    def ranks(self) -> JudgedRanks:
        """The table that the values were computed from."""
        return self.packed.table()

    @cached_property
    def lacking(self) -> frozenset[str]:
        """The judged queries that the run lacks."""
        ranks = self.packed.without_rows
        return frozenset(compress(ranks.query_ids, ranks.missing.tolist()))

    @cached_property
    def distances(self) -> str:
        """Why scores may be distances, in words; an engine's rows are in no order, so that they cannot rise."""
        return RISING if self._rising else backwards(self.ranks, self.kept)

    def facts(self, scope: Scope) -> FactColumns:
        """What measures of a scope look at, counted for each query."""
        if scope not in self._facts:
            from cranfield.evaluation.query_facts import FactColumns

            self._facts[scope] = FactColumns.of(self.ranks, scope, self.kept)
        return self._facts[scope]

    @property
    def has_ties(self) -> bool:
        """Whether the ranks depend on the order of ties."""
        return self.orders is not None and len(self.orders.queries) > 0

    def tie_ranges(
        self, columns: Mapping[Measure, Numbers], weight: Numbers | None = None
    ) -> dict[Measure, TieRange | None]:
        """The ranges of measures over all orders of ties, given the values in the order of the policy.

        weight: of each query
        """
        if self.orders is None:
            return dict.fromkeys(columns)
        by = b"" if weight is None else weight.tobytes()
        new = {measure: values for measure, values in columns.items() if (measure, by) not in self._ranges}
        if new:
            found = tie_ranges(new, self.orders, self.kept, weight)
            self._ranges.update({(measure, by): its for measure, its in found.items()})
        return {measure: self._ranges[measure, by] for measure in columns}


class SavedEvidence:
    """The facts of a saved evaluation, which no longer has ranks.

    ranges: of the measures over all orders of ties, as far as they are known
    lacking, distances, made: as in `RankedEvidence`; None in a file of a version that did not save them
    other_weights: whether the queries had other weights when it was saved, so that the ranges are not known
    """

    ranks = reading = None
    other_weights = False

    def __init__(
        self,
        facts: Mapping[Scope, FactColumns],
        ranges: Mapping[Measure, TieRange],
        lacking: frozenset[str] | None,
        distances: str | None,
        made: Made | None,
    ) -> None:
        self._facts, self._ranges = facts, ranges
        self.lacking, self.distances, self.made = lacking, distances, made

    def facts(self, scope: Scope) -> FactColumns:
        """What measures of a scope look at, as saved."""
        return self._facts[scope]

    @property
    def has_ties(self) -> bool:
        """Whether some value depends on the order of ties."""
        return any(ends.worst != ends.best for ends in self._ranges.values())

    def reweighted(self) -> SavedEvidence:
        """What is left with other weights of the queries."""
        left = SavedEvidence(self._facts, {}, self.lacking, self.distances, self.made)
        left.other_weights = self.other_weights or self.has_ties
        return left

    def tie_ranges(
        self, columns: Mapping[Measure, Numbers], weight: Numbers | None = None
    ) -> dict[Measure, TieRange | None]:
        """The ranges of measures over all orders of ties, as saved, which was with the same weights."""
        return {measure: self._ranges.get(measure) for measure in columns}
