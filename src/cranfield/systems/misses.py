"""Queries that perform poorly: what was expected, what was returned, and what words have to do with it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from cranfield.evaluation.result import Evaluation
from cranfield.evaluation.values import PoorQuery
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.rankings import rankings_of
from cranfield.read.source import open_source
from cranfield.systems.collection import Collection, Document
from cranfield.systems.sqlite import STOPWORDS

_WORD = re.compile(r"\w+")


class Place(NamedTuple):
    """A document of a ranking, or one that should be in it."""

    doc_id: str
    title: str
    grade: float | None  # None: not judged
    rank: int | None  # None: not retrieved


class Miss(NamedTuple):
    """A query that performs poorly: what was expected and what was returned.

    apart: how many of its relevant documents have no word in common with it; None if there is no corpus to look at
    """

    poor: PoorQuery
    text: str
    expected: tuple[Place, ...]
    returned: tuple[Place, ...]
    apart: int | None

    @property
    def why(self) -> str:
        """What words have to do with it, in words; empty if nothing."""
        if not self.apart:
            return ""
        some = "the only relevant document shares" if self.poor.relevant == 1 else f"all {self.apart} share"
        if self.apart < self.poor.relevant:
            some = f"{self.apart} of {self.poor.relevant} relevant share"
        return f"{some} no word with the query"


def misses(
    evaluation: Evaluation, run: Any, collection: Collection, queries: Sequence[PoorQuery], shown: int = 3
) -> list[Miss]:
    """For some queries the best documents that were judged, and the first that were returned."""
    grades = Judgments.read(collection.qrels).by_query
    wanted = {poor.query_id: grades[poor.query_id] for poor in queries}
    if not wanted:
        return []
    rankings = rankings_of(open_source(run, "run"), wanted, evaluation.policy)
    relevant = {query: _best_first(judged) for query, judged in wanted.items()}
    needed = {doc_id for found in relevant.values() for doc_id in found}
    needed.update(doc_id for ranking in rankings.values() for doc_id in ranking[:shown])
    documents = {document.doc_id: document for document in collection.documents() if document.doc_id in needed}

    def places(query: str, listed: Sequence[str]) -> tuple[Place, ...]:
        rank = {doc_id: at for at, doc_id in enumerate(rankings.get(query, ()), 1)}
        otherwise = 0.0 if evaluation.policy.complete else None
        return tuple(
            Place(each, _title(documents, each), wanted[query].get(each, otherwise), rank.get(each)) for each in listed
        )

    return [
        Miss(
            poor,
            text := collection.queries.get(poor.query_id, ""),
            places(poor.query_id, relevant[poor.query_id][:shown]),
            places(poor.query_id, rankings.get(poor.query_id, [])[:shown]),
            _apart(text, [documents[each] for each in relevant[poor.query_id] if each in documents]),
        )
        for poor in queries
    ]


def _best_first(judged: Mapping[str, float]) -> list[str]:
    return sorted((each for each in judged if judged[each] > 0), key=lambda each: (-judged[each], each))


def _title(documents: Mapping[str, Document], doc_id: str) -> str:
    if doc_id not in documents:
        return ""
    return documents[doc_id].title or " ".join(documents[doc_id].text.split()[:10])


def _apart(query: str, documents: Sequence[Document]) -> int | None:
    if not documents:
        return None
    words = _words(query)
    return sum(not words & _words(f"{document.title} {document.text}") for document in documents)


def _words(text: str) -> set[str]:
    return {word for word in _WORD.findall(text.lower()) if word not in STOPWORDS}
