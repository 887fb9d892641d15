"""The documents of rankings, in order: for showing them, and for what depends on all of them, such as lengths."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from cranfield.errors import DuplicateError, InputError
from cranfield.judge.duplicates import HINT, first_repeat, kept_places
from cranfield.judge.judgments import Judgments
from cranfield.judge.policy import Policy
from cranfield.judge.ranks import JudgedRanks
from cranfield.read.mappings import Pairs, finite, id_text
from cranfield.read.pairs import read_numbers
from cranfield.read.source import Rankings, Source, Table, Text
from cranfield.read.text import BadLine, blocks


def rankings_of(source: Source, grades: Mapping[str, Mapping[str, float]], policy: Policy) -> dict[str, list[str]]:
    """The documents of the queries of `grades`, best first, by the same rules as the scan."""
    match source:
        case Text():
            found = _from_text(source, grades)
        case Table():
            found = _from_table(source, grades)
        case Rankings():
            found = _from_rankings(source, grades)
    return {
        query: _ordered(pairs, query, grades[query], policy, source.name)[: policy.depth]
        for query, pairs in found.items()
    }


def with_lengths(
    judged: JudgedRanks, judgments: Judgments, source: Source, policy: Policy, lengths: Any
) -> JudgedRanks:
    """The table with the length of every document retrieved."""
    known = read_numbers(lengths, "length")
    documents = rankings_of(source, judgments.by_query, policy)
    try:
        columns = tuple(
            np.array([known[document] for document in documents.get(query, ())], dtype=np.float64)
            for query in judged.query_ids
        )
    except KeyError as missing:
        raise InputError(source.name, f"document {missing} has no length.", hint="give the lengths of all") from None
    return replace(judged, lengths=columns)


def _ordered(
    pairs: list[tuple[str, float]], query: str, grades: Mapping[str, float], policy: Policy, name: str
) -> list[str]:
    if policy.same_id == "drop":
        pairs = [pair for pair in pairs if pair[0] != query]
    kept = _without_duplicates(pairs, query, policy, name)
    place = {document: at for at, document in enumerate(kept)}

    def tie(document: str) -> tuple[object, ...]:
        if policy.ties == "file":
            return (-place[document],)
        if policy.ties == "doc_id":
            return (document,)
        if policy.ties == "smaller_doc_id":
            return ()  # equals stay in the order they come in below
        grade = grades.get(document)
        worth = (1, 0.0) if grade is None else (2, grade) if grade > 0 else (0, 0.0)
        return (worth if policy.ties == "best" else (-worth[0], -worth[1]), document)

    return sorted(sorted(kept), key=lambda document: (kept[document], tie(document)), reverse=True)


def _without_duplicates(pairs: list[tuple[str, float]], query: str, policy: Policy, source: str) -> dict[str, float]:
    documents = [document for document, _ in pairs]
    if len(set(documents)) == len(documents):
        return dict(pairs)
    if policy.duplicates == "error":
        twice = documents[first_repeat(documents)]
        raise DuplicateError(source, f"document '{twice}' stands twice in the ranking of query '{query}'.", hint=HINT)
    return dict(pairs[at] for at in kept_places(documents, [score for _, score in pairs], policy.duplicates))


def _from_text(source: Text, queries: Container[str]) -> dict[str, list[tuple[str, float]]]:
    found: dict[str, list[tuple[str, float]]] = {}
    try:
        for block in blocks(source.stream, source.layout):
            columns = block.columns()
            for query, document, value in zip(columns.query, columns.document, columns.value.tolist(), strict=True):
                if (its_query := query.decode()) in queries:
                    score = -value if source.layout.ranks else value
                    found.setdefault(its_query, []).append((document.decode(), score))
    except BadLine as bad:
        raise bad.located() from None
    return found


def _from_table(source: Table, queries: Container[str]) -> dict[str, list[tuple[str, float]]]:
    frame = source.frame
    found: dict[str, list[tuple[str, float]]] = {query: [] for query in frame.queries if query in queries}
    rows = [found.get(query) for query in frame.queries]
    for query, document, value in zip(frame.query.tolist(), frame.document.tolist(), frame.value.tolist(), strict=True):
        its_rows = rows[query]
        if its_rows is not None:
            its_rows.append((document, value))
    return found


def _from_rankings(source: Rankings, queries: Container[str]) -> dict[str, list[tuple[str, float]]]:
    found: dict[str, list[tuple[str, float]]] = {}
    for key, ranking in source.by_query.items():
        query = id_text(key, source.name, "a query")
        where = f"query '{query}'"
        if query not in queries:
            continue
        if isinstance(ranking, Pairs):
            found[query] = list(ranking)
        elif isinstance(ranking, Mapping):
            found[query] = [
                (id_text(document, source.name, where), finite(score, source.name, where))
                for document, score in ranking.items()
            ]
        else:
            found[query] = [(id_text(document, source.name, where), -float(at)) for at, document in enumerate(ranking)]
    return found
