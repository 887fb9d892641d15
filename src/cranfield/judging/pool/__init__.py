"""Pools: which documents of runs to judge, and in which order.

`pool` lets the first documents of runs wait in a store, and returns a `Pooled`. `ORDERS` are the orders of judging, of
which `find_order` finds one and `DECIDE` is one: each `Order` puts a pool in order, and can be followed while people
judge (`FollowPlan`, `Followed`). `add_missing_texts` gives a store the texts of documents that have none.
"""

from cranfield.judging.pool.order import Followed, FollowPlan, Order
from cranfield.judging.pool.orders import DECIDE, ORDERS, find_order
from cranfield.judging.pool.pooling import Pooled, add_missing_texts, pool

__all__ = ["DECIDE", "ORDERS", "FollowPlan", "Followed", "Order", "Pooled", "add_missing_texts", "find_order", "pool"]
