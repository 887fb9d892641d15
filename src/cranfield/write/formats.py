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

from cranfield.errors import InputError, OutputError, need
from cranfield.read.formats import by_extension, extension_of
from cranfield.read.names import Role
from cranfield.read.records import Records, number_text
from cranfield.write.ids import check_first_line, check_ids
from cranfield.write.target import STANDARD_OUTPUT

FORMATS = ("trec", "msmarco", "csv", "tsv", "beir", "json", "jsonl", "parquet")


_TREC_EXTENSIONS = ("", ".trec", ".run", ".res", ".txt", ".qrels", ".qrel")


def format_of(path: str) -> str:
    """The format that the name of a file asks for."""
    if path == STANDARD_OUTPUT:
        raise OutputError("standard output", "its format must be given.", hint=f"--to {'|'.join(FORMATS)}")
    extension = extension_of(path)
    known = by_extension(path) or ("trec" if extension in _TREC_EXTENSIONS else None)
    if known is None:
        fact = f"the extension '{extension}' does not say a format."
        raise OutputError(path, fact, hint=f"give it: --to {'|'.join(FORMATS)}")
    return known


class Plan(NamedTuple):
    """What is to be written."""

    source: str  # for errors
    role: Role
    format: str
    ranks: bool = False  # the rows have ranks and no scores
    groups: bool = False  # the judgments have groups worth keeping
    whole: bool = False  # all values are whole numbers
    name: str | None = None  # of the run, instead of that of the rows
    ranked: bool = False  # the rows are in rank order, whatever their scores

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

    def groups_of(self, records: Records) -> list[str]:
        """The groups of all rows, where they are kept."""
        return (records.group or ["0"] * len(records.query)) if self.groups else []

    def cells(self, records: Records) -> list[list[str]]:
        """What stands in those columns, as text."""
        return [records.query, *([self.groups_of(records)] if self.groups else []), records.document, records.text]

    def check(self, records: Records, groups: Sequence[str] = ()) -> None:
        """Refuse ids that would not be read as they are."""
        check_ids(records.query, self.format, self.source, records.line, first=True)
        check_ids(records.document, self.format, self.source, records.line)
        check_ids(groups, self.format, self.source, records.line)


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


class _Lines:
    """Lines without a header; the first one must say by itself what they are."""

    def __init__(self, plan: Plan, file: Any) -> None:
        self._plan, self._file, self._started = plan, file, False

    def _write(self, lines: list[str], records: Records) -> None:
        data = "".join(lines).encode()
        if not self._started and lines:
            plan, self._started = self._plan, True
            check_first_line(lines[0].encode(), plan.role, plan.format, plan.source, records.place(0))
        self._file.write(data)

    def close(self) -> None:
        pass


class _Judgments(_Lines):
    """Lines of judgments."""

    def write(self, records: Records) -> None:
        groups = records.group or ["0"] * len(records.query)
        self._plan.check(records, groups)
        line = "{} {} {} {}\n" if self._plan.format == "trec" else "{}\t{}\t{}\t{}\n"
        rows = zip(records.query, groups, records.document, records.text, strict=True)
        self._write([line.format(*row) for row in rows], records)


class _Run(_Lines):
    """Lines of a run, in rank order; `moved` and `renumbered` count queries that had another."""

    def __init__(self, plan: Plan, file: Any) -> None:
        super().__init__(plan, file)
        self.moved = self.renumbered = 0

    def write(self, records: Records) -> None:
        plan = self._plan
        plan.check(records)
        order = None if plan.ranked else rank_order(records)
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
        self._write(lines, records)


class _Delimited:
    """A header, and lines of columns, quoted where they must be."""

    def __init__(self, plan: Plan, file: Any) -> None:
        self._plan, self._file = plan, file
        self._separator = "," if plan.format == "csv" else "\t"
        self._rows([plan.columns])

    def write(self, records: Records) -> None:
        self._plan.check(records, self._plan.groups_of(records))
        self._rows(zip(*self._plan.cells(records), strict=True))

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
        self._plan.check(records, self._plan.groups_of(records))
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
        self._plan.check(records)
        if len(set(records.document)) < len(records.document):
            raise _repeated(records, self._plan.source)
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
        self._plan.check(records, self._plan.groups_of(records))
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
        if not self._file.closed:  # it was given up: Arrow's writer writes its end even then, when it is taken apart
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


_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_quoted = json.encoder.encode_basestring


def _repeated(records: Records, source: str) -> InputError:
    seen: set[str] = set()
    at = next(at for at, document in enumerate(records.document) if document in seen or seen.add(document))  # type: ignore[func-returns-value]
    fact = f"document '{records.document[at]}' appears twice for query '{records.query[0]}', which json cannot hold."
    return InputError(source, fact, line=records.place(at), hint="'cranfield check' lists all of them")


def _json_numbers(texts: Sequence[str]) -> list[str]:
    return [text if _NUMBER.fullmatch(text) else number_text(float(text)) for text in texts]
