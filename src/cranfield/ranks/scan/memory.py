"""Rank the judged documents of a run in memory: frames by column, mappings by looking up the judged documents."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from cranfield.errors import DuplicateError, InputError
from cranfield.io.mappings import Pairs, finite, id_text
from cranfield.io.shapes import Rankings, Table
from cranfield.native import CORES, native
from cranfield.ranks.codes import TIE_ORDERS, GatheredCodes, codes_of_rankings
from cranfield.ranks.columns import Numbers
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.policy import Policy
from cranfield.ranks.scan.counting import HINT, Places, Scanned, count, first_repeat, join, kept_places


def scan_table(source: Table, judgments: Judgments, policy: Policy, depth: int = 0) -> Scanned:
    """Rank a frame's rows; the first `depth` documents of each query as numbers too."""
    depth = min(depth, policy.depth or depth)
    if native is not None and policy.same_id == "keep" and (not depth or policy.ties in TIE_ORDERS):
        ties = TIE_ORDERS.get(policy.ties, 0)
        for query, document, score in source.columns.lent():
            answer = native.scan_frame(
                query, document, score, source.columns.ranks, judgments._index, ties, CORES, depth
            )
            if answer is not None:
                queries, sizes, others, columns, codes = answer
                retrieved = np.full(len(judgments), -1, dtype=np.int64)
                retrieved[queries] = sizes
                gathered = GatheredCodes(len(judgments), depth)
                gathered.add(queries, sizes, codes)
                return Scanned(retrieved, len(others), Places(*columns), gathered.result())
    frame = source.frame
    by_query = {query: Pairs() for query in frame.queries}
    rankings = list(by_query.values())
    for query, document, score in zip(frame.query.tolist(), frame.document.tolist(), frame.value.tolist(), strict=True):
        rankings[query].append((document, score))
    return scan_rankings(Rankings(source.name, by_query), judgments, policy, depth)


def scan_rankings(source: Rankings, judgments: Judgments, policy: Policy, depth: int = 0) -> Scanned:
    """Rank a mapping of query to documents. If a ranking has no judged document, its scores are not read."""
    rankings: Iterable[tuple[Any, Any]] = source.by_query.items()
    places: list[Places] = []
    in_order = policy.ties == "file"
    if native is not None and isinstance(source.by_query, dict) and policy.same_id == "keep":
        threads = CORES if len(source.by_query) > 100 and getattr(sys, "_is_gil_enabled", lambda: True)() else 1
        retrieved, extra, columns, rankings = native.scan_dicts(
            source.by_query, judgments.number, judgments.document_ids, judgments.first, in_order, threads
        )
        places.append(Places(*columns))
    else:
        retrieved, extra = np.full(len(judgments), -1, dtype=np.int64), 0
    seen: set[str] = set()
    for query, ranking in rankings:
        # Strings are used unchanged, as in the native scan.
        query_id = query if type(query) is str and query else id_text(query, source.name, "a query")
        number = judgments.number.get(query_id)
        if query_id in seen or (not isinstance(query, str) and query_id in source.by_query):
            raise InputError(source.name, f"the query '{query_id}' appears twice, as a number and as text.")
        seen.add(query_id)
        first, last = (0, 0) if number is None else judgments.first[number : number + 2].tolist()
        if policy.same_id == "keep" and _holds_nothing_judged(ranking, judgments, first, last):
            if number is None:
                extra += 1
            else:
                retrieved[number] = len(ranking)
            continue
        documents, scores, by_document = _columns(ranking, query_id, policy, source.name)
        if number is None:
            extra += 1
            continue
        retrieved[number] = len(documents)
        rows = [row for row in range(first, last) if judgments.document_ids[row] in by_document]
        hits = [judgments.document_ids[row] for row in rows]
        places.append(count(documents, scores, rows, hits, [by_document[hit] for hit in hits], in_order))
    codes = codes_of_rankings(source, judgments, policy, min(depth, policy.depth or depth))
    return Scanned(retrieved, extra, join(places), codes)


def _holds_nothing_judged(ranking: Any, judgments: Judgments, first: int, last: int) -> bool:
    """Whether a ranking need only be counted, because it contains no judged document."""
    if not isinstance(ranking, Mapping) or type(next(iter(ranking), "")) is not str:
        return False
    for row in range(first, last):
        number = judgments._document_numbers[row]
        if judgments.document_ids[row] in ranking or (number is not None and number in ranking):
            return False
    return True


def _columns(ranking: Any, query: str, policy: Policy, source: str) -> tuple[list[str], Numbers, Mapping[str, float]]:
    where = f"query '{query}'"
    if isinstance(ranking, Pairs):
        documents = [document for document, _ in ranking]
        scores = np.array([score for _, score in ranking], dtype=np.float64)
    elif isinstance(ranking, Mapping):
        documents = list(ranking)
        values: Collection[Any] = ranking.values()
        plain = set(map(type, documents)) <= {str} and "" not in ranking
        if not plain:
            documents = [id_text(document, source, where) for document in documents]
        if not set(map(type, values)) <= {float, int}:
            values = [finite(score, source, f"{where}, '{document}'") for document, score in zip(documents, values)]
        try:
            scores = np.fromiter(values, np.float64, len(documents))
        except OverflowError:  # a whole number too large for a float
            scores = np.array([np.inf])
            for document, score in zip(documents, values):
                finite(score, source, f"{where}, document '{document}'")
        if not np.isfinite(scores).all():
            at = int(np.flatnonzero(~np.isfinite(scores))[0])
            raise InputError(source, f"{where}, document '{documents[at]}': {scores[at]} is not a finite number.")
        if plain and policy.same_id == "keep":
            return documents, scores, ranking
    elif isinstance(ranking, Sequence) and not isinstance(ranking, str | bytes):
        # Strings that any file could contain, as nearly always, are used unchanged.
        plain = set(map(type, ranking)) <= {str} and "" not in ranking and "".join(ranking).isascii()
        documents = list(ranking) if plain else [id_text(item, source, where) for item in ranking]
        scores = -np.arange(len(documents), dtype=np.float64)  # a list is in rank order
    else:
        fact = f"{where}: {ranking!r:.60} is not a ranking."
        raise InputError(source, fact, hint="a ranking is {document: score}, or a list of documents, best first")
    if policy.same_id == "drop":
        others = [at for at, document in enumerate(documents) if document != query]
        documents, scores = [documents[at] for at in others], scores[others]
    if len(set(documents)) < len(documents):
        if policy.duplicates == "error":
            twice = documents[first_repeat(documents)]
            fact = f"document '{twice}' appears twice in the ranking of query '{query}'."
            raise DuplicateError(source, fact, hint=HINT)
        kept = kept_places(documents, scores.tolist(), policy.duplicates)
        documents, scores = [documents[at] for at in kept], scores[kept]
    return documents, scores, dict(zip(documents, scores.tolist(), strict=True))
