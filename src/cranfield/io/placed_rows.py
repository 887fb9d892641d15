"""Rows of any columns with their places: passages and chunks, from JSON lines, CSV, TSV, frames or Python objects."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from cranfield.errors import InputError
from cranfield.io.column_names import DOCUMENT, QUERY, TEXT, plain_name
from cranfield.io.mappings import id_text
from cranfield.io.streams import BYTE_ORDER_MARK, LOOK, Stream, as_stream

Spellings = Sequence[str]
CORPUS = "corpus.jsonl"


class PlacedRow(NamedTuple):
    """One row by the plain names of its columns, and its place: a line of a file, or a row in memory."""

    source: str
    number: int
    in_file: bool
    cells: Mapping[str, Any]

    def find(self, spellings: Spellings) -> Any:
        """The first cell of these names that is not empty; None if there is none."""
        cells = map(self.cells.get, spellings)
        return next((cell for cell in cells if not (cell is None or cell != cell)), None)  # a gap in a frame is NaN

    def _needed(self, spellings: Spellings, what: str) -> Any:
        cell = self.find(spellings)
        if cell is None:
            raise self.error(f"there is no {what}.", hint=f"its column may be called {', '.join(spellings)}")
        return cell

    def id(self, spellings: Spellings, what: str) -> str:
        cell = self._needed(spellings, what)
        try:
            return id_text(cell, self.source, what)
        except InputError as error:
            raise self.error(error.fact.removeprefix(f"{self.source}: "), hint=error.hint) from None

    def text(self, spellings: Spellings, what: str) -> str | None:
        cell = self.find(spellings)
        if cell is not None and not isinstance(cell, str):
            raise self.error(f"the {what} {cell!r:.60} is not text.")
        return cell

    def whole(self, spellings: Spellings, what: str) -> int | None:
        """A whole number from 0, if there is one."""
        cell = self.find(spellings)
        if cell is None:
            return None
        try:
            number = int(cell) if isinstance(cell, str) else cell
            if isinstance(number, float) and number.is_integer():  # as frames with gaps have whole numbers
                number = int(number)
            if isinstance(number, bool) or not hasattr(number, "__index__") or number < 0:
                raise ValueError
        except ValueError:
            raise self.error(f"the {what} {cell!r:.60} is not a whole number from 0.") from None
        return int(number)

    def number_of(self, spellings: Spellings, what: str) -> float:
        import math

        cell = self._needed(spellings, what)
        try:
            number = math.nan if isinstance(cell, bool) else float(cell)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            raise self.error(f"the {what} {cell!r:.60} is not a finite number.")
        return number

    def error(self, fact: str, *, hint: str = "", kind: type[InputError] = InputError) -> InputError:
        if self.in_file:
            return kind(self.source, fact, line=self.number, hint=hint)
        return kind(self.source, f"row {self.number}: {fact}", hint=hint)


def placed_rows(thing: Any, what: str, widths: Mapping[int, Spellings]) -> Iterator[PlacedRow]:
    """The rows of a file, a frame, or a list of tuples, whose columns `widths` names by length, mappings or objects."""
    stream = as_stream(thing)
    if stream is not None:
        yield from _of_json_lines(stream) if _head(stream).startswith(b"{") else _of_delimited(stream)
        return
    from cranfield.io.frames import frame_rows, is_frame

    rows: Any = frame_rows(thing, what) if is_frame(thing) else thing
    if not isinstance(rows, Iterable) or isinstance(rows, bytes | Mapping):
        raise InputError(what, f"cannot be read from {type(thing).__name__} ({thing!r:.60}).")
    for number, row in enumerate(rows, 1):
        yield PlacedRow(what, number, False, _cells(row, what, number, widths))


def _cells(row: Any, what: str, number: int, widths: Mapping[int, Spellings]) -> Mapping[str, Any]:
    if isinstance(row, tuple) and len(row) == 2 and hasattr(row[0], "metadata"):  # LangChain's (document, score)
        row = row[0]
    row = getattr(row, "node", row)  # LlamaIndex's node with a score
    if isinstance(row, Mapping):
        return _named(row)
    if isinstance(row, tuple | list):
        names = getattr(row, "_fields", None) or widths.get(len(row))
        if names is None:
            shapes = " or ".join(f"({', '.join(columns)})" for columns in widths.values())
            raise InputError(what, f"row {number} has {len(row)} columns.", hint=f"a row is: {shapes}")
        return dict(zip(names, row, strict=True))
    if isinstance(getattr(row, "metadata", None), Mapping):  # a document of LangChain, a node of LlamaIndex
        return _Attributes(row)
    raise InputError(what, f"row {number} is {row!r:.60}, not a row.")


def _named(row: Mapping[Any, Any]) -> dict[str, Any]:
    """Cells by plain names; those of the metadata, as retrievers have them, beside the others."""
    cells = {plain_name(str(name)): cell for name, cell in row.items()}
    inside = cells.get("metadata")
    return {**_named(inside), **cells} if isinstance(inside, Mapping) else cells


class _Attributes(Mapping[str, Any]):
    """The attributes of an object, and its metadata where it lacks one."""

    def __init__(self, thing: Any) -> None:
        self._thing, self._metadata = thing, _named(thing.metadata)

    def __getitem__(self, name: str) -> Any:
        value = getattr(self._thing, name, None)
        return self._metadata[name] if value is None or callable(value) else value

    def __iter__(self) -> Iterator[str]:
        return iter(self._metadata)

    def __len__(self) -> int:
        return len(self._metadata)


def _of_json_lines(stream: Stream) -> Iterator[PlacedRow]:
    from cranfield.io.formats.json_lines import json_rows

    for number, row in json_rows(stream):
        yield PlacedRow(stream.name, number, True, _named(row))


def _of_delimited(stream: Stream) -> Iterator[PlacedRow]:
    import csv
    import io

    try:
        text = stream.content().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(stream.name, f"byte {error.start + 1} is not UTF-8.") from None
    first = text.partition("\n")[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter="\t" if "\t" in first else ",", strict=True)
    names: list[str] = []
    line = 1
    try:
        for fields in reader:
            number, line = line, reader.line_num + 1
            if not any(fields):
                continue
            if not names:
                names = [plain_name(name) for name in fields]
            elif len(fields) != len(names):
                fact = f"{len(fields)} columns where {len(names)} are needed."
                raise InputError(stream.name, fact, line=number, hint=f"the first line names {', '.join(names)}")
            else:
                cells = {name: cell for name, cell in zip(names, fields, strict=True) if cell}
                yield PlacedRow(stream.name, number, True, cells)
    except csv.Error as error:
        raise InputError(stream.name, f"invalid quoting ({error}).", line=line) from None


def is_table(stream: Stream, spellings: Iterable[str]) -> bool:
    """Whether a file is JSON lines, or its first line names one of these columns."""
    head = _head(stream)
    return head.startswith(b"{") or not _header(head).isdisjoint(spellings)


def names_passages(stream: Stream) -> bool:
    head = _head(stream)
    if not head.startswith(b"{"):
        return _of_passages(_header(head))
    from cranfield.io.formats.json_lines import json_row

    *lines, rest = head.split(b"\n")
    lines += [rest] if len(head) < LOOK else []  # no more is read: a file may be one long line of JSON
    try:
        return any(_of_passages(set(map(plain_name, json_row(line, 1, stream.name)))) for line in lines if line.strip())
    except InputError:  # the same error comes again when the file is read
        return False


def _of_passages(names: set[str]) -> bool:
    return not names.isdisjoint(QUERY) and ("quote" in names or {"start", "end"} <= names)


def _head(stream: Stream) -> bytes:
    return stream.head(LOOK).removeprefix(BYTE_ORDER_MARK).lstrip()


def _header(head: bytes) -> set[str]:
    first = head.partition(b"\n")[0].decode(errors="replace")
    return {plain_name(name.strip().strip('"')) for name in first.replace("\t", ",").split(",")}


def read_texts(documents: Any) -> dict[str, str]:
    """{document: text} from any source; the text alone, without its title, as stored: places are counted in it."""
    if documents is None:
        return {}
    if isinstance(documents, Mapping):
        return {id_text(key, "the documents", "a document"): _text(key, text) for key, text in documents.items()}
    if callable(getattr(documents, "documents", None)):  # a collection
        return {document.doc_id: document.text for document in documents.documents()}
    if isinstance(documents, str | os.PathLike) and os.path.isdir(documents):
        documents = os.path.join(documents, CORPUS)
    texts: dict[str, str] = {}
    for row in placed_rows(documents, "the documents", {2: ("doc_id", "text")}):
        document = row.id((*DOCUMENT, "_id", "id"), "document")
        if document in texts:
            raise row.error(f"document '{document}' appears twice.")
        texts[document] = row.text(TEXT, "text") or ""
    return texts


def _text(document: object, text: Any) -> str:
    if not isinstance(text, str):
        raise InputError("the documents", f"the text of document {document!r:.60} is {text!r:.60}.")
    return text
