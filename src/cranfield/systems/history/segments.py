"""A line by segments of the queries: the mean of each segment over time, on the basis of the last results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from cranfield.ranks.columns import Numbers
from cranfield.systems.history.history import History
from cranfield.systems.history.lines import Line


class SegmentLine(NamedTuple):
    """The means of a segment: of each result of the last stretch, and of what was accepted, None if nothing was.

    queries: how many it has
    """

    segment: str
    queries: int
    values: tuple[float, ...]
    accepted: float | None


def segment_lines(history: History, line: Line, segments: Mapping[str, str]) -> list[SegmentLine]:
    """The last stretch of a line in each segment, in the order of their names; queries without one are left out."""
    if not line.stretches:
        return []
    stretch = line.stretches[-1]
    basis, results = stretch.basis.id, [point.result.id for point in stretch.points]
    accepted = line.standing.acceptance.result if line.standing is not None else None
    columns = history.columns(line.measure, basis, list(dict.fromkeys([*results, *([accepted] if accepted else [])])))
    queries, weights = list(history.texts(basis)), history.weights(basis)
    found = []
    for segment in sorted({segments[query] for query in queries if query in segments}):
        rows = [at for at, query in enumerate(queries) if segments.get(query) == segment]
        ids = [queries[at] for at in rows]
        weight = np.ones(len(rows)) if weights is None else weights.column(ids)
        means = {name: _mean(column[rows], weight) for name, column in columns.items()}
        found.append(SegmentLine(segment, len(rows), tuple(means[name] for name in results), means.get(accepted or "")))
    return found


def _mean(values: Numbers, weight: Numbers) -> float:
    return float(np.average(values, weights=weight))
