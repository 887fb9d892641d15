"""Which of a store's judgments an order of judging chose, instead of their rank alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping

import sqlalchemy as sa

from cranfield.judging.schema import WAITING


def count_chosen(connection: sa.Connection, judged: Mapping[str, Collection[str]]) -> Counter[str]:
    """By order of judging, how many of some documents of queries it chose."""
    columns = sa.select(WAITING.c.query_id, WAITING.c.doc_id, WAITING.c.chosen_by).where(WAITING.c.chosen_by != "")
    # A document may wait as a whole and in parts; it is one judgment, of whichever order comes first.
    found: dict[tuple[str, str], str] = {}
    for query, document, order in connection.execute(columns.order_by(WAITING.c.number)):
        if document in judged.get(query, ()):
            found.setdefault((query, document), order)
    return Counter(found.values())
