"""The values of a measure: what its function gives, a finite number for every query, or an error that says why not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cranfield.errors import MeasureError
from cranfield.measures.lookup import comes_with_us
from cranfield.measures.parameters import GainMap, shortened
from cranfield.ranks.columns import Numbers
from cranfield.ranks.tables.ranks import JudgedRanks

if TYPE_CHECKING:
    from cranfield.measures.registry import Measure

POWER = 1024  # 2 to the power of this, or of more, is infinite
HUGE = 1e100  # sums and products of such numbers soon become infinite, too


def calculated(measure: Measure, table: Any) -> Numbers:
    """The values of a measure, one for each query of its table; the only place where they are checked."""
    values = unchecked_values(measure, table)
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


def unchecked_values(measure: Measure, judged: Any) -> Any:
    if isinstance(judged, JudgedRanks) and judged.tied_rows is not None:
        from cranfield.measures.over_orders import mean_over_orders

        return mean_over_orders(measure, judged, _values)
    return _values(measure, judged)


def _values(measure: Measure, judged: Any) -> Any:
    parameters = dict(measure.parameters)
    if parameters.pop("judged_only", False):
        judged = judged.condensed
    if isinstance(judged, JudgedRanks):
        judged = judged.completed
    try:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return measure.definition.function(judged, **parameters)
    except (Exception, SystemExit) as error:
        if not comes_with_us(measure.definition.function):
            raise _failed(measure, error) from error
        if isinstance(error, ArithmeticError):
            raise MeasureError(f"{measure} cannot be calculated: {error}.") from None
        if isinstance(error, MeasureError):  # an error of the table, which does not know the measure
            raise MeasureError(f"{measure} cannot be calculated: {error.fact}", hint=error._advice) from None
        raise


def _failed(measure: Measure, error: BaseException) -> MeasureError:
    from traceback import walk_tb

    code = getattr(measure.definition.function, "__code__", None)
    lines = [line for frame, line in walk_tb(error.__traceback__) if frame.f_code is code]
    place = f"{code.co_filename}:{lines[-1] if lines else code.co_firstlineno}" if code else ""
    fact = f"the measure {measure.name} failed: {type(error).__name__}: {error}."
    return MeasureError(fact, hint=f"look at {place}" if place else "")


def _whose(table: Any, place: int) -> str:
    ids = getattr(table, "query_ids", None) or getattr(getattr(table, "judged", None), "query_ids", ())
    if not ids:
        return f" of query number {place + 1}"
    return f" of query '{ids[place]}'" if ids[place] else ""  # a list of grades belongs to no query


def _cause(measure: Measure, table: Any, place: int, value: float) -> tuple[str, str]:
    chosen = {**measure.definition.defaults, **dict(measure.parameters)}
    largest = float(np.abs(_grades(table, place)).max(initial=0.0))
    if chosen.get("gain") == "exponential" and largest >= POWER:
        smaller = "use smaller grades, gain=linear, or gains by grade such as gain={1:1,2:3}"
        return f"grade {largest:g} has a gain beyond the range of floating point", smaller
    if largest >= (POWER if "max_grade" in chosen else HUGE):
        return f"grade {largest:g} is too large to calculate with", "use smaller grades, such as 0 to 4"
    extreme = [f"{name}={shortened(given)}" for name, given in measure.parameters if _size(given) >= HUGE]
    if extreme:
        return f"{', '.join(extreme)} leads beyond the range of floating point", "use less extreme parameters"
    return f"its function returned {value}", "return 0 where a query has no value"


def _size(parameter: Any) -> float:
    if isinstance(parameter, GainMap):
        return max(abs(gain) for _, gain in parameter.pairs)
    return abs(parameter) if isinstance(parameter, int | float) else 0.0


def _grades(table: Any, place: int) -> Numbers:
    first, grades = getattr(table, "judged_first", None), getattr(table, "judged_grades", None)
    if first is None or grades is None:
        return np.zeros(0)
    of_query: Numbers = grades[first[place] : first[place + 1]]
    return of_query
