"""Queries: their texts by id, and the further columns of the file that they came from."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Container, Iterable, Mapping
from typing import Any

from cranfield.errors import InputError
from cranfield.io.mappings import id_text
from cranfield.io.query_columns import NARRATIVES, column_of, words_of
from cranfield.io.query_tables import FIELDS, QueryRow, QueryTable, read_query_table
from cranfield.words import count, cut, joined

_SLUG = 40  # letters of a text in its id


class Queries(dict[str, str]):
    """The text of each query by its id; `columns` are further facts about queries: {column: {query: value}}.

    `place` is the file that they came from.

    >>> queries = Queries({"1": "cats", "2": "dogs"}, {"language": {"1": "en"}})
    >>> queries["1"], queries.columns["language"], queries.row("1")
    ('cats', {'1': 'en'}, {'text': 'cats', 'language': 'en'})
    """

    def __init__(
        self,
        texts: Mapping[str, str] | Iterable[tuple[str, str]] = (),
        columns: Mapping[str, dict[str, Any]] = {},
        place: str = "queries",
    ) -> None:
        super().__init__(texts)
        self.columns, self.place = dict(columns), place

    def __repr__(self) -> str:
        columns = f", with {', '.join(self.columns)}" if self.columns else ""
        return f"<Queries: {count(len(self), 'query', 'queries')}{columns}>"

    def row(self, query_id: str) -> dict[str, Any]:
        """The text of a query and its further columns."""
        further = {name: values[query_id] for name, values in self.columns.items() if query_id in values}
        return {"text": self[query_id], **further}

    def chosen(self, query_ids: Container[str]) -> Queries:
        """Some of the queries, in their order, with their columns."""
        columns = {
            name: {query: value for query, value in values.items() if query in query_ids}
            for name, values in self.columns.items()
        }
        return Queries(((query, text) for query, text in self.items() if query in query_ids), columns, self.place)

    @property
    def narratives(self) -> dict[str, str]:
        """Of some queries, what is relevant to them, in words."""
        named = [values for name, values in self.columns.items() if words_of(name) in {(word,) for word in NARRATIVES}]
        return {query: str(text) for values in named[:1] for query, text in values.items()}

    def facts(self, kind: str, source: str) -> dict[str, Any]:
        """The weight or the segment of each query; an error if no column has it, or several could."""
        names = column_of(kind, list(self.columns))
        if len(names) != 1:
            fact = f"the columns {joined(map(repr, names), 'and')} could all be the {kind}." if names else ""
            hint = f"call one column {kind}; it has {', '.join(self.columns) or 'no further columns'}"
            raise InputError(source, fact or f"no column is the {kind} of a query.", hint=hint)
        return self.columns[names[0]]


def read_queries(source: Any) -> Queries:
    """Read a file of queries: see docs/formats.md."""
    return queries_of(read_query_table(source))


def queries_of(table: QueryTable) -> Queries:
    """The queries of a table; it is an error if one has no text, or if an id appears twice."""
    lines: dict[str, QueryRow] = {}
    texts: dict[str, str] = {}
    further = {at: table.names[at] for at in table.further}
    columns: dict[str, dict[str, Any]] = {name: {} for name in further.values()}
    for row in table.rows:
        query, text = _identified(table, row)
        if query in texts:
            made = table.roles.id is None
            what = f"the text '{cut(text, 60)}' appears twice" if made else f"query '{query}' appears twice"
            where = f", on line {lines[query].line} and here" if row.line else ""
            hint = "keep one of them, or give each an id" if made else "keep one of them"
            raise InputError(table.name, f"{what}{where}.", line=row.line or None, hint=hint)
        texts[query], lines[query] = text, row
        for at, name in further.items():
            value = row.cells[at]
            if value is not None and value != "":
                columns[name][query] = value
    return Queries(texts, columns, table.name)


def _identified(table: QueryTable, row: QueryRow) -> tuple[str, str]:
    """The id and the text of a row."""
    line, text = row.line or None, row.cells[table.roles.text]
    given = None if table.roles.id is None else row.cells[table.roles.id]
    if given is None or given == "":
        if table.roles.id is not None:
            fact = f"'{table.names[table.roles.id]}' is missing or is not an id."
            raise InputError(table.name, fact, line=line, hint="each query needs an id, or none has one")
    else:
        try:
            given = id_text(given, table.name, table.names[table.roles.id or 0]).strip()
        except InputError:
            fact = f"{given!r:.60} is not an id."
            raise InputError(table.name, fact, line=line, hint="ids are texts or whole numbers") from None
    if not isinstance(text, str) or not text.strip():
        fact = f"query '{given}' has no text." if given else "there is no text of a query."
        raise InputError(table.name, fact, line=line, hint="" if text is None or text == "" else FIELDS)
    return given or made_id(text.strip()), text.strip()


def made_id(text: str) -> str:
    """An id for a query that has none: of its own text alone, so that other queries and their order do not matter.

    >>> made_id("Red  shoes"), made_id("red shoes")
    ('red-shoes-d3f5afcc', 'red-shoes-61959b3a')
    """
    slug = "-".join(re.findall(r"[^\W_]+", text.lower()))[:_SLUG].strip("-")
    return f"{slug or 'query'}-{hashlib.sha256(text.encode(errors='surrogatepass')).hexdigest()[:8]}"
