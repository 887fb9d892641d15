"""A query as systems are asked it: a text, with the further columns of its row."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from typing import Any

from cranfield.errors import InputError, SystemFailure
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
