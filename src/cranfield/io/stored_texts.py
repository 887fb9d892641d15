"""The stored texts of documents, in which the places of passages and chunks are counted."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from cranfield.errors import InputError
from cranfield.io.column_names import DOCUMENT, TEXT
from cranfield.io.mappings import id_text
from cranfield.io.placed_rows import placed_rows

CORPUS = "corpus.jsonl"
_IDS = (*DOCUMENT, "_id", "id")


def read_texts(documents: Any) -> dict[str, str]:
    """{document: text}, from such a mapping, a file of documents, the folder of a collection, or a `Collection`.

    The text is that of the document alone, without its title, exactly as it is stored: places are counted in it.

    >>> read_texts({"d1": "Cats sleep.", 2: "Dogs bark."})
    {'d1': 'Cats sleep.', '2': 'Dogs bark.'}
    >>> read_texts([{"_id": "d1", "title": "Cats", "text": "They sleep."}])
    {'d1': 'They sleep.'}
    """
    if documents is None:
        return {}
    if isinstance(documents, Mapping):
        return {id_text(key, "the documents", "a document"): _text(key, text) for key, text in documents.items()}
    if callable(getattr(documents, "documents", None)):  # a collection
        return {document.doc_id: document.text for document in documents.documents()}
    if isinstance(documents, str | os.PathLike) and os.path.isdir(documents):
        documents = os.path.join(documents, CORPUS)
    found: dict[str, str] = {}
    for row in placed_rows(documents, "the documents", {2: ("doc_id", "text")}):
        document = row.id(_IDS, "document")
        if document in found:
            raise row.error(f"document '{document}' appears twice.")
        found[document] = row.text(TEXT, "text") or ""
    return found


def _text(document: object, text: Any) -> str:
    if not isinstance(text, str):
        raise InputError("the documents", f"the text of document {document!r:.60} is {text!r:.60}.")
    return text
