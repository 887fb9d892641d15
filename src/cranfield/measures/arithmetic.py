"""The few operations that measures share."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cranfield.judge.judgments import Numbers


def ratio(part: npt.ArrayLike, whole: npt.ArrayLike) -> Numbers:
    """part / whole, and 0 where there is no whole: a query without relevant documents scores 0."""
    part, whole = np.broadcast_arrays(np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64))
    out: Numbers = np.divide(part, whole, out=np.zeros(part.shape), where=whole != 0)
    return out


def discounted(gains: npt.NDArray[Any], rank: npt.NDArray[Any]) -> Numbers:
    """Gains divided by log2(rank + 1)."""
    return np.asarray(gains / np.log2(rank + 1.0))
