"""Where runs have the relevant documents of queries, and which of these are in the wrong order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np

from cranfield.evaluation.result import Evaluation
from cranfield.measures.scope import Scope
from cranfield.ranks.judgments import Judgments

Found = tuple[int, int, float]  # a relevant document of a query: its place among them, the best first; rank; grade


class RelevantDocuments:
    """The relevant documents of some queries, the best first, as rows of the judgments: found in any run at once."""

    def __init__(self, judgments: Judgments, relevant: Mapping[str, Sequence[str]]) -> None:
        self.judgments = judgments
        self.places = np.full(len(judgments.document_ids), -1, dtype=np.int64)  # among the relevant ones of a query
        for query, documents in relevant.items():
            start, stop = judgments.first[judgments.number[query] :][:2].tolist()
            row = {document: at for at, document in enumerate(judgments.document_ids[start:stop], start)}
            self.places[[row[document] for document in documents]] = range(len(documents))

    def ranked(self, evaluation: Evaluation) -> dict[str, list[Found]] | None:
        """By query the relevant documents that a run retrieved, in the order of their ranks; None if they have none."""
        table = evaluation.ranks
        if table is None:
            return None
        number, first = self.judgments.number, self.judgments.first
        known = [number.get(query, -1) for query in table.query_ids]
        # Rows are counted from the query's first, since the evaluation may have had fewer queries than these judgments.
        rows = table.row + (first[known] - table.judged_first[: len(known)])[table.query]
        place = np.where(np.array(known)[table.query] >= 0, self.places.take(rows, mode="clip"), -1)
        kept = place >= 0
        stops = np.searchsorted(table.query[kept], np.arange(len(known) + 1)).tolist()
        columns = (place[kept], table.rank[kept], self.judgments.grades.take(rows[kept], mode="clip"))
        found = list(zip(*(column.tolist() for column in columns), strict=True))
        ends = zip(table.query_ids, pairwise(stops), strict=True)
        return {query: found[start:stop] for query, (start, stop) in ends}


def misordered(found: Iterable[Found], scope: Scope) -> list[str]:
    """The two grades in the wrong order that differ most, where a measure minds: a lower one above a higher one.

    >>> from cranfield import parse_measure
    >>> misordered([(1, 1, 1.0), (0, 2, 3.0)], Scope.of(parse_measure("nDCG@10")))
    ['grade 1 above grade 3']
    """
    if scope.rel is not None:
        return []  # whatever is relevant counts the same
    deepest = scope.cutoff or float("inf")
    lowest, low, high = float("inf"), 0.0, 0.0
    for _, rank, grade in found:
        if rank > deepest:
            break
        lowest = min(lowest, grade)
        if grade - lowest > high - low:
            low, high = lowest, grade
    return [f"grade {low:g} above grade {high:g}"] if high > low else []
