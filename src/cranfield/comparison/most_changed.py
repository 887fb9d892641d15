"""The queries on which two runs differ most."""

from __future__ import annotations

from cranfield.comparison.conclusions import Comparison
from cranfield.comparison.differences import Change, Difference
from cranfield.evaluation.estimating import SAME
from cranfield.measures import known_measure


def most_changed(comparison: Comparison, difference: Difference, count: int) -> tuple[list[Change], list[Change]]:
    """The queries that gained most and those that lost most, the most first.

    >>> from cranfield import compare
    >>> qrels = {str(q): {"a": 1} for q in range(4)}
    >>> old = {str(q): ["b", "a"] for q in range(4)}
    >>> new = {"0": ["a"], "1": ["b", "a"], "2": ["b", "c", "a"], "3": ["a"]}
    >>> comparison = compare(qrels, {"old": old, "new": new}, "RR")
    >>> [[each.query_id for each in most] for most in most_changed(comparison, comparison.differences[0], 3)]
    [['0', '3'], ['2']]
    """
    measure = known_measure(difference.measure, comparison.measures)
    runs = {each.run: each.by_query(measure) for each in comparison.evaluations}
    one, other = runs[difference.baseline], runs[difference.run]
    changes = [Change(query, one[query], other[query]) for query in one if query in other]
    up = sorted((each for each in changes if each.difference > SAME), key=lambda each: -each.difference)[:count]
    down = sorted((each for each in changes if each.difference < -SAME), key=lambda each: each.difference)[:count]
    return (down, up) if difference.lower_is_better else (up, down)
