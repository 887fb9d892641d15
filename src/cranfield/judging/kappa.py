"""Cohen's kappa and its weighted forms, of tables that count how two assessors graded the same documents."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cranfield.ranks.columns import Numbers

# How far apart two grades are, by the weights of the three forms. Distances are those of the grades themselves: a
# grade that nobody gave leaves its gap, so that the scale need not be declared.
DISTANCES: dict[str, Callable[[Numbers], Numbers]] = {
    "kappa": lambda apart: (apart > 0).astype(np.float64),
    "linear kappa": lambda apart: apart,
    "quadratic kappa": lambda apart: apart**2,
}


def weighted_kappa(tables: Numbers, grades: Numbers, form: str = "kappa") -> Numbers:
    """Agreement of two assessors beyond chance, for one table or many (the last two axes are a table).

    kappa = 1 - Σ v_ij P_ij / Σ v_ij r_i c_j,  v: 1 where i ≠ j, |i - j| or (i - j)²

    P is the table over its sum, r and c are its margins. Not a number where no document was judged by both, or where
    both gave one and the same grade throughout: no disagreement is expected then.

    >>> table = np.array([[88, 10, 2], [14, 40, 6], [18, 10, 12]], dtype=float)
    >>> round(float(weighted_kappa(table, np.arange(3.0))), 6)
    0.491525
    """
    return kappa_of_distances(tables, DISTANCES[form](np.abs(grades[:, None] - grades[None, :])))


def kappa_of_distances(tables: Numbers, distances: Numbers) -> Numbers:
    """The same for any disagreement between two grades.

    >>> table = np.array([[88, 10, 2], [14, 40, 6], [18, 10, 12]], dtype=float)
    >>> round(float(kappa_of_distances(table, np.array([[0, 1, 3], [1, 0, 6], [3, 6, 0]], dtype=float))), 6)
    0.347826
    """
    sizes = tables.sum(axis=(-2, -1))
    observed = (tables * distances).sum(axis=(-2, -1)) * sizes
    rows, columns = tables.sum(axis=-1), tables.sum(axis=-2)
    expected = (rows[..., :, None] * columns[..., None, :] * distances).sum(axis=(-2, -1))
    return 1 - quotient(observed, expected)


def quotient(above: Numbers, below: Numbers) -> Numbers:
    """above / below, and not a number where that is 0."""
    out = np.full(np.shape(below), np.nan)
    return np.asarray(np.divide(above, below, out=out, where=np.asarray(below) > 0))
