"""Statistics of agreement beyond chance, with their intervals.

Queries are drawn for the intervals, not documents: documents of a query are alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations
from math import sqrt
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from cranfield.errors import InputError
from cranfield.evaluation.estimating import SAME
from cranfield.evaluation.t_distribution import exceeded_with
from cranfield.ranks.columns import Integers, Numbers

MOST = 50_000_000  # cells of all tables together
BLOCK = 4_000_000  # numbers at a time


class JudgedItem(NamedTuple):
    query_id: str
    doc_id: str
    grades: Mapping[str, float]


class CountedGrades(NamedTuple):
    """Tables of two assessors or of all; the first axis is the query, or the draw of which they are the sums."""

    query_ids: tuple[str, ...]
    items: int
    shares: Numbers  # how often two grades come together, every document counted once
    matrices: Numbers  # the same with as much weight as a document has assessors, which alpha is made of
    pairs: tuple[Numbers, ...]  # the table of each pair of assessors


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
        return combinations(range(len(self.assessors)), 2)

    def of_pair(self, one: int, other: int) -> CountedGrades:
        """Only of the queries of which they judged the same documents."""
        both = (self.graded[:, one] >= 0) & (self.graded[:, other] >= 0)
        present, query = np.unique(self.query[both], return_inverse=True)
        tables = self._tables(query, self.graded[both, one], self.graded[both, other], len(present))
        names = tuple(self.query_ids[at] for at in present.tolist())
        return CountedGrades(names, int(both.sum()), tables, tables + tables.transpose(0, 2, 1), (tables,))

    def of_models(self, one: int, other: int, people: Sequence[int]) -> CountedGrades:
        """On documents that both models and a person judged: two tables, of people with the one and the other."""
        judged = (self.graded[:, [one, other]] >= 0).all(axis=1) & (self.graded[:, people] >= 0).any(axis=1)
        present, query = np.unique(self.query[judged], return_inverse=True)
        graded, tables = self.graded[judged], []
        for model in (one, other):
            table = np.zeros((len(present), len(self.grades), len(self.grades)))
            for person in people:
                known = graded[:, person] >= 0
                table += self._tables(query[known], graded[known, person], graded[known, model], len(present))
            tables.append(table)
        names = tuple(self.query_ids[at] for at in present.tolist())
        return CountedGrades(names, int(judged.sum()), tables[0], tables[0], tuple(tables))

    def of_all(self) -> CountedGrades:
        size, queries = len(self.grades), len(self.query_ids)
        counts = np.stack([(self.graded == grade).sum(axis=1) for grade in range(size)], axis=1, dtype=np.float64)
        # There are few combinations of grades, so each is calculated once.
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


# How far apart two grades are, by the weights of the three forms. Distances are those of the grades themselves: a
# grade that nobody gave leaves its gap, so that the scale need not be declared.
FORMS: dict[str, Callable[[Numbers], Numbers]] = {
    "kappa": lambda apart: (apart > 0).astype(np.float64),
    "linear kappa": lambda apart: apart,
    "quadratic kappa": lambda apart: apart**2,
}


def weighted_kappa(tables: Numbers, grades: Numbers, form: str = "kappa") -> Numbers:
    """Agreement of two assessors beyond chance, for one table or many (the last two axes are a table).

    kappa = 1 - Σ v_ij P_ij / Σ v_ij r_i c_j,  v: 1 where i ≠ j, |i - j| or (i - j)²

    P is the table over its sum, r and c are its margins. Not a number where no document was judged by both, or where
    both gave one and the same grade throughout: no disagreement is expected then.
    """
    return kappa_of_distances(tables, FORMS[form](np.abs(grades[:, None] - grades[None, :])))


def kappa_of_distances(tables: Numbers, distances: Numbers) -> Numbers:
    """The same for any disagreement between two grades."""
    sizes = tables.sum(axis=(-2, -1))
    observed = (tables * distances).sum(axis=(-2, -1)) * sizes
    rows, columns = tables.sum(axis=-1), tables.sum(axis=-2)
    expected = (rows[..., :, None] * columns[..., None, :] * distances).sum(axis=(-2, -1))
    return 1 - quotient(observed, expected)


def quotient(above: Numbers, below: Numbers) -> Numbers:
    out = np.full(np.shape(below), np.nan)
    return np.asarray(np.divide(above, below, out=out, where=np.asarray(below) > 0))


def _ordinal(grades: Numbers, counts: Numbers) -> Numbers:
    # Σ_{g=c..k} n_g - (n_c + n_k) / 2 is the distance between the middles of c and k among the sorted values.
    middles = np.cumsum(counts, axis=-1) - counts / 2
    return np.asarray((middles[..., :, None] - middles[..., None, :]) ** 2)


# How far apart two grades are, squared.
LEVELS: dict[str, Callable[[Numbers, Numbers], Numbers]] = {
    "nominal alpha": lambda grades, counts: 1.0 - np.eye(len(grades)),
    "ordinal alpha": _ordinal,
    "interval alpha": lambda grades, counts: np.asarray((grades[:, None] - grades[None, :]) ** 2),
}


def coincidences(counts: Numbers) -> Numbers:
    """How often two grades of one document come together: one matrix for each row of counts, n_c assessors for grade c.

    o_ck = n_c n_k / (m - 1),  o_cc = n_c (n_c - 1) / (m - 1),  m = Σ n_c; nothing where m < 2
    """
    together = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(counts.shape[1])
    others = (counts.sum(axis=1) - 1)[:, None, None]
    return np.asarray(np.divide(together, others, out=np.zeros_like(together), where=others > 0))


def krippendorff_alpha(matrices: Numbers, grades: Numbers, level: str = "nominal alpha") -> Numbers:
    """Agreement beyond chance, for one matrix of coincidences or many (the last two axes are a matrix).

    alpha = 1 - (n - 1) Σ o_ck δ²_ck / Σ n_c n_k δ²_ck,  n_c = Σ_k o_ck,  n = Σ n_c

    δ² is 1 where the grades differ (nominal), (c - k)² (interval), or (Σ_{g=c..k} n_g - (n_c + n_k) / 2)² (ordinal).
    Not a number where no document was judged twice, or where all grades are the same.
    """
    counts = matrices.sum(axis=-1)
    distances = LEVELS[level](grades, counts)
    observed = (matrices * distances).sum(axis=(-2, -1)) * (counts.sum(axis=-1) - 1)
    expected = (counts[..., :, None] * counts[..., None, :] * distances).sum(axis=(-2, -1))
    return 1 - quotient(observed, expected)


class Estimate(NamedTuple):
    """A value and its 95% interval, or why there is none."""

    value: float | None
    low: float | None = None
    high: float | None = None
    undefined: int = 0  # how many draws of the queries had no value; the interval is that of the others
    reason: str = ""

    def __str__(self) -> str:
        if self.value is None:
            return "–"
        inside = "" if self.low is None or self.high is None else f" ({self.low:.2f} to {self.high:.2f})"
        return f"{self.value:.3f}{inside}"


Statistic = Callable[[CountedGrades, Numbers], Numbers]


def _agreement(sums: CountedGrades, grades: Numbers) -> Numbers:
    return quotient(np.trace(sums.shares, axis1=-2, axis2=-1), sums.shares.sum(axis=(-2, -1)))


def _kappa(form: str) -> Statistic:
    def mean_of_pairs(sums: CountedGrades, grades: Numbers) -> Numbers:  # of one pair it is that pair's (Light 1971)
        values = np.array([weighted_kappa(tables, grades, form) for tables in sums.pairs])
        known = ~np.isnan(values)
        return quotient(np.where(known, values, 0.0).sum(axis=0), known.sum(axis=0))

    return mean_of_pairs


def _alpha(level: str) -> Statistic:
    return lambda sums, grades: krippendorff_alpha(sums.matrices, grades, level)


def _of_grade(at: int) -> Statistic:
    return lambda sums, grades: quotient(sums.matrices[..., at, at], sums.matrices[..., at, :].sum(axis=-1))


STATISTICS: dict[str, Statistic] = {
    "agreement": _agreement,
    **{form: _kappa(form) for form in FORMS},
    **{level: _alpha(level) for level in LEVELS},
}


def by_grade(grades: Numbers) -> dict[float, Statistic]:
    return {grade: _of_grade(at) for at, grade in enumerate(grades.tolist())}


def estimate(
    counted: CountedGrades, statistics: list[Statistic], grades: Numbers, draws: int, seed: int
) -> list[Estimate]:
    """The values of all queries, and about the middle 95% of those of queries drawn with replacement."""
    once = np.ones((1, len(counted.query_ids)))
    values = [float(statistic(_sums(counted, once), grades)[0]) for statistic in statistics]
    drawn: list[list[Numbers]] = [[] for _ in statistics]
    if len(counted.query_ids) > 1:
        for weights in _draws(len(counted.query_ids), len(grades), draws, seed):
            sums = _sums(counted, weights)
            for values_drawn, statistic in zip(drawn, statistics, strict=True):
                values_drawn.append(statistic(sums, grades))
    return [_estimate(value, values_drawn, counted) for value, values_drawn in zip(values, drawn, strict=True)]


def _sums(counted: CountedGrades, weights: Numbers) -> CountedGrades:
    tables = (counted.shares, counted.matrices, *counted.pairs)
    shares, matrices, *pairs = (np.asarray(np.tensordot(weights, table, 1)) for table in tables)
    return counted._replace(shares=shares, matrices=matrices, pairs=tuple(pairs))


def _draws(queries: int, grades: int, draws: int, seed: int) -> Iterator[Numbers]:
    generator = np.random.default_rng(seed % 2**64)
    size = max(1, BLOCK // max(queries, grades * grades))
    for start in range(0, draws, size):
        yield generator.multinomial(queries, [1 / queries] * queries, min(size, draws - start)).astype(np.float64)


@cache
def _tail(queries: int) -> float:
    """The share of draws beyond each end: less than 2.5%, since draws of few queries vary too little (Hesterberg 2015).

    Φ(-√(n / (n - 1)) · t(0.975, n - 1))
    """
    far = sqrt(queries / (queries - 1)) * float(exceeded_with(0.025, queries - 1))
    return NormalDist().cdf(-far)


def _estimate(value: float, drawn: list[Numbers], counted: CountedGrades) -> Estimate:
    if np.isnan(value):
        reason = "no document was judged by both" if not counted.items else "all grades are the same"
        return Estimate(None, reason=reason)
    every = np.concatenate(drawn) if drawn else np.empty(0)
    known = every[~np.isnan(every)]
    if not len(known):
        return Estimate(value, reason="an interval needs two queries")
    if np.ptp(known) < SAME:
        return Estimate(value, undefined=len(every) - len(known), reason="an interval needs queries that differ")
    tail = _tail(len(counted.query_ids))
    low, high = np.quantile(known, [tail, 1 - tail]).tolist()
    return Estimate(value, low, high, undefined=len(every) - len(known))
