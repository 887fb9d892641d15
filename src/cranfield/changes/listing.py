"""The queries that changed most, with the lists of both runs; and the documents to judge first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import log2
from typing import NamedTuple

import numpy as np

from cranfield.changes.counting import Counted
from cranfield.measures import Measure
from cranfield.mixing.lists import Ranked
from cranfield.mixing.reading import RankingFile, chunks
from cranfield.ranks.columns import Integers, offsets
from cranfield.ranks.judgments import Judgments

DECIDING = 100  # queries, those that changed most, among whose documents the first to judge are sought


class ListedDocument(NamedTuple):
    """A document among the first of a ranking. other_rank: in the other run, None where it lacks it."""

    doc_id: str
    rank: int
    other_rank: int | None
    grade: float | None = None
    title: str = ""


class ChangedQuery(NamedTuple):
    """A query whose first documents changed.

    one, other: the first documents of both runs
    before, now: the measure in both, None without judgments of the query
    """

    query_id: str
    text: str
    overlap: float
    rbo: float
    entered: int
    left: int
    one: tuple[ListedDocument, ...]
    other: tuple[ListedDocument, ...]
    before: float | None = None
    now: float | None = None

    def __repr__(self) -> str:
        return f"<ChangedQuery {self.query_id}: overlap {self.overlap:.2f}, {self.entered} entered, {self.left} left>"


class WaitingDocument(NamedTuple):
    """A document worth judging. ranks: in both runs, None where one lacks it."""

    query_id: str
    text: str
    doc_id: str
    ranks: tuple[int | None, int | None]
    title: str = ""


class FirstRanks(NamedTuple):
    """Of a query, the first ids of both runs, and the ranks of all documents of both, by their numbers."""

    ids: tuple[list[str], list[str]]
    codes: tuple[Integers, Integers]

    def listed(self, side: int, k: int, grades: Mapping[str, float]) -> tuple[ListedDocument, ...]:
        rank = dict(zip(self.codes[1 - side].tolist(), range(1, len(self.codes[1 - side]) + 1), strict=True))
        its = zip(self.ids[side][:k], self.codes[side].tolist(), strict=False)
        return tuple(
            ListedDocument(document, at, rank.get(code), grades.get(document))
            for at, (document, code) in enumerate(its, 1)
        )

    def ranks(self, document: str) -> tuple[int | None, int | None]:
        for side, ids in enumerate(self.ids):
            if document in ids:
                at = ids.index(document)
                elsewhere = np.flatnonzero(self.codes[1 - side] == self.codes[side][at])
                ranks = at + 1, int(elsewhere[0]) + 1 if len(elsewhere) else None
                return ranks if side == 0 else (ranks[1], ranks[0])
        return None, None


def read_first(files: Sequence[RankingFile], queries: Sequence[str], k: int) -> dict[str, FirstRanks]:
    """Some queries read again from their places, with the ids of their first documents."""
    known: dict[str, FirstRanks] = {}
    for names, parts in chunks(files, queries):
        one, other = ([*zip(first_ids(its, k), _codes(its), strict=True)] for its in (part.ranked() for part in parts))
        for query, (ids, codes), (other_ids, other_codes) in zip(names, one, other, strict=True):
            known[query] = FirstRanks((ids, other_ids), (codes, other_codes))
    return known


def first_ids(ranked: Ranked, k: int) -> list[list[str]]:
    """The ids of the first k documents of each query."""
    text, first = ranked.text.tobytes(), offsets(ranked.sizes).tolist()
    start, length = ranked.start.tolist(), ranked.length.tolist()
    return [
        [
            str(text[start[at] : start[at] + length[at]], "utf-8", "surrogatepass")
            for at in range(begin, min(begin + k, end))
        ]
        for begin, end in pairwise(first)
    ]


def _codes(ranked: Ranked) -> list[Integers]:
    return np.split(ranked.code, offsets(ranked.sizes)[1:-1])


def most_changed_first(counted: Counted) -> Integers:
    """The queries whose first documents changed, those with the least rank-biased overlap first."""
    changed = np.flatnonzero(~counted.same_order)
    return changed[np.lexsort((changed, counted.overlap[changed], counted.rbo[changed]))]


def changed_query(
    query: str,
    at: int,
    counted: Counted,
    first: FirstRanks,
    judgments: Judgments | None,
    k: int,
    values: tuple[float, float] | None,
) -> ChangedQuery:
    grades = judgments.by_query.get(query, {}) if judgments is not None else {}
    sizes = np.minimum(counted.sizes[at], k).tolist()
    shared = int(counted.shared[at])
    return ChangedQuery(
        query,
        "",
        float(counted.overlap[at]),
        float(counted.rbo[at]),
        sizes[1] - shared,
        sizes[0] - shared,
        first.listed(0, k, grades),
        first.listed(1, k, grades),
        *(values or ()),
    )


def first_to_judge(
    first: Mapping[str, FirstRanks], judgments: Judgments | None, measure: Measure, depth: int, n: int
) -> tuple[WaitingDocument, ...]:
    """The documents whose grades say most about which run is better; the two runs of a query must differ."""
    if not n or not first:
        return ()
    if len(first) == 1:  # one query decides nothing: its documents that moved furthest to the top or from it
        pairs = _of_one_query(*next(iter(first.items())), judgments)[:n]
    else:
        from cranfield.judging.decide import Decision  # takes as long to import as small runs to read

        runs = {str(side): {query: its.ids[side] for query, its in first.items()} for side in (0, 1)}
        known = None if judgments is None else {query: judgments.by_query.get(query, {}) for query in first}
        judged = known if known and any(known.values()) else None
        pairs = Decision.of(runs, measure, judged, depth=depth, queries=list(first)).next(n)
    return tuple(WaitingDocument(query, "", document, first[query].ranks(document)) for query, document in pairs)


def _of_one_query(query: str, first: FirstRanks, judgments: Judgments | None) -> list[tuple[str, str]]:
    grades = judgments.by_query.get(query, {}) if judgments is not None else {}
    unjudged = [document for document in dict.fromkeys(first.ids[0] + first.ids[1]) if document not in grades]

    def moved(document: str) -> float:
        one, other = (1 / log2(1 + rank) if rank else 0.0 for rank in first.ranks(document))
        return -abs(one - other)

    return [(query, document) for document in sorted(unjudged, key=moved) if moved(document)]
