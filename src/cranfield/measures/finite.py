"""Every value is a finite number; otherwise, an error says which one is not, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cranfield.errors import MeasureError
from cranfield.measures.parameters import GainMap, shortened
from cranfield.ranks.columns import Numbers

if TYPE_CHECKING:
    from cranfield.measures.registry import Measure

POWER = 1024  # 2 to the power of this, or of more, is infinite
HUGE = 1e100  # sums and products of such numbers soon become infinite, too


def finite_values(measure: Measure, table: Any, values: Any) -> Numbers:
    """The values of a measure, one for each query of its table; the only place where they are checked."""
    try:
        column: Numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise MeasureError(f"{measure} gave {values!r:.60} in place of a value for each query.") from None
    if column.shape != (len(table),):
        raise MeasureError(
            f"{measure} gave values of the shape {column.shape} for {len(table)} queries.",
            hint="its function must return an array with one value for each query",
        )
    sound = np.isfinite(column)
    if sound.all():
        return column
    place = int(np.flatnonzero(~sound)[0])
    cause, hint = _cause(measure, table, place, float(column[place]))
    raise MeasureError(f"{measure}{_whose(table, place)} is not a finite number: {cause}.", hint=hint)


def _whose(table: Any, place: int) -> str:
    ids = getattr(table, "query_ids", None) or getattr(getattr(table, "judged", None), "query_ids", ())
    if not ids:
        return f" of query number {place + 1}"
    return f" of query '{ids[place]}'" if ids[place] else ""  # a list of grades belongs to no query


def _cause(measure: Measure, table: Any, place: int, value: float) -> tuple[str, str]:
    """Why a value is not finite, and what to do about it."""
    chosen = {**measure.definition.defaults, **dict(measure.parameters)}
    largest = float(np.abs(_grades(table, place)).max(initial=0.0))
    if chosen.get("gain") == "exponential" and largest >= POWER:
        smaller = "use smaller grades, gain=linear, or gains by grade such as gain={1:1,2:3}"
        return f"grade {largest:g} has a gain beyond the range of floating point", smaller
    if largest >= (POWER if "max_grade" in chosen else HUGE):
        return f"grade {largest:g} is too large to calculate with", "use smaller grades, such as 0 to 4"
    extreme = [f"{name}={shortened(each)}" for name, each in measure.parameters if _size(each) >= HUGE]
    if extreme:
        return f"{', '.join(extreme)} leads beyond the range of floating point", "use less extreme parameters"
    return f"its function returned {value}", "return 0 where a query has no value"


def _size(parameter: Any) -> float:
    if isinstance(parameter, GainMap):
        return max(abs(gain) for _, gain in parameter.pairs)
    return abs(parameter) if isinstance(parameter, int | float) else 0.0


def _grades(table: Any, place: int) -> Numbers:
    """The judged grades of a query, if the table has them."""
    first, grades = getattr(table, "judged_first", None), getattr(table, "judged_grades", None)
    if first is None or grades is None:
        return np.zeros(0)
    of_query: Numbers = grades[first[place] : first[place + 1]]
    return of_query
