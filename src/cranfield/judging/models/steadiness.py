"""How steady a model is: whether several replies about one document agree."""

from __future__ import annotations

import sqlalchemy as sa

from cranfield.judging.models.model_report import Steadiness
from cranfield.judging.schema import ITEM, REPLIES


def measure_steadiness(connection: sa.Connection, assessor: str, judge: str) -> Steadiness | None:
    """From the replies in a store; None where no document has two."""
    columns = [REPLIES.c[name] for name in (*ITEM, "sample", "grade")]
    own = (REPLIES.c.assessor == assessor, REPLIES.c.judge == judge, REPLIES.c.purpose == "grade")
    rows = connection.execute(sa.select(*columns).where(*own, REPLIES.c.grade.isnot(None)).order_by(REPLIES.c.number))
    grades: dict[tuple[object, ...], dict[int, float]] = {}
    for *item, sample, grade in rows:
        grades.setdefault(tuple(item), {})[sample] = grade
    spreads = [max(found.values()) - min(found.values()) for found in grades.values() if len(found) > 1]
    if not spreads:
        return None
    return Steadiness(len(spreads), sum(each == 0 for each in spreads) / len(spreads), sum(spreads) / len(spreads))
