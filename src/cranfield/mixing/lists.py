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


class _Ids(NamedTuple):
    """The ids of several runs: those of one after those of another."""

    code: Integers
    texts: list[Bytes]
    text: Integers  # in which of these texts each is
    start: Integers
    length: Integers

    @classmethod
    def of(cls, ranked: Sequence[Ranked]) -> _Ids:
        text = np.repeat(np.arange(len(ranked)), [len(its.code) for its in ranked])
        code, start, length = (
            np.concatenate([getattr(its, name) for its in ranked]) for name in ("code", "start", "length")
        )
        return cls(code, [its.text for its in ranked], text, start, length)


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

    first: Integers
    _row: Integers  # of the ids, for each document: wherever it was found

    def __init__(self, ranked: Sequence[Ranked], scores: Sequence[Numbers]) -> None:
        """scores: of each run, normalised; none where only ranks are looked at"""
        self.counts = np.stack([its.sizes for its in ranked])
        lined_up = native.line_up if native else line_up
        self._ids = _Ids.of(ranked)
        given = np.concatenate(scores) if scores else np.zeros(0)
        self.first, self._row, rank, score = lined_up(self._ids.code, self.counts, given)
        self.rank = rank.reshape(len(ranked), len(self._row))
        self.score = score.reshape(self.rank.shape) if scores else np.broadcast_to(0.0, self.rank.shape)

    @classmethod
    def of_lists(cls, lists: Sequence[dict[str, float]]) -> Lists:
        """Those of a single query, with the scores as they are."""
        ranked = [ranked_ids([list(scores)], [list(scores.values())]) for scores in lists]
        return cls(ranked, [its.score for its in ranked])

    def __len__(self) -> int:
        return len(self.first) - 1

    @property
    def code(self) -> Integers:
        return self._ids.code[self._row]

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
        taken.first, taken.counts, taken._ids, taken._row = first, counts, self._ids, self._row[columns]
        taken.rank, taken.score = self.rank[:, columns], self.score[:, columns]
        return taken

    def places(self, columns: Integers) -> tuple[list[Bytes], Integers, Integers, Integers]:
        """Where the ids of some documents are: the texts, in which of them each is, where it starts, its length."""
        ids, rows = self._ids, self._row[columns]
        return ids.texts, ids.text[rows], ids.start[rows], ids.length[rows]

    def ids(self, columns: Integers) -> list[str]:
        """The ids of some documents."""
        texts, *places = self.places(columns)
        data = [text.data for text in texts]
        return [
            str(data[text][start : start + length], "utf-8", "surrogatepass")
            for text, start, length in zip(*(column.tolist() for column in places), strict=True)
        ]

    def by_id(self, columns: Integers, group: Integers) -> Integers:
        """The order of some documents: by group, then the larger id by bytes first."""
        texts, text_of, start, length = self.places(columns)
        width = -(-int(length.max(initial=1)) // 8)  # words of eight bytes
        within = np.arange(8 * width)
        inside = within < length[:, None]
        at = start[:, None] + within
        padded = np.zeros(at.shape, np.uint8)
        for number, text in enumerate(texts):
            its = inside & (text_of == number)[:, None]
            padded[its] = text[at[its]]
        words = padded.view(">u8").astype(np.uint64)
        keys = [~words[:, word] for word in reversed(range(width))]
        # Zeros at the end of an id are not told from none: of two ids that differ in these alone, the longer is larger.
        return np.lexsort((-length, *keys, group))

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


def line_up(code: Integers, counts: Integers, scores: Numbers) -> tuple[Integers, Integers, Numbers, Numbers]:
    """The twin of the native `line_up`: the rankings of several runs as tables, a column for each document.

    code: of documents, run after run and query after query, best first; scores: of these, or none
    counts: how many documents each run (row) has for each query (column)
    Returns where the documents of each query start, and where the last end; a row of `code` for each of them; and for
    each run and document the rank, infinite where there is none, and the score, 0 where there is none.
    """
    start = offsets(counts.reshape(-1))[:-1].reshape(counts.shape)
    arguments = (np.ascontiguousarray(start.T), np.ascontiguousarray(counts.T), np.zeros((0, 2), np.int64))
    column, sizes, _ = match_documents(code, *arguments)
    first = offsets(sizes)
    shape = len(counts), int(first[-1])
    rank, score, row = np.full(shape, np.inf), np.zeros(shape if len(scores) else 0), np.empty(shape[1], np.int64)
    for run, (its_start, its_count) in enumerate(zip(start, counts, strict=True)):
        own = np.arange(its_count.sum()) + int(counts[:run].sum())
        document = column[own] + np.repeat(first[:-1], its_count)
        rank[run, document] = own + 1 - np.repeat(its_start, its_count)
        row[document] = own
        if len(scores):
            score[run, document] = scores[own]
    return first, row, rank.reshape(-1), score.reshape(-1)


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
