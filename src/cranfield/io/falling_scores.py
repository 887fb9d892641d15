"""Scores that agree with the order in which documents were returned: production is measured in the order it returns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

Scores = Literal["kept", "parted", "replaced"]
_APART = 1e-6  # a relative difference that 32 bits surely show
_LARGE, _SMALL = 1e37, 1e-30  # numbers in between have all their digits in 32 bits


def falling_scores(scores: Sequence[float | None]) -> tuple[list[float], Scores]:
    """Scores that fall from document to document, for readers of 64 and of 32 bits, and what became of them.

    A score that is not below the one above it by so much that 32 bits show it becomes the next lower 32-bit number.
    Where a score rises, is missing, or is not finite in 32 bits, the scores say nothing about the order: all of them
    are replaced by n, n - 1, … 1.

    >>> falling_scores([0.5, 0.5])
    ([0.5, 0.4999999701976776], 'parted')
    >>> falling_scores([0.1, 0.9])
    ([2.0, 1.0], 'replaced')
    """
    given = [score for score in scores if score is not None]
    if len(given) < len(scores):
        return by_rank(len(scores)), "replaced"
    if _fall_clearly(given):
        return given, "kept"
    column = np.array(given, dtype=np.float64)
    with np.errstate(over="ignore"):
        single = column.astype(np.float32)
        if np.isfinite(single).all():
            if (single[1:] < single[:-1]).all():
                return given, "kept"
            if (column[1:] <= column[:-1]).all():
                for at in range(1, len(column)):
                    if not single[at] < single[at - 1]:
                        column[at] = single[at] = np.nextafter(single[at - 1], np.float32(-math.inf))
                if np.isfinite(single[-1]):  # else there was no lower number left
                    return column.tolist(), "parted"
    return by_rank(len(scores)), "replaced"


def _fall_clearly(scores: Sequence[float]) -> bool:
    """Whether scores above 0 fall so much that 32 bits surely show it; False where that takes a closer look."""
    above = _LARGE
    for score in scores:
        if not _SMALL < score < above - _APART * above:
            return False
        above = score
    return True


def by_rank(documents: int) -> list[float]:
    return [float(documents - at) for at in range(documents)]
