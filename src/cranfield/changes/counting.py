"""What changed, query by query: the rankings of two runs side by side, of many queries at once.

Documents are numbered in the order in which they appear: those of the first run are 0, 1, …, so the number of a
document that both return is its rank in the first run less 1. The judged documents stand beside the runs as a third
list, so whoever has judgments gets the ranks of these from the same look.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from typing import NamedTuple, TypeVar

import numpy as np

from cranfield.mixing.lists import Ranked
from cranfield.mixing.reading import Part, RankingFile, chunks
from cranfield.native import CORES, native
from cranfield.ranks.columns import Flags, Integers, Numbers, offsets
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.matching import match_documents
from cranfield.ranks.scan.counting import Places
from cranfield.ranks.scan.parallel import in_parallel

Found = TypeVar("Found")
_NO_PAIRS = np.zeros((0, 2), np.int64)


class Counted(NamedTuple):
    """A row for each query.

    sizes: how many documents each run has, a column for each run
    shared: how many are among the first k of both; overlap: that, divided by the longer of the two lists
    rbo: rank-biased overlap, extrapolated
    same_first: whether the first result is the same; same_order: whether the first k are, in the same order
    moved, near: the sum of the rank changes, and of how many documents: those that both runs return, at least one of
        them among the first k
    largest: the largest of these changes
    """

    sizes: Integers
    shared: Integers
    overlap: Numbers
    rbo: Numbers
    same_first: Flags
    same_order: Flags
    moved: Integers
    near: Integers
    largest: Integers

    @classmethod
    def joined(cls, parts: Sequence[Counted]) -> Counted:
        return cls(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


class JudgedPlaces(NamedTuple):
    """Judged documents: their rows in the judgments, and their ranks in both runs, 0 where a run lacks one."""

    row: Integers
    ranks: tuple[Integers, Integers]

    @classmethod
    def joined(cls, parts: Sequence[JudgedPlaces]) -> JudgedPlaces:
        one, other = (np.concatenate([part.ranks[side] for part in parts]) for side in (0, 1))
        return cls(np.concatenate([part.row for part in parts]), (one, other))

    def of(self, side: int) -> Places:
        """Where the documents stand that a run has, as a scan counts it."""
        rank = self.ranks[side]
        here = np.flatnonzero(rank)
        return Places(self.row[here], rank[here] - 1, np.zeros(len(here), np.int64), np.ones(len(here), np.int64))


class JudgedDocuments(NamedTuple):
    """The judged documents of some queries: their rows in the judgments, by query, and their numbers for matching."""

    sizes: Integers
    row: Integers
    code: Integers

    @classmethod
    def of(cls, judgments: Judgments, queries: Sequence[str]) -> JudgedDocuments:
        number = np.array([judgments.number.get(query, -1) for query in queries], dtype=np.int64)
        start = judgments.first[np.maximum(number, 0)]
        sizes = np.where(number < 0, 0, judgments.first[np.maximum(number, 0) + 1] - start)
        row = np.arange(sizes.sum()) + np.repeat(start - offsets(sizes)[:-1], sizes)
        return cls(sizes, row, judgments._codes[row])


class Matched(NamedTuple):
    """Two runs side by side, a row for each document of the second, query after query.

    sizes: how many documents each query has, a column for each run
    query, rank: of each row, the rank in the second run
    number: of its document among those of its query: its rank in the first run less 1, if that has it
    """

    sizes: Integers
    query: Integers
    rank: Integers
    number: Integers

    @property
    def shared(self) -> Integers:
        """The rows of the documents that both runs return."""
        return np.flatnonzero(self.number < self.sizes[self.query, 0])

    def changes(self, k: int, p: float) -> Counted:
        both = self.shared
        return _counted(self.query[both], self.number[both] + 1, self.rank[both], self.sizes, k, p)


def match(one: Ranked, other: Ranked, judged: JudgedDocuments | None = None) -> tuple[Matched, JudgedPlaces | None]:
    """The same queries of two runs, and where both have the judged documents."""
    lists = [(one.code, one.sizes), (other.code, other.sizes)]
    if judged is not None:
        lists.append((judged.code, judged.sizes))
    begins = np.cumsum([0, *(len(code) for code, _ in lists)])
    start = np.stack([begin + offsets(sizes)[:-1] for begin, (_, sizes) in zip(begins, lists, strict=False)], axis=1)
    count = np.stack([sizes for _, sizes in lists], axis=1)
    numbered = native.match_documents if native else match_documents
    number, documents, _ = numbered(np.concatenate([code for code, _ in lists]), start, count, _NO_PAIRS)
    query = np.repeat(np.arange(len(one.sizes)), other.sizes)
    found = number[begins[1] : begins[2]].astype(np.int64)
    rank = np.arange(1, len(found) + 1) - (start[:, 1] - begins[1])[query]
    matched = Matched(count[:, :2], query, rank, found)
    if judged is None:
        return matched, None
    # The rank in the second run of each document by its number.
    base = offsets(documents)[:-1]
    ranks = np.zeros(int(documents.sum()), dtype=np.int64)
    ranks[base[query] + found] = rank
    its_query, its = np.repeat(np.arange(len(judged.sizes)), judged.sizes), number[begins[-2] :].astype(np.int64)
    in_one, in_other = np.where(its < one.sizes[its_query], its + 1, 0), ranks[base[its_query] + its]
    return matched, JudgedPlaces(judged.row, (in_one, in_other))


def matched_by_group(
    files: Sequence[RankingFile],
    queries: Sequence[str],
    judgments: Judgments | None,
    look: Callable[[Sequence[str], Ranked, Ranked, Matched], Found],
) -> tuple[list[Found], JudgedPlaces | None]:
    """What a look at each group of queries finds, and where both runs have the judged documents.

    Both runs are read once; groups of queries are compared in threads.
    """

    def work(group: tuple[list[str], list[Part]]) -> tuple[Found, JudgedPlaces | None]:
        names, (one, other) = group[0], (part.ranked() for part in group[1])
        judged = None if judgments is None else JudgedDocuments.of(judgments, names)
        matched, places = match(one, other, judged)
        return look(names, one, other, matched), places

    with closing(in_parallel(work, chunks(files, queries), CORES)) as results:
        found, places = zip(*results, strict=True)
    known = [its for its in places if its is not None]
    return list(found), JudgedPlaces.joined(known) if known else None


def _counted(query: Integers, one: Integers, other: Integers, sizes: Integers, k: int, p: float) -> Counted:
    """query, one, other: of the documents that both runs return, with their ranks, query by query"""
    queries = len(sizes)
    longest, shortest = sizes.max(axis=1), sizes.min(axis=1)
    lower = np.maximum(one, other)
    first = np.minimum(sizes, k)
    shared = np.bincount(query[lower <= k], minlength=queries)
    empty = longest == 0
    same = np.bincount(query[(one == other) & (one <= k)], minlength=queries)
    near = np.flatnonzero(np.minimum(one, other) <= k)
    change, whose = np.abs(one[near] - other[near]), query[near]
    largest = np.zeros(queries, dtype=np.int64)
    begins = np.flatnonzero(np.diff(whose, prepend=-1))
    if len(near):
        largest[whose[begins]] = np.maximum.reduceat(change, begins)
    return Counted(
        sizes=sizes,
        shared=shared,
        overlap=np.where(empty, 1.0, shared / np.maximum(first.max(axis=1), 1)),
        rbo=np.where(empty, 1.0, _rbo(query, lower, longest, shortest, p)),
        same_first=(np.bincount(query[lower == 1], minlength=queries) > 0) | empty,
        same_order=(same == first[:, 0]) & (same == first[:, 1]),
        moved=np.bincount(whose, change, minlength=queries).astype(np.int64),
        near=np.bincount(whose, minlength=queries),
        largest=largest,
    )


def _rbo(query: Integers, lower: Integers, longest: Integers, shortest: Integers, p: float) -> Numbers:
    """Rank-biased overlap without ties, extrapolated, with l and s the lengths of the longer and the shorter list.

    (1 - p) · Σ_{d ≤ l} p^(d-1) · (X_d + (d - s)⁺ · X_s / s) / d  +  p^l · (X_l + (l - s) · X_s / s) / l

    X_d counts the documents that both have at rank d or above: those whose lower rank is at most d. So each adds the
    weights from its lower rank on.
    """
    deepest = np.arange(1, int(longest.max(initial=0)) + 1)
    weight = (1 - p) * p ** (deepest - 1)
    shares = np.concatenate([[0.0], np.cumsum(weight / deepest)])
    weights = np.concatenate([[0.0], np.cumsum(weight)])
    size = np.maximum(longest, 1)
    end = p**longest / size  # of each document that both have, below the end of the longer list
    total = np.bincount(query, (shares[longest] + end)[query] - shares[lower - 1], minlength=len(longest))
    above = np.bincount(query[lower <= shortest[query]], minlength=len(longest)) / np.maximum(shortest, 1)
    missing = weights[longest] - weights[shortest] - shortest * (shares[longest] - shares[shortest])
    return np.asarray(total + above * (missing + (longest - shortest) * end))
