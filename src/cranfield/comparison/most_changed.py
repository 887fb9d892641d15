"""The queries on which two runs differ most."""

from __future__ import annotations

from cranfield.comparison.conclusions import Comparison
from cranfield.comparison.differences import Change, Difference
from cranfield.evaluation.estimating import SAME
from cranfield.measures import known_measure


def most_changed(comparison: Comparison, difference: Difference, count: int) -> tuple[list[Change], list[Change]]:
    """The queries that gained most and those that lost most, the most first."""
    measure = known_measure(difference.measure, comparison.measures)
    runs = {result.run: result.by_query(measure) for result in comparison.evaluations}
    one, other = runs[difference.baseline], runs[difference.run]
    changes = [Change(query, one[query], other[query]) for query in one if query in other]
    up = sorted((change for change in changes if change.difference > SAME), key=lambda change: -change.difference)[
        :count
    ]
    down = sorted((change for change in changes if change.difference < -SAME), key=lambda change: change.difference)[
        :count
    ]
    return (down, up) if difference.lower_is_better else (up, down)
