"""Which of a store's judgments an order of judging chose, instead of their rank alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from itertools import chain

import sqlalchemy as sa

from cranfield.judging.event_log import BATCH
from cranfield.judging.random_orders import ORDERED
from cranfield.judging.schema import WAITING


def count_chosen(connection: sa.Connection, judged: Mapping[str, Collection[str]]) -> Counter[str]:
    """By order of judging, how many of some documents of queries it chose.

    What an order chose of documents that all waited makes no difference once all of them are judged.
    """
    # A document may wait as a whole and in parts; it is one judgment, of whichever order comes first.
    found: dict[tuple[str, str], tuple[str, bool]] = {}
    for query, document, order, alone in connection.execute(_CHOSEN):
        if document in judged.get(query, ()):
            found.setdefault((query, document), (order, bool(alone)))
    queries = {query for (query, _), (_, alone) in found.items() if not alone}
    unfinished = set(_unfinished(connection, queries, judged)) if queries else set()
    return Counter(order for (query, _), (order, alone) in found.items() if alone or query in unfinished)


# An order took some documents alone into the pool: in its own sequence, or for nobody but who was asked at once.
_ALONE = (WAITING.c.assessors == 0) | (WAITING.c.place < ORDERED)
_CHOSEN = (
    sa.select(WAITING.c.query_id, WAITING.c.doc_id, WAITING.c.chosen_by, _ALONE)
    .where(WAITING.c.chosen_by != "")
    .order_by(WAITING.c.number)
)


def _unfinished(
    connection: sa.Connection, queries: Collection[str], judged: Mapping[str, Collection[str]]
) -> Iterator[str]:
    """Those of the queries of which something waits that is not judged."""
    rows = sa.select(WAITING.c.query_id, WAITING.c.doc_id).where(WAITING.c.assessors > 0)
    with connection.execute(rows, execution_options={"yield_per": BATCH}) as result:
        for query, document in chain.from_iterable(result.partitions()):
            if query in queries and document not in judged.get(query, ()):
                yield query
