"""Decimal numbers: bytes to floats, many at once, and floats to text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

_POWERS = 10.0 ** np.arange(23)  # the powers of ten that are exact
_LONGEST = 16  # digits, point and sign that cannot exceed 2^53


def parse_numbers(texts: Sequence[bytes]) -> npt.NDArray[np.float64] | None:
    """The numbers, correctly rounded; None if one of them is not a finite number."""
    plain = _plain_decimals(texts)
    if plain is not None:
        return plain
    if b"_" in b"".join(texts):  # Python reads 1_000 as a number
        return None
    try:
        values = np.fromiter(map(float, texts), np.float64, len(texts))
    except ValueError:
        return None
    return values if np.isfinite(values).all() else None


def _plain_decimals(texts: Sequence[bytes]) -> npt.NDArray[np.float64] | None:
    """Numbers like -12.50, all with a point: read as whole numbers, then divided by a power of ten.

    Both are exact as floats, so the division is the only rounding. It is three times as fast as float().
    """
    text = b" ".join(texts) + b" "
    if text.translate(None, b"0123456789.- ") or b"- " in text:
        return None
    if b"-" in text and text.count(b" -") + text.startswith(b"-") != text.count(b"-"):
        return None
    characters = np.frombuffer(text, np.uint8)
    points, ends = np.flatnonzero(characters == ord(".")), np.flatnonzero(characters == ord(" "))
    if len(points) != len(ends) or (points > ends).any() or (points[1:] < ends[:-1]).any():
        return None
    lengths = np.diff(ends, prepend=-1)
    if lengths.max(initial=0) > _LONGEST + 1 or lengths.min(initial=9) < 3 or b"-. " in text:
        return None
    digits: npt.NDArray[np.int64] = np.fromstring(text.replace(b".", b""), np.int64, sep=" ")
    values: npt.NDArray[np.float64] = digits / _POWERS[ends - points - 1]
    if b"-0" in text or b"-." in text:  # whole numbers have no negative zero
        values = np.where(characters[np.append(0, ends[:-1] + 1)] == ord("-"), -abs(values), values)
    return values


def number_text(value: float) -> str:
    """A number as people write it, which can be read back exactly."""
    text = repr(value)
    return text.removesuffix(".0") if abs(value) < 2**53 and text != "-0.0" else text
