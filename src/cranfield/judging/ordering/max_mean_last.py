"""mm-ns: the bandit for which only the last judgment of a run counts (MM-NS, non-stationary)."""

from __future__ import annotations

from cranfield.judging.ordering.bandit import best_mean
from cranfield.judging.ordering.order import Order, query_by_query

MAX_MEAN_LAST = Order(
    name="mm-ns",
    meaning="bandit: a run whose last judged document was relevant",
    advice="you want as many relevant documents as early as possible: it adapts as runs get worse further down",
    begin=query_by_query(best_mean(keep=0)),
    follows_grades=True,
)
