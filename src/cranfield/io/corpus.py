"""The documents of a collection, from JSON lines, CSV, TSV or Parquet; their columns are found by the usual names."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple

from cranfield.errors import InputError
from cranfield.io.column_names import DOCUMENT_ID, FIELDS, TEXT
from cranfield.io.compression import first_file
from cranfield.io.mappings import id_text
from cranfield.io.placed_rows import PlacedRow, placed_rows
from cranfield.words import joined, shortened

CORPUS = "corpus.jsonl"
CORPUS_FILES = (CORPUS, "corpus.csv", "corpus.tsv", "corpus.parquet")
USUAL_CORPUS = joined((CORPUS, *(os.path.splitext(name)[1] for name in CORPUS_FILES[1:])), "or")


class Document(NamedTuple):
    """A document of a corpus; everything but its id may be empty."""

    doc_id: str
    title: str
    text: str
    url: str = ""
    image: str = ""

    def __repr__(self) -> str:
        return f"<Document {self.doc_id}: {shortened(self.title or self.text, 60)}>"


def corpus_in(folder: str | os.PathLike[str]) -> str | None:
    """The file of a folder that has its documents, also one of a kind that cannot be read; None where there is none."""
    known = first_file(folder, CORPUS_FILES)
    if known is not None or not os.path.isdir(folder):
        return known
    others = sorted(name for name in os.listdir(folder) if name.partition(".")[0] == "corpus" and "." in name)
    return next((path for name in others if os.path.isfile(path := os.path.join(folder, name))), None)


def open_corpus(path: str | os.PathLike[str]) -> Callable[[], Iterator[Document]]:
    """What reads the documents of a file, anew each time; a file that is not understood is an error then."""
    return lambda: _documents(os.fspath(path))


def _documents(path: str) -> Iterator[Document]:
    for row in _rows(path):
        yield Document(row.id(DOCUMENT_ID, "document"), *(_cell(row, field) for field in FIELDS))


def _cell(row: PlacedRow, field: str) -> str:
    cell = row.find(FIELDS[field])
    return str(cell) if isinstance(cell, int | float) else row.text(FIELDS[field], field) or ""


def _rows(path: str) -> Iterator[PlacedRow]:
    named = os.path.basename(path).lower()
    if named.startswith("corpus.") and not any(named.startswith(name) for name in CORPUS_FILES):
        raise InputError(path, "this is not a format of documents.", hint=f"write them as {USUAL_CORPUS}")
    rows = iter(placed_rows(path, "the documents", {}))
    first = next(rows, None)
    if first is None:
        return
    first.id(DOCUMENT_ID, "document")
    known = {*DOCUMENT_ID, *chain.from_iterable(FIELDS.values())}
    others = [name for name in first.columns if name not in known]
    if others and known.isdisjoint(first.columns - {*DOCUMENT_ID}):
        usual = "; ".join(f"{', '.join(spellings)} ({field})" for field, spellings in FIELDS.items())
        raise first.error(
            f"no column has a text; there are {', '.join(others)}.", hint=f"columns may be called {usual}"
        )
    yield from chain((first,), rows)


def read_texts(documents: Any) -> dict[str, str]:
    """{document: text} from any source; the text alone, without its title, as stored: places are counted in it."""
    if documents is None:
        return {}
    if isinstance(documents, Mapping):
        return {id_text(key, "the documents", "a document"): _text(key, text) for key, text in documents.items()}
    if callable(getattr(documents, "documents", None)):  # a collection
        return {document.doc_id: document.text for document in documents.documents()}
    if isinstance(documents, str | os.PathLike) and os.path.isdir(documents):
        documents = corpus_in(documents) or os.path.join(documents, CORPUS)
    texts: dict[str, str] = {}
    for row in placed_rows(documents, "the documents", {2: ("doc_id", "text")}):
        document = row.id(DOCUMENT_ID, "document")
        if document in texts:
            raise row.error(f"document '{document}' appears twice.")
        texts[document] = row.text((*TEXT, *FIELDS["text"]), "text") or ""
    return texts


def _text(document: object, text: Any) -> str:
    if not isinstance(text, str):
        raise InputError("the documents", f"the text of document {document!r:.60} is {text!r:.60}.")
    return text
