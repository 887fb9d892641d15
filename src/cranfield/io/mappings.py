"""Documents by query from Python objects: mappings, ranked lists, rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from cranfield.errors import InputError
from cranfield.io.column_names import Role, find_columns, refuse_passages, wanted
from cranfield.io.contexts import plain_rows


def id_text(value: object, source: str, what: str) -> str:
    """An id as text; only strings and whole numbers are ids."""
    if isinstance(value, str):
        if not value:
            raise InputError(source, f"{what}: the id is empty.")
        if not value.isascii():
            _check_bytes(value, source, what)
        return str(value)
    if isinstance(value, bytes) and value:
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise InputError(source, f"{what}: the id {value!r} is not UTF-8.") from None
    if not isinstance(value, bool) and hasattr(value, "__index__"):
        return str(int(value))
    hint = "convert the ids to strings" if value == value and value is not None else "remove the rows without an id"
    raise InputError(source, f"{what}: {value!r} is not an id.", hint=hint)


def _check_bytes(text: str, source: str, what: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        fact = f"{what}: the id {text!r} contains half of a surrogate pair, which UTF-8 cannot encode."
        raise InputError(source, fact, hint="change the id") from None


class Pairs(list[tuple[str, float]]):
    """The documents of one query with their values, in the order they came, duplicates and all."""


def from_rows(rows: Iterable[Any], role: Role, source: str, *, lines: bool = False) -> dict[str, Pairs]:
    by_query: dict[str, Pairs] = {}
    for row in read_rows(plain_rows(rows, role, source, lines=lines), role, source, lines=lines):
        by_query.setdefault(row.query, Pairs()).append((row.document, row.value))
    return by_query


class Row(NamedTuple):
    """One row, and the name of its place in errors."""

    where: str
    query: str
    document: str
    value: float
    groups: tuple[str, ...]  # the group and the subgroup of a judgment, if wanted and named


def read_rows(
    rows: Iterable[Any], role: Role, source: str, *, lines: bool = False, grouped: bool = False
) -> Iterator[Row]:
    """Read (query, document, value) rows: tuples, named tuples or mappings of column names.

    With `lines`, every item is a line's number and its row. With `grouped`, a row may also name a group and subgroup:
    (query, group, document, grade) or (query, group, subgroup, document, grade).
    """
    names: tuple[str, ...] | None = None
    width, places, ranks = -1, (0, 1, 2), False
    groups: tuple[int, ...] = ()
    for number, item in enumerate(rows, 1):
        place, row = (item[0], item[1]) if lines else (number, item)
        where = f"{'line' if lines else 'row'} {place}"
        if isinstance(row, Mapping):
            its_names = tuple(map(str, row))
            row = tuple(row.values())
        elif isinstance(row, tuple | list):
            its_names = tuple(getattr(row, "_fields", ()))
        else:
            value = "grade" if role == "qrels" else "score"
            raise InputError(
                source, f"{where} is {row!r:.60}, not a row.", hint=f"a row is: (query, document, {value})"
            )
        if its_names != names or (not names and len(row) != width):
            names, width = its_names, len(row)
            places, ranks, groups = _places(its_names, width, role, source, where, grouped)
        if len(row) <= max(*places, *groups):
            raise InputError(source, f"{where} has only {len(row)} columns.")
        query = id_text(row[places[0]], source, where)
        document = id_text(row[places[1]], source, where)
        number_ = finite(row[places[2]], source, where)
        its_groups = tuple(id_text(row[place], source, where) for place in groups) if groups else ()
        yield Row(where, query, document, -number_ if ranks else number_, its_groups)


# The places of query, document and value, and of the groups, in a row without names, by its width.
_WIDTHS: dict[int, tuple[tuple[int, int, int], tuple[int, ...]]] = {
    3: ((0, 1, 2), ()),
    4: ((0, 2, 3), (1,)),
    5: ((0, 3, 4), (1, 2)),
}


def _places(
    names: tuple[str, ...], width: int, role: Role, source: str, where: str, grouped: bool
) -> tuple[tuple[int, int, int], bool, tuple[int, ...]]:
    if not names:
        if width == 3 or (grouped and width in _WIDTHS):
            places, groups = _WIDTHS[width]
            return places, False, groups
        raise InputError(
            source,
            f"{where} has {width} columns where {'3, 4 or 5' if grouped else '3'} are needed.",
            hint=f"a row is: (query, document, {'grade' if role == 'qrels' else 'score'})"
            + (" or (query, group, document, grade)" if grouped else ""),
        )
    found = find_columns(names, role)
    if found is None:
        raise InputError(source, f"{where} has the columns {', '.join(names)}.", hint=wanted(role))
    refuse_passages(names, role, source)
    return (found.query, found.document, found.value), found.ranks, found.groups if grouped else ()


def finite(value: object, source: str, what: str) -> float:
    import math

    # A string is refused even if it looks like a number: a column of strings is a mistake worth knowing about.
    if isinstance(value, str | bytes | bool) or not hasattr(value, "__float__"):
        raise InputError(source, f"{what}: {value!r:.60} is not a number.")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    except (TypeError, ValueError):  # an array, or a date of numpy
        raise InputError(source, f"{what}: {value!r:.60} is not a number.") from None
    if not math.isfinite(number):
        raise InputError(source, f"{what}: {value!r:.60} is not a finite number.")
    return number
