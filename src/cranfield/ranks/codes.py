"""Numbers in place of document ids, for comparing many of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cranfield.ranks.columns import Integers
from cranfield.ranks.scan.native import native


def codes_of(ids: list[str]) -> Integers:
    """A number of 64 bits for each id: equal ids have equal numbers, as long as the process lives.

    Two of two thousand ids share a number by chance less than once in a million million times.

    >>> one, other, again = codes_of(["a", "b", "a"]).tolist()
    >>> one == again, one == other
    (True, False)
    """
    return native.codes(ids) if native else hashes(ids)


def hashes(ids: Sequence[str]) -> Integers:
    """The twin of the native `codes`, with hashes of Python's own."""
    return np.fromiter(map(hash, ids), np.int64, len(ids))
