"""A test collection: documents, queries and judgments, from a folder, the built-in one or the library ir_datasets."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

from cranfield.errors import InputError, near_file, need
from cranfield.evaluation.query_columns import QueryColumns
from cranfield.io.compression import first_file
from cranfield.io.corpus import USUAL_CORPUS, Document, corpus_in, open_corpus
from cranfield.io.queries import Queries, read_queries
from cranfield.ranks.judgments import Judgments
from cranfield.systems.collection_files import (
    QRELS_FILES,
    QUERY_FILES,
    USUAL_QRELS,
    USUAL_QUERIES,
    folder_of_queries,
)
from cranfield.words import count

BUILTIN = "builtin"
IR_DATASETS = "ir_datasets:"
KEPT = 128_000_000  # letters of a corpus that may be kept in memory


@dataclass(frozen=True, slots=True)
class Collection:
    """Queries, their judgments, and the documents themselves if they are available.

    queries: the text of each query
    qrels: anything that `evaluate` takes as judgments; None if there are none
    documents(): the corpus, read again each time; nothing if there is none
    narratives: of some queries, what is relevant to them, in words
    texts(): documents that can be shown though there is no corpus, such as those in a store of judgments

    >>> mine = Collection("mine", {"1": "cats", "2": "dogs"}, {"1": {"a": 1}})
    >>> mine.judged_queries(), list(mine.documents())
    ({'1': 'cats'}, [])
    >>> list(mine.judgments().query_ids)
    ['1']
    >>> next(iter(open_collection("builtin").documents())).title
    'Precision'
    >>> "rbo" in open_collection("builtin").ids()
    True
    """

    name: str
    queries: Mapping[str, str]
    qrels: Any = None
    corpus: Callable[[], Iterator[Document]] | None = None
    narratives: Mapping[str, str] = field(default_factory=dict)
    texts: Callable[[], Iterator[Document]] | None = None
    _columns: QueryColumns = field(
        default_factory=QueryColumns, repr=False
    )  # of queries, of which groups share judgments

    def __repr__(self) -> str:
        judged = "" if self.qrels is None else ", with judgments"
        return f"<Collection {self.name}: {count(len(self.queries), 'query', 'queries')}{judged}>"

    def documents(self) -> Iterator[Document]:
        """The documents of the corpus."""
        return self.corpus() if self.corpus else iter(())

    def _shown(self) -> Iterator[Document]:
        """The documents whose texts are known."""
        return self.texts() if self.corpus is None and self.texts else self.documents()

    def ids(self) -> Iterator[str]:
        """The ids of the corpus."""
        return (document.doc_id for document in self.documents())

    def _judged(self) -> Judgments:
        judgments: Judgments = self._columns.judged(Judgments.read(self.qrels))
        return judgments

    def judgments(self) -> Judgments:
        """The judgments; an error if there are none yet, or of queries whose text is not known."""
        if self.qrels is None:
            hint = f"'cranfield judge' opens a page to judge on; or put judgments into {USUAL_QRELS}"
            raise InputError(self.name, "there are no judgments yet.", hint=hint)
        judgments = self._judged()
        lacking = [query for query in judgments.query_ids if query not in self.queries]
        if lacking:
            fact = f"{count(len(lacking), 'judged query has', 'judged queries have')} no text: {_first(lacking)}."
            same = "queries and judgments need the same ids, which are made from the texts where a file has none"
            raise InputError(self.name, fact, hint=f"the ids of the queries are {_first(list(self.queries))}; {same}")
        return judgments

    def judged_queries(self) -> dict[str, str]:
        """The queries that have judgments, in their order; all of them if there are no judgments at all."""
        if self.qrels is None:
            return self.queries if isinstance(self.queries, Queries) else dict(self.queries)
        judged = self._judged().number
        if isinstance(self.queries, Queries):
            return self.queries.chosen(judged)
        return {query: text for query, text in self.queries.items() if query in judged}


def _first(ids: Sequence[str]) -> str:
    return ", ".join(ids[:5]) + (", …" if len(ids) > 5 else "")


def kept_in_memory(collection: Collection) -> Collection:
    """The same collection for several uses: its judgments are parsed, and its corpus is kept when it is first read.

    A corpus of more than 128 million letters is not kept, but read again each time.
    """
    return replace(
        collection,
        qrels=None if collection.qrels is None else Judgments.read(collection.qrels),
        corpus=_kept(collection.corpus) if collection.corpus else None,
    )


def _kept(corpus: Callable[[], Iterator[Document]]) -> Callable[[], Iterator[Document]]:
    known: list[Document] | None = None

    def documents() -> Iterator[Document]:
        nonlocal known
        if known is not None:
            yield from known
            return
        read: list[Document] = []
        room = KEPT
        for document in corpus():
            room -= len(document.title) + len(document.text)
            read.append(document) if room >= 0 else read.clear()
            yield document
        known = read if room >= 0 else None

    return documents


def open_collection(where: str | os.PathLike[str] | Collection, *, split: str | None = None) -> Collection:
    """Open a test collection.

    where: a folder in the layout of BEIR (corpus.jsonl, queries.jsonl, qrels/*.tsv) or of TREC (queries.tsv with lines
        "id <tab> text", qrels.txt); "builtin" for the one that comes with cranfield; or "ir_datasets:ID".
    split: which file of the folder qrels/; by default "test", or the only one.
    Returns a `Collection`.

    >>> len(open_collection("builtin").queries) >= 50
    True
    """
    if isinstance(where, Collection):
        return where
    name = os.fspath(where)
    if name.startswith(IR_DATASETS):
        return _from_ir_datasets(name.removeprefix(IR_DATASETS))
    folder = Path(__file__).parents[1] / "data" / "collection" if name == BUILTIN else Path(name)
    if not folder.is_dir():
        what = "is a file, not the folder of a collection" if folder.exists() else "there is no such folder"
        near = "" if folder.exists() else near_file(name, [BUILTIN])
        raise InputError(name, f"{what}.", hint=near or f"give a folder, '{BUILTIN}', or '{IR_DATASETS}ID'")
    queries = first_file(folder, QUERY_FILES)
    if queries is None:
        raise InputError(name, "there are no queries in it.", hint=f"put them into {USUAL_QUERIES}")
    corpus = corpus_in(folder)
    texts = read_queries(queries)
    return Collection(
        name=name,
        queries=texts,
        qrels=_qrels(folder, split),
        corpus=open_corpus(corpus) if corpus else None,
        narratives=texts.narratives,
    )


def judgments_in(folder: str) -> str:
    """The file of judgments in the folder of a collection."""
    found = _qrels(Path(folder), None)
    if found is None:
        raise InputError(folder, "there are no judgments in this folder.", hint=f"put them into {USUAL_QRELS}")
    return found


def open_documents(where: str | os.PathLike[str]) -> Collection:
    """The collection that has documents: a file of them, a folder with one, or what else `open_collection` takes."""
    name = os.fspath(where)
    file = name if os.path.isfile(name) else corpus_in(name)
    if file is not None:
        return Collection(name, {}, corpus=open_corpus(file))
    if os.path.isdir(name):
        raise InputError(name, "there are no documents in it.", hint=f"put them into {USUAL_CORPUS}")
    if os.path.exists(name) or name == "-":
        raise InputError(name, "this is a pipe, which can be read only once.", hint="write the documents to a file")
    if name != BUILTIN and not name.startswith(IR_DATASETS):
        raise InputError(name, "there is no such file or folder.", hint=near_file(name, [BUILTIN]))
    return open_collection(name)


def collection_beside(qrels: str) -> str | None:
    """What `open_collection` takes for the collection of some judgments; None where no queries are beside them."""
    return BUILTIN if qrels == BUILTIN and not os.path.exists(qrels) else folder_of_queries(qrels)


def indexed(collection: Collection | None, name: str, kind: str) -> Iterator[Document]:
    """The documents that an engine of ours searches, at least one."""
    if collection is None or collection.corpus is None:
        raise InputError(name, f"{kind} needs documents to index.", hint=f"name a collection that has {USUAL_CORPUS}")
    documents = iter(collection.documents())
    first = next(documents, None)
    if first is None:
        raise InputError(name, "there is no document to search.", hint=f"the collection needs {USUAL_CORPUS}")
    return chain([first], documents)


def _qrels(folder: Path, split: str | None) -> str | None:
    if not (folder / "qrels").is_dir():
        if split is not None:
            raise InputError(str(folder), f"it has no folder qrels, so there is no split '{split}'.")
        return first_file(folder, QRELS_FILES)
    files = sorted(path for path in (folder / "qrels").iterdir() if path.is_file() and not path.name.startswith("."))
    named = {path.name.partition(".")[0]: path for path in files}
    wanted = split or ("test" if "test" in named else next(iter(named)) if len(named) == 1 else None)
    if wanted is None or wanted not in named:
        several = "it has several splits, and none is called 'test'." if named else "it contains no judgments."
        fact = f"there is no split '{split}' in it." if split else several
        raise InputError(str(folder / "qrels"), fact, hint=f"splits are {', '.join(named) or 'none'}")
    return str(named[wanted])


def _from_ir_datasets(name: str) -> Collection:
    library = need("ir_datasets", purpose=f"the collection '{IR_DATASETS}{name}'")
    try:
        dataset = library.load(name)
    except KeyError:
        raise InputError(f"{IR_DATASETS}{name}", "ir_datasets has no collection of this name.") from None
    if not dataset.has_queries():
        raise InputError(f"{IR_DATASETS}{name}", "this collection has no queries.", hint="name a part of it that has")
    qrels: dict[str, dict[str, float]] | None = None
    if dataset.has_qrels():
        qrels = {}
        for judgment in dataset.qrels_iter():
            qrels.setdefault(judgment.query_id, {})[judgment.doc_id] = float(judgment.relevance)

    def corpus() -> Iterator[Document]:
        for document in dataset.docs_iter():
            title = str(getattr(document, "title", "") or "")
            yield Document(document.doc_id, title, _body(document))

    queries = list(dataset.queries_iter())
    narratives = {query.query_id: str(getattr(query, "narrative", "") or "") for query in queries}
    return Collection(
        name=f"{IR_DATASETS}{name}",
        queries={query.query_id: _body(query, title_too=True) for query in queries},
        qrels=qrels,
        corpus=corpus if dataset.has_docs() else None,
        narratives={query: text for query, text in narratives.items() if text},
    )


def _body(record: Any, *, title_too: bool = False) -> str:
    """The text of a record of ir_datasets, whose fields differ from collection to collection."""
    title = getattr(record, "title", None)
    if title_too and title:
        return str(title)
    if hasattr(record, "text") or hasattr(record, "default_text"):
        return str(record.text if hasattr(record, "text") else record.default_text())
    return " ".join(
        str(part) for name, part in zip(record._fields, record, strict=True) if name.endswith(("text", "body"))
    )
