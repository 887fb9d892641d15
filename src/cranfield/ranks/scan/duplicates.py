"""A document that appears twice in a ranking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cranfield.errors import any_of, given
from cranfield.ranks.policy import settings_of

CHOICES = [value for value in settings_of()["duplicates"].choices if value != "error"]
HINT = any_of("keep one", f"choose which with {given('duplicates', *CHOICES)}")


def first_repeat(documents: Sequence[Any]) -> int:
    """Where a document appears for the second time; only called if one does."""
    seen: set[Any] = set()
    for at, document in enumerate(documents):
        if document in seen:
            return at
        seen.add(document)
    raise ValueError("no document appears twice")


def kept_places(documents: Sequence[Any], scores: Sequence[float], keep: str) -> list[int]:
    """The places that stay when of each document the "first", the "last" or the "best" is kept."""
    kept: dict[Any, int] = {}
    for at, document in enumerate(documents):
        other = kept.setdefault(document, at)
        if keep == "last" or (keep == "best" and scores[at] > scores[other]):
            kept[document] = at
    return sorted(kept.values())
