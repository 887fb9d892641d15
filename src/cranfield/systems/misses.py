"""Queries that perform poorly, or worse than before: what was expected and returned, and which words they share."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from cranfield.comparison.differences import Difference
from cranfield.comparison.gate_checks import worst_drops
from cranfield.errors import InputError
from cranfield.evaluation.overview import below_perfect
from cranfield.evaluation.query_facts import QueryFacts
from cranfield.evaluation.result import Evaluation
from cranfield.io.corpus import Document
from cranfield.measures import Measure, parse_measure
from cranfield.measures.scope import Scope
from cranfield.ranks.judgments import Judgments
from cranfield.systems.collection import Collection
from cranfield.systems.sqlite import STOPWORDS

_WORD = re.compile(r"\w+")


class Place(NamedTuple):
    """A document of a ranking, or one that should be in it."""

    doc_id: str
    title: str
    grade: float | None  # None: not judged
    rank: int | None  # None: not retrieved


class Miss(NamedTuple):
    """A query that performs poorly: what was expected and what was returned."""

    facts: QueryFacts
    text: str
    expected: tuple[Place, ...]
    returned: tuple[Place, ...]
    apart: int | None  # relevant documents that have no word in common with it; None without a corpus

    def to_dict(self) -> dict[str, Any]:
        """The query as plain dicts, ready for JSON."""
        return {
            "query_id": self.facts.query_id,
            "text": self.text,
            "value": self.facts.value,
            "reason": self.facts.reason,
            "why": self.why,
            "expected": [place._asdict() for place in self.expected],
            "returned": [place._asdict() for place in self.returned],
        }

    @property
    def why(self) -> str:
        """How many relevant documents share no word with the query, in words; empty if none."""
        relevant = self.facts.relevant
        if not self.apart:
            return ""
        if relevant == 1:
            return "the only relevant document shares no word with the query"
        if self.apart == relevant:
            return f"none of the {relevant} shares a word with the query"
        return f"{self.apart} of {relevant} relevant {'shares' if self.apart == 1 else 'share'} no word with the query"


class Lost(NamedTuple):
    """A query that got worse by a measure, and what moved.

    miss: what was expected and is returned now; None where the documents are not known
    was: the ranks of the expected documents before
    """

    query_id: str
    text: str
    measure: str
    before: float
    now: float
    moved: str
    miss: Miss | None = None
    was: tuple[int | None, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The query as plain dicts, ready for JSON."""
        return {**self._asdict(), "miss": self.miss.to_dict() if self.miss else None, "was": list(self.was)}


def lost_most(
    difference: Difference, sides: tuple[Evaluation, Evaluation], collection: Collection, n: int = 3
) -> tuple[Lost, ...]:
    """The queries that got worse most; sides: what the difference was made from, the run before and the run now."""
    measure = parse_measure(difference.measure)
    before, after = (side.by_people or side for side in sides)
    sign = -1.0 if difference.lower_is_better else 1.0
    drops = sign * (before._columns[before._key(measure)] - after._columns[after._key(measure)])
    worse = worst_drops(measure, before, after, drops)[:n]
    known: dict[str, Miss] = {}
    with suppress(InputError):  # a run that came through a pipe cannot be read again
        found = misses_of(after, collection, measure, after.queries(measure, [query.query_id for query in worse]))
        known = {miss.facts.query_id: miss for miss in found}
    reading = before._evidence.reading
    ranks = {} if reading is None or before.ranks is None else _ranks(before, reading.judgments)
    lost = []
    for query in worse:
        miss, its = known.get(query.query_id), ranks.get(query.query_id, {})
        was = tuple(its.get(place.doc_id) for place in miss.expected) if miss else ()
        text = collection.queries.get(query.query_id, "")
        lost.append(Lost(query.query_id, text, difference.measure, *query[1:], miss, was))
    return tuple(lost)


def misses(
    evaluation: Evaluation, collection: Collection, measure: str | Measure, worst: int, shown: int = 3
) -> list[Miss]:
    """For the worst queries that are not perfect: the best relevant documents, and the first returned."""
    parsed = parse_measure(measure)
    return misses_of(evaluation, collection, parsed, below_perfect(evaluation, parsed, worst), shown)


def misses_of(
    evaluation: Evaluation, collection: Collection, measure: Measure, queries: Sequence[QueryFacts], shown: int = 3
) -> list[Miss]:
    """For some queries: the best relevant documents, and the first returned; none where these are not known."""
    reading, scope = evaluation._evidence.reading, Scope.of(measure)
    if not queries or reading is None or evaluation.ranks is None:
        return []
    wanted = {facts.query_id: reading.judgments.by_query[facts.query_id] for facts in queries}
    rankings, ranks = reading.first(wanted, shown), _ranks(evaluation, reading.judgments)
    relevant = {query: scope.best_first(judged) for query, judged in wanted.items()}
    needed = {doc_id for ranking in rankings.values() for doc_id in ranking[:shown]}.union(*relevant.values())
    documents = {document.doc_id: document for document in collection._shown() if document.doc_id in needed}

    def places(query: str, listed: Sequence[str]) -> tuple[Place, ...]:
        rank = {doc_id: at for at, doc_id in enumerate(rankings.get(query, ()), 1)} | ranks.get(query, {})
        otherwise = 0.0 if evaluation.policy.complete else None
        grades = wanted[query]
        return tuple(
            Place(doc_id, _title(documents, doc_id), grades.get(doc_id, otherwise), rank.get(doc_id))
            for doc_id in listed
        )

    return [
        Miss(
            facts,
            text := collection.queries.get(facts.query_id, ""),
            places(facts.query_id, relevant[facts.query_id][:shown]),
            places(facts.query_id, rankings.get(facts.query_id, [])[:shown]),
            _apart(text, [documents[doc_id] for doc_id in relevant[facts.query_id] if doc_id in documents]),
        )
        for facts in queries
    ]


def _ranks(evaluation: Evaluation, judgments: Judgments) -> dict[str, dict[str, int]]:
    """The ranks of the judged documents that were retrieved, by query."""
    ranks: dict[str, dict[str, int]] = {}
    judged = evaluation.ranks
    assert judged is not None
    for query, row, rank in zip(judged.query.tolist(), judged.row.tolist(), judged.rank.tolist(), strict=True):
        ranks.setdefault(judged.query_ids[query], {})[judgments.document_ids[row]] = rank
    return ranks


def _title(documents: Mapping[str, Document], doc_id: str) -> str:
    if doc_id not in documents:
        return ""
    return documents[doc_id].title or " ".join(documents[doc_id].text.split()[:10])


def _apart(query: str, documents: Sequence[Document]) -> int | None:
    if not documents:
        return None
    words = content_words(query)
    return sum(not words & content_words(f"{document.title} {document.text}") for document in documents)


def content_words(text: str) -> set[str]:
    """The words of a text that say what it is about, in small letters."""
    return {word for word in _WORD.findall(text.lower()) if word not in STOPWORDS}
