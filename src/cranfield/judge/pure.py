"""The scan of a block of lines in Python: the twin of the native scan, its oracle, and the voice of all its errors."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from cranfield.judge.counting import Found, count, join
from cranfield.judge.judgments import Integers, Judgments
from cranfield.judge.policy import Policy
from cranfield.read.text import Block, Columns


class Part(NamedTuple):
    """What a block says: its queries, how many documents each retrieved, and the judged ones among them."""

    queries: Sequence[bytes]
    retrieved: Integers
    found: Found


def scan(block: Block, judgments: Judgments, policy: Policy) -> Part:
    """Rank the judged documents of every query of a block."""
    columns = block.columns()
    sizes, parts = [], []
    rankings = _group(columns.query)
    for query, places in rankings.items():
        ranking = _Ranking(block, columns, places)
        if block.layout.counted:
            ranking.check_ranks()
        if policy.same_id == "drop":
            ranking.drop(query)
        ranking.settle_duplicates(policy)
        sizes.append(len(ranking.documents))
        number = judgments.number_of_bytes.get(query)
        if number is None:
            continue
        scores = np.array(ranking.values)
        if block.layout.ranks:
            scores = -scores
        rows = [
            row
            for row in range(judgments.first[number], judgments.first[number + 1])
            if judgments.document_bytes[row] in ranking.place
        ]
        hits = [judgments.document_bytes[row] for row in rows]
        values = [scores[ranking.place[hit]] for hit in hits]
        parts.append(count(ranking.documents, scores, rows, hits, values, policy.ties == "file"))
    return Part(list(rankings), np.array(sizes, dtype=np.int64), join(parts))


def _group(queries: list[bytes]) -> dict[bytes, list[slice]]:
    """The stretches of lines of each query, in order of appearance."""
    stretches: dict[bytes, list[slice]] = {}
    start = 0
    for query, lines in groupby(queries):
        stop = start + sum(1 for _ in lines)
        stretches.setdefault(query, []).append(slice(start, stop))
        start = stop
    return stretches


class _Ranking:
    """The lines of one query."""

    def __init__(self, block: Block, columns: Columns, stretches: list[slice]) -> None:
        self._block = block
        self._columns = columns
        self._stretches = stretches
        self.documents = [document for part in stretches for document in columns.document[part]]
        self.values = [value for part in stretches for value in columns.value[part]]
        self.place = dict(zip(self.documents, range(len(self.documents)), strict=True))

    def check_ranks(self) -> None:
        for at, value in enumerate(self.values):
            if value != at + 1:
                raise self._block.error(
                    self._line(at),
                    f"the third column says {value:g} where rank {at + 1} is expected, so it may not be a rank.",
                    hint="give the format: 'msmarco' for query, document, rank; 'tsv' for query, document, score",
                )

    def drop(self, query: bytes) -> None:
        if query in self.place:
            kept = [at for at, document in enumerate(self.documents) if document != query]
            self._keep(kept)

    def settle_duplicates(self, policy: Policy) -> None:
        if len(self.place) == len(self.documents):
            return
        if policy.duplicates == "error":
            first: dict[bytes, int] = {}
            for at, document in enumerate(self.documents):
                if document in first:
                    query = self._columns.query[self._stretches[0].start].decode()
                    times = len(self.documents) - len(self.place)
                    more = f"; {times - 1} more duplicates follow" if times > 1 else ""
                    raise self._block.error(
                        self._line(at),
                        f"document '{document.decode()}' stands twice in the ranking of query '{query}'{more}.",
                        hint="keep one line, or choose which with duplicates='first', 'last' or 'best'",
                    )
                first[document] = at
        keep: dict[bytes, int] = {}
        sign = -1 if self._block.layout.ranks else 1
        for at, document in enumerate(self.documents):
            other = keep.setdefault(document, at)
            better = sign * self.values[at] > sign * self.values[other]
            if policy.duplicates == "last" or (policy.duplicates == "best" and better):
                keep[document] = at
        self._keep(sorted(keep.values()))

    def _keep(self, places: list[int]) -> None:
        self.documents = [self.documents[at] for at in places]
        self.values = [self.values[at] for at in places]
        self.place = dict(zip(self.documents, range(len(self.documents)), strict=True))

    def _line(self, at: int) -> int:
        for part in self._stretches:
            if at < part.stop - part.start:
                place = part.start + at
                return self._columns.line[place] if self._columns.line else place
            at -= part.stop - part.start
        raise IndexError(at)
