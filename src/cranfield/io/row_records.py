"""The rows of JSON, JSON lines and Parquet, with all columns and places."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from cranfield.errors import InputError
from cranfield.io.column_names import Role, find_columns, unused_columns
from cranfield.io.formats.json_lines import full_lines, json_row
from cranfield.io.frames import Frame
from cranfield.io.mappings import Row, finite, id_text, read_rows
from cranfield.io.numbers import number_text
from cranfield.io.records import Bad, Records
from cranfield.io.streams import Stream


class _RowFile:
    layout = None
    unit = "row"
    empty_queries = 0
    provenance = ""

    def __init__(self, stream: Stream, role: Role, names: Sequence[str]) -> None:
        self.name, self.stream, self.role = stream.name, stream, role
        found = find_columns(names, role)
        self.ranks = found is not None and found.ranks
        self.left_out = unused_columns(names, role)

    def _texts(self, values: Iterable[float]) -> list[str]:
        return [number_text(-value if self.ranks else value) for value in values]

    def _records(self, numbered: Iterable[tuple[int, Any]], bad: Bad) -> Records:
        grouped, items = self.role == "qrels", list(numbered)
        rows: list[tuple[int, Row]] = []
        try:
            found = read_rows(items, self.role, self.name, lines=True, grouped=grouped)
            rows.extend(zip((number for number, _ in items), found, strict=True))
        except InputError:  # one by one, to find all that are bad
            rows.clear()
            for item in items:
                try:
                    row = next(read_rows([item], self.role, self.name, lines=True, grouped=grouped))
                except InputError as error:
                    bad(_on_line(error, item[0]))
                else:
                    rows.append((item[0], row))
        values = [row.value for _, row in rows]
        groups = [row.groups[0] if row.groups else "0" for _, row in rows]
        return Records(
            [number for number, _ in rows],
            [row.query for _, row in rows],
            [row.document for _, row in rows],
            np.array(values, dtype=np.float64),
            self._texts(values),
            group=groups if grouped else None,
        )


class RowRecords(_RowFile):
    def __init__(self, stream: Stream, role: Role, names: Sequence[str], rows: list[Any]) -> None:
        super().__init__(stream, role, names)
        self._content = rows

    def batches(self, bad: Bad) -> Iterator[Records]:
        yield self._records(enumerate(self._content, 1), bad)


class ObjectRecords(_RowFile):
    unit = "line"

    def batches(self, bad: Bad) -> Iterator[Records]:
        for lines in full_lines(self.stream):
            yield self._records(_parsed(lines, self.name, bad), bad)


class RankingRecords(_RowFile):
    def __init__(self, stream: Stream, role: Role, content: Mapping[Any, Any], provenance: str = "") -> None:
        super().__init__(stream, role, ())
        self._content = content
        self.provenance = provenance
        self.ranks = role == "run" and isinstance(next(iter(content.values()), None), list)
        self.empty_queries = sum(not ranking for ranking in content.values())

    def batches(self, bad: Bad) -> Iterator[Records]:
        for query, ranking in self._content.items():
            yield self._from_ranking(query, ranking, bad)

    def _from_ranking(self, key: Any, ranking: Any, bad: Bad) -> Records:
        documents, values = [], []
        query = str(key)
        pairs: Iterable[tuple[Any, Any]] = ()
        try:
            query = id_text(key, self.name, "a query")
            pairs = _pairs(ranking, self.role, f"query '{query}'", self.name)
        except InputError as error:
            bad(error)
        for document, value in pairs:
            where = f"query '{query}', document {document!r}"
            try:
                pair = id_text(document, self.name, where), finite(value, self.name, where)
            except InputError as error:
                bad(error)
            else:
                documents.append(pair[0])
                values.append(pair[1])
        return Records((), [query] * len(documents), documents, np.array(values, dtype=np.float64), self._texts(values))


class FrameRecords(_RowFile):
    def __init__(self, stream: Stream, role: Role, names: Sequence[str], frame: Frame) -> None:
        super().__init__(stream, role, names)
        self._frame = frame

    def batches(self, bad: Bad) -> Iterator[Records]:
        frame = self._frame
        queries = [frame.queries[number] for number in frame.query.tolist()]
        texts = self._texts(frame.value.tolist())
        yield Records(range(1, len(queries) + 1), queries, frame.document.tolist(), frame.value, texts)


def _parsed(lines: Iterable[tuple[int, bytes]], name: str, bad: Bad) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in lines:
        try:
            row = json_row(line, number, name)
        except InputError as error:
            bad(error)
        else:
            yield number, row


def _pairs(ranking: Any, role: Role, where: str, name: str) -> Iterable[tuple[Any, Any]]:
    if isinstance(ranking, Mapping):
        return ranking.items()
    if isinstance(ranking, list):
        if role == "qrels":
            return ((document, 1) for document in ranking)  # the relevant documents, without grades
        return ((document, -float(rank)) for rank, document in enumerate(ranking, 1))
    what, value = ("the judgments", "grade") if role == "qrels" else ("a ranking", "score")
    fact = f"{where}: {ranking!r:.60} is not {what} of a query."
    raise InputError(name, fact, hint=f"it should be {{document: {value}}}, or a list of documents")


def _on_line(error: InputError, number: int) -> InputError:
    fact = error.fact.removeprefix(f"{error.source}: ").removeprefix(f"line {number}: ").removeprefix(f"line {number} ")
    return InputError(error.source, fact, line=number, hint=error.hint)
