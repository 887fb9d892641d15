"""The documents of rankings, in order: for showing and comparing them, and for measures that need all of them."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from math import isfinite
from typing import Any

import numpy as np

from cranfield.errors import DuplicateError, InputError
from cranfield.io.mappings import Pairs, finite, id_text
from cranfield.io.pairs import read_numbers
from cranfield.io.shapes import Rankings, Source, Table, Text
from cranfield.io.text import blocks, located
from cranfield.ranks.columns import Numbers
from cranfield.ranks.policy import Policy
from cranfield.ranks.scan.counting import HINT, first_repeat, kept_places
from cranfield.ranks.tables.ranks import JudgedRanks
from cranfield.ranks.ties import ordered

ScoredPairs = list[tuple[str, float]]
_NONE = np.empty(0)


def scores_of(source: Source, policy: Policy, queries: Container[str] | None = None) -> dict[str, dict[str, float]]:
    by_query = pairs_of(source, queries)
    return {query: without_duplicates(pairs, query, policy, source.name) for query, pairs in by_query.items()}


def pairs_of(source: Source, queries: Container[str] | None = None) -> dict[str, ScoredPairs]:
    """The documents of every query with their scores, in the order they came, duplicates and all."""
    match source:
        case Text():
            return _from_text(source, queries)
        case Table():
            return _from_table(source, queries)
        case Rankings():
            return _from_rankings(source, queries)


@located()
def scores_alone(source: Text, queries: Container[str] | None = None) -> dict[str, Numbers]:
    """The scores of queries of a text file, in its order, without the documents."""
    parts: dict[str, list[Numbers]] = {}
    for block in blocks(source.stream, source.layout, held=True):
        columns, start = block.columns(), 0
        for its_query, lines in groupby(columns.query):
            stop, query = start + sum(1 for _ in lines), its_query.decode()
            if queries is None or query in queries:
                parts.setdefault(query, []).append(columns.value[start:stop])
            start = stop
    sign = -1 if source.layout.ranks else 1
    return {query: sign * np.concatenate(pieces) for query, pieces in parts.items()}


def scores_best_first(source: Source, queries: Collection[str], policy: Policy) -> list[Numbers]:
    """The scores of each query, the highest first; of a text file, only numbers are held."""
    if isinstance(source, Text) and policy.duplicates == "error" and policy.same_id == "keep":
        found = scores_alone(source, queries)
    else:  # documents must be known
        own = policy.same_id == "keep"
        found = {
            query: np.array([score for document, score in scores.items() if own or document != query], dtype=np.float64)
            for query, scores in scores_of(source, policy, queries).items()
        }
    return [-np.sort(-found.get(query, _NONE))[: policy.depth] for query in queries]


def queries_of(source: Source) -> Iterator[str]:
    match source:
        case Text(_, stream, layout):
            seen: set[bytes] = set()
            for block in blocks(stream, layout, hashed=False):
                for query in dict.fromkeys(block.columns().query):
                    if query not in seen:
                        seen.add(query)
                        yield query.decode()
        case Table():
            yield from source.frame.queries
        case Rankings(name, by_query):
            yield from (id_text(query, name, "a query") for query in by_query)


def rankings_of(source: Source, grades: Mapping[str, Mapping[str, float]], policy: Policy) -> dict[str, list[str]]:
    """The documents of the queries of `grades`, best first, by the same rules as the scan."""
    return {
        query: ordered(scores, query, grades[query], policy)[: policy.depth]
        for query, scores in scores_of(source, policy, grades).items()
    }


def with_lengths(judged: JudgedRanks, documents: Mapping[str, list[str]], lengths: Any, place: str) -> JudgedRanks:
    known = read_numbers(lengths, "length")
    try:
        columns = tuple(
            np.array([known[document] for document in documents.get(query, ())], dtype=np.float64)
            for query in judged.query_ids
        )
    except KeyError as missing:
        raise InputError(place, f"document {missing} has no length.", hint="give the lengths of all") from None
    return replace(judged, lengths=columns)


def without_duplicates(pairs: ScoredPairs, query: str, policy: Policy, source: str) -> dict[str, float]:
    documents = [document for document, _ in pairs]
    if len(set(documents)) == len(documents):
        return dict(pairs)
    if policy.duplicates == "error":
        twice = documents[first_repeat(documents)]
        raise DuplicateError(source, f"document '{twice}' appears twice in the ranking of query '{query}'.", hint=HINT)
    return dict(pairs[at] for at in kept_places(documents, [score for _, score in pairs], policy.duplicates))


@located()
def _from_text(source: Text, queries: Container[str] | None) -> dict[str, ScoredPairs]:
    by_query: dict[str, ScoredPairs] = {}
    sign = -1 if source.layout.ranks else 1
    for block in blocks(source.stream, source.layout, held=True):
        columns = block.columns()
        for its_query, document, value in zip(columns.query, columns.document, columns.value.tolist(), strict=True):
            query = its_query.decode()
            if queries is None or query in queries:
                by_query.setdefault(query, []).append((document.decode(), sign * value))
    return by_query


def _from_table(source: Table, queries: Container[str] | None) -> dict[str, ScoredPairs]:
    frame = source.frame
    by_query: dict[str, ScoredPairs] = {query: [] for query in frame.queries if queries is None or query in queries}
    rows = [by_query.get(query) for query in frame.queries]
    for query, document, value in zip(frame.query.tolist(), frame.document.tolist(), frame.value.tolist(), strict=True):
        its_rows = rows[query]
        if its_rows is not None:
            its_rows.append((document, value))
    return by_query


def _from_rankings(source: Rankings, queries: Container[str] | None) -> dict[str, ScoredPairs]:
    by_query: dict[str, ScoredPairs] = {}
    for key, ranking in source.by_query.items():
        query = id_text(key, source.name, "a query")
        if query in by_query:
            raise InputError(source.name, f"the query '{query}' appears twice, as a number and as text.")
        if queries is None or query in queries:
            by_query[query] = _pairs(ranking, f"query '{query}'", source.name)
    return by_query


def _pairs(ranking: Any, where: str, source: str) -> ScoredPairs:
    if isinstance(ranking, Pairs):
        return list(ranking)
    if isinstance(ranking, dict) and _plain(ranking):
        return list(ranking.items())
    if isinstance(ranking, Mapping):
        return [(id_text(d, source, where), finite(score, source, where)) for d, score in ranking.items()]
    if not isinstance(ranking, Sequence) or isinstance(ranking, str | bytes):
        fact = f"{where}: {ranking!r:.60} is not a ranking."
        raise InputError(source, fact, hint="a ranking is {document: score}, or a list of documents, best first")
    return [(id_text(d, source, where), -float(at)) for at, d in enumerate(ranking)]


def _plain(ranking: dict[Any, Any]) -> bool:
    """Whether all ids are ordinary texts and all scores finite numbers, seen without a call for each of them."""
    return (
        {*map(type, ranking)} == {str}
        and {*map(type, ranking.values())} == {float}
        and "" not in ranking
        and "".join(ranking).isascii()
        and isfinite(sum(map(abs, ranking.values())))
    )
