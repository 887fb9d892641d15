"""The judgments: for every query the documents that were judged, and their grades."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from cranfield.errors import InputError
from cranfield.read import Rankings, Table, Text, open_source
from cranfield.read.mappings import finite, id_text
from cranfield.read.text import blocks

Integers = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]


class Judgments:
    """Judged documents by query, as columns. Build them with `Judgments.read`.

    Queries stand in their natural order (by number if all ids are numbers), the documents of a query in the order of
    their ids, so that equal judgments are equal columns whatever they were read from.

    query_ids: the judged queries
    first: rows first[q] to first[q + 1] belong to query q
    grades: the grade of every row
    sha256: of the file's bytes, or of the columns where the judgments came from memory
    """

    def __init__(self, by_query: Mapping[bytes, Mapping[bytes, float]], *, name: str, sha256: str = "") -> None:
        queries = sorted(by_query, key=_natural(by_query))
        documents = [document for query in queries for document in sorted(by_query[query])]
        self.name = name
        self.query_ids = tuple(query.decode() for query in queries)
        self.first = ends([len(by_query[query]) for query in queries])
        self.grades: Numbers = np.array(
            [by_query[query][document] for query in queries for document in sorted(by_query[query])], dtype=np.float64
        )
        self._text = b"".join(documents)
        self._ends = ends([len(document) for document in documents])
        self._query_bytes = queries
        self.sha256 = sha256 or self._digest()

    @classmethod
    def read(cls, qrels: Any, format: str | None = None) -> Judgments:
        """Read judgments from a path, "-", an open file, a dict of dicts, a frame or rows.

        >>> Judgments.read({"q1": {"d1": 2, "d2": 0}})
        Judgments(queries=1, judgments=2)
        """
        if isinstance(qrels, Judgments):
            return qrels
        source = open_source(qrels, "qrels", format)
        match source:
            case Text():
                by_query = _from_text(source)
            case Table():
                by_query = _from_table(source)
            case Rankings():
                by_query = _from_rankings(source)
        if not any(by_query.values()):
            raise InputError(source.name, "there is not one judgment in it.")
        stream = getattr(source, "stream", None)
        return cls(by_query, name=source.name, sha256=stream.sha256 if stream else "")

    def __repr__(self) -> str:
        return f"Judgments(queries={len(self.query_ids)}, judgments={len(self.grades)})"

    def __len__(self) -> int:
        return len(self.query_ids)

    @cached_property
    def number(self) -> dict[bytes, int]:
        """The number of each query."""
        return {query: number for number, query in enumerate(self._query_bytes)}

    @cached_property
    def document_bytes(self) -> list[bytes]:
        """The document ids of all rows."""
        stops = self._ends.tolist()
        return [self._text[a:b] for a, b in zip(stops, stops[1:], strict=False)]

    @cached_property
    def document_ids(self) -> list[str]:
        """The document ids of all rows, as text."""
        return [document.decode() for document in self.document_bytes]

    @cached_property
    def query(self) -> Integers:
        """The query of every row."""
        return np.repeat(np.arange(len(self), dtype=np.int64), np.diff(self.first))

    @cached_property
    def index(self) -> Any:
        """What the native scan looks documents up in."""
        from cranfield import _native

        return _native.Index(
            np.frombuffer(b"".join(self._query_bytes), np.uint8),
            ends([len(query) for query in self._query_bytes]),
            np.frombuffer(self._text, np.uint8),
            self._ends,
            self.first,
        )

    def _digest(self) -> str:
        digest = hashlib.sha256(b"\n".join(self._query_bytes))
        for part in (self._text, self._ends, self.first, self.grades):
            digest.update(part)
        return digest.hexdigest()


def ends(lengths: Iterable[int]) -> Integers:
    """Where pieces of these lengths start and end when laid end to end."""
    sizes = np.fromiter(lengths, dtype=np.int64)
    return np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))


def _natural(queries: Iterable[bytes]) -> Any:
    # Only plain decimal numbers are ordered as numbers; "007" and "7" are different ids, so bytes break the tie.
    if all(query.isdigit() for query in queries):
        return lambda query: (int(query), query)
    return lambda query: query


def _twice(query: str, document: str, one: float, other: float) -> str:
    grades = f"both times {one:g}" if one == other else f"{one:g} and {other:g}"
    return f"document '{document}' is judged twice for query '{query}' ({grades})."


def _from_text(source: Text) -> dict[bytes, dict[bytes, float]]:
    by_query: dict[bytes, dict[bytes, float]] = {}
    for block in blocks(source.stream, source.layout):
        columns = block.columns()
        for place, (query, document, grade) in enumerate(
            zip(columns.query, columns.document, columns.value, strict=True)
        ):
            judged = by_query.get(query)
            if judged is None:
                judged = by_query[query] = {}
            if document in judged:
                line = columns.line[place] if columns.line else place
                fact = _twice(query.decode(), document.decode(), judged[document], grade)
                raise block.error(line, fact, hint="keep one line for each query and document")
            judged[document] = grade
    return by_query


def _from_table(source: Table) -> dict[bytes, dict[bytes, float]]:
    frame = source.frame
    by_query: dict[bytes, dict[bytes, float]] = {}
    rows = [by_query.setdefault(query.encode(), {}) for query in frame.queries]
    for row, (query, document, grade) in enumerate(
        zip(frame.query.tolist(), frame.document.tolist(), frame.value.tolist(), strict=True)
    ):
        key = document.encode()
        if key in rows[query]:
            raise InputError(
                source.name, f"row {row}: {_twice(frame.queries[query], document, rows[query][key], grade)}"
            )
        rows[query][key] = grade
    return by_query


def _from_rankings(source: Rankings) -> dict[bytes, dict[bytes, float]]:
    by_query: dict[bytes, dict[bytes, float]] = {}
    for query, judged in source.by_query.items():
        query_id = id_text(query, source.name, "a query")
        if isinstance(judged, Mapping):
            pairs: Iterable[tuple[Any, Any]] = judged.items()
        elif isinstance(judged, Iterable) and not isinstance(judged, str | bytes):
            pairs = ((document, 1) for document in judged)  # the relevant documents, without grades
        else:
            raise InputError(
                source.name,
                f"query '{query_id}': {judged!r:.60} does not say which documents are judged.",
                hint="judgments are {query: {document: grade}}, or {query: [relevant documents]}",
            )
        grades = by_query.setdefault(encoded(query_id, source.name), {})
        for document, grade in pairs:
            where = f"query '{query_id}'"
            document_id = id_text(document, source.name, where)
            key = encoded(document_id, source.name)
            number = finite(grade, source.name, f"{where}, document '{document_id}'")
            if key in grades:
                raise InputError(source.name, _twice(query_id, document_id, grades[key], number))
            grades[key] = number
    return by_query


def encoded(text: str, source: str) -> bytes:
    """An id as bytes; lone surrogates are the one kind of string that has none."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise InputError(source, f"the id {text!a} cannot be written as UTF-8.") from None
