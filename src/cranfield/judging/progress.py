"""How far the judging is."""

from __future__ import annotations

import sqlalchemy as sa

from cranfield.judging.event_log import not_undone
from cranfield.judging.events import StoreProgress, Work
from cranfield.judging.schema import EVENTS, ITEM, QUERIES


def measure_progress(connection: sa.Connection) -> StoreProgress:
    """Count what waits and what was done."""
    queries = sa.select(QUERIES.c.query_id, QUERIES.c.pooled, QUERIES.c.open).where(QUERIES.c.pooled > 0)
    by_query = {query: (pooled, left) for query, pooled, left in connection.execute(queries)}
    return StoreProgress(
        documents=sum(pooled for pooled, _ in by_query.values()),
        left=sum(left for _, left in by_query.values()),
        queries=len(by_query),
        queries_done=sum(not left for _, left in by_query.values()),
        by_query=by_query,
        by_assessor=_work(connection),
    )


def _work(connection: sa.Connection) -> dict[str, Work]:
    # A document counts once, by the last that was said of it; the time spent on it counts each time.
    item = [EVENTS.c[name] for name in ITEM]
    last = sa.func.row_number().over(
        partition_by=(EVENTS.c.assessor, *item, EVENTS.c.adjudicates), order_by=EVENTS.c.number.desc()
    )
    said = sa.select(EVENTS.c.assessor, EVENTS.c.grade, EVENTS.c.seconds, last.label("age")).where(not_undone())
    rows = said.subquery()

    def number_of(condition: sa.ColumnElement[bool]) -> sa.ColumnElement[int]:
        return sa.func.sum(sa.case((condition, 1), else_=0))

    counted = sa.select(
        rows.c.assessor,
        number_of((rows.c.age == 1) & rows.c.grade.isnot(None)),
        number_of((rows.c.age == 1) & rows.c.grade.is_(None)),
        sa.func.coalesce(sa.func.sum(rows.c.seconds), 0.0),
        sa.func.count(rows.c.seconds),
    ).group_by(rows.c.assessor)
    return {
        who: Work(int(judged), int(cannot), float(seconds), int(timed))
        for who, judged, cannot, seconds, timed in connection.execute(counted.order_by(rows.c.assessor))
    }
