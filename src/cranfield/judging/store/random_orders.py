"""Fixed random orders, which need not be stored."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

ENDS = 2**63  # places are below it
ORDERED = 2**32  # places below this one are positions in an order of judging, not random ones
SAMPLE = "sample"  # why documents of a query are drawn


def place(*names: object) -> int:
    digest = hashlib.blake2b("\0".join(map(str, names)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1  # 63 bits, which all databases hold


def drawn(names: Iterable[str], count: int, *why: object) -> list[str]:
    """With the same reason, the same ones."""
    return sorted(names, key=lambda name: place(*why, name))[:count]
