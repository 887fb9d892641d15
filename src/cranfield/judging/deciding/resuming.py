"""Going on with a decision: the look before the last batch is taken again, so that nothing is asked twice."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import chain, islice
from typing import Any

import sqlalchemy as sa

from cranfield.judging.deciding.decision import BATCH, Decision
from cranfield.judging.event_log import BATCH as ROWS
from cranfield.judging.event_log import not_undone
from cranfield.judging.ordering.order import QueryDocument
from cranfield.judging.schema import EVENTS
from cranfield.judging.store import Store


def resumed(decision: Decision, store: Store, *conditions: Any) -> Decision:
    """A decision that knows all grades of a store, as if it had looked before the last of them were given.

    conditions: which events of the store count
    """
    return decision._after(last_judged(store, decision._observed_pairs(), *conditions))


def last_judged(store: Store, wanted: Collection[QueryDocument], *conditions: Any) -> list[QueryDocument]:
    """The documents of a batch that were judged last, of those that are wanted."""
    with store._reading() as connection:
        return list(islice(_newest_first(connection, wanted, conditions), BATCH))


def _newest_first(
    connection: sa.Connection, wanted: Collection[QueryDocument], conditions: tuple[Any, ...]
) -> Iterator[QueryDocument]:
    events = sa.select(EVENTS.c.query_id, EVENTS.c.doc_id).where(EVENTS.c.grade.isnot(None), not_undone(), *conditions)
    seen: set[QueryDocument] = set()
    with connection.execute(events.order_by(EVENTS.c.number.desc()), execution_options={"yield_per": ROWS}) as result:
        for query, document in chain.from_iterable(result.partitions()):
            pair = (query, document)
            if pair in wanted and pair not in seen:
                seen.add(pair)
                yield pair
