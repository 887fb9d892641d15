"""mm: the bandit that remembers all judgments of a run (MM)."""

from __future__ import annotations

from cranfield.judging.ordering.bandit import best_mean
from cranfield.judging.ordering.order import Order, query_by_query

MAX_MEAN = Order(
    name="mm",
    meaning="bandit: the run with the largest share of relevant documents so far",
    advice="you want many relevant documents early, and some runs are better than others all the way down",
    begin=query_by_query(best_mean(keep=1)),
    follows_grades=True,
)
