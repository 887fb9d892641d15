"""Columns of values, texts of queries and runs as bytes, small and exact.

What others packed is unpacked with a limit: a history may be merged from anywhere.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from cranfield.ranks.columns import Numbers

_TEXTS = 1 << 27  # bytes: ids and texts of queries, at most
_RUN = 1 << 31
_LEVEL = 1  # of runs, which are large: the next levels take several times as long for a tenth less


def content_id(*parts: Any) -> str:
    """A name that follows from the content."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def packed_numbers(values: Numbers) -> bytes:
    """The first bytes of all numbers, then the second, …: those of similar numbers are alike."""
    plain = np.ascontiguousarray(values, dtype="<f8")
    return zlib.compress(plain.view(np.uint8).reshape(-1, 8).T.tobytes())


def unpacked_numbers(packed: bytes, length: int) -> Numbers:
    """So many numbers; a ValueError if there are more or fewer."""
    plain = _unpacked(packed, 8 * length)
    if len(plain) != 8 * length:
        raise ValueError(f"{len(plain)} bytes, not {length} numbers")
    return np.frombuffer(plain, dtype=np.uint8).reshape(8, -1).T.copy().view("<f8").ravel()


def packed_texts(texts: Mapping[str, str]) -> bytes:
    return zlib.compress(json.dumps(dict(texts), ensure_ascii=True, separators=(",", ":")).encode())


def unpacked_texts(packed: bytes) -> dict[str, str]:
    texts: dict[str, str] = json.loads(_unpacked(packed, _TEXTS))
    return texts


def packed_run(content: bytes) -> bytes:
    return zlib.compress(content, _LEVEL)


def unpacked_run(packed: bytes) -> bytes:
    return _unpacked(packed, _RUN)


def _unpacked(packed: bytes, most: int) -> bytes:
    unpacking = zlib.decompressobj()
    try:
        content = unpacking.decompress(packed, most)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    if not unpacking.eof:
        raise ValueError(f"more than {most} bytes")
    return content
