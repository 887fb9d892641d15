"""The ranks of relevant documents in runs, and which of them are in the wrong order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from cranfield.evaluation.result import Evaluation
from cranfield.measures.scope import Scope
from cranfield.ranks.columns import Integers, offsets
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.tables.ranks import JudgedRanks


class RelevantRanks(NamedTuple):
    """The relevant documents in a run, one query after the other.

    ranks: of the first few, the best first; 0 for one that was not retrieved
    grades: by query, of those that the measure looks at, in the order of their ranks
    """

    ranks: Integers
    grades: list[list[float]]


class RelevantDocuments:
    """The relevant documents of some queries as rows of the judgments, to find them in any run at once.

    relevant: the documents of each query, the best first
    most: how many of them have ranks
    scope: what the measure looks at
    first: the ranks first[q] to first[q + 1] are those of query q
    """

    def __init__(self, judgments: Judgments, relevant: Mapping[str, Sequence[str]], *, most: int, scope: Scope) -> None:
        self.judgments, self.most, self.scope = judgments, most, scope
        self.queries = len(relevant)
        self._known: dict[tuple[str, ...], Integers] = {}
        self.first = offsets(min(len(documents), most) for documents in relevant.values())
        rows = len(judgments.document_ids)
        # For each row that is a relevant document; the last one is for rows that are not in the judgments.
        self.query, self.place = np.full(rows + 1, -1), np.full(rows + 1, -1)
        for at, (query, documents) in enumerate(relevant.items()):
            start, stop = judgments.first[judgments.number[query] :][:2].tolist()
            row = {document: number for number, document in enumerate(judgments.document_ids[start:stop], start)}
            its = [row[document] for document in documents]
            self.query[its], self.place[its] = at, range(len(its))

    def ranked(self, evaluation: Evaluation) -> RelevantRanks | None:
        """Their ranks in a run; None if these are not known."""
        table = evaluation.ranks
        if table is None:
            return None
        rows = self._rows(table)
        query = self.query[rows]
        relevant = np.flatnonzero(query >= 0)
        rows, query, ranks = rows[relevant], query[relevant], table.rank[relevant]
        place = self.place[rows]
        by_place = np.zeros(self.first[-1], dtype=np.int64)
        listed = place < self.most
        by_place[self.first[query[listed]] + place[listed]] = ranks[listed]
        if self.scope.cutoff is not None:
            seen = ranks <= self.scope.cutoff
            rows, query = rows[seen], query[seen]
        order = np.argsort(query, kind="stable")  # the ranks of a query stay in their order
        stops = np.searchsorted(query[order], np.arange(self.queries + 1)).tolist()
        grades = self.judgments.grades[rows[order]].tolist()
        return RelevantRanks(by_place, [grades[start:stop] for start, stop in pairwise(stops)])

    def _rows(self, table: JudgedRanks) -> Integers:
        """Which rows of the judgments the judged documents of a run are; -1 for queries that are not judged here."""
        known = self._numbers(table.query_ids)
        # Rows are counted from the query's first, since the evaluation may have had fewer queries than these judgments.
        shift = self.judgments.first[known] - table.judged_first[: len(known)]
        return np.where(known[table.query] >= 0, table.row + shift[table.query], -1)

    def _numbers(self, query_ids: tuple[str, ...]) -> Integers:
        """The numbers of queries in the judgments; -1 for one that is not there. Most runs have the same queries."""
        if query_ids not in self._known:
            number = self.judgments.number
            self._known[query_ids] = np.array([number.get(query, -1) for query in query_ids], dtype=np.int64)
        return self._known[query_ids]


def misordered(grades: Iterable[float], scope: Scope) -> list[str]:
    """The two grades in the wrong order that differ most, a lower one above a higher one, if order matters.

    grades: of relevant documents, in the order of their ranks

    >>> from cranfield import parse_measure
    >>> misordered([2, 1, 3], Scope.of(parse_measure("nDCG@10")))
    ['grade 1 above grade 3']
    """
    if scope.rel is not None:
        return []  # all relevant documents count the same
    lowest, low, high = float("inf"), 0.0, 0.0
    for grade in grades:
        if grade < lowest:
            lowest = grade
        elif grade - lowest > high - low:
            low, high = lowest, grade
    return [f"grade {low:g} above grade {high:g}"] if high > low else []
