"""Bounds of differences by any measure: all completions where they are few, and otherwise each run by itself."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import combinations_with_replacement, product
from typing import NamedTuple

import numpy as np

from cranfield.comparison.joint.holes import NOWHERE, Holes, RunPairs
from cranfield.comparison.joint.method import Ends, Highest, Method
from cranfield.measures import Measure
from cranfield.measures.completion import AT_ONCE, Scale, looks_at_judgments
from cranfield.ranks.columns import Flags, Integers, Numbers
from cranfield.ranks.filling import complete_table, joined, matrix
from cranfield.ranks.tables.ranks import JudgedRanks

WORTH_IT = 64  # documents of completions for each row; with fewer, it is not worth trying


class Completions:
    """All completions of the unjudged documents of two runs, where there are few."""

    def __init__(self, method: Method) -> None:
        self._measure, self._grades = method.measure, method.grades
        self._depth, self._tables = method.depth, method.tables
        self._judgments_matter = looks_at_judgments(method.measure)

    def narrowed(self, pairs: RunPairs, ends: Ends, cells: int) -> Ends:
        """The bounds, exact for all rows whose completions have no more documents than `cells`."""
        low, high, exact = ends
        waiting: list[tuple[int, JudgedRanks, JudgedRanks]] = []
        size = 0
        for row in np.flatnonzero(self._few(pairs, cells) & ~exact).tolist():
            tables = self._both(pairs, row)
            waiting.append((row, *tables))
            size += sum(len(table.rank) + len(table.judged_grades) for table in tables)
            if size > AT_ONCE:
                self._try(waiting, low, high, exact)
                waiting, size = [], 0
        self._try(waiting, low, high, exact)
        return Ends(low, high, exact)

    def _few(self, pairs: RunPairs, cells: int) -> Flags:
        unjudged = (np.minimum(pairs.first_rank, pairs.second_rank) < NOWHERE).sum(axis=1)
        # Their number might be too large for a float.
        count = np.power(float(len(self._grades)), np.minimum(unjudged, self.most_documents(cells)))
        known = {int(beneath): min(self._kinds(int(beneath)), cells + 1) for beneath in np.unique(pairs.beneath)}
        kinds = np.array([known[beneath] for beneath in pairs.beneath.tolist()], dtype=np.float64)
        judged = np.diff(self._tables[0].judged_first)[pairs.query]
        few: Flags = count * kinds * (2 * self._depth + judged + unjudged + pairs.beneath) <= cells
        return few

    def most_documents(self, cells: int) -> float:
        """So many documents have too many completions anyway; without a choice of grades, there is one."""
        levels = len(self._grades)
        return int(np.log(cells + 1) / np.log(levels)) + 1 if levels > 1 else np.inf

    def _kinds(self, beneath: int) -> int:
        """In how many ways documents below the cutoff can be judged: their order makes no difference."""
        return math.comb(beneath + len(self._grades) - 1, beneath) if self._judgments_matter else 1

    def _both(self, pairs: RunPairs, row: int) -> tuple[JudgedRanks, JudgedRanks]:
        """All completions as rankings of the first and of the second run."""
        ranks = pairs.first_rank[row], pairs.second_rank[row]
        there = np.minimum(*ranks) < NOWHERE
        beneath, levels = int(pairs.beneath[row]), len(self._grades)
        count, kinds = int(there.sum()), self._kinds(beneath)
        hidden: Iterable[tuple[float, ...]] = [(self._grades[-1],) * beneath]
        if self._judgments_matter:
            hidden = combinations_with_replacement(self._grades, beneath)
        tried = np.repeat(matrix(product(self._grades, repeat=count), levels**count, count), kinds, axis=0)
        deeper = np.tile(matrix(hidden, kinds, beneath), (levels**count, 1))
        query = int(pairs.query[row])
        sides = []
        for run, rank in zip((pairs.first[row], pairs.second[row]), ranks, strict=True):
            table = self._tables[run]
            rows = slice(*table.first[query : query + 2].tolist())
            known = table.judged[rows] & (table.rank[rows] <= self._depth)
            filled = np.zeros((len(tried), min(self._depth, int(table.retrieved[query]))))
            filled[:, table.rank[rows][known] - 1] = table.grade[rows][known]
            within = rank[there] <= self._depth
            filled[:, rank[there][within] - 1] = tried[:, within]
            judged = table.judged_grades[slice(*table.judged_first[query : query + 2].tolist())]
            everything = np.hstack([np.tile(judged[judged >= 0], (len(tried), 1)), tried, deeper])
            lengths = None if table.lengths is None else table.lengths[query]
            sides.append(complete_table(filled, everything, int(table.retrieved[query]), lengths))
        return sides[0], sides[1]

    def _try(
        self, tried: Sequence[tuple[int, JudgedRanks, JudgedRanks]], low: Numbers, high: Numbers, exact: Flags
    ) -> None:
        if not tried:
            return
        rows, first, second = zip(*tried, strict=True)
        difference = self._measure(joined(first)) - self._measure(joined(second))
        pieces = np.split(difference, np.cumsum([len(table) for table in first])[:-1])
        for row, values in zip(rows, pieces, strict=True):
            low[row], high[row], exact[row] = values.min(), values.max(), True


class Apart(NamedTuple):
    """Each run by itself, a value for each run and query.

    digest: a number that identifies the documents of a ranking down to the cutoff
    low, high: the bounds of its value, if what only another run has may be relevant, too
    """

    digest: Integers
    low: Numbers
    high: Numbers


class Others(Method):
    """Any measure: each run as good and as bad as it can be by itself, unless both have the same ranking.

    apart: what is known of the runs before they are looked at together
    """

    def __init__(self, measure: Measure, tables: Sequence[JudgedRanks], scale: Scale, work: int, apart: Apart) -> None:
        super().__init__(measure, tables, scale, work if measure.definition.table == "ranks" and work > WORTH_IT else 0)
        self._apart = apart
        self._completions = Completions(self) if self.work else None
        self._lengths = np.stack([np.minimum(table.retrieved, self.depth) for table in tables])

    @classmethod
    def enough(cls, measure: Measure) -> int | None:
        """Any document that another run has may be one that should have been found."""
        return None

    def ends(self, pairs: RunPairs) -> Ends:
        ends = super().ends(pairs)
        if self._completions is None or not pairs.listed:
            return ends
        return self._completions.narrowed(pairs, ends, self.work)

    def depths(self, holes: Holes) -> Integers:
        """Documents themselves are only needed where there is time to look at them together."""
        if not self.work:
            return np.zeros(len(holes.queries), dtype=np.int64)
        unjudged = np.stack([table.n_unjudged(self.cutoff) for table in self.tables])[:, holes.queries]
        first, second = (unjudged[side] for side in holes.pairs.T)
        return np.where(self.worth_listing(first, second, holes).any(axis=0), self.depth, 0)

    def worth_listing(self, first: Numbers, second: Numbers, holes: Holes) -> Flags:
        """For each pair and query, whether there may be time, given how many unjudged documents each run has."""
        most = self._completions.most_documents(self.work) if self._completions else 0
        return np.asarray(np.maximum(first, second) < most)

    def highest(self, pairs: RunPairs) -> Highest:
        first, second = (pairs.first, pairs.query), (pairs.second, pairs.query)
        digest, low, high = self._apart
        fixed = (low[first] == high[first]) & (low[second] == high[second])
        same = (digest[first] == digest[second]) & (self._lengths[first] == self._lengths[second])
        return Highest(np.where(same, 0.0, high[first] - low[second]), fixed | same)
