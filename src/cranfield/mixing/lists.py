"""The tables that normalisations and fusion methods read: rankings of several runs, of some queries.

Ranked: of one run, a row for each document ──normalisation──▶ scores
Ranked, Ranked, … ──Lists.of──▶ Lists: runs × documents, ranks and scores ──method──▶ a fused score for each document
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from cranfield.native import native
from cranfield.ranks.columns import Flags, Integers, Numbers, offsets
from cranfield.ranks.matching import match_documents

_DROPPED = 2.0**16 + 1  # leaves 37 of 53 bits: eleven digits


Bytes = np.ndarray[tuple[int], np.dtype[np.uint8]]


def settled(scores: Numbers) -> Numbers:
    """Scores to eleven digits: sums of the same numbers in another order are equal, and so tie."""
    with np.errstate(over="ignore", invalid="ignore"):
        high = scores * _DROPPED
        short: Numbers = high - (high - scores)
    return np.where(np.isfinite(short), short, scores)


class Ranked(NamedTuple):
    """Rankings of one run, best first: a row for each document, query after query.

    sizes: how many rows each query has; 0 where the run lacks it
    code: a number for each document; equal ids have equal ones in this process
    text, start, length: where the ids are, in UTF-8
    """

    sizes: Integers
    code: Integers
    score: Numbers
    text: Bytes
    start: Integers
    length: Integers


class ScoredLists:
    """The scores of one run, for normalisations: a row for each document, list after list, best first.

    Reductions of a list are repeated for each of its rows.

    >>> import numpy as np
    >>> lists = ScoredLists(np.array([9.0, 6.0, 3.0, 2.0]), np.array([3, 0, 1]))
    >>> lists.lowest.tolist(), lists.highest.tolist(), lists.size.tolist(), lists.rank.tolist()
    ([3.0, 3.0, 3.0, 2.0], [9.0, 9.0, 9.0, 2.0], [3, 3, 3, 1], [1, 2, 3, 1])
    >>> lists.sum(lists.score).tolist(), lists.mean(lists.score).tolist()
    ([18.0, 18.0, 18.0, 2.0], [6.0, 6.0, 6.0, 2.0])
    >>> lists.ratio(lists.score - lists.lowest, lists.highest - lists.lowest, 1.0).tolist()
    [1.0, 0.5, 0.0, 1.0]
    """

    def __init__(self, score: Numbers, count: Integers) -> None:
        self.score = score
        self._count = count[count > 0]
        self._first = offsets(self._count)[:-1]

    @cached_property
    def size(self) -> Integers:
        return np.repeat(self._count, self._count)

    @cached_property
    def rank(self) -> Integers:
        return np.arange(1, len(self.score) + 1) - np.repeat(self._first, self._count)

    @cached_property
    def lowest(self) -> Numbers:
        return self._repeated(np.minimum, self.score)

    @cached_property
    def highest(self) -> Numbers:
        return self._repeated(np.maximum, self.score)

    def sum(self, values: Numbers) -> Numbers:
        return self._repeated(np.add, values)

    def mean(self, values: Numbers) -> Numbers:
        return self.sum(values) / self.size

    def ratio(self, above: Numbers, below: Numbers, constant: float | Numbers) -> Numbers:
        """above / below; the constant in lists of equal scores, which have no scale."""
        scale = (self.lowest < self.highest) & (below > 0)
        return np.divide(above, below, out=np.broadcast_to(constant, above.shape).astype(np.float64), where=scale)

    def _repeated(self, reduce: np.ufunc, values: Numbers) -> Numbers:
        if not len(values):
            return values
        return np.repeat(reduce.reduceat(values, self._first), self._count)


class Lists:
    """Rankings of several runs, of some queries: a row for each run, a column for each document of each query.

    rank: from 1; infinite where a run does not have the document
    score: normalised; 0 there
    found: whether a run has the document
    size: how many documents the run has for the query; documents: how many all runs have together
    first: where the documents of each query start, and where the last end

    >>> import numpy as np
    >>> lists = Lists.of_lists([{"a": 9.0, "b": 6.0}, {"b": 0.8, "c": 0.4}])
    >>> lists.rank.tolist(), lists.score.tolist()
    ([[1.0, 2.0, inf], [inf, 1.0, 2.0]], [[9.0, 6.0, 0.0], [0.0, 0.8, 0.4]])
    >>> lists.total(lists.score).tolist(), lists.total(lists.score, np.array([0.5, 10.0])).tolist()
    ([9.0, 6.8, 0.4], [4.5, 11.0, 4.0])
    >>> lists.count().tolist(), lists.documents.tolist(), lists.size.tolist()
    ([1.0, 2.0, 1.0], [3, 3, 3], [[2, 2, 2], [2, 2, 2]])
    """

    def __init__(self, ranked: Sequence[Ranked], scores: Sequence[Numbers]) -> None:
        """scores: of each run, normalised; none where only ranks are looked at"""
        counts = np.stack([its.sizes for its in ranked])
        start = offsets(counts.reshape(-1))[:-1].reshape(counts.shape)
        match = native.match_documents if native else match_documents
        code = np.concatenate([its.code for its in ranked])
        arguments = (np.ascontiguousarray(start.T), np.ascontiguousarray(counts.T), np.zeros((0, 2), np.int64))
        column, sizes, _ = match(code, *arguments)
        self.first, self.counts = offsets(sizes), counts
        shape = len(ranked), int(self.first[-1])
        self.rank, self.score = np.full(shape, np.inf), np.zeros(shape)
        at = np.empty(shape[1], np.int64)
        rows = offsets(map(len, (its.code for its in ranked)))
        for run, its in enumerate(ranked):
            begin, end = rows[run : run + 2].tolist()
            own = np.arange(begin, end)
            document = column[begin:end] + np.repeat(self.first[:-1], its.sizes)
            self.rank[run, document] = own + 1 - np.repeat(start[run], its.sizes)
            at[document] = own
            if scores:
                self.score[run, document] = scores[run]
        # The text of each document's id, wherever it was found.
        base = offsets(len(its.text) for its in ranked)
        self._text = np.concatenate([its.text for its in ranked])
        self._start = np.concatenate([its.start + base[n] for n, its in enumerate(ranked)])[at]
        self._length = np.concatenate([its.length for its in ranked])[at]
        self.code = code[at]

    @classmethod
    def of_lists(cls, lists: Sequence[dict[str, float]]) -> Lists:
        """Those of a single query, with the scores as they are."""
        ranked = [ranked_ids([list(scores)], [list(scores.values())]) for scores in lists]
        return cls(ranked, [its.score for its in ranked])

    def __len__(self) -> int:
        return len(self.first) - 1

    @cached_property
    def found(self) -> Flags:
        found: Flags = np.isfinite(self.rank)
        return found

    @cached_property
    def size(self) -> Integers:
        return np.repeat(self.counts, np.diff(self.first), axis=1)

    @cached_property
    def documents(self) -> Integers:
        return np.repeat(np.diff(self.first), np.diff(self.first))

    def total(self, values: Numbers, weights: Numbers | None = None) -> Numbers:
        """Σ w_i x_i over the runs, always in their order; a row for each row of weights.

        Every weighting gives the same sums, alone or beside others.
        """
        if weights is None:
            weights = np.ones(len(values))
        total: Numbers = weights[..., 0, None] * values[0]
        for run in range(1, len(values)):
            total += weights[..., run, None] * values[run]
        return total

    def count(self, weights: Numbers | None = None) -> Numbers:
        """How many runs have the document, or their weights together."""
        return self.total(self.found.astype(np.float64), weights)

    def part(self, query: int) -> Lists:
        """The lists of one query."""
        columns = slice(int(self.first[query]), int(self.first[query + 1]))
        first = np.array([0, columns.stop - columns.start])
        return self._taken(columns, first, self.counts[:, query : query + 1])

    def in_order_of_ids(self) -> Lists:
        """The documents of each query with the larger id first, which is how equal scores are ordered."""
        query = np.repeat(np.arange(len(self)), np.diff(self.first))
        return self._taken(self.by_id(np.arange(len(query)), query), self.first, self.counts)

    def _taken(self, columns: slice | Integers, first: Integers, counts: Integers) -> Lists:
        taken = object.__new__(Lists)
        taken.first, taken.counts, taken._text = first, counts, self._text
        taken.rank, taken.score = self.rank[:, columns], self.score[:, columns]
        taken._start, taken._length, taken.code = self._start[columns], self._length[columns], self.code[columns]
        return taken

    def places(self, columns: Integers) -> tuple[Bytes, Integers, Integers]:
        """Where the ids of some documents are: a text, where each starts in it, and how long it is."""
        return self._text, self._start[columns], self._length[columns]

    def ids(self, columns: Integers) -> list[str]:
        """The ids of some documents."""
        _, starts, lengths = self.places(columns)
        text = self._text.data
        ends = starts + lengths
        return [
            str(text[start:end], "utf-8", "surrogatepass")
            for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
        ]

    def by_id(self, columns: Integers, group: Integers) -> Integers:
        """The order of some documents: by group, then the larger id by bytes first."""
        width = -(-int(self._length[columns].max(initial=1)) // 8) * 8
        start, length = self._start[columns], self._length[columns]
        within = np.arange(width)
        inside = within < length[:, None]
        at = np.where(inside, start[:, None] + within, 0)
        padded = np.where(inside, self._text[at] if len(self._text) else 0, 0).astype(np.uint8)
        words = np.ascontiguousarray(padded).view(">u8").astype(np.uint64)
        keys = [~words[:, word] for word in reversed(range(words.shape[1]))]
        if (self._text == 0).any():  # zeros at the end of an id are not told from none: the longer one is the larger
            keys = [-length, *keys]
        return np.lexsort((*keys, group))

    def best(self, fused: Numbers, depth: int) -> tuple[Integers, Integers, Numbers]:
        """The first documents of each query: their columns, how many each query has, and their scores.

        By the fused score; of equal ones, the larger id first.
        """
        scores = settled(fused)
        kept: list[Integers] = []
        for start, end in zip(self.first[:-1].tolist(), self.first[1:].tolist(), strict=True):
            its = scores[start:end]
            columns = np.arange(len(its))
            if depth < len(its):
                least = np.partition(its, len(its) - depth)[len(its) - depth]
                columns = np.flatnonzero(its >= least)
            kept.append(start + columns[np.argsort(-its[columns])])
        sizes = np.array(list(map(len, kept)), dtype=np.int64)
        columns = np.concatenate(kept) if kept else np.zeros(0, np.int64)
        if not len(columns):
            return columns, sizes, fused[columns]
        place = np.arange(len(columns)) - np.repeat(offsets(sizes)[:-1], sizes)
        score = scores[columns]
        new = place == 0
        new[1:] |= score[1:] != score[:-1]
        group = np.cumsum(new) - 1
        tied = np.flatnonzero(np.bincount(group)[group] > 1)
        if len(tied):
            columns[tied] = columns[tied][self.by_id(columns[tied], group[tied])]
        shown = np.maximum.reduceat(fused[columns], np.flatnonzero(new))[group]  # those of a tie stay equal
        within = place < depth
        return columns[within], np.minimum(sizes, depth), shown[within]


def ranked_ids(ids: Sequence[Sequence[str]], scores: Sequence[Sequence[float]]) -> Ranked:
    """Rankings in memory: the ids of each query, best first, and their scores."""
    from cranfield.ranks.codes import codes_of

    every = [document for documents in ids for document in documents]
    encoded = [document.encode("utf-8", "surrogatepass") for document in every]
    length = np.array(list(map(len, encoded)), dtype=np.int64)
    return Ranked(
        np.array(list(map(len, ids)), dtype=np.int64),
        codes_of(every),
        np.array([score for its in scores for score in its], dtype=np.float64),
        np.frombuffer(b"".join(encoded), np.uint8),
        offsets(length)[:-1],
        length,
    )
