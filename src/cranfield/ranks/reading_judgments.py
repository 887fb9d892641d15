"""Judgments from any source, in Python: what the native scan does not take, and the twin of what it does."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from cranfield.errors import DuplicateError, InputError
from cranfield.io.formats.prefs import are_preferences
from cranfield.io.mappings import Pairs, finite, id_text
from cranfield.io.shapes import TREC_QRELS, Rankings, Source, Table, Text
from cranfield.io.text import blocks, decoded, located


def read_grades(source: Source) -> dict[str, dict[str, float]]:
    by_query = _READERS[type(source)](source)
    refuse_none(source.name, by_query.values())
    return by_query


def refuse_none(source: str, judged: Iterable[Mapping[str, float]]) -> None:
    if not any(judged):
        raise InputError(source, "it contains no judgments.")


def duplicate_message(query: str, document: str, one: float, other: float, where: str = "") -> str:
    grades = f"both times {one:g}" if one == other else f"{one:g} and {other:g}"
    return f"document '{document}' is judged twice for query '{query}'{where} ({grades})."


@located()
def read_lines(source: Text) -> dict[str, dict[str, float]]:
    if are_preferences(source.layout):
        fact = "its lines have 5 columns, like preferences, which only measures such as prefs_simp read."
        raise InputError(source.name, fact, hint=f"a line of judgments is: {TREC_QRELS.shape}")
    by_query: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for block in blocks(source.stream, source.layout, held=True):
        columns = block.columns()
        rows = zip(decoded(columns.query), decoded(columns.document), columns.value.tolist(), strict=True)
        for place, (query, document, grade) in enumerate(rows):
            judged = by_query[query]
            if document in judged:
                line = columns.line[place] if columns.line else place
                fact = duplicate_message(query, document, judged[document], grade)
                hint = "keep one line for each query and document"
                raise block.error(line, fact, hint=hint, kind=DuplicateError)
            judged[document] = grade
    return by_query


def read_rows(source: Table) -> dict[str, dict[str, float]]:
    frame = source.frame
    by_query: dict[str, dict[str, float]] = {query: {} for query in frame.queries}
    rows = list(by_query.values())
    for row, (query, document, grade) in enumerate(
        zip(frame.query.tolist(), frame.document.tolist(), frame.value.tolist(), strict=True)
    ):
        if document in rows[query]:
            fact = duplicate_message(frame.queries[query], document, rows[query][document], grade)
            raise DuplicateError(source.name, f"row {row}: {fact}")
        rows[query][document] = grade
    return by_query


_NUMBERS = (int, float)


def _is_plain(judged: dict[Any, Any]) -> bool:
    """Whether these are text ids with small grades, as nearly always; NaN is not small."""
    for document, grade in judged.items():
        if type(document) is not str or not document or type(grade) not in _NUMBERS or not -9999 < grade < 9999:
            return False
    return True


def read_mapping(source: Rankings) -> dict[str, dict[str, float]]:
    by_query: dict[str, dict[str, float]] = {}
    for query, judged in source.by_query.items():
        if type(query) is str and query and type(judged) is dict and query not in by_query and _is_plain(judged):
            by_query[query] = judged
            continue
        query_id = id_text(query, source.name, "a query")
        if query_id in by_query:
            raise InputError(source.name, f"the query '{query_id}' appears twice, as a number and as text.")
        by_query[query_id] = graded(judged, query_id, source.name)
    return by_query


_READERS: dict[type[Source], Callable[[Any], dict[str, dict[str, float]]]] = {
    Text: read_lines,
    Table: read_rows,
    Rankings: read_mapping,
}


def graded(judged: Any, query: str, source: str) -> dict[str, float]:
    """The grades of the documents of a query, from a mapping, pairs, or the relevant documents alone."""
    if isinstance(judged, Mapping):
        pairs: Iterable[tuple[Any, Any]] = judged.items()
    elif isinstance(judged, Pairs):
        pairs = judged
    elif isinstance(judged, Iterable) and not isinstance(judged, str | bytes):
        pairs = ((document, 1) for document in judged)  # the relevant documents, without grades
    else:
        hint = "judgments are {query: {document: grade}}, or {query: [relevant documents]}"
        raise InputError(source, f"query '{query}': {judged!r:.60} does not say which documents are judged.", hint=hint)
    grades: dict[str, float] = {}
    for document, grade in pairs:
        document_id = id_text(document, source, f"query '{query}'")
        number = finite(grade, source, f"query '{query}', document '{document_id}'")
        if document_id in grades:
            raise DuplicateError(source, duplicate_message(query, document_id, grades[document_id], number))
        grades[document_id] = number
    return grades
