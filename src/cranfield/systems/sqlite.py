"""The search engine that everybody has: SQLite's full-text index FTS5, in memory, from the standard library."""

from __future__ import annotations

import re
import sqlite3
import sys
import threading
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from cranfield.errors import InputError
from cranfield.io.corpus import Document
from cranfield.io.secrets import Secrets
from cranfield.io.settings import TomlSetting
from cranfield.systems.answers import Returned, falling
from cranfield.systems.collection import Collection, indexed

SETTINGS = {
    "stem": TomlSetting(
        bool, 'cut English words down to their stems (Porter), so that "ranking" finds "ranked"', "false"
    ),
    "weights": TomlSetting(dict, "how much a match in the title and in the text counts", "`{ title = 1, text = 1 }`"),
    "ignore": TomlSetting(list, "words of a query that are not searched for", "none"),
    "tuned": TomlSetting(bool, "stems, titles that count three times, and a list of English words to ignore", "false"),
}
_WORD = re.compile(r"\w+")


def open_type(
    kind: str, settings: Mapping[str, Any], name: str, secrets: Secrets, collection: Collection | None
) -> SqliteSearch:
    """An index of a collection; what `tuned` sets can be set otherwise."""
    chosen = dict(settings)
    usual = TUNED if chosen.pop("tuned", False) else {}
    return SqliteSearch(indexed(collection, name, kind), name, **{**usual, **chosen})


class SqliteSearch:
    """BM25 over titles and texts; see SETTINGS. A document matches if it holds any word of the query."""

    needs_k = True
    takes: Mapping[str, Any] = MappingProxyType({})

    def __init__(
        self,
        documents: Iterable[Document],
        name: str = "sqlite",
        *,
        stem: bool = False,
        weights: Mapping[str, float] | None = None,
        ignore: Iterable[str] = (),
    ) -> None:
        self.name = name
        self._ignored = {word.lower() for word in ignore}
        unknown = set(weights or {}) - {"title", "text"}
        if unknown:
            raise InputError(name, f"there is no field '{min(unknown)}' to weigh.", hint="fields are title and text")
        chosen = {"title": 1.0, "text": 1.0, **(weights or {})}
        self._weights = (float(chosen["title"]), float(chosen["text"]))
        self._lock = threading.Lock()  # one connection serves all threads, one at a time
        self._database = sqlite3.connect(":memory:", check_same_thread=False)
        tokens = "porter unicode61" if stem else "unicode61"
        try:
            self._database.execute(
                f"create virtual table documents using fts5(doc_id unindexed, title, text, tokenize='{tokens}')"
            )
        except sqlite3.OperationalError as error:
            raise InputError(name, f"this Python's SQLite cannot search text: {error}.") from None
        self._database.executemany("insert into documents values (?, ?, ?)", (document[:3] for document in documents))

    def search(self, query: str, k: int | None) -> Returned:
        assert k is not None
        words = [word for word in _WORD.findall(query) if word.lower() not in self._ignored]
        if not words:
            return Returned([])
        # In quotes, so that no word of the query is read as an operator.
        expression = " OR ".join(f'"{word}"' for word in words)
        with self._lock:
            rows = self._database.execute(
                "select doc_id, -bm25(documents, 0, ?, ?) as score from documents where documents match ? "
                "order by score desc, doc_id desc limit ?",
                (*self._weights, expression, min(k, sys.maxsize)),
            ).fetchall()
        return falling([(str(doc_id), float(score)) for doc_id, score in rows])

    def close(self) -> None:
        self._database.close()


STOPWORDS = frozenset(
    {"a", "an", "and", "are", "as", "at", "be", "by", "can", "do", "does", "for", "from", "has", "have", "how", "i"}
    | {"if", "in", "is", "it", "its", "me", "my", "no", "not", "of", "on", "or", "our", "should", "so", "than", "that"}
    | {"the", "their", "them", "then", "there", "these", "they", "this", "to", "was", "we", "what", "when", "where"}
    | {"which", "who", "why", "will", "with", "you", "your"}
)
# Stems, titles that count three times, and no stop words.
TUNED: dict[str, Any] = {"stem": True, "weights": {"title": 3.0}, "ignore": STOPWORDS}
