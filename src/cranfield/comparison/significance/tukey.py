"""Randomised Tukey HSD: all pairs of several systems at once.

If the systems were alike, the values of a query could be in any order. So they are put into random order, for each
query anew, and the largest difference between two means is noted: the distribution by chance. A pair is judged
against that largest difference, which makes its p-value hold for all pairs together (Carterette 2012). One system that
is far worse than the others makes that difference large, and so hides theirs: keep weak systems out of the comparison.
Values can be in any order only if those of all systems vary equally: for systems that vary far more than others,
p-values are too small.

The random order of query q in permutation b is a function of (seed, b, q): the compiled code and its twin in numpy here
draw the same, in any number of threads.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from math import inf

import numpy as np
import numpy.typing as npt

from cranfield.comparison.significance.test import Settings, Test
from cranfield.evaluation.estimating import SAME
from cranfield.native import CORES, native
from cranfield.ranks.columns import Numbers

CELLS = 2_000_000  # values that the twin permutes at a time
LARGEST = 1 << 32  # a key of 64 bits is used for at most so many equally likely outcomes: none is off by over 2^-32
STEP = 0x9E3779B97F4A7C15
Keys = npt.NDArray[np.uint64]


def largest_differences(values: Numbers, settings: Settings) -> Numbers:
    """For each permutation the largest difference between two means; `values` has a row for each query."""
    varied = values[np.ptp(values, axis=1) > 0]  # the order of equal values does not matter
    if not len(varied):
        return np.zeros(settings.permutations)
    varied = np.ascontiguousarray(varied)
    work = _compiled if native else in_numpy
    edges = np.linspace(0, settings.permutations, CORES + 1).astype(int).tolist()
    with ThreadPoolExecutor(CORES) as pool:
        parts = pool.map(lambda first, last: work(varied, settings.seed, first, last), edges[:-1], edges[1:])
        return np.concatenate(list(parts)) / len(values)


class Tukey(Test):
    """Of the means of all runs at once: `compared` takes their values, and not differences.

    Weak runs in the comparison make the largest difference by chance larger, and so cost power for all other pairs.
    """

    def compared(self, values: Numbers, settings: Settings) -> tuple[Numbers, float]:
        """p-values of all pairs, as a square table, and how far from 0 a difference must be to have a p-value of alpha.

        The two belong together: p is at most alpha exactly where the difference is further from 0. Few queries have so
        few orders that no difference reaches that.
        """
        largest = np.sort(largest_differences(values, settings))
        means = values.mean(axis=0)
        apart = np.abs(means[:, None] - means[None, :])
        hits = len(largest) - np.searchsorted(largest, apart * (1 - 1e-9) - SAME)
        allowed = int(settings.alpha * (1 + len(largest)) * (1 + 1e-12))
        far = float(largest[len(largest) - allowed]) if allowed else inf
        if 0 < largest[-1] * (1 - 1e-9) <= far:  # the largest difference of all orders comes up more often than that
            far = inf
        return (1 + hits) / (1 + len(largest)), far


TUKEY = Tukey(
    "tukey",
    "randomised Tukey HSD",
    "compares all pairs of several runs at once; assumes that all runs vary equally; weak runs reduce its power",
    draws="permutations",
    assumes="all runs vary equally",
    all_at_once=True,
)


def _compiled(values: Numbers, seed: int, first: int, last: int) -> Numbers:
    assert native is not None
    return native.largest_differences(values, seed % 2**64, first, last)


def in_numpy(values: Numbers, seed: int, first: int, last: int) -> Numbers:
    """The twin of the native `largest_differences`."""
    queries = len(values)
    size = max(1, CELLS // values.size)
    ranges = [np.zeros(0)]
    for start in range(first, last, size):
        count = min(size, last - start)
        keys = (np.arange(start, start + count, dtype=np.uint64)[:, None] << np.uint64(32)) | np.arange(
            queries, dtype=np.uint64
        )
        ranges.append(_permuted(values, _mixed(keys.reshape(-1) ^ _mixed(np.array([seed % 2**64], np.uint64))), count))
    return np.concatenate(ranges)


def _permuted(values: Numbers, key: Keys, count: int) -> Numbers:
    """Shuffle the rows of `count` copies of the table, as Fisher and Yates do; the ranges of the sums of columns."""
    queries, systems = values.shape
    places = np.arange(count * queries)
    left = np.ascontiguousarray(np.tile(values.T, count))  # a row for places system; `flat` must be a view of it
    flat = left.reshape(-1)
    sums = np.empty((systems, count))
    outcomes = 1
    for last in range(systems - 1, 0, -1):
        if outcomes * (last + 1) > LARGEST:
            key, outcomes = _mixed(key), 1
        outcomes *= last + 1
        drawn, key = _digit(key, last + 1)
        at = drawn.astype(np.int64) * len(places) + places
        sums[last] = flat[at].reshape(count, queries).sum(axis=1)
        flat[at] = left[last]
    sums[0] = left[0].reshape(count, queries).sum(axis=1)
    widest: Numbers = np.ptp(sums, axis=0)
    return widest


def _digit(key: Keys, base: int) -> tuple[Keys, Keys]:
    """The upper and the lower 64 bits of key · base: a number below the base, and a key for the next one."""
    low, high = key & np.uint64(0xFFFFFFFF), key >> np.uint64(32)
    return (high * np.uint64(base) + ((low * np.uint64(base)) >> np.uint64(32))) >> np.uint64(32), key * np.uint64(base)


def _mixed(key: Keys) -> Keys:
    """Steele, Lea and Flood's splitmix64: the next key, whose bits all depend on all bits of this one."""
    key = key + np.uint64(STEP)
    key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return key ^ (key >> np.uint64(31))
