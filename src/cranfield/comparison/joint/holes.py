"""The unjudged documents that runs retrieved: which of them are the same, and where each run ranks them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import pairwise, starmap
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cranfield.native import CORES, native
from cranfield.ranks.codes import Codes
from cranfield.ranks.columns import Integers, offsets
from cranfield.ranks.matching import match_documents
from cranfield.ranks.run import EVERYTHING
from cranfield.ranks.scan.parallel import in_parallel
from cranfield.ranks.tables.ranks import JudgedRanks

Ranks = npt.NDArray[np.int32]

NOWHERE = 1 << 30  # the rank of a document that a run did not retrieve
CELLS = 1 << 21  # ranks of pairs that are worked on at a time
ENTRIES = 1 << 17  # documents of runs that are matched at a time: they fit the cache


@dataclass(frozen=True)
class RunPairs:
    """Some pairs of runs, each on some queries: a row for each pair and query, and the unjudged documents of the row.

    first, second: numbers of runs; query: number of a query
    first_rank, second_rank: for each document of a row its ranks in the two runs. Only documents that one of them has
        down to the cutoff are there; a document that is not there, to fill up a row, is NOWHERE in both.
    beneath: how many more unjudged documents may have a grade: those that the two have deeper, and unseen ones. Where
        documents were only numbered to some depth, at least so many, and more of them would make no difference.
    """

    first: Integers
    second: Integers
    query: Integers
    first_rank: Ranks
    second_rank: Ranks
    beneath: Integers

    def __len__(self) -> int:
        return len(self.query)

    @property
    def listed(self) -> bool:
        """Whether the rows have their documents, which are not listed where nobody would look at them."""
        return bool(self.first_rank.shape[1])

    def swapped(self) -> RunPairs:
        return RunPairs(self.second, self.first, self.query, self.second_rank, self.first_rank, self.beneath)

    def only(self, rows: Integers) -> RunPairs:
        return RunPairs(*(getattr(self, column.name)[rows] for column in fields(self)))


class Part(NamedTuple):
    """Some of the queries, by their places, and down to which rank their documents are listed."""

    places: Integers
    depth: int


class Holes:
    """The unjudged documents of several runs, query by query.

    tables, codes: the judged ranks of each run, and its documents as numbers, all of them or the first ones
    queries: those that are compared
    pairs: the runs that are compared, (first, second), by their numbers
    unseen: how many documents of each query that no run retrieved may have a grade, too
    """

    def __init__(
        self,
        tables: Sequence[JudgedRanks],
        codes: Sequence[Codes],
        queries: Integers,
        pairs: Sequence[tuple[int, int]],
        unseen: int = 0,
    ) -> None:
        self.queries = queries
        self._unseen = unseen
        self.pairs = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        self._codes = codes
        self._runs = [_UnjudgedDocuments(table, its, queries) for table, its in zip(tables, codes, strict=True)]
        self.counts = np.stack([run.counts for run in self._runs])  # by run and query

    @cached_property
    def shared(self) -> Integers:
        """For each pair and query, how many unjudged documents both runs have."""
        every = np.arange(len(self.queries))
        blocks = (every[block] for block in self._blocks(every, EVERYTHING))
        parts = in_parallel(lambda places: self._matched(places, EVERYTHING).shared, blocks, CORES)
        return np.concatenate([np.zeros((len(self.pairs), 0), np.int64), *parts], axis=1)

    def lacking(self) -> Integers:
        """For each run and query, how many unjudged documents at most it lacks: of runs beside it, and unseen ones."""
        most = np.zeros(self.counts.shape, dtype=np.int64)
        for one, other in ((0, 1), (1, 0)):
            whose, others = self.pairs[:, one], self.pairs[:, other]
            np.maximum.at(most, whose, self.counts[others] - self.shared)
        return most + self._unseen

    def digests(self, cutoff: int | None) -> Integers:
        """For each run and query a number: equal numbers mean the same documents at the same ranks."""
        digests = [
            [hash(codes.of(query)[:cutoff].tobytes()) for query in self.queries.tolist()] for codes in self._codes
        ]
        return np.array(digests, dtype=np.int64).reshape(self.counts.shape)

    def parts(self, depths: Integers, within: int) -> Iterator[Part]:
        """All queries, some at a time.

        depths: for each of them, down to which rank documents are listed; those of a part share the deepest.
        within: down to which rank documents are matched
        """
        order = np.argsort(depths, kind="stable")
        for block in self._blocks(order, within):
            places = order[block]
            longest = max(int(run.length[places].max(initial=0)) for run in self._runs)
            yield Part(places, min(int(depths[places].max()), longest))

    def _blocks(self, order: Integers, within: int) -> Iterator[slice]:
        """Stretches of the queries in this order that have about ENTRIES documents, and at least one query."""
        sizes = np.sum([np.minimum(run.length[order], within) for run in self._runs], axis=0)
        number = np.cumsum(sizes) // ENTRIES
        first = np.flatnonzero(np.diff(number, prepend=-1)).tolist()
        return starmap(slice, pairwise([*first, len(order)]))

    def rows(self, part: Part, within: int) -> Iterator[tuple[slice, RunPairs]]:
        """The rows of all pairs on the queries of a part, some pairs at a time, pair by pair."""
        places, depth = part
        if not depth:
            yield slice(0, len(self.pairs)), self._unlisted(places)
            return
        matched = self._matched(places, within)
        rank, document = matched.matrices(depth)
        size = max(CELLS // (len(places) * 2 * depth), 1)
        for low in range(0, len(self.pairs), size):
            pairs = slice(low, min(low + size, len(self.pairs)))
            yield pairs, self._rows(pairs, places, matched, rank, document)

    def _matched(self, places: Integers, within: int) -> _Matched:
        documents = [run.within(places, within) for run in self._runs]
        counts = np.stack([counts for _, _, counts in documents], axis=1)
        start = np.ascontiguousarray(offsets(counts.T.reshape(-1))[:-1].reshape(len(self._runs), -1).T)
        match = native.match_documents if native else match_documents
        column, sizes, shared = match(np.concatenate([codes for codes, _, _ in documents]), start, counts, self.pairs)
        rank = np.concatenate([rank for _, rank, _ in documents])
        return _Matched(counts, column, rank, sizes, shared.reshape(len(places), -1).T)

    def _unlisted(self, places: Integers) -> RunPairs:
        first, second = (np.repeat(side, len(places)) for side in self.pairs.T)
        one, other = (self.counts[side][:, places] for side in self.pairs.T)
        nothing, query = np.zeros((len(first), 0), np.int32), np.tile(self.queries[places], len(self.pairs))
        beneath = (one + other - self.shared[:, places]).reshape(-1) + self._unseen
        return RunPairs(first, second, query, nothing, nothing, beneath)

    def _rows(self, pairs: slice, places: Integers, matched: _Matched, rank: Ranks, document: Ranks) -> RunPairs:
        count, width = len(places), pairs.stop - pairs.start
        first, second = (np.repeat(self.pairs[pairs, side], count) for side in (0, 1))
        query = np.tile(np.arange(count), width)
        depth = document.shape[2]
        its_first, its_second = document[first, query], document[second, query]
        # Documents of the second run that the first one has at least as high are there already.
        elsewhere = rank[first[:, None], its_second]
        new = (its_second >= 0) & (elsewhere > depth)
        nowhere, ranked = np.int32(NOWHERE), np.arange(1, depth + 1, dtype=np.int32)
        first_rank = np.hstack([np.where(its_first >= 0, ranked, nowhere), np.where(new, elsewhere, nowhere)])
        second_rank = np.hstack([rank[second[:, None], its_first], np.where(new, ranked, nowhere)])
        counts = matched.counts
        union = counts[query, first] + counts[query, second] - matched.shared[pairs].reshape(-1)
        beneath = union - (its_first >= 0).sum(axis=1) - new.sum(axis=1) + self._unseen
        return RunPairs(first, second, self.queries[places][query], first_rank, second_rank, beneath)


class _UnjudgedDocuments:
    """The unjudged documents of one run, of the queries that are compared.

    length: how many documents of each query are known; counts: how many of these are not judged
    """

    def __init__(self, judged: JudgedRanks, codes: Codes, queries: Integers) -> None:
        self._values, self._start = codes.values, codes.start[queries]
        self.length = codes.count[queries]
        known = judged.judged & (judged.rank <= codes.count[judged.query])
        query = judged.query[known]
        self._unjudged = np.ones(len(codes.values), dtype=np.bool_)
        self._unjudged[codes.start[query] + judged.rank[known] - 1] = False
        self.counts = self.length - np.bincount(query, minlength=len(judged))[queries]

    def within(self, places: Integers, depth: int) -> tuple[Integers, Ranks, Integers]:
        """The codes and ranks of the documents of some queries down to a rank, and how many each query has."""
        sizes = np.minimum(self.length[places], depth)
        first = offsets(sizes)
        at = np.arange(first[-1]) + np.repeat(self._start[places] - first[:-1], sizes)
        kept = self._unjudged[at]
        rank = np.arange(1, first[-1] + 1, dtype=np.int32) - np.repeat(first[:-1].astype(np.int32), sizes)
        counts = np.diff(np.concatenate(([0], np.cumsum(kept)))[first])
        return self._values[at[kept]], rank[kept], counts


class _Matched(NamedTuple):
    """The documents of some queries, run after run, and those of a run query by query.

    counts: how many each query (row) has of each run (column)
    column: a number for each document, from 0 within its query; rank: where its run ranks it
    sizes: how many different documents each query has; shared: for each pair and query, how many both runs have
    """

    counts: Integers
    column: Ranks
    rank: Ranks
    sizes: Integers
    shared: Integers

    def matrices(self, depth: int) -> tuple[Ranks, Ranks]:
        """The rank of each document in each run; and for each run and query the document at each rank, or -1."""
        queries, runs = self.counts.shape
        lengths = self.counts.T.reshape(-1)
        whose = np.repeat(np.repeat(np.arange(runs), queries), lengths)
        query = np.repeat(np.tile(np.arange(queries), runs), lengths)
        first = offsets(self.sizes)
        column = first[query] + self.column
        rank = np.full((runs, int(first[-1]) + 1), NOWHERE, dtype=np.int32)  # the last column is that of no document
        rank[whose, column] = self.rank
        document = np.full((runs, queries, depth), -1, dtype=np.int32)
        within = self.rank <= depth
        document[whose[within], query[within], self.rank[within] - 1] = column[within]
        return rank, document
