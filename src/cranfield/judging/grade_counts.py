"""Who gave which grade to what, counted query by query: all that statistics of agreement need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from cranfield.errors import InputError
from cranfield.judging.alpha import coincidences
from cranfield.ranks.columns import Integers, Numbers

MOST = 50_000_000  # cells of all tables together


class JudgedItem(NamedTuple):
    """A document that several assessors judged for a query."""

    query_id: str
    doc_id: str
    grades: Mapping[str, float]


class CountedGrades(NamedTuple):
    """Tables of two assessors or of all, one for each query.

    shares: how often two grades come together, every document counted once
    matrices: the same with as much weight as a document has assessors, which alpha is made of
    pairs: the table of each pair of assessors
    """

    query_ids: tuple[str, ...]
    items: int
    shares: Numbers
    matrices: Numbers
    pairs: tuple[Numbers, ...]


class Grid:
    """The grades of all documents that at least two assessors judged, a column for each assessor."""

    def __init__(self, items: Sequence[JudgedItem], assessors: Sequence[str], source: str) -> None:
        self.items = sorted((item for item in items if len(item.grades) > 1), key=lambda item: item.query_id)
        self.assessors = tuple(assessors)
        self.grades: Numbers = np.array(sorted({g for item in self.items for g in item.grades.values()}), np.float64)
        self.query_ids = tuple(dict.fromkeys(item.query_id for item in self.items))
        size = len(self.grades)
        if len(self.query_ids) * size * size > MOST:
            fact = f"there are {size:,} different grades, too many to compare them one by one."
            raise InputError(source, fact, hint="round the grades to a scale of a few steps")
        number = {query: at for at, query in enumerate(self.query_ids)}
        place = {grade: at for at, grade in enumerate(self.grades.tolist())}
        column = {name: at for at, name in enumerate(self.assessors)}
        self.query: Integers = np.array([number[item.query_id] for item in self.items], dtype=np.int64)
        self.graded: Integers = np.full((len(self.items), len(column)), -1, dtype=np.int64)
        for row, item in enumerate(self.items):
            for name, grade in item.grades.items():
                self.graded[row, column[name]] = place[grade]

    def pairs(self) -> Iterator[tuple[int, int]]:
        """All pairs of assessors."""
        return combinations(range(len(self.assessors)), 2)

    def of_pair(self, one: int, other: int) -> CountedGrades:
        """The table of two assessors, for the queries of which they judged the same documents."""
        both = (self.graded[:, one] >= 0) & (self.graded[:, other] >= 0)
        present, query = np.unique(self.query[both], return_inverse=True)
        tables = self._tables(query, self.graded[both, one], self.graded[both, other], len(present))
        names = tuple(self.query_ids[at] for at in present.tolist())
        return CountedGrades(names, int(both.sum()), tables, tables + tables.transpose(0, 2, 1), (tables,))

    def of_all(self) -> CountedGrades:
        """The tables of all assessors together."""
        size, queries = len(self.grades), len(self.query_ids)
        counts = np.stack([(self.graded == grade).sum(axis=1) for grade in range(size)], axis=1, dtype=np.float64)
        # There are few ways in which a document can have been graded, so each is worked out once.
        ways, way = np.unique(counts, axis=0, return_inverse=True)
        how_often = np.bincount(self.query * len(ways) + way.ravel(), minlength=queries * len(ways))
        matrices = coincidences(ways)
        by_query = how_often.reshape(queries, len(ways)).astype(np.float64)
        pairs = []
        for one, other in self.pairs():
            both = (self.graded[:, one] >= 0) & (self.graded[:, other] >= 0)
            if both.any():
                pairs.append(self._tables(self.query[both], self.graded[both, one], self.graded[both, other], queries))
        return CountedGrades(
            self.query_ids,
            len(self.items),
            np.tensordot(by_query, matrices / ways.sum(axis=1)[:, None, None], 1),
            np.tensordot(by_query, matrices, 1),
            tuple(pairs),
        )

    def _tables(self, query: Integers, one: Integers, other: Integers, queries: int) -> Numbers:
        size = len(self.grades)
        cells = np.bincount((query * size + one) * size + other, minlength=queries * size * size)
        return cells.reshape(queries, size, size).astype(np.float64)
