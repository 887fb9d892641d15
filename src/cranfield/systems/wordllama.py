"""The library wordllama: a small semantic search over a corpus, in memory and without a network or a GPU.

Its package brings the vectors of words and the tokenizer. So it is no match for a large model, but a real second
opinion beside one that matches words, for demonstrations and tests, and a baseline for any collection.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from cranfield.errors import need
from cranfield.io.corpus import Document
from cranfield.io.secrets import Secrets
from cranfield.io.settings import TomlSetting
from cranfield.systems.answers import Returned, falling
from cranfield.systems.collection import Collection, indexed

SETTINGS = {
    "titles": TomlSetting(bool, "whether titles are part of the text", "true"),
}


def open_type(
    kind: str, settings: Mapping[str, Any], name: str, secrets: Secrets, collection: Collection | None
) -> WordLlamaSearch:
    return WordLlamaSearch(indexed(collection, name, kind), name, **settings)


def open_reranker() -> Callable[[str, Sequence[Document]], list[float]]:
    """What scores documents that are given: the cosine of their vectors with that of the query."""
    model = _model("wordllama")

    def wordllama(query: str, documents: Sequence[Document]) -> list[float]:
        if not query.strip():
            return [0.0] * len(documents)
        vectors = model.embed([str(query), *map(_whole, documents)], norm=True)
        scores: list[float] = (vectors[1:] @ vectors[0]).tolist()
        return scores

    return wordllama


def _model(name: str) -> Any:
    library = need("wordllama", extra="wordllama", purpose=f"the system '{name}'")
    # Its files are in the package; the plain call would look for them elsewhere, and download them.
    folder = os.path.dirname(str(library.__file__))
    return library.WordLlama.load(cache_dir=folder, disable_download=True)


def _whole(document: Document) -> str:
    return f"{document.title} {document.text}"


class WordLlamaSearch:
    """The documents whose vectors are closest to that of the query, by their cosine; see SETTINGS."""

    needs_k = True
    takes: Mapping[str, Any] = MappingProxyType({})

    def __init__(self, documents: Iterable[Document], name: str = "wordllama", *, titles: bool = True) -> None:
        self.name = name
        self._model = _model(name)
        self._ids: list[str] = []
        texts = []
        for document in documents:
            self._ids.append(document.doc_id)
            texts.append(_whole(document) if titles else document.text)
        self._vectors = self._model.embed(texts, norm=True)

    def search(self, query: str, k: int | None) -> Returned:
        """The k best documents."""
        assert k is not None
        if not query.strip():
            return Returned([])
        scores = self._vectors @ self._model.embed([str(query)], norm=True)[0]
        best = np.argsort(-scores, kind="stable")[:k]
        return falling([(self._ids[place], float(scores[place])) for place in best.tolist()])

    def close(self) -> None: ...
