"""Corrections for many comparisons: the more are made, the more will look significant by chance.

A correction turns the p-values of a family into adjusted ones, and says at which level the interval of each comparison
must be to exclude 0 exactly where the adjusted p-value is at most alpha.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from cranfield.ranks.columns import Numbers


def bonferroni(p: Numbers) -> Numbers:
    """Every p-value times the size of the family, at most 1."""
    return np.minimum(p * len(p), 1.0)


def holm(p: Numbers) -> Numbers:
    """Holm's step-down: no more than alpha of the families have any false finding. Never weaker than Bonferroni.

    adjusted of the i-th smallest of m = max over k ≤ i of (m - k + 1) · p_k, at most 1
    """
    order = np.argsort(p, kind="stable")
    raised = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(raised, 1.0)
    return adjusted


def benjamini_hochberg(p: Numbers) -> Numbers:
    """Benjamini and Hochberg's step-up: of the significant findings, a share of alpha is expected to be false.

    adjusted of the i-th smallest of m = min over k ≥ i of m / k · p_k, at most 1
    """
    order = np.argsort(p, kind="stable")
    raised = np.minimum.accumulate((p[order] * len(p) / np.arange(1, len(p) + 1))[::-1])[::-1]
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(raised, 1.0)
    return adjusted


def none(p: Numbers) -> Numbers:
    """The p-values as they are."""
    return p.copy()


class Steps(NamedTuple):
    """How a correction decides a family of some size in steps, so that each comparison depends on the others.

    shares: the level of each step, as a share of alpha, the strictest first
    up: whether it begins with the least significant comparison (step-up), not with the most significant
    """

    shares: Callable[[int], Numbers]
    up: bool


class Correction(NamedTuple):
    """A correction of p-values.

    together: whether the intervals that go with it cover all true differences of the family at once
    steps: None where each comparison is decided whatever the others show
    """

    title: str
    adjust: Callable[[Numbers], Numbers]
    together: bool
    steps: Steps | None = None


# "max-t" judges a family by the largest of its t-values, and so needs the test: see families.py.
MAX_T = "max-t"
CORRECTIONS: dict[str, Correction] = {
    MAX_T: Correction("bootstrapped max-t", bonferroni, True),
    "bonferroni": Correction("Bonferroni", bonferroni, True),
    "holm": Correction("Holm", holm, False, Steps(lambda size: 1 / np.arange(size, 0, -1), up=False)),
    "bh": Correction(
        "Benjamini and Hochberg (false discovery rate)",
        benjamini_hochberg,
        False,
        Steps(lambda size: np.arange(1, size + 1) / size, up=True),
    ),
    "none": Correction("no correction", none, False),
}


def of_p_values() -> list[str]:
    """The corrections that need nothing but the p-values."""
    return [name for name in CORRECTIONS if name != MAX_T]
