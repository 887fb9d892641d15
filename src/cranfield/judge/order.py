"""The documents of rankings, in order: for showing and comparing them. Measuring never needs this."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cranfield.errors import InputError
from cranfield.judge.duplicates import HINT, first_repeat, kept_places
from cranfield.judge.policy import Policy
from cranfield.read.mappings import Pairs, finite, id_text
from cranfield.read.source import Rankings, Source, Table, Text
from cranfield.read.text import BadLine, blocks


def ranking_of(source: Source, query: str, grades: Mapping[str, float], policy: Policy) -> list[str]:
    """The documents of a query, best first, by the same rules as the scan."""
    match source:
        case Text():
            pairs = _from_text(source, query)
        case Table():
            pairs = _from_table(source, query)
        case Rankings():
            pairs = _from_rankings(source, query)
    if policy.same_id == "drop":
        pairs = [pair for pair in pairs if pair[0] != query]
    kept = _without_duplicates(pairs, query, policy, source.name)
    place = {document: at for at, document in enumerate(kept)}

    def tie(document: str) -> tuple[object, ...]:
        if policy.ties == "file":
            return (-place[document],)
        if policy.ties == "doc_id":
            return (document,)
        grade = grades.get(document)
        worth = (1, 0.0) if grade is None else (2, grade) if grade > 0 else (0, 0.0)
        return (worth if policy.ties == "best" else (-worth[0], -worth[1]), document)

    ordered = sorted(kept, key=lambda document: (kept[document], tie(document)), reverse=True)
    return ordered[: policy.depth]


def rankings_of(source: Source) -> dict[str, dict[str, float]]:
    """Every ranking of a run: its documents and their scores."""
    match source:
        case Text():
            by_query = _all_from_text(source)
        case Table():
            by_query = _all_from_table(source)
        case Rankings():
            by_query = {
                id_text(query, source.name, "a query"): _pairs(ranking, f"query '{query}'", source.name)
                for query, ranking in source.by_query.items()
            }
            if len(by_query) < len(source.by_query):
                raise InputError(source.name, "a query stands twice, as a number and as text.")
    return {query: _without_duplicates(pairs, query, Policy(), source.name) for query, pairs in by_query.items()}


def _without_duplicates(pairs: list[tuple[str, float]], query: str, policy: Policy, source: str) -> dict[str, float]:
    documents = [document for document, _ in pairs]
    if len(set(documents)) == len(documents):
        return dict(pairs)
    if policy.duplicates == "error":
        twice = documents[first_repeat(documents)]
        raise InputError(source, f"document '{twice}' stands twice in the ranking of query '{query}'.", hint=HINT)
    return dict(pairs[at] for at in kept_places(documents, [score for _, score in pairs], policy.duplicates))


def _all_from_text(source: Text) -> dict[str, list[tuple[str, float]]]:
    by_query: defaultdict[bytes, list[tuple[str, float]]] = defaultdict(list)
    sign = -1 if source.layout.ranks else 1
    try:
        for block in blocks(source.stream, source.layout):
            columns = block.columns()
            for query, document, value in zip(columns.query, columns.document, columns.value.tolist(), strict=True):
                by_query[query].append((document.decode(), sign * value))
    except BadLine as bad:
        raise bad.located() from None
    return {query.decode(): pairs for query, pairs in by_query.items()}


def _all_from_table(source: Table) -> dict[str, list[tuple[str, float]]]:
    frame = source.frame
    by_query: dict[str, list[tuple[str, float]]] = {query: [] for query in frame.queries}
    rows = list(by_query.values())
    for query, document, score in zip(frame.query.tolist(), frame.document.tolist(), frame.value.tolist(), strict=True):
        rows[query].append((document, score))
    return by_query


def _from_text(source: Text, query: str) -> list[tuple[str, float]]:
    wanted = query.encode()
    pairs = []
    try:
        for block in blocks(source.stream, source.layout):
            if wanted not in bytes(block.data):
                continue
            columns = block.columns()
            for its_query, document, value in zip(columns.query, columns.document, columns.value.tolist(), strict=True):
                if its_query == wanted:
                    pairs.append((document.decode(), -value if source.layout.ranks else value))
    except BadLine as bad:
        raise bad.located() from None
    return pairs


def _from_table(source: Table, query: str) -> list[tuple[str, float]]:
    frame = source.frame
    if query not in frame.queries:
        return []
    rows = np.flatnonzero(frame.query == frame.queries.index(query)).tolist()
    documents = frame.document.tolist()
    return [(documents[row], float(frame.value[row])) for row in rows]


def _from_rankings(source: Rankings, query: str) -> list[tuple[str, float]]:
    for key, ranking in source.by_query.items():
        if id_text(key, source.name, "a query") == query:
            return _pairs(ranking, f"query '{query}'", source.name)
    return []


def _pairs(ranking: Any, where: str, source: str) -> list[tuple[str, float]]:
    if isinstance(ranking, Pairs):
        return list(ranking)
    if isinstance(ranking, Mapping):
        return [(id_text(d, source, where), finite(score, source, where)) for d, score in ranking.items()]
    if not isinstance(ranking, Sequence) or isinstance(ranking, str | bytes):
        raise InputError(
            source,
            f"{where}: {ranking!r:.60} is not a ranking.",
            hint="a ranking is {document: score}, or a list of documents, best first",
        )
    return [(id_text(d, source, where), -float(at)) for at, d in enumerate(ranking)]
