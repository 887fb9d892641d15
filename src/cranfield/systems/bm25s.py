"""The library bm25s: BM25 in memory over a corpus that the collection brings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from cranfield.errors import need
from cranfield.io.corpus import Document
from cranfield.io.secrets import Secrets
from cranfield.io.settings import TomlSetting
from cranfield.systems.answers import Returned, falling
from cranfield.systems.collection import Collection, indexed

SETTINGS = {
    "method": TomlSetting(str, "the variant of BM25, as bm25s names it", '"lucene"'),
    "k1": TomlSetting((int, float), "how soon further occurrences of a word stop counting", "1.5"),
    "b": TomlSetting((int, float), "how much the length of a document counts, 0 to 1", "0.75"),
    "stopwords": TomlSetting(str, 'the language whose frequent words are ignored; "" for none', '"en"'),
}


def open_type(
    kind: str, settings: Mapping[str, Any], name: str, secrets: Secrets, collection: Collection | None
) -> Bm25sSearch:
    return Bm25sSearch(indexed(collection, name, kind), name, **settings)


class Bm25sSearch:
    """BM25 as bm25s does it, over title and text as one; see SETTINGS."""

    needs_k = True
    takes: Mapping[str, Any] = MappingProxyType({})

    def __init__(
        self,
        documents: Iterable[Document],
        name: str = "bm25s",
        *,
        method: str = "lucene",
        k1: float = 1.5,
        b: float = 0.75,
        stopwords: str = "en",
    ) -> None:
        self.name = name
        self._library = need("bm25s", extra="bm25s", purpose=f"the system '{name}'")
        self._stopwords = stopwords or None
        self._ids: list[str] = []
        texts = []
        for document in documents:
            self._ids.append(document.doc_id)
            texts.append(f"{document.title} {document.text}")
        self._index = self._library.BM25(method=method, k1=k1, b=b)
        self._index.index(
            self._library.tokenize(texts, stopwords=self._stopwords, show_progress=False), show_progress=False
        )

    def search(self, query: str, k: int | None) -> Returned:
        """The k best documents; one that shares no word with the query is not among them."""
        assert k is not None
        words = self._library.tokenize(
            [query], stopwords=self._stopwords, return_ids=False, show_progress=False, allow_empty=False
        )
        if not any(words):
            return Returned([])
        places, scores = self._index.retrieve(words, k=min(k, len(self._ids)), show_progress=False)
        pairs = zip(places[0].tolist(), scores[0].tolist(), strict=True)
        return falling([(self._ids[place], score) for place, score in pairs if score > 0])

    def close(self) -> None: ...
