"""The documents that an assessor may add to a query, found by their words or their ids.

They are those of the corpus; without one, those that a live system returns; without either, those of the store.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from operator import itemgetter
from typing import Any, NamedTuple

import sqlalchemy as sa

from cranfield.errors import MOST_NAMES, InputError, nearest
from cranfield.io.corpus import Document
from cranfield.judging.store.contents import without_text
from cranfield.judging.store.schema import DOCUMENTS, EVENTS, WAITING
from cranfield.judging.store.store import Store
from cranfield.words import joined

Corpus = Callable[[], Iterable[Any]]  # reads the documents anew each time
SystemSearch = Callable[[str, int], Iterable[Document]]  # by words; at most so many
MOST_WORDS = 20  # of a search
PATIENCE = 10.0  # seconds for a search: a corpus may have millions of documents
STEP = 1000  # documents between two looks at the clock
OFTEN = 5  # how often a word counts in a text
SIMILAR = 5  # ids that are suggested where one is not known


class FoundDocuments(NamedTuple):
    """The best first; `read`: how many documents were searched, if there was no time for the others."""

    documents: list[Document]
    read: int | None = None


class AddableDocuments:
    def __init__(self, store: Store, corpus: Corpus | None = None, system: SystemSearch | None = None) -> None:
        self._store, self._corpus, self._system = store, corpus, None if corpus else system
        self._returned: dict[str, Document] = {}  # by the system, which cannot be asked for an id

    def find(self, words: str, count: int) -> FoundDocuments:
        if self._system is not None:
            found = list(islice(self._system(words, count), count)) if words.strip() else []
            self._returned |= {document.doc_id: document for document in found}
            return FoundDocuments(found)
        return _best(self._documents(), words, count)

    def get(self, doc_id: str) -> Document | None:
        """A document by its id, None if the store has it already; an error names those with similar ids."""
        if doc_id in self._returned:
            return self._returned[doc_id]
        with self._store._reading() as connection:
            if not without_text(connection, [doc_id]):
                return None
            if not self._corpus and any(_has(connection, table, doc_id) for table in (WAITING, EVENTS)):
                return None
        if self._system is not None:
            self.find(doc_id, SIMILAR)  # some systems find ids, too
            if doc_id in self._returned:
                return self._returned[doc_id]
            hint = "search for words of its title or text, and choose it"
            raise InputError("the system", f"it has not returned a document '{doc_id}'.", hint=hint)
        otherwise = "ids are written as in the corpus" if self._corpus else NO_CORPUS
        return _named(self._documents(), doc_id, "the corpus" if self._corpus else self._store.name, otherwise)

    def _documents(self) -> Iterator[Document]:
        if self._corpus is not None:
            yield from (Document(*row) for row in self._corpus())
            return
        columns = [DOCUMENTS.c[name] for name in Document._fields]
        with self._store._reading() as connection:
            yield from (Document(*row) for row in connection.execute(sa.select(*columns)))


NO_CORPUS = "without a corpus, only documents of the store can be added: --corpus FILE says where the others are"


def _has(connection: sa.Connection, table: sa.Table, doc_id: str) -> bool:
    return connection.execute(sa.select(table.c.doc_id).where(table.c.doc_id == doc_id).limit(1)).first() is not None


def _best(documents: Iterable[Document], words: str, count: int) -> FoundDocuments:
    wanted = list(dict.fromkeys(words.lower().split()))[:MOST_WORDS]
    until = time.monotonic() + PATIENCE
    read, late = 0, False

    def scored() -> Iterator[tuple[tuple[int, ...], Document]]:
        nonlocal read, late
        for read, document in enumerate(documents, 1):
            if score := _score(document, wanted):
                yield score, document
            late = read % STEP == 0 and time.monotonic() > until
            if late:
                return

    best = heapq.nlargest(count, scored() if wanted else (), key=itemgetter(0))
    return FoundDocuments([document for _, document in best], read if late else None)


def _score(document: Document, wanted: Sequence[str]) -> tuple[int, ...] | None:
    """How many words it has at all, then in its title or id, then how often; None without any of them."""
    title, text = f"{document.doc_id}\n{document.title}".lower(), document.text.lower()
    in_title = sum(word in title for word in wanted)
    in_any = sum(word in title or word in text for word in wanted)
    return (in_any, in_title, sum(min(text.count(word), OFTEN) for word in wanted)) if in_any else None


def _named(documents: Iterable[Document], doc_id: str, source: str, otherwise: str) -> Document:
    bare = _bare(doc_id)
    same: list[str] = []
    longer: list[str] = []
    first: list[str] = []
    for document in documents:
        name = document.doc_id
        if name == doc_id:
            return document
        if _bare(name) == bare:
            same.append(name)
        elif bare and bare in _bare(name) and len(longer) < SIMILAR:
            longer.append(name)
        if len(first) < MOST_NAMES:
            first.append(name)
    near = [*same, *longer][:SIMILAR] or list(filter(None, [nearest(doc_id, first)]))
    hint = f"did you mean {joined(near, 'or')}?" if near else otherwise
    raise InputError(source, f"there is no document '{doc_id}'.", hint=hint)


def _bare(doc_id: str) -> str:
    """An id as people type it: spreadsheets drop zeros at the beginning."""
    return doc_id.lower().lstrip("0")
