"""Orders of judging: which documents of a pool come first. Each order is one file and one entry in ORDERS.

Most orders treat each query by itself. Such an order is a generator: it yields a document and receives whether it is
relevant, so its code reads like its description. To get the next documents, it is replayed from the beginning with the
grades so far, and the first ones without a grade are taken. So an order needs no memory of its own: with the same
grades and the same seed, it takes the same course.
"""

from __future__ import annotations

from cranfield.errors import InputError, choice_hint
from cranfield.judging.ordering.depth import DEPTH
from cranfield.judging.ordering.hedge import HEDGE
from cranfield.judging.ordering.max_mean import MAX_MEAN
from cranfield.judging.ordering.max_mean_last import MAX_MEAN_LAST
from cranfield.judging.ordering.move_to_front import MOVE_TO_FRONT
from cranfield.judging.ordering.order import Order, OrderedPool
from cranfield.judging.ordering.uniform import UNIFORM
from cranfield.judging.ordering.verdict import DECIDE

ORDERS: dict[str, Order] = {
    order.name: order for order in (DEPTH, MOVE_TO_FRONT, MAX_MEAN, MAX_MEAN_LAST, HEDGE, UNIFORM, DECIDE)
}


def find_order(name: str) -> Order:
    """The order of this name.

    >>> find_order("mtf").follows_grades
    True
    """
    if name not in ORDERS:
        raise InputError(
            "pool", f"there is no order of judging '{name}'.", hint=choice_hint("orders are", ORDERS, name)
        )
    return ORDERS[name]


__all__ = ["DECIDE", "DEPTH", "ORDERS", "Order", "OrderedPool", "find_order"]
