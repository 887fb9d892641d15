"""Where runs have the relevant documents of queries, and which of these are in the wrong order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from cranfield.evaluation.result import Evaluation
from cranfield.measures.scope import Scope
from cranfield.ranks.columns import Integers, offsets
from cranfield.ranks.judgments import Judgments


class RelevantRanks(NamedTuple):
    """What a run has of the relevant documents, by query.

    ranks: of the first so many, the best first; 0 for one that was not retrieved
    grades: of those that the measure looks at, in the order of their ranks
    """

    ranks: Mapping[str, list[int]]
    grades: Mapping[str, list[float]]


class RelevantDocuments:
    """The relevant documents of some queries as rows of the judgments, to find them in any run at once.

    relevant: the documents of each query, the best first
    most: how many of them have ranks
    scope: what the measure looks at
    """

    def __init__(self, judgments: Judgments, relevant: Mapping[str, Sequence[str]], *, most: int, scope: Scope) -> None:
        self.judgments, self.most, self.scope = judgments, most, scope
        self.query_ids = list(relevant)
        self.first = offsets(min(len(documents), most) for documents in relevant.values())
        rows = len(judgments.document_ids)
        self.query, self.place = np.full(rows, -1), np.full(rows, -1)  # of each row that is a relevant document
        for at, (query, documents) in enumerate(relevant.items()):
            start, stop = judgments.first[judgments.number[query] :][:2].tolist()
            row = {document: number for number, document in enumerate(judgments.document_ids[start:stop], start)}
            its = [row[document] for document in documents]
            self.query[its], self.place[its] = at, range(len(its))

    def ranked(self, evaluation: Evaluation) -> RelevantRanks | None:
        """Where a run has them; None if that is not known."""
        table = evaluation.ranks
        if table is None:
            return None
        rows = self._rows(evaluation)
        relevant = rows >= 0
        relevant[relevant] = self.query[rows[relevant]] >= 0
        rows, ranks = rows[relevant], table.rank[relevant]
        query, place = self.query[rows], self.place[rows]
        by_place = np.zeros(self.first[-1], dtype=np.int64)
        listed = place < self.most
        by_place[self.first[query[listed]] + place[listed]] = ranks[listed]
        seen = ranks <= (self.scope.cutoff or np.inf)
        order = np.argsort(query[seen], kind="stable")  # the ranks of a query stay in their order
        stops = np.searchsorted(query[seen][order], np.arange(len(self.query_ids) + 1))
        return RelevantRanks(
            self._split(by_place.tolist(), self.first),
            self._split(self.judgments.grades[rows[seen][order]].tolist(), stops),
        )

    def _rows(self, evaluation: Evaluation) -> Integers:
        """Which rows of the judgments the judged documents of a run are; -1 for queries that are not judged here."""
        table = evaluation.ranks
        assert table is not None
        known = np.array([self.judgments.number.get(query, -1) for query in table.query_ids], dtype=np.int64)
        # Rows are counted from the query's first, since the evaluation may have had fewer queries than these judgments.
        shift = self.judgments.first[known] - table.judged_first[: len(known)]
        return np.where(known[table.query] >= 0, table.row + shift[table.query], -1)

    def _split(self, values: list[Any], stops: Integers) -> dict[str, list[Any]]:
        parts = zip(self.query_ids, pairwise(stops.tolist()), strict=True)
        return {query: values[start:stop] for query, (start, stop) in parts}


def misordered(grades: Iterable[float], scope: Scope) -> list[str]:
    """The two grades in the wrong order that differ most, where a measure minds: a lower one above a higher one.

    grades: of relevant documents, in the order of their ranks

    >>> from cranfield import parse_measure
    >>> misordered([2, 1, 3], Scope.of(parse_measure("nDCG@10")))
    ['grade 1 above grade 3']
    """
    if scope.rel is not None:
        return []  # whatever is relevant counts the same
    lowest, low, high = float("inf"), 0.0, 0.0
    for grade in grades:
        if grade < lowest:
            lowest = grade
        elif grade - lowest > high - low:
            low, high = lowest, grade
    return [f"grade {low:g} above grade {high:g}"] if high > low else []
