"""Documents with the same text under several ids, and grades that they inherit from each other.

A corpus that was crawled twice, or split into passages, contains the same text under several ids. Judges who graded one
copy say nothing about the others: these count as unjudged, although everybody knows what they contain.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import Any, NamedTuple
from unicodedata import normalize

from cranfield.errors import InputError
from cranfield.io.corpus import CORPUS, Document, corpus_in, open_corpus
from cranfield.io.mappings import number_text
from cranfield.ranks.judgments import Judgments
from cranfield.words import count

Documents = Callable[[], Iterator[Document]]
Copies = tuple[tuple[str, ...], ...]  # ids of documents with the same text, in the order of the corpus


class Copied(NamedTuple):
    """Documents with the same text, of which at least one is judged for a query.

    graded: their grades; unjudged: the others
    """

    query: str
    graded: dict[str, float]
    unjudged: tuple[str, ...]

    @property
    def disagree(self) -> bool:
        return len(set(self.graded.values())) > 1

    @property
    def highest(self) -> float:
        return max(self.graded.values())

    @property
    def grades(self) -> str:
        """The graded documents, in words."""
        return ", ".join(f"'{document}' ({number_text(grade)})" for document, grade in self.graded.items())


def documents_of(corpus: Any) -> Documents:
    """What reads the documents of a file, a folder with one, a dict of texts or a collection, each time anew."""
    if isinstance(corpus, Mapping):
        return lambda: (Document(str(name), "", text) for name, text in corpus.items())
    if callable(getattr(corpus, "documents", None)):
        documents: Documents = corpus.documents
        return documents
    if not isinstance(corpus, str | os.PathLike):
        hint = "give a file or a folder of documents, {document: text}, or a Collection"
        raise InputError("the corpus", f"{corpus!r:.60} is not a corpus.", hint=hint)
    path = os.fspath(corpus)
    return open_corpus(corpus_in(path) or os.path.join(path, CORPUS) if os.path.isdir(path) else path)


def copies(judged: Collection[str], documents: Documents) -> Copies:
    """Documents with the same text as a judged one, itself included. The corpus is read twice, and never kept.

    Texts are the same if title and text are, apart from blanks between words and from how Unicode composes letters.
    Documents without a text are never the same.
    """
    known: dict[bytes, dict[str, None]] = {}
    for document in documents():
        if document.doc_id in judged and (digest := _digest(document)):
            known.setdefault(digest, {})[document.doc_id] = None
    if not known:
        return ()
    found: dict[bytes, dict[str, None]] = {}
    for document in documents():
        if (digest := _digest(document)) in known:
            found.setdefault(digest, {})[document.doc_id] = None
    return tuple(tuple(ids) for ids in found.values() if len(ids) > 1)


def _digest(document: Document) -> bytes:
    parts = [" ".join(normalize("NFC", part).split()) for part in (document.title, document.text)]
    return blake2b("\n".join(parts).encode(errors="surrogatepass"), digest_size=16).digest() if any(parts) else b""


def copied(by_query: Mapping[str, Mapping[str, float]], groups: Copies) -> Iterator[Copied]:
    """The copies of each query's judged documents; documents that were only pooled are neither judged nor unjudged."""
    group_of = {document: ids for ids in groups for document in ids}
    for query, grades in by_query.items():
        for ids in dict.fromkeys(group_of[document] for document in grades if document in group_of):
            graded = {document: grades[document] for document in ids if grades.get(document, -1) >= 0}
            unjudged = tuple(document for document in ids if document not in grades)
            if graded and (len(graded) > 1 or unjudged):
                yield Copied(query, graded, unjudged)


def inherit_grades(qrels: Any, corpus: Any, *, qrels_format: str | None = None) -> Judgments:
    """Give documents without a judgment the grade of a judged document with the same text.

    Texts are the same if title and text are, apart from blanks. If copies were graded differently, the others inherit
    the highest grade, and those that were judged keep their own; `check_files` lists them. Documents with a negative
    grade stay as they are, and no copy inherits it. Every copy counts as a document of its own: a query has as many
    relevant documents more, which recall shows.

    qrels: anything that `evaluate` takes as judgments.
    corpus: a file of documents, a folder with one, {document: text}, or a `Collection`. It is read twice.
    qrels_format: the format of the judgments, if it cannot be detected from the file.
    Returns `Judgments`, to be given to `evaluate` and others; signatures say how many grades were inherited.

    >>> from cranfield import evaluate, inherit_grades
    >>> texts = {"a": "the same words", "b": "the  same words", "c": "others"}
    >>> inherited = inherit_grades({"q": {"a": 2}}, texts)
    >>> inherited.by_query["q"], inherited.provenance
    ({'a': 2.0, 'b': 2.0}, 'same_text:inherit(1)')
    >>> "same_text:inherit(1)" in evaluate(inherited, {"q": ["b", "c"]}, "RR").signature
    True
    """
    judgments = Judgments.read(qrels, qrels_format)
    groups = copies(set(judgments.document_ids), documents_of(corpus))
    by_query = {query: dict(grades) for query, grades in judgments.by_query.items()}
    inherited = 0
    for its in copied(judgments.by_query, groups):
        by_query[its.query].update(dict.fromkeys(its.unjudged, its.highest))
        inherited += len(its.unjudged)
    provenance = "|".join(filter(None, (judgments.provenance, f"same_text:inherit({inherited})")))
    return Judgments(by_query, name=judgments.name, provenance=provenance)


def copies_text(documents: Iterable[str]) -> str:
    names = list(documents)
    shown = ", ".join(f"'{document}'" for document in names[:3])
    return f"{shown} and {count(len(names) - 3, 'other')}" if len(names) > 3 else shown
