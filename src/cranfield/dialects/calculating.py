"""The values of a measure under conventions: of every query, and their average."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from cranfield.dialects.conventions import Conventions
from cranfield.dialects.run_ranks import RunRanks, together
from cranfield.measures import Measure
from cranfield.measures.aggregates import aggregate
from cranfield.measures.arithmetic import ratio
from cranfield.measures.gain import ideal_discounted_cumulative_gain
from cranfield.measures.scope import Scope, chosen_parameters
from cranfield.ranks.columns import Flags, Numbers
from cranfield.ranks.tables.ranks import JudgedRanks


class Values(NamedTuple):
    """The values of the judged queries, which of them are averaged over, and how.

    weight: the denominators, where numerators and denominators are added up; None otherwise
    more: queries that count 0 and are not judged
    """

    query_ids: tuple[str, ...]
    values: Numbers
    kept: Flags
    measure: Measure
    conventions: Conventions
    weight: Numbers | None = None
    more: int = 0

    @property
    def mean(self) -> float:
        """What the tool prints for all queries."""
        values, how = self.values[self.kept], self.measure.definition.aggregate
        if self.conventions.average == "median":
            how = "median"
        if self.weight is not None:
            weight = self.weight[self.kept]
            mean = math.fsum((values * weight).tolist()) / total if (total := float(weight.sum())) else 0.0
        else:
            values = np.append(values, np.zeros(self.more)) if self.more else values
            mean = aggregate(values, how, of=self.measure.name)
        decimals = self.conventions.mean_decimals
        return mean if decimals == "all" else round(mean, int(decimals))

    @property
    def by_query(self) -> dict[str, float]:
        kept = self.kept.tolist()
        return {q: v for q, v, its in zip(self.query_ids, self.values.tolist(), kept, strict=True) if its}


def calculate(ranks: RunRanks, measure: Measure, conventions: Conventions) -> Values:
    """The values of a measure, as a tool with these conventions calculates them."""
    table = ranks.table(conventions)
    key = (measure, conventions.boundary, *ranks.key(conventions))
    if key not in ranks.calculated:
        ranks.calculated[key] = np.asarray(_values(ranks, table, measure, conventions), dtype=np.float64)
    values = ranks.calculated[key].copy()
    kept = ~table.missing if conventions.missing == "skip" else np.ones(len(table), dtype=np.bool_)
    if conventions.no_relevant != "zero":
        empty = Scope.of(measure).n_relevant(table) == 0
        if conventions.no_relevant == "skip":
            kept = kept & ~empty
        else:
            values[empty] = 1.0
    if conventions.query_decimals != "all":
        values = _rounded(values, int(conventions.query_decimals))
    weight = _denominators(measure, table) if conventions.average == "micro" else None
    more = table.extra if conventions.unjudged_query == "zero" else 0
    return Values(table.query_ids, values, kept, measure, conventions, weight, more)


def _rounded(values: Numbers, decimals: int) -> Numbers:
    """A half goes up in OpenSearch, whose values have two decimals, and to the even digit in gdeval."""
    return np.floor(values * 100 + 0.5) / 100 if decimals == 2 else np.round(values, decimals)


def _values(ranks: RunRanks, table: JudgedRanks, measure: Measure, conventions: Conventions) -> Numbers:
    chosen, name = chosen_parameters(measure), measure.definition.name
    if conventions.tied_rank == "last" and name == "AP":
        hit = table.relevant(chosen["rel"]) & table.within(chosen["cutoff"])
        return ratio(table.sum(hit * together(table, hit) / table.rank), _of_precisions(measure, table))
    cutoff = chosen.get("cutoff")
    if conventions.boundary == "score" and cutoff is not None and name in WIDENED:
        above = ranks.above(conventions, table)
        table = _widened(table, np.where(above < cutoff, np.minimum(table.rank, cutoff), table.rank))
        if name == "P":
            taken = ranks.taken_in(conventions, cutoff)
            return ratio(measure(table) * cutoff, np.maximum(taken, 1))
    return measure(table)


# Measures that a cutoff by score touches: those that only ask what is within the cutoff.
WIDENED = frozenset({"P", "R", "Success", "Hits", "RelP", "R_cap"})


def _widened(table: JudgedRanks, rank: Numbers) -> JudgedRanks:
    from dataclasses import replace

    return replace(table, rank=rank.astype(np.int64))


def _of_precisions(measure: Measure, table: JudgedRanks) -> Numbers:
    """What AP divides by."""
    chosen = chosen_parameters(measure)
    total, cutoff = table.n_relevant(chosen["rel"]), chosen["cutoff"]
    if chosen["denominator"] == "found":
        return table.sum(table.relevant(chosen["rel"]) & table.within(cutoff))
    if cutoff is not None and chosen["denominator"] == "min":
        return np.asarray(np.minimum(total, cutoff))
    if cutoff is not None and chosen["denominator"] == "k":
        return np.where(total > 0, float(cutoff), 0.0)
    return total


def _of_recall(measure: Measure, table: JudgedRanks) -> Numbers:
    return table.n_relevant(chosen_parameters(measure)["rel"])


def _of_capped_recall(measure: Measure, table: JudgedRanks) -> Numbers:
    chosen = chosen_parameters(measure)
    return np.asarray(np.minimum(table.n_relevant(chosen["rel"]), chosen["cutoff"]))


def _of_precision(measure: Measure, table: JudgedRanks) -> Numbers:
    chosen = chosen_parameters(measure)
    cutoff = float(chosen["cutoff"])
    return np.full(len(table), cutoff) if chosen["short"] == "filled" else np.minimum(table.retrieved, cutoff)


def _of_ndcg(measure: Measure, table: JudgedRanks) -> Numbers:
    chosen = chosen_parameters(measure)
    return ideal_discounted_cumulative_gain(
        table, cutoff=chosen["cutoff"], gain=chosen["gain"], base=chosen["base"], discount=chosen["discount"]
    )


_DENOMINATORS: dict[str, Callable[[Measure, JudgedRanks], Numbers]] = {
    "AP": _of_precisions,
    "R": _of_recall,
    "SetR": _of_recall,
    "RelP": _of_capped_recall,
    "R_cap": _of_capped_recall,
    "P": _of_precision,
    "nDCG": _of_ndcg,
}


def _denominators(measure: Measure, table: JudgedRanks) -> Numbers | None:
    """What a measure divides by for each query; None where it is no fraction."""
    known = _DENOMINATORS.get(measure.definition.name)
    return None if known is None else known(measure, table)
