"""The scan of a block of lines in Python: the twin of the native scan, its oracle, and the source of all its errors."""

from __future__ import annotations

from itertools import compress, islice, pairwise
from operator import ne

import numpy as np

from cranfield.errors import DuplicateError
from cranfield.io.text import Block, Columns, decoded
from cranfield.ranks.codes import codes_of
from cranfield.ranks.columns import Integers, Numbers
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.policy import Policy
from cranfield.ranks.scan.counting import HINT, Part, count, first_repeat, join, kept_places
from cranfield.ranks.ties import ordered


def scan(block: Block, judgments: Judgments, policy: Policy, depth: int = 0) -> Part:
    """Rank the judged documents of every query of a block; the first `depth` of each judged query as numbers too."""
    sizes, parts, codes = [], [], [np.empty(0, np.int64)]
    rankings = rankings_of_lines(block, policy)
    for query, ranking in rankings.items():
        sizes.append(len(ranking.documents))
        number = judgments._number_of_bytes.get(query)
        if number is None:
            continue
        scores = ranking.scores
        if depth:
            codes.append(_codes(ranking.documents, scores, judgments.query_ids[number], judgments, policy, depth))
        rows = [
            row
            for row in range(judgments.first[number], judgments.first[number + 1])
            if judgments._document_bytes[row] in ranking.distinct
        ]
        hits = [judgments._document_bytes[row] for row in rows]
        place = dict(zip(ranking.documents, range(len(scores)), strict=True)) if len(hits) > 4 else None
        values = [scores[place[hit] if place else ranking.documents.index(hit)] for hit in hits]
        parts.append(count(ranking.documents, scores, rows, hits, values, policy.ties == "file"))
    return Part(list(rankings), np.array(sizes, dtype=np.int64), join(parts), np.concatenate(codes))


def rankings_of_lines(block: Block, policy: Policy) -> dict[bytes, QueryLines]:
    """The lines of each query of a block, checked, without what the policy leaves out."""
    columns = block.columns()
    rankings = {query: QueryLines(block, columns, places) for query, places in _group(columns.query).items()}
    for query, ranking in rankings.items():
        if block.layout.counted:
            ranking.check_ranks()
        if policy.same_id == "drop":
            ranking.drop(query)
        ranking.settle_duplicates(policy)
    return rankings


def _codes(
    documents: list[bytes], scores: Numbers, query: str, judgments: Judgments, policy: Policy, depth: int
) -> Integers:
    by_document = dict(zip(decoded(documents), scores.tolist(), strict=True))
    return codes_of(ordered(by_document, query, judgments.by_query[query], policy)[:depth])


def _group(queries: list[bytes]) -> dict[bytes, list[slice]]:
    changes = compress(range(1, len(queries)), map(ne, queries, islice(queries, 1, None)))
    stretches: dict[bytes, list[slice]] = {}
    for start, stop in pairwise([0, *changes, len(queries)] if queries else []):
        stretches.setdefault(queries[start], []).append(slice(start, stop))
    return stretches


class QueryLines:
    def __init__(self, block: Block, columns: Columns, stretches: list[slice]) -> None:
        self._block = block
        self._columns = columns
        self._stretches = stretches
        if len(stretches) == 1:
            self.documents = columns.document[stretches[0]]
            self.values = columns.value[stretches[0]]
        else:
            self.documents = [document for part in stretches for document in columns.document[part]]
            self.values = np.concatenate([columns.value[part] for part in stretches])
        self.distinct = set(self.documents)

    @property
    def scores(self) -> Numbers:
        return -self.values if self._block.layout.ranks else self.values

    def check_ranks(self) -> None:
        for at, value in enumerate(self.values):
            if value != at + 1:
                fact = f"the third column says {value:g} where rank {at + 1} is expected, so it may not be a rank."
                hint = "give the format: 'msmarco' for query, document, rank; 'tsv' for query, document, score"
                raise self._block.error(self._line(at), fact, hint=hint)

    def drop(self, query: bytes) -> None:
        if query in self.distinct:
            self._keep([at for at, document in enumerate(self.documents) if document != query])

    def settle_duplicates(self, policy: Policy) -> None:
        if len(self.distinct) == len(self.documents):
            return
        if policy.duplicates == "error":
            at = first_repeat(self.documents)
            document, query = self.documents[at].decode(), self._columns.query[self._stretches[0].start].decode()
            times = len(self.documents) - len(self.distinct)
            more = f"; {times - 1} more duplicates follow" if times > 1 else ""
            fact = f"document '{document}' appears twice in the ranking of query '{query}'{more}."
            raise self._block.error(self._line(at), fact, hint=HINT, kind=DuplicateError)
        self._keep(kept_places(self.documents, self.scores.tolist(), policy.duplicates))

    def _keep(self, places: list[int]) -> None:
        self.documents = [self.documents[at] for at in places]
        self.values = self.values[places]
        self.distinct = set(self.documents)

    def _line(self, at: int) -> int:
        for part in self._stretches:
            if at < part.stop - part.start:
                place: int = part.start + at
                return self._columns.line[place] if self._columns.line else place
            at -= part.stop - part.start
        raise IndexError(at)
