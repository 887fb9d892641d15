"""What runs contributed to a pool: the judged documents that only some of them have down to a depth."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from cranfield.evaluation.weighting import Weights
from cranfield.measures import Measure
from cranfield.measures.aggregates import aggregate
from cranfield.ranks.columns import Flags
from cranfield.ranks.grouped_judgments import GroupedJudgments
from cranfield.ranks.policy import Policy
from cranfield.ranks.tables.ranks import JudgedRanks
from cranfield.ranks.tables.strata import StratumRanks

LEAST_DEPTH = 10  # of a pool, if documents above it are not all judged


def complete_depth(tables: Sequence[JudgedRanks]) -> int:
    """How deep the pool of some runs was: the deepest rank down to which everything is judged, but at least ten."""
    holes = [_first_hole(table) for table in tables]
    complete = min((hole - 1 for hole in holes if hole is not None), default=None)
    if complete is None:
        complete = max((int(table.retrieved.max(initial=0)) for table in tables), default=0)
    return max(complete, LEAST_DEPTH)


def _first_hole(table: JudgedRanks) -> int | None:
    """The best rank of an unjudged document; None if all are judged."""
    known = table.rows(table.judged)
    # Ranks count up by one as long as nothing is missing before them.
    unbroken = known.rank == known.running(np.ones(len(known.rank), dtype=np.bool_))
    judged = known.sum(unbroken)
    return int(judged[judged < table.retrieved].min()) + 1 if (judged < table.retrieved).any() else None


def contributed(tables: Sequence[JudgedRanks], runs: Collection[int], depth: int) -> Flags:
    """Which judgments are of documents that some runs have down to a depth and no other run has."""
    others, own = np.zeros((2, len(tables[0].judged_row)), dtype=np.bool_)
    for at, table in enumerate(tables):
        (own if at in runs else others)[table.row[table.within(depth)]] = True
    return own & ~others


def mean_of(
    measure: Measure,
    table: JudgedRanks,
    policy: Policy,
    strata: GroupedJudgments | None = None,
    weights: Weights | None = None,
) -> float:
    """The mean of a measure over the queries that the policy counts; strata: those of the judged documents."""
    kept = ~table.missing if policy.missing == "skip" else np.ones(len(table), dtype=np.bool_)
    if policy.ties == "expected":
        from cranfield.measures.over_orders import refuse_groups

        refuse_groups([measure])
    stratified = strata if measure.definition.table == "strata" else None
    values = measure(table if stratified is None else StratumRanks.of(stratified, table))
    weight = None if weights is None else weights.column(table.query_ids)[kept]
    return aggregate(values[kept], "mean", weight, of=measure.name)
