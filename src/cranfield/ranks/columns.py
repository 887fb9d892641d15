"""The columns that tables are made of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

Integers = np.ndarray[Any, np.dtype[np.int64]]
Numbers = np.ndarray[Any, np.dtype[np.float64]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]


def offsets(lengths: Iterable[int]) -> Integers:
    """Where pieces of these lengths start and end when laid end to end."""
    sizes = np.fromiter(lengths, dtype=np.int64)
    return np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
