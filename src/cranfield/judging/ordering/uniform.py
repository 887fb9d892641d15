"""uniform: a simple random sample."""

from __future__ import annotations

from cranfield.judging.ordering.order import Order, RankedQuery, in_fixed_order, query_by_query
from cranfield.judging.random_orders import SAMPLE, drawn


def at_random(ranked: RankedQuery) -> list[str]:
    """In the random order in which a pool draws samples: a larger sample holds a smaller one."""
    return drawn(ranked.best_ranks, len(ranked.best_ranks), SAMPLE, ranked.seed, ranked.query)


UNIFORM = Order(
    name="uniform",
    meaning="a random sample, for xinfAP, infNDCG and statAP",
    advice="you want unbiased estimates for deep rankings, or of the share of relevant documents",
    begin=query_by_query(in_fixed_order(at_random)),
    samples=True,
)
