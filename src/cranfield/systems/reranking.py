"""rerank(run, reranker, queries): the first documents of a saved run in another order, recorded like any system.

A reranker is a function (query, documents) that returns a score for each, a CrossEncoder of sentence-transformers, a
compressor of LangChain, or a postprocessor of LlamaIndex, as they are.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from cranfield.errors import InputError, SystemFailure
from cranfield.io.corpus import Document
from cranfield.io.made import inherited
from cranfield.ranks.policy import Policy
from cranfield.ranks.run import open_run
from cranfield.systems.answers import Returned, look_up, ranking_of
from cranfield.systems.collection import Collection, open_documents
from cranfield.systems.opening import System, open_reranker
from cranfield.systems.queries import Query, as_queries, columns_of
from cranfield.systems.recorded import Recorded
from cranfield.systems.recording import record

DEPTH, KEPT = 100, 1000
Scores = Sequence[float] | Mapping[str, float]
Rerank = Callable[[str, list[Document]], list[tuple[str, float]]]


class Asked(Query):
    """A query that knows its id, by which the first run has its documents."""

    query_id: str


def rerank(
    run: Any,
    reranker: Any,
    queries: Mapping[str, Any],
    documents: Any = None,
    depth: int = DEPTH,
    *,
    path: str | os.PathLike[str] | None = None,
    name: str = "",
    format: str | None = None,
    policy: Policy | None = None,
    **options: Any,
) -> Recorded:
    """Put the first documents of a run in another order, and record the result like that of any system.

    run: the first stage: a path, a dict, a frame, a recorded system.
    reranker: a function (query, documents) that returns a score for each document, in their order or as {id: score}; a
        `CrossEncoder` of sentence-transformers; a document compressor of LangChain; a node postprocessor of LlamaIndex;
        "package.module:name" of one; or "wordllama", a small one that needs no network. The query is a `Query` with its
        columns, a document has doc_id, title and text.
    queries: the text of each query, or a row {"text": …, "language": …}.
    documents: their texts: {id: text}, a `Collection`, or what `open_collection` takes; without any, the reranker only
        gets their ids.
    depth: how many documents of each ranking it gets; the others follow below in their order, down to 1,000.
    path: the file to write; by default the run is in memory.
    name: of the reranker.
    format, policy: how the run is read.
    options: those of `record`, such as jobs, retries, resume and force.
    Returns a `Recorded`, with failures and latencies. A query that failed is not in the run; one for which the first
    stage returned nothing has no documents.

    >>> first = {"q1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}}
    >>> texts = {"d1": "dogs", "d2": "cats and dogs", "d3": "cats"}
    >>> def overlap(query, documents):
    ...     return [document.text.count(query) - len(document.text) / 100 for document in documents]
    >>> reranked = rerank(first, overlap, {"q1": "cats"}, texts, depth=3)
    >>> reranked.name
    'overlap (reranks the run to depth 3)'
    >>> from cranfield import evaluate
    >>> evaluate({"q1": {"d3": 1}}, reranked, "RR")["RR"]
    1.0
    """
    if type(depth) is not int or depth < 1:
        raise InputError("depth", f"{depth!r:.40} is not a number of documents.", hint="it is a whole number from 1")
    opened = open_run(run, format)
    first = opened.first(max(depth, KEPT), policy or Policy())
    asked: dict[str, str] = {}
    for query_id, text in as_queries(queries).items():
        query = asked[query_id] = Asked(text, **columns_of(text))
        query.query_id = query_id
    if asked and not any(query in first for query in asked):
        raise InputError(opened.name, "it has none of these queries.", hint="are they of another collection?")
    target = open_reranker(reranker) if isinstance(reranker, str) else reranker
    texts = _texts(documents, {document for query in asked for document in first.get(query, ())[:depth]})
    system = System(_Reranker(target, name, first, texts, depth), settings=_digest(first, depth))
    system.reranks = f"reranks {opened.name} to depth {depth:,}"
    system._tuned = inherited({opened.name: opened.made})
    return record(system, asked, path, **options)


def _digest(first: Mapping[str, Sequence[str]], depth: int) -> str:
    """A hash of what is reranked, so that an unfinished run of another first stage is not continued."""
    rows = "\n".join(f"{query}\t{' '.join(documents)}" for query, documents in first.items())
    return hashlib.sha256(f"{depth}\n{rows}".encode(errors="surrogatepass")).hexdigest()


def _texts(documents: Any, needed: set[str]) -> dict[str, Document]:
    """The documents that a reranker may get; an error if one of them has no text."""
    if documents is None:
        return {document: Document(document, "", "") for document in needed}
    if isinstance(documents, Mapping):
        found = {
            str(name): text if isinstance(text, Document) else Document(str(name), "", str(text))
            for name, text in documents.items()
            if str(name) in needed
        }
    else:
        collection = documents if isinstance(documents, Collection) else open_documents(documents)
        found = {its.doc_id: its for its in collection._shown() if its.doc_id in needed}
    lacking = sorted(needed - found.keys())
    if lacking:
        fact = f"{len(lacking):,} of {len(needed):,} documents to rerank have no text: {lacking[0]}."
        raise InputError("the documents", fact, hint="give the corpus that the run was made from")
    return found


class _Reranker:
    """A system whose answer to a query is its first ranking in another order."""

    needs_k = False
    takes: Mapping[str, Any] = MappingProxyType({})

    def __init__(
        self,
        target: Any,
        name: str,
        first: Mapping[str, Sequence[str]],
        documents: Mapping[str, Document],
        depth: int,
    ) -> None:
        self.name = name or getattr(target, "__name__", type(target).__name__)
        self._rerank = rerank_of(target, self.name)
        self._first, self._documents, self._depth = first, documents, depth

    def search(self, query: str, k: int | None) -> Returned:
        assert isinstance(query, Asked)
        ranking = self._first.get(query.query_id, ())
        if not ranking:
            return ranking_of([])
        given = [self._documents[document] for document in ranking[: self._depth]]
        best = sorted(enumerate(self._rerank(query, given)), key=lambda pair: (-pair[1][1], pair[0]))
        order = [document for _, (document, _) in best]
        scores = [score for _, (_, score) in best]
        known = set(order)
        below = [document for document in ranking if document not in known]  # what it dropped, and what it never got
        lowest = scores[-1] if scores else 0.0
        step = max(abs(lowest), 1.0) * 1e-3
        scores += [lowest - step * place for place in range(1, len(below) + 1)]
        return ranking_of(list(zip([*order, *below], scores, strict=True)))

    def close(self) -> None: ...


def rerank_of(target: Any, name: str) -> Rerank:
    """What a reranker makes of a query and its documents: ids with scores."""
    if callable(getattr(target, "compress_documents", None)):
        return _of_langchain(target)
    if callable(getattr(target, "postprocess_nodes", None)):
        return _of_llama_index(target)
    if callable(predict := getattr(target, "predict", None)):
        return lambda query, documents: _scored(
            predict([(str(query), _shown(document)) for document in documents]), documents, name
        )
    if callable(target):
        return lambda query, documents: _scored(target(query, documents), documents, name)
    fact = f"{type(target).__name__} cannot rerank: it has none of predict, compress_documents and postprocess_nodes."
    raise InputError(name, fact, hint="give a function (query, documents) that returns a score for each document")


def _shown(document: Document) -> str:
    return "\n".join(filter(None, [document.title, document.text]))


def _scored(scores: Any, documents: list[Document], name: str) -> list[tuple[str, float]]:
    """Ids with the scores that were returned for them; a failure if these are not one number for each."""
    ids = [document.doc_id for document in documents]
    if isinstance(scores, Mapping):
        unknown = [str(key) for key in scores if str(key) not in set(ids)]
        if unknown:
            raise SystemFailure(f"{name} returned a score for {unknown[0]}, which it was not given.")
        return [(document, _number(scores[document], name)) for document in ids if document in scores]
    values = list(scores.tolist() if hasattr(scores, "tolist") else scores)
    if len(values) != len(ids):
        raise SystemFailure(f"{name} returned {len(values)} scores for {len(ids)} documents.", final=True)
    return [(document, _number(value, name)) for document, value in zip(ids, values, strict=True)]


def _number(value: Any, name: str) -> float:
    from math import isfinite

    try:
        number = float(value)
    except (TypeError, ValueError):
        raise SystemFailure(f"{name} returned {value!r:.40}, which is not a score.", final=True) from None
    if not isfinite(number):
        raise SystemFailure(f"{name} returned the score {number}.")
    return number


def _of_langchain(compressor: Any) -> Rerank:
    """A compressor returns some of the documents it was given, in its order."""

    def rerank(query: str, documents: list[Document]) -> list[tuple[str, float]]:
        from langchain_core.documents import Document as Given

        given = [
            Given(page_content=its.text, id=its.doc_id, metadata={"doc_id": its.doc_id, "title": its.title})
            for its in documents
        ]
        kept = compressor.compress_documents(given, str(query))
        return _in_order([look_up(its, "metadata.doc_id") for its in kept], documents)

    return rerank


def _of_llama_index(postprocessor: Any) -> Rerank:
    """A postprocessor returns nodes with scores, in its order."""

    def rerank(query: str, documents: list[Document]) -> list[tuple[str, float]]:
        from llama_index.core.schema import NodeWithScore, TextNode

        given = [
            NodeWithScore(node=TextNode(id_=its.doc_id, text=its.text, metadata={"title": its.title}), score=1 / place)
            for place, its in enumerate(documents, 1)
        ]
        kept = postprocessor.postprocess_nodes(given, query_str=str(query))
        return _in_order([look_up(its, "node.node_id") for its in kept], documents)

    return rerank


def _in_order(ids: Sequence[Any], documents: Sequence[Document]) -> list[tuple[str, float]]:
    """Ids with falling scores; a document is only counted once, and only if it was given."""
    known = {document.doc_id for document in documents}
    unknown = [its for its in ids if its not in known]
    if unknown:
        raise SystemFailure(f"the reranker returned {unknown[0]!r:.40}, which it was not given.")
    once = list(dict.fromkeys(map(str, ids)))
    return [(document, float(len(documents) - place)) for place, document in enumerate(once)]
