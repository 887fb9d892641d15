"""Rows in every format that is read. A writer takes rows, some at a time, and says what it cannot write."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from cranfield.errors import InputError, need
from cranfield.read.names import Role
from cranfield.read.records import Records, number_text

FORMATS = ("trec", "msmarco", "csv", "tsv", "beir", "json", "jsonl", "parquet")


class Plan(NamedTuple):
    """What is to be written."""

    source: str  # for errors
    role: Role
    format: str
    ranks: bool = False  # the rows have ranks and no scores
    groups: bool = False  # the judgments have groups worth keeping
    whole: bool = False  # all values are whole numbers
    name: str | None = None  # of the run, instead of that of the rows

    @property
    def by_query(self) -> bool:
        """Whether all rows of a query must come together."""
        return self.format == "json" or (self.role == "run" and self.format in ("trec", "msmarco"))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of a table."""
        if self.format == "beir":
            return ("query-id", "corpus-id", "score")
        value = "relevance" if self.role == "qrels" else "rank" if self.ranks else "score"
        return ("query_id", *(["iteration"] if self.groups else []), "doc_id", value)

    def cells(self, records: Records) -> list[list[str]]:
        """What stands in those columns, as text."""
        groups = [records.group or ["0"] * len(records.query)] if self.groups else []
        return [records.query, *groups, records.document, records.text]


class Writer(Protocol):
    """Writes rows to a file."""

    def write(self, records: Records) -> None:
        """Write some rows."""

    def close(self) -> None:
        """Write what comes after the last row."""


def writer_of(plan: Plan, file: Any) -> Writer:
    """The writer of a format."""
    kinds: dict[str, Callable[[Plan, Any], Writer]] = {
        "trec": _Judgments if plan.role == "qrels" else _Run,
        "msmarco": _Judgments if plan.role == "qrels" else _Run,
        "json": _Json,
        "jsonl": _JsonLines,
        "parquet": _Parquet,
    }
    return kinds.get(plan.format, _Delimited)(plan, file)


class _Judgments:
    """Lines of judgments without a header."""

    def __init__(self, plan: Plan, file: Any) -> None:
        self._plan, self._file = plan, file
        self._line = "{} {} {} {}\n" if plan.format == "trec" else "{}\t{}\t{}\t{}\n"

    def write(self, records: Records) -> None:
        groups = records.group or ["0"] * len(records.query)
        _check_words(records, self._plan, groups)
        rows = zip(records.query, groups, records.document, records.text, strict=True)
        self._file.write("".join([self._line.format(*row) for row in rows]).encode())

    def close(self) -> None:
        pass


class _Run:
    """Lines of a run without a header, in rank order; `moved` and `renumbered` count queries that had another."""

    def __init__(self, plan: Plan, file: Any) -> None:
        self._plan, self._file = plan, file
        self.moved = self.renumbered = 0

    def write(self, records: Records) -> None:
        plan = self._plan
        _check_words(records, plan)
        order = rank_order(records)
        if order is not None:
            self.moved += 1
            records = records.take(order)
        ranks = [str(rank) for rank in range(1, len(records.query) + 1)]
        if records.rank is not None and records.rank != ranks:
            self.renumbered += 1
        query = records.query[0]
        if plan.format == "msmarco":
            lines = [f"{query}\t{document}\t{rank}\n" for document, rank in zip(records.document, ranks, strict=True)]
        else:
            names = [plan.name] * len(ranks) if plan.name or records.name is None else records.name
            scores = list(map(number_text, records.value.tolist())) if plan.ranks else records.text
            rows = zip(records.document, ranks, scores, names, strict=True)
            lines = [f"{query} Q0 {document} {rank} {score} {name}\n" for document, rank, score, name in rows]
        self._file.write("".join(lines).encode())

    def close(self) -> None:
        pass


class _Delimited:
    """A header, and lines of columns, quoted where they must be."""

    def __init__(self, plan: Plan, file: Any) -> None:
        self._plan, self._file = plan, file
        self._separator = "," if plan.format == "csv" else "\t"
        self._rows([plan.columns])

    def write(self, records: Records) -> None:
        cells = self._plan.cells(records)
        for column in cells[:-1]:
            _check_cells(column, records, self._plan)
        self._rows(zip(*cells, strict=True))

    def _rows(self, rows: Any) -> None:
        text = io.StringIO()
        csv.writer(text, delimiter=self._separator, lineterminator="\n").writerows(rows)
        self._file.write(text.getvalue().encode())

    def close(self) -> None:
        pass


class _JsonLines:
    """An object on every line."""

    def __init__(self, plan: Plan, file: Any) -> None:
        self._plan, self._file = plan, file

    def write(self, records: Records) -> None:
        line = "{{" + ", ".join(f"{_quoted(name)}: {{}}" for name in self._plan.columns) + "}}\n"
        *ids, texts = self._plan.cells(records)
        cells = [map(_quoted, column) for column in ids]
        self._file.write("".join(map(line.format, *cells, _json_numbers(texts))).encode())

    def close(self) -> None:
        pass


class _Json:
    """{query: {document: value}}, a query on every line."""

    def __init__(self, plan: Plan, file: Any) -> None:
        self._plan, self._file = plan, file
        self._before = b"{\n"

    def write(self, records: Records) -> None:
        if len(set(records.document)) < len(records.document):
            raise _twice(records, self._plan.source)
        texts = list(map(number_text, records.value.tolist())) if self._plan.ranks else records.text
        members = zip(map(_quoted, records.document), _json_numbers(texts), strict=True)
        inner = ", ".join([f"{document}: {value}" for document, value in members])
        self._file.write(self._before + f"{_quoted(records.query[0])}: {{{inner}}}".encode())
        self._before = b",\n"

    def close(self) -> None:
        self._file.write(b"\n}\n" if self._before == b",\n" else b"{}\n")


class _Parquet:
    """Columns of strings and numbers."""

    def __init__(self, plan: Plan, file: Any) -> None:
        self._plan = plan
        self._arrow = need("pyarrow", extra="frames", purpose="writing Parquet")
        parquet = need("pyarrow.parquet", extra="frames", purpose="writing Parquet")
        *ids, value = plan.columns
        self._number = self._arrow.int64() if plan.whole else self._arrow.float64()
        self._schema = self._arrow.schema([*((name, self._arrow.string()) for name in ids), (value, self._number)])
        self._writer = parquet.ParquetWriter(_Counted(file), self._schema)

    def write(self, records: Records) -> None:
        *ids, _ = self._plan.cells(records)
        values = -records.value if self._plan.ranks else records.value
        numbers: npt.NDArray[Any] = values.astype(np.int64) if self._plan.whole else values
        columns = [*(self._arrow.array(column, self._arrow.string()) for column in ids), self._arrow.array(numbers)]
        self._writer.write_table(self._arrow.table(columns, schema=self._schema))

    def close(self) -> None:
        self._writer.close()


class _Counted:
    """A file that knows how much was written to it, which those that compress do not."""

    closed = False

    def __init__(self, file: Any) -> None:
        self._file, self._size = file, 0

    def write(self, data: bytes) -> int:
        self._file.write(data)
        self._size += len(data)
        return len(data)

    def tell(self) -> int:
        return self._size

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass

    def writable(self) -> bool:
        return True

    def readable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False


def rank_order(records: Records) -> list[int] | None:
    """The rows of a query by score, equal ones by document id, the larger first; None where they stand so already."""
    scores = records.value
    if bool((scores[1:] < scores[:-1]).all()):
        return None
    keys = list(zip(scores.tolist(), records.document, strict=True))
    order = sorted(range(len(keys)), key=keys.__getitem__, reverse=True)
    return None if order == list(range(len(keys))) else order


# White space that separates columns, as bytes.split takes it; other blanks of Unicode do not.
_WHITE = " \t\n\r\x0b\x0c"
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_quoted = json.encoder.encode_basestring


def _check_words(records: Records, plan: Plan, groups: Sequence[str] = ()) -> None:
    """Ids in columns that blanks separate, the query first."""
    for column in (records.query, records.document, groups):
        text = "".join(column)
        if any(mark in text for mark in _WHITE):
            at = next(at for at, name in enumerate(column) if set(_WHITE).intersection(name))
            raise _unfit(column[at], records.place(at), plan, "has a blank in it")
    for query in set(records.query):
        if query.startswith(("#", "\ufeff")):
            what = "looks like a comment" if query[0] == "#" else "starts with a byte-order mark"
            raise _unfit(query, records.place(records.query.index(query)), plan, what)


def _check_cells(column: list[str], records: Records, plan: Plan) -> None:
    """Ids in cells of a table: around them blanks are left out."""
    text = "".join(column)
    if list(map(str.strip, column)) != column or "\n" in text or "\r" in text:
        at = next(at for at, name in enumerate(column) if name.strip() != name or "\n" in name or "\r" in name)
        what = "has blanks around it" if column[at].strip() != column[at] else "has the end of a line in it"
        raise _unfit(column[at], records.place(at), plan, what)


def _unfit(name: str, line: int | None, plan: Plan, what: str) -> InputError:
    fact = f"the id {name!r} {what}, which {plan.format} cannot hold."
    return InputError(plan.source, fact, line=line, hint="write jsonl, json or parquet, or change the id")


def _twice(records: Records, source: str) -> InputError:
    seen: set[str] = set()
    at = next(at for at, document in enumerate(records.document) if document in seen or seen.add(document))  # type: ignore[func-returns-value]
    fact = f"document '{records.document[at]}' stands twice for query '{records.query[0]}', which json cannot hold."
    return InputError(source, fact, line=records.place(at), hint="'cranfield check' lists all of them")


def _json_numbers(texts: Sequence[str]) -> list[str]:
    return [text if _NUMBER.fullmatch(text) else number_text(float(text)) for text in texts]
