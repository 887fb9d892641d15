"""Documents by query from Python objects: mappings, ranked lists, rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple

from cranfield.errors import InputError
from cranfield.io.column_names import Role, find_columns, refuse_passages, refuse_searches, wanted


def id_text(value: object, source: str, what: str) -> str:
    """An id as text; only strings and whole numbers are ids."""
    if isinstance(value, str):
        if not value:
            raise InputError(source, f"{what}: the id is empty.")
        if not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError:
                fact = f"{what}: the id {value!r} contains half of a surrogate pair, which UTF-8 cannot encode."
                raise InputError(source, fact, hint="change the id") from None
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


class Pairs(list[tuple[str, float]]):
    """The documents of one query with their values, in the order they came, duplicates and all."""


def from_rows(rows: Iterable[Any], role: Role, source: str, *, lines: bool = False) -> dict[str, Pairs]:
    by_query: dict[str, Pairs] = {}
    for row in read_rows(plain_rows(rows, role, source, lines=lines), role, source, lines=lines):
        by_query.setdefault(row.query, Pairs()).append((row.document, row.value))
    return by_query


class Row(NamedTuple):
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
            hint = f"a row is: (query, document, {'grade' if role == 'qrels' else 'score'})"
            raise InputError(source, f"{where} is {row!r:.60}, not a row.", hint=hint)
        if its_names != names or (not names and len(row) != width):
            names, width = its_names, len(row)
            places, ranks, groups = _places(its_names, width, role, source, where, grouped)
        if len(row) <= max(*places, *groups):
            raise InputError(source, f"{where} has only {len(row)} columns.")
        query, document = id_text(row[places[0]], source, where), id_text(row[places[1]], source, where)
        its_value = finite(row[places[2]], source, where)
        its_groups = tuple(id_text(row[at], source, where) for at in groups) if groups else ()
        yield Row(where, query, document, -its_value if ranks else its_value, its_groups)


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
    columns = find_columns(names, role)
    if columns is None:
        raise InputError(source, f"{where} has the columns {', '.join(names)}.", hint=wanted(role))
    refuse_passages(names, role, source)
    refuse_searches(names, role, source)
    return (columns.query, columns.document, columns.value), columns.ranks, columns.groups if grouped else ()


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


def number_text(value: float) -> str:
    """A number as people write it, which can be read back exactly."""
    text = repr(value)
    return text.removesuffix(".0") if abs(value) < 2**53 and text != "-0.0" else text


# Rows of tools for retrieval-augmented generation, such as ragas: a question with the contexts that were retrieved for
# it and those that answer it. If a row has ids on both sides, these are the documents; otherwise the texts are.
QUESTION_IDS = ("query_id", "question_id", "id", "_id")
QUESTIONS = ("user_input", "question", "query")
# For the run and for the judgments: columns of ids, and columns of texts.
_IDS = {"run": ("retrieved_context_ids",), "qrels": ("reference_context_ids",)}
_TEXTS = {
    "run": ("retrieved_contexts", "contexts"),
    "qrels": ("reference_contexts", "ground_truth_contexts", "ground_truths_contexts"),
}


def has_contexts(names: Iterable[Any]) -> bool:
    contexts = (*_IDS["run"], *_TEXTS["run"], *_IDS["qrels"], *_TEXTS["qrels"])
    return not (set(names).isdisjoint((*QUESTIONS, *QUESTION_IDS)) or set(names).isdisjoint(contexts))


def column_names(frame: Any) -> list[Any]:
    """The names of a frame's columns, for any library; none if they are not known."""
    for name in ("column_names", "columns"):  # pyarrow's columns are not their names
        names = getattr(frame, name, None)
        if names is not None and not callable(names):
            return list(names)
    return []


def plain_rows(rows: Iterable[Any], role: Role, source: str, *, lines: bool) -> Iterable[Any]:
    """Rows (query, document, value), made of those of questions and contexts; with line numbers if `lines`."""
    rest = iter(rows)
    first = next(rest, None)
    if first is None:
        return ()
    row, every = first[1] if lines else first, chain([first], rest)
    return _taken_apart(every, role, source, lines) if isinstance(row, Mapping) and has_contexts(row) else every


def _taken_apart(rows: Iterable[Any], role: Role, source: str, lines: bool) -> Iterator[Any]:
    known: set[str] = set()
    for number, item in enumerate(rows, 1):
        place, row = item if lines else (number, item)
        where = f"{'line' if lines else 'row'} {place}"
        if not isinstance(row, Mapping) or not has_contexts(row):
            raise InputError(source, f"{where} is not a question with its contexts, unlike the rows above it.")
        query = _question(row, source, where)
        if query in known:
            raise InputError(source, f"{where}: the question '{query:.60}' appears twice.", hint="give each an id")
        known.add(query)
        documents = _contexts(row, role, source, where)
        for at, document in enumerate(documents):
            value = 1.0 if role == "qrels" else float(len(documents) - at)
            yield (place, (query, document, value)) if lines else (query, document, value)


def _question(row: Mapping[str, Any], source: str, where: str) -> str:
    for name in (*QUESTION_IDS, *QUESTIONS):
        value = row.get(name)
        if isinstance(value, str | int) and value != "":
            return str(value).strip()
    raise InputError(source, f"{where} has no question.", hint=f"its column may be called {', '.join(QUESTIONS)}")


def _contexts(row: Mapping[str, Any], role: Role, source: str, where: str) -> list[str]:
    by_id = all(_given(row, _IDS[side]) is not None for side in ("run", "qrels"))
    names = _IDS[role] if by_id else _TEXTS[role]
    name = _given(row, names)
    if name is None:
        what = "retrieved contexts" if role == "run" else "reference contexts"
        raise InputError(source, f"{where} has no {what}.", hint=f"they may be called {', '.join(names)}")
    value = row[name]
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InputError(source, f"{where}: {name} is {value!r:.60}, not a list.")
    contexts = [" ".join(text.split()) if isinstance(text, str) and not by_id else text for text in value]
    return list(dict.fromkeys(contexts)) if role == "qrels" else contexts


def _given(row: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    return next((name for name in names if row.get(name) is not None), None)
