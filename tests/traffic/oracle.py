"""Samples of queries from the formulas, as naive loops."""

from __future__ import annotations

import hashlib


def permanent(seed: int, text: str) -> float:
    """The random number that a query always has."""
    digest = hashlib.blake2b(f"{seed}\n{text}".encode(), digest_size=8).digest()
    return (int.from_bytes(digest, "big") + 0.5) / 2**64


def counted(texts: list[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for text in texts:
        form = " ".join(text.lower().split())
        if form:
            counts[form] = counts.get(form, 0) + 1
    return counts


def drawn(counts: dict[str, int], n: int, seed: int) -> dict[str, float]:
    """The probability of each query drawn."""
    total, distinct = sum(counts.values()), len(counts)
    sizes = {text: 0.5 * asked / total + 0.5 / distinct for text, asked in counts.items()}
    order = sorted(counts, key=lambda text: permanent(seed, text) / sizes[text])
    if len(order) <= n:
        return dict.fromkeys(order, 1.0)
    threshold = permanent(seed, order[n]) / sizes[order[n]]
    return {text: min(1.0, threshold * sizes[text]) for text in order[:n]}
