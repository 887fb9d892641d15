"""A query as systems are asked it: a text, with the further columns of its row."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from cranfield.errors import InputError, SystemFailure, choice_hint
from cranfield.io.queries import Queries
from cranfield.io.settings import TomlSetting

TEXT = "text"
ARGUMENTS = TomlSetting(
    dict, "what the system is told with every query by name, as if it were a column: `{ boost = 2 }`", "none"
)


class Query(str):
    """The text of a query, with further columns: a filter, a language, a user, a history.

    columns: by name, as functions take them for parameters, and templates as {name}

    >>> query = Query("red shoes", language="en")
    >>> query.upper(), query.columns
    ('RED SHOES', {'language': 'en'})
    """

    columns: Mapping[str, Any]

    def __new__(cls, text: str, /, **columns: Any) -> Query:
        query = super().__new__(cls, text)
        query.columns = columns
        return query

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, Any]]:
        return (str(self),), dict(self.columns)


def columns_of(query: str) -> Mapping[str, Any]:
    return query.columns if isinstance(query, Query) else {}


REQUIRED = object()  # the default of what has none


def told_arguments(arguments: Mapping[str, Any], takes: Mapping[str, Any] | None, name: str) -> dict[str, Any]:
    """Arguments as a system is told them: tables as they are, or the value of weights.title as weights_title.

    takes: what it takes; None if it takes anything

    >>> told_arguments({"boost": 2, "weights": {"title": 3}}, {"boost": 1, "weights_title": 1}, "mine")
    {'boost': 2, 'weights_title': 3}
    """
    if takes is None:
        return dict(arguments)
    told: dict[str, Any] = {}
    for path, value in leaves(arguments):
        joined, first = "_".join(path), path[0]
        if joined in takes:
            told[joined] = value
        elif first in takes:
            told[first] = arguments[first]
        else:
            hint = choice_hint("it takes", sorted(takes), joined) if takes else "it takes none"
            raise InputError(name, f"it does not take an argument '{'.'.join(path)}'.", hint=hint)
    return told


def leaves(table: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The values in a table of tables, each with its path.

    >>> list(leaves({"boost": 2, "weights": {"title": 3}}))
    [(('boost',), 2), (('weights', 'title'), 3)]
    """
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from leaves(value, (*path, str(key)))
        else:
            yield (*path, str(key)), value


def placed(settings: Any, arguments: Iterable[tuple[str, ...]]) -> Any:
    """Settings in which {weights.title} is written {weights_title}, where that is the path of an argument.

    >>> placed({"params": {"qf": "title^{weights.title}"}}, [("weights", "title")])
    {'params': {'qf': 'title^{weights_title}'}}
    """
    nested = [path for path in arguments if len(path) > 1]
    if isinstance(settings, str):
        for path in nested:
            settings = settings.replace(f"{{{'.'.join(path)}}}", f"{{{'_'.join(path)}}}")
        return settings
    if isinstance(settings, Mapping):
        return {key: placed(value, nested) for key, value in settings.items()}
    return [placed(value, nested) for value in settings] if isinstance(settings, list) else settings


def with_arguments(query: str, arguments: Mapping[str, Any]) -> str:
    """A query that also has the arguments of its system, as further columns."""
    if not arguments:
        return query
    own = columns_of(query)
    both = sorted(own.keys() & arguments.keys())
    if both:
        fact = f"'{both[0]}' is an argument of the system, and a column of the query."
        raise SystemFailure(fact, hint="rename one of them", final=True)
    return Query(str(query), **own, **arguments)


def filled_columns(query: str, names: Collection[str]) -> dict[str, Any]:
    """The columns of a query that a template names; a failure where it has none of that name."""
    columns = columns_of(query)
    lacking = sorted(set(names) - set(columns))
    if lacking:
        known = ", ".join(columns) or "none"
        hint = f"columns of the query are {known}; {{query}} and {{k}} are always there"
        raise SystemFailure(
            f"the query has no column '{lacking[0]}', which the system asks for.", hint=hint, final=True
        )
    return {name: columns[name] for name in names}


def as_queries(queries: Mapping[str, Any]) -> dict[str, str]:
    """Queries by id: those of a file with its columns, texts, or rows {"text": …, "language": …}."""
    if isinstance(queries, Queries) and queries.columns:
        queries = {query_id: queries.row(query_id) for query_id in queries}
    return {str(query_id): _as_query(str(query_id), query) for query_id, query in queries.items()}


def _as_query(query_id: str, query: Any) -> str:
    if isinstance(query, str):
        return query
    if isinstance(query, Mapping) and isinstance(query.get(TEXT), str):
        return Query(query[TEXT], **{_parameter(str(name)): value for name, value in query.items() if name != TEXT})
    fact = f"query '{query_id}' is {type(query).__name__}, not a text."
    raise InputError("the queries", fact, hint="give {id: text}, or {id: {'text': …, 'language': …}}")


def _parameter(name: str) -> str:
    """The name of a column as a parameter: "Customer group" is customer_group."""
    return name if name.isidentifier() else re.sub(r"\W+", "_", name).strip("_").lower()


def told(queries: Mapping[str, str]) -> bytes:
    """All that systems are told, for a hash."""
    lines = []
    for query_id, text in queries.items():
        columns = columns_of(text)
        more = f"\t{json.dumps(columns, sort_keys=True, default=repr)}" if columns else ""
        lines.append(f"{query_id}\t{text}{more}\n")
    return "".join(lines).encode(errors="surrogatepass")
