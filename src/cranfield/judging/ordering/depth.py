"""depth: the best rank first."""

from __future__ import annotations

from cranfield.judging.ordering.order import Order, RankedQuery, in_fixed_order, query_by_query
from cranfield.judging.random_orders import place


def best_rank_first(ranked: RankedQuery) -> list[str]:
    """By the best rank in any run; documents of the same rank come at random."""
    best = ranked.best_ranks
    return sorted(best, key=lambda document: (best[document], place(ranked.query, document)))


DEPTH = Order(
    name="depth",
    meaning="the best rank in any run first",
    advice="new systems will be evaluated with the same judgments, and you can judge the pool down to some depth",
    begin=query_by_query(in_fixed_order(best_rank_first)),
)
