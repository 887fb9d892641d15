"""The mean of a measure over all orders of tied documents: exact where it adds over ranks, otherwise of a sample."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from math import inf
from typing import Any
from zlib import crc32

import numpy as np

from cranfield.errors import PolicyError, given
from cranfield.measures.registry import Measure
from cranfield.measures.scope import chosen_parameters, last_rank
from cranfield.ranks.columns import Flags, offsets
from cranfield.ranks.tables.averaged import AT_ONCE, AveragedRanks
from cranfield.ranks.tables.ranks import JudgedRanks
from cranfield.words import joined

ORDERS = 128  # drawn where a mean is not known exactly
SEED = 0
# Shares of the documents found, and sums over ranks that hold no judged document, are not sums over documents.
_NOT_ADDED = {("denominator", "found"), ("tail", "unjudged"), ("view", "residual"), ("ideal", "retrieved")}


def averages_exactly(measure: Measure) -> bool:
    chosen = chosen_parameters(measure)
    return measure.definition.averages_ties and not any(chosen.get(name) == value for name, value in _NOT_ADDED)


def refuse_groups(measures: Iterable[Measure]) -> None:
    """Refuse measures of other tables, which have one order."""
    named = next((measure for measure in measures if measure.definition.table != "ranks"), None)
    if named is not None:
        raise one_order(f"is not available for {named.name}, which is measured on {named.definition.table}.")


def one_order(fact: str) -> PolicyError:
    """The error for what has only one order of ties."""
    others = given("ties", "doc_id", "best", "worst", policy=True)
    return PolicyError(fact, parameter="ties", value="expected", hint=f"choose an order: {others}")


def sampled_warning(measures: Iterable[Measure], judged: JudgedRanks) -> str:
    """Which values are means over a sample of orders, in words; empty if none."""
    if judged.tied_rows is None:
        return ""
    named = [measure.name for measure in measures if not _is_exact(measure, judged) and _open(measure, judged).any()]
    return sampled_text(named) if named else ""


def sampled_text(names: list[str]) -> str:
    is_one = "is a mean" if len(names) == 1 else "are means"
    return f"{joined(names, 'and')} {is_one} over {ORDERS} random orders of ties (seed {SEED}), not over all"


def mean_over_orders(measure: Measure, judged: JudgedRanks, values_of: Callable[[Measure, Any], Any]) -> Any:
    """The values of a measure, each a mean over the orders of its query's ties."""
    values = values_of(measure, replace(judged, tied_rows=None))
    queries = _open(measure, judged)
    if not queries.any():
        return values
    values = np.array(values, dtype=np.float64)
    if _is_exact(measure, judged):
        if dict(measure.parameters).get("judged_only"):
            judged, measure = judged.condensed, measure.replace(judged_only=False)
        judged = judged.completed
        for some in _batches(judged, queries):
            values[some] = values_of(measure, AveragedRanks.of(judged, some, last_rank(measure)))[some]
        return values
    total = np.zeros(len(values))
    for order in range(ORDERS):
        total += values_of(measure, drawn(judged, queries, order))
    values[queries] = total[queries] / ORDERS
    return values


def _open(measure: Measure, judged: JudgedRanks) -> Flags:
    """The queries whose values the order of ties can change."""
    assert judged.tied_rows is not None
    groups = judged.tied_rows.groups
    last = np.minimum(judged.retrieved[groups.query], last_rank(measure) or inf)
    found = np.zeros(len(judged), dtype=np.bool_)
    found[groups.query[groups.above < last]] = True
    return found


def _is_exact(measure: Measure, judged: JudgedRanks) -> bool:
    if not averages_exactly(measure):
        return False
    if not dict(measure.parameters).get("judged_only"):
        return True
    # How many judged documents come before the end depends on the order, if a tie goes beyond it.
    assert judged.tied_rows is not None
    groups = judged.tied_rows.groups
    return bool((groups.above + groups.size <= judged.retrieved[groups.query]).all())


def _batches(judged: JudgedRanks, queries: Flags) -> Iterator[Flags]:
    """The queries in batches whose tables are not too large: each tie has a row for each rank and grade."""
    assert judged.tied_rows is not None
    rows = np.bincount(judged.tied_rows.query, judged.tied_rows.size, minlength=len(judged)) * queries
    batch = np.cumsum(rows) // AT_ONCE
    for number in np.unique(batch[queries]).tolist():
        yield queries & (batch == number)


def drawn(judged: JudgedRanks, queries: Flags, order: int) -> JudgedRanks:
    """The table of some queries in a random order of ties, by number; that of one query does not depend on others."""
    assert judged.tied_rows is not None
    tied = judged.tied_rows.rows(queries[judged.tied_rows.query])
    groups = tied.groups
    alone = np.flatnonzero(queries[judged.query] & (groups.of(judged.query, judged.rank) < 0))
    first = offsets(groups.size)
    group = np.repeat(np.arange(len(groups.size)), groups.size)
    place = np.arange(len(group)) - first[group]
    ids = np.array([crc32(judged.query_ids[query].encode()) for query in groups.query.tolist()], dtype=np.uint64)
    keys = _mixed((ids[group] << np.uint64(32)) + (groups.above[group] + place).astype(np.uint64), order)
    bits = np.uint64(len(groups.size).bit_length())  # one key is sorted much faster than two
    by_group = (group.astype(np.uint64) << (np.uint64(64) - bits)) | (keys >> bits)
    shuffled = np.argsort(by_group) - first[group]  # places of each tie, in random order
    member = np.arange(len(tied)) - np.flatnonzero(np.diff(tied.group, prepend=-1))[tied.group]
    rank = tied.above + 1 + shuffled[first[tied.group] + member]
    kept = np.flatnonzero(rank <= judged.retrieved[tied.query])
    columns: dict[str, tuple[Any, Any]] = {
        "query": (judged.query[alone], tied.query[kept]),
        "rank": (judged.rank[alone], rank[kept]),
        "grade": (judged.grade[alone], tied.grade[kept]),
        "row": (judged.row[alone], tied.row[kept]),
        "tied": (np.zeros(len(alone), dtype=np.bool_), np.ones(len(kept), dtype=np.bool_)),
    }
    both: dict[str, Any] = {name: np.concatenate(parts) for name, parts in columns.items()}
    sorted_ = np.lexsort((both["rank"], both["query"]))
    return replace(judged, tied_rows=None, **{name: column[sorted_] for name, column in both.items()})


def _mixed(numbers: Any, order: int) -> Any:
    """Random numbers that depend on these alone, and on the number of the order (splitmix64)."""
    with np.errstate(over="ignore"):
        mixed = numbers + np.uint64((0x9E3779B97F4A7C15 * (SEED * ORDERS + order + 1)) % 2**64)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
        return np.asarray(mixed ^ (mixed >> np.uint64(31)))
