"""How the measure changes with one parameter: its response curve, with a band."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cranfield.evaluation.estimating import Columns, estimated
from cranfield.ranks.columns import Numbers
from cranfield.words import count

if TYPE_CHECKING:
    from cranfield.mixing.tuning import Baseline

FEWEST = 3  # points that make a curve
BINS = 11  # of a parameter whose values are spread over a range
ENOUGH = 10  # queries for a point


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """What one value of a parameter reaches: the mean difference from the baseline, with its interval.

    value: of the parameter; queries: on how many it was measured
    """

    value: float
    difference: float
    low: float
    high: float
    queries: int


@dataclass(frozen=True, slots=True, repr=False)
class Curve:
    """How the measure changes with one parameter.

    parameter: its name; baseline: what the differences are from; final: its value in the final setting
    alone: whether all other parameters are those of the final setting; otherwise points are means over their values
    points: by rising value. They are by the same queries that choose, so the best of them looks too good.
    """

    parameter: str
    baseline: str
    final: float
    alone: bool
    points: tuple[CurvePoint, ...]

    def __repr__(self) -> str:
        return f"<Curve of {self.parameter}: {count(len(self.points), 'point')} from {self.baseline}>"

    def to_dict(self) -> dict[str, Any]:
        """The curve as plain values, ready for JSON."""
        return {**asdict(self), "points": [asdict(point) for point in self.points]}


def curves_of(
    parameters: Sequence[Mapping[str, float]],
    values: Numbers,
    final: int,
    baseline: Baseline,
    columns: Callable[[Numbers], Columns],
    alpha: float,
) -> Iterator[Curve]:
    """A curve for each parameter that at least three settings vary.

    parameters: of each setting; those with other names than the final one are of another method, and left out
    values: a row for each query, a column for each setting
    """
    own = parameters[final]
    alike = [at for at, its in enumerate(parameters) if its.keys() == own.keys()]
    for name in own:
        others = {key: value for key, value in own.items() if key != name}
        slice_ = [at for at in alike if all(parameters[at][key] == value for key, value in others.items())]
        alone = len({parameters[at][name] for at in slice_}) >= FEWEST
        points = [
            point
            for value, its in _by_value([(parameters[at][name], at) for at in (slice_ if alone else alike)])
            if (point := _point(value, values[:, its] - baseline.values[:, None], columns, alpha)) is not None
        ]
        if len(points) >= FEWEST:
            yield Curve(name, baseline.name, own[name], alone, tuple(points))


def _by_value(settings: Sequence[tuple[float, int]]) -> Iterator[tuple[float, list[int]]]:
    """The settings of each value; of many values, those of neighbouring ones together."""
    known = sorted({value for value, _ in settings})
    if len(known) <= 2 * BINS:
        yield from ((value, [at for its, at in settings if its == value]) for value in known)
        return
    for part in np.array_split(np.array(known), BINS):
        inside = [(value, at) for value, at in settings if part[0] <= value <= part[-1]]
        yield float(np.mean([value for value, _ in inside])), [at for _, at in inside]


def _point(value: float, gaps: Numbers, columns: Callable[[Numbers], Columns], alpha: float) -> CurvePoint | None:
    """The mean difference over the queries that all of these settings were measured on."""
    whole = gaps[:, ~np.isnan(gaps).all(axis=0)]
    known = ~np.isnan(whole).any(axis=1)
    if whole.shape[1] == 0 or known.sum() < ENOUGH:
        return None
    every = columns(whole.mean(axis=1, keepdims=True))
    chosen = Columns(
        every.values[known],
        None if every.weight is None else every.weight[known],
        None if every.group is None else every.group[known],
        contrasts=True,
    )
    found = estimated(chosen)
    low, high = found.interval(alpha)
    return CurvePoint(float(value), float(found.value[0]), float(low[0]), float(high[0]), int(known.sum()))
