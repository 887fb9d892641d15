"""The unjudged documents that runs retrieved: which of them are the same, and where each run ranks them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cranfield.ranks.columns import Integers, offsets
from cranfield.ranks.scan.native import CORES
from cranfield.ranks.scan.parallel import in_parallel
from cranfield.ranks.tables.ranks import JudgedRanks

Ranks = npt.NDArray[np.int32]

NOWHERE = 1 << 30  # the rank of a document that a run did not retrieve
CELLS = 1 << 21  # ranks that are worked on at a time


@dataclass(frozen=True)
class RunPairs:
    """Some pairs of runs, each on some queries: a row for each pair and query, and the unjudged documents of the row.

    first, second: numbers of runs; query: number of a query
    first_rank, second_rank: for each document of a row its ranks in the two runs. Only documents that one of them has
        down to the cutoff are there; a document that is not there, to fill up a row, is NOWHERE in both.
    beneath: how many unjudged documents both have, but only deeper than the cutoff
    """

    first: Integers
    second: Integers
    query: Integers
    first_rank: Ranks
    second_rank: Ranks
    beneath: Integers

    def __len__(self) -> int:
        return len(self.query)

    def swapped(self) -> RunPairs:
        """The same with the runs in the other order."""
        return RunPairs(self.second, self.first, self.query, self.second_rank, self.first_rank, self.beneath)

    def only(self, rows: Integers) -> RunPairs:
        """Some of the rows."""
        return RunPairs(
            self.first[rows],
            self.second[rows],
            self.query[rows],
            self.first_rank[rows],
            self.second_rank[rows],
            self.beneath[rows],
        )


class PairsAndQueries(NamedTuple):
    """Some pairs on some of the queries, by their places; `rows` makes their rows, pair by pair."""

    pairs: slice
    queries: Integers
    rows: Callable[[], RunPairs]


class Holes:
    """The unjudged documents of several runs, query by query.

    tables: the judged ranks of each run
    codes: for each run and query the numbers of all documents retrieved, best first
    queries: those that are compared
    """

    def __init__(
        self,
        tables: Sequence[JudgedRanks],
        codes: Sequence[Sequence[Integers]],
        queries: Integers,
        pairs: Sequence[tuple[int, int]],
    ) -> None:
        self.queries = queries
        self.pairs = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        runs = [_unjudged(table, its_codes) for table, its_codes in zip(tables, codes, strict=True)]
        found = list(in_parallel(partial(_numbered, runs, self.pairs), queries.tolist(), CORES))
        self.counts = np.array([each.counts for each in found], dtype=np.int64).reshape(len(queries), len(tables))
        self.shared = np.array([each.shared for each in found], dtype=np.int64).reshape(len(queries), len(pairs)).T
        self._documents = offsets(each.documents for each in found)
        self._column = np.concatenate([np.zeros(0, np.int32), *(each.column for each in found)])
        self._rank = np.concatenate([np.zeros(0, np.int32), *(each.rank for each in found)])
        self._entries = offsets(self.counts.sum(axis=1))
        self._deepest = int(self._rank.max(initial=0))

    def lacking(self) -> Integers:
        """For each run and query, how many unjudged documents at most it lacks that a run it is compared with has."""
        most = np.zeros(self.counts.T.shape, dtype=np.int64)
        for one, other in ((0, 1), (1, 0)):
            whose, others = self.pairs[:, one], self.pairs[:, other]
            np.maximum.at(most, whose, self.counts.T[others] - self.shared)
        return most

    def digests(self, cutoff: int | None) -> Integers:
        """For each run and query a number: equal numbers mean the same unjudged documents at the same ranks."""
        ends_of = offsets(self.counts.reshape(-1)).tolist()
        within = self._rank <= (NOWHERE if cutoff is None else cutoff)
        found = [
            hash((self._column[each][within[each]].tobytes(), self._rank[each][within[each]].tobytes()))
            for each in (slice(*pair) for pair in pairwise(ends_of))
        ]
        return np.array(found, dtype=np.int64).reshape(self.counts.shape).T

    def each(self, depths: Integers) -> Iterator[PairsAndQueries]:
        """All pairs on all queries, a part at a time.

        depths: for each query, down to which rank documents are wanted; those of a part share the deepest.
        """
        runs, sizes = self.counts.shape[1], np.diff(self._documents)
        depths = np.minimum(depths, self._deepest)
        order = np.argsort(depths, kind="stable")
        most = max(CELLS // max(runs * int(sizes.max(initial=1)), 1), 1)
        for start in range(0, len(order), most):
            queries = order[start : start + most]
            depth = int(depths[queries].max())
            rank, document = self._matrices(queries, depth)
            size = max(CELLS // (len(queries) * max(2 * depth, 1)), 1)
            for low in range(0, len(self.pairs), size):
                pairs = slice(low, min(low + size, len(self.pairs)))
                yield PairsAndQueries(pairs, queries, partial(self._rows, pairs, queries, rank, document))

    def _matrices(self, queries: Integers, depth: int) -> tuple[Ranks, Ranks]:
        """The rank of each document in each run; and for each run and query the document at each rank, or -1."""
        runs = self.counts.shape[1]
        counts = self.counts[queries].reshape(-1)
        whose = np.repeat(np.tile(np.arange(runs), len(queries)), counts)
        query = np.repeat(np.repeat(np.arange(len(queries)), runs), counts)
        its_sizes = self.counts[queries].sum(axis=1)
        entries = np.arange(len(query)) + np.repeat(self._entries[queries] - offsets(its_sizes)[:-1], its_sizes)
        first = offsets(np.diff(self._documents)[queries])
        column, place = first[query] + self._column[entries], self._rank[entries]
        rank = np.full((runs, int(first[-1]) + 1), NOWHERE, dtype=np.int32)  # the last column is that of no document
        rank[whose, column] = place
        document = np.full((runs, len(queries), depth), -1, dtype=np.int32)
        within = place <= depth
        document[whose[within], query[within], place[within] - 1] = column[within]
        return rank, document

    def _rows(self, pairs: slice, queries: Integers, rank: Ranks, document: Ranks) -> RunPairs:
        count, width = len(queries), pairs.stop - pairs.start
        first, second = (np.repeat(self.pairs[pairs, side], count) for side in (0, 1))
        query = np.tile(np.arange(count), width)
        depth = document.shape[2]
        places = np.arange(1, depth + 1, dtype=np.int32)
        its_first, its_second = document[first, query], document[second, query]
        # Documents of the second run that the first one has at least as high are there already.
        elsewhere = rank[first[:, None], its_second]
        new = (its_second >= 0) & (elsewhere > depth)
        nowhere = np.int32(NOWHERE)
        first_rank = np.hstack([np.where(its_first >= 0, places, nowhere), np.where(new, elsewhere, nowhere)])
        second_rank = np.hstack([rank[second[:, None], its_first], np.where(new, places, nowhere)])
        counts = self.counts[queries]
        union = counts[query, first] + counts[query, second] - self.shared[pairs][:, queries].reshape(-1)
        return RunPairs(
            first=first,
            second=second,
            query=self.queries[queries][query],
            first_rank=first_rank,
            second_rank=second_rank,
            beneath=union - (its_first >= 0).sum(axis=1) - new.sum(axis=1),
        )


class _Unjudged(NamedTuple):
    """The unjudged documents of a run: those of query q are at first[q] to first[q + 1]."""

    first: list[int]
    rank: Ranks
    code: Integers


def _unjudged(judged: JudgedRanks, codes: Sequence[Integers]) -> _Unjudged:
    place = offsets(judged.retrieved)
    unjudged = np.ones(place[-1], dtype=np.bool_)
    known = judged.judged
    unjudged[place[judged.query[known]] + judged.rank[known] - 1] = False
    at = np.flatnonzero(unjudged)
    first = np.searchsorted(at, place)
    rank = at - np.repeat(place[:-1], np.diff(first)) + 1
    return _Unjudged(first.tolist(), rank.astype(np.int32), np.concatenate(codes)[at])


class _Numbered(NamedTuple):
    """The unjudged documents of a query, run by run.

    counts: how many each run has; shared: how many both runs of each pair have
    documents: how many there are; column: the number of each, from 0; rank: where its run ranks it
    """

    counts: list[int]
    shared: Integers
    documents: int
    column: Ranks
    rank: Ranks


def _numbered(runs: Sequence[_Unjudged], pairs: Integers, query: int) -> _Numbered:
    places = [slice(*each.first[query : query + 2]) for each in runs]
    counts = [place.stop - place.start for place in places]
    codes = np.concatenate([each.code[place] for each, place in zip(runs, places, strict=True)])
    rank = np.concatenate([each.rank[place] for each, place in zip(runs, places, strict=True)])
    known, column = np.unique(codes, return_inverse=True)
    has = np.zeros((len(runs), len(known)), dtype=np.float32)
    has[np.repeat(np.arange(len(runs)), counts), column] = 1
    shared = (has @ has.T)[pairs[:, 0], pairs[:, 1]].astype(np.int64)
    return _Numbered(counts, shared, len(known), column.astype(np.int32), rank)
