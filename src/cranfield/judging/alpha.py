"""Krippendorff's alpha: any number of assessors, each of whom may have judged any of the documents."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cranfield.judging.kappa import quotient
from cranfield.ranks.columns import Numbers


def _nominal(grades: Numbers, counts: Numbers) -> Numbers:
    return 1.0 - np.eye(len(grades))


def _ordinal(grades: Numbers, counts: Numbers) -> Numbers:
    # Σ_{g=c..k} n_g - (n_c + n_k) / 2 is the distance between the middles of c and k among the sorted values.
    middles = np.cumsum(counts, axis=-1) - counts / 2
    return np.asarray((middles[..., :, None] - middles[..., None, :]) ** 2)


def _interval(grades: Numbers, counts: Numbers) -> Numbers:
    return np.asarray((grades[:, None] - grades[None, :]) ** 2)


# How far apart two grades are, squared.
DISTANCES: dict[str, Callable[[Numbers, Numbers], Numbers]] = {
    "nominal alpha": _nominal,
    "ordinal alpha": _ordinal,
    "interval alpha": _interval,
}


def coincidences(counts: Numbers) -> Numbers:
    """How often two grades of one document come together: one matrix for each row of counts, n_c assessors for grade c.

    o_ck = n_c n_k / (m - 1),  o_cc = n_c (n_c - 1) / (m - 1),  m = Σ n_c; nothing where m < 2

    >>> coincidences(np.array([[2.0, 1.0]])).tolist()
    [[[1.0, 1.0], [1.0, 0.0]]]
    """
    together = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(counts.shape[1])
    others = (counts.sum(axis=1) - 1)[:, None, None]
    return np.asarray(np.divide(together, others, out=np.zeros_like(together), where=others > 0))


def krippendorff_alpha(matrices: Numbers, grades: Numbers, level: str = "nominal alpha") -> Numbers:
    """Agreement beyond chance, for one matrix of coincidences or many (the last two axes are a matrix).

    alpha = 1 - (n - 1) Σ o_ck δ²_ck / Σ n_c n_k δ²_ck,  n_c = Σ_k o_ck,  n = Σ n_c

    δ² is 1 where the grades differ (nominal), (c - k)² (interval), or (Σ_{g=c..k} n_g - (n_c + n_k) / 2)² (ordinal).
    Not a number where no document was judged twice, or where all grades are the same.

    >>> matrix = coincidences(np.array([[2.0, 0.0], [1.0, 1.0], [0.0, 2.0]])).sum(axis=0)
    >>> round(float(krippendorff_alpha(matrix, np.array([0.0, 1.0]))), 6)
    0.444444
    """
    counts = matrices.sum(axis=-1)
    distances = DISTANCES[level](grades, counts)
    observed = (matrices * distances).sum(axis=(-2, -1)) * (counts.sum(axis=-1) - 1)
    expected = (counts[..., :, None] * counts[..., None, :] * distances).sum(axis=(-2, -1))
    return 1 - quotient(observed, expected)


def percent_agreement(matrices: Numbers) -> Numbers:
    """The share of pairs of assessors of a document who gave it the same grade.

    >>> float(percent_agreement(coincidences(np.array([[2.0, 0.0], [1.0, 1.0]])).sum(axis=0)))
    0.5
    """
    return quotient(np.trace(matrices, axis1=-2, axis2=-1), matrices.sum(axis=(-2, -1)))
