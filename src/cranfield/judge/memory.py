"""Rank the judged documents of a run in memory: frames by column, mappings by asking for the judged documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cranfield.errors import InputError
from cranfield.judge import scan
from cranfield.judge.counting import Found, count, join
from cranfield.judge.judgments import Judgments, Numbers, encoded
from cranfield.judge.policy import Policy
from cranfield.judge.scan import Scanned
from cranfield.read import Rankings, Table
from cranfield.read.mappings import finite, id_text


def scan_table(source: Table, judgments: Judgments, policy: Policy) -> Scanned:
    """Rank a frame's rows."""
    frame = source.frame
    places = np.array([judgments.number.get(encoded(query, source.name), -1) for query in frame.queries], np.int64)
    if scan.native is not None and policy.same_id == "keep":
        answer = scan.native.scan_columns(
            frame.query, places, *frame.document, frame.value, judgments.index, policy.ties == "file"
        )
        if answer is not None:
            sizes, columns = answer
            retrieved = np.full(len(judgments), -1, dtype=np.int64)
            retrieved[places[places >= 0]] = sizes[places >= 0]
            return Scanned(retrieved, int((places < 0).sum()), Found(*columns))
    by_query: dict[str, dict[str, float]] = {query: {} for query in frame.queries}
    rankings = list(by_query.values())
    for row, (query, document, score) in enumerate(
        zip(frame.query.tolist(), frame.document.tolist(), frame.value.tolist(), strict=True)
    ):
        ranking = rankings[query]
        if document in ranking:
            if policy.duplicates == "error":
                raise InputError(
                    source.name,
                    f"row {row}: document '{document}' stands twice in the ranking of query '{frame.queries[query]}'.",
                    hint="keep one row, or choose which with duplicates='first', 'last' or 'best'",
                )
            keep_old = policy.duplicates == "first" or (policy.duplicates == "best" and ranking[document] >= score)
            if keep_old:
                continue
            del ranking[document]  # the kept row stands where it stands in the frame
        ranking[document] = score
    return scan_rankings(Rankings(source.name, by_query), judgments, policy)


def scan_rankings(source: Rankings, judgments: Judgments, policy: Policy) -> Scanned:
    """Rank a mapping of query to documents."""
    retrieved = np.full(len(judgments), -1, dtype=np.int64)
    found = []
    seen: set[str] = set()
    in_order = policy.ties == "file"
    for query, ranking in source.by_query.items():
        query_id = query if type(query) is str and query else id_text(query, source.name, "a query")
        if query_id in seen:
            raise InputError(source.name, f"the query '{query_id}' stands twice, as a number and as text.")
        seen.add(query_id)
        number = judgments.number.get(encoded(query_id, source.name))
        first, last = (0, 0) if number is None else (int(judgments.first[number]), int(judgments.first[number + 1]))
        judged = judgments.document_ids[first:last]
        size, findings = _rank(ranking, query_id, first, judged, in_order, policy, source.name)
        if number is not None:
            retrieved[number] = size
            found.append(findings)
    return Scanned(retrieved, len(seen) - int((retrieved >= 0).sum()), join(found))


def _rank(
    ranking: Any, query: str, first: int, judged: Sequence[str], in_order: bool, policy: Policy, source: str
) -> tuple[int, Found]:
    if scan.native is not None and type(ranking) is dict and policy.same_id == "keep":
        answer = scan.native.scan_dict(ranking, judged, first, in_order)
        if answer is not None:
            return len(ranking), Found(*answer)
    documents, scores = _columns(ranking, query, policy, source)
    if policy.same_id == "drop" and query in documents:
        kept = [at for at, document in enumerate(documents) if document != query]
        documents, scores = [documents[at] for at in kept], scores[kept]
    place = dict(zip(documents, range(len(documents)), strict=True))
    pairs = [(row, place[document]) for row, document in enumerate(judged, first) if document in place]
    return len(documents), count(documents, scores, [row for row, _ in pairs], [at for _, at in pairs], in_order)


def _columns(ranking: Any, query: str, policy: Policy, source: str) -> tuple[list[str], Numbers]:
    """The documents of a ranking and their scores; a list without scores is in rank order."""
    where = f"query '{query}'"
    if isinstance(ranking, Mapping):
        documents = [id_text(document, source, where) for document in ranking]
        values = [
            finite(score, source, f"{where}, document '{document}'")
            for document, score in zip(documents, ranking.values(), strict=True)
        ]
        scores = np.array(values, dtype=np.float64)
    elif isinstance(ranking, Sequence) and not isinstance(ranking, str | bytes):
        documents = [id_text(document, source, where) for document in ranking]
        scores = -np.arange(len(documents), dtype=np.float64)
    else:
        raise InputError(
            source,
            f"{where}: {ranking!r:.60} is not a ranking.",
            hint="a ranking is {document: score}, or a list of documents, best first",
        )
    seen: dict[str, int] = {}
    for at, document in enumerate(documents):
        if document in seen and policy.duplicates == "error":
            raise InputError(
                source,
                f"document '{document}' stands twice in the ranking of query '{query}'.",
                hint="keep one, or choose which with duplicates='first', 'last' or 'best'",
            )
        other = seen.setdefault(document, at)
        if policy.duplicates == "last" or (policy.duplicates == "best" and scores[at] > scores[other]):
            seen[document] = at
    if len(seen) < len(documents):
        kept = sorted(seen.values())
        documents, scores = [documents[at] for at in kept], scores[kept]
    return documents, scores
