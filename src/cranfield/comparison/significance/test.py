"""What a significance test is, and what several of them need."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import exp, lgamma, log
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from cranfield.evaluation.estimating import Columns, blocks, deviation
from cranfield.ranks.columns import Numbers


class Settings(NamedTuple):
    """What a test may need besides the differences."""

    alpha: float
    permutations: int
    seed: int


class Outcome(NamedTuple):
    """The result of a test for each column.

    greater, less: one-sided p-values, of "it is not above 0" and of "it is not below 0"
    p: the two-sided p-value
    estimate: what the test is about: the mean, the median or the pseudo-median
    effect: the size of the difference on the test's own scale; None where there is no scale
    """

    greater: Numbers
    less: Numbers
    p: Numbers
    estimate: Numbers
    effect: list[float | None]

    @property
    def direction(self) -> Numbers:
        """1 where the column points up, -1 where it points down, 0 otherwise."""
        with np.errstate(invalid="ignore"):  # p-values that are no numbers are refused elsewhere
            return np.sign(self.less - self.greater)


@dataclass(frozen=True)
class Test:
    """A significance test.

    title: its name in a sentence; draws: the word for its draws, if the title should count them
    of: what its interval is for
    effect: the name of its effect size
    assumes: what several runs must have in common for its p-values and intervals to hold, where it assumes that
    all_at_once: it compares all runs together, which is its correction, and has no one-sided p-value for one pair
    """

    __test__: ClassVar[bool] = False  # for pytest

    name: str
    title: str
    meaning: str  # what it assumes and when to take it, for help and documentation
    of: str = "mean"
    effect: str = "Hedges' g"
    draws: str = ""
    assumes: str = ""
    all_at_once: bool = False

    @property
    def of_means(self) -> bool:
        """Whether it is about the mean, as ranks and intervals of runs are."""
        return self.of == "mean"

    @property
    def takes_max_t(self) -> bool:
        """Whether a whole family can be judged by the largest t-value of its means: see simultaneous.py."""
        return self.of_means and not self.all_at_once

    def described(self, settings: Settings) -> str:
        """The test in words."""
        if not self.draws:
            return self.title
        return f"{self.title} ({settings.permutations:,} {self.draws}, seed {settings.seed})"

    def outcome(self, columns: Columns, settings: Settings) -> Outcome:
        """Test every column."""
        raise NotImplementedError

    def interval(self, columns: Columns, alpha: Numbers, settings: Settings) -> tuple[Numbers, Numbers]:
        """The interval of each column at the level 1 - alpha, which may differ from column to column."""
        raise NotImplementedError


def hedges(differences: Numbers) -> list[float | None]:
    """Cohen's d of paired values with Hedges' correction; None for two queries, and where all differ alike.

    g = J · mean(d) / sd(d),  J = Γ(f/2) / (√(f/2) · Γ((f-1)/2)), f = n - 1
    """
    freedom = len(differences) - 1
    if freedom < 2:  # the correction is 0: nothing can be said without bias
        return [None] * differences.shape[1]
    correction = exp(lgamma(freedom / 2) - log(freedom / 2) / 2 - lgamma((freedom - 1) / 2))
    pairs = zip(differences.mean(axis=0).tolist(), deviation(differences).tolist(), strict=True)
    return [correction * mean / spread if spread else (None if mean else 0.0) for mean, spread in pairs]


def two_sided(greater: Numbers, less: Numbers) -> Numbers:
    """Twice the smaller of two one-sided p-values, at most 1."""
    return np.asarray(np.minimum(2 * np.minimum(greater, less), 1.0))


def random_bits(draws: int, n: int, seed: int, width: int) -> Iterator[npt.NDArray[np.uint8]]:
    """Blocks of rows that hold 0 or 1 for each of n queries; `width` is how many numbers a row will be turned into.

    As floating-point numbers they take eight times the memory: convert one block at a time to multiply.
    """
    generator = np.random.default_rng(seed % 2**64)  # of any sign
    for size in blocks(draws, max(n, width)):
        yield np.unpackbits(generator.integers(0, 256, (size, (n + 7) // 8), dtype=np.uint8), axis=1, count=n)
