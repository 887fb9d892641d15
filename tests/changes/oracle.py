"""What changed in a query, from the definitions, list by list and rank by rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def changes(one: Sequence[str], other: Sequence[str], k: int, p: float) -> dict[str, Any]:
    first, second = list(one[:k]), list(other[:k])
    shared = [document for document in first if document in second]
    moves = [
        abs(one.index(document) - other.index(document))
        for document in one
        if document in other and (document in first or document in second)
    ]
    longer = max(len(first), len(second))
    return {
        "overlap": len(shared) / longer if longer else 1.0,
        "rbo": extrapolated(one, other, p),
        "same_first": one[:1] == other[:1],
        "same_order": first == second,
        "entered": len(second) - len(shared),
        "left": len(first) - len(shared),
        "moved": sum(moves) / len(moves) if moves else None,
        "largest": max(moves, default=0),
    }


def extrapolated(one: Sequence[str], other: Sequence[str], p: float) -> float:
    """Equation 32 of Webber, Moffat and Zobel (2010), term by term."""
    if not one and not other:
        return 1.0
    short, long = sorted((one, other), key=len)
    s, l = len(short), len(long)  # noqa: E741

    def together(depth: int) -> int:
        return len({*short[:depth]} & {*long[:depth]})

    total = sum(together(d) / d * p**d for d in range(1, l + 1))
    if s:
        total += sum(together(s) * (d - s) / (s * d) * p**d for d in range(s + 1, l + 1))
    rest = (together(l) - together(s)) / l + (together(s) / s if s else 0.0)
    return (1 - p) / p * total + rest * p**l
