"""Ranks by counting, for one ranking: the rank of a judged document is one plus the number of documents above it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from cranfield.errors import any_of, given
from cranfield.ranks.codes import Codes
from cranfield.ranks.columns import Integers, Numbers
from cranfield.ranks.policy import settings_of

CHOICES = [value for value in settings_of()["duplicates"].choices if value != "error"]
HINT = any_of("keep one", f"choose which with {given('duplicates', *CHOICES, policy=True)}")


class Places(NamedTuple):
    """The counts above the retrieved judged documents, as parallel columns; a query's rows are sorted by rank."""

    row: Integers  # of the judgments
    above: Integers  # documents with a higher score
    before: Integers  # documents with the same score that the tie rule puts first
    tied: Integers  # documents with the same score, itself included


class Part(NamedTuple):
    """The result of a block of a run: its queries, how many documents each retrieved, and the judged ones.

    codes: the first documents of its judged queries as numbers, end to end, where they are wanted
    keep_first: keeps the first documents of its queries, where they are wanted
    """

    queries: Sequence[bytes]
    retrieved: Integers
    found: Places
    codes: Integers
    keep_first: Callable[[], None] = lambda: None


class Scanned(NamedTuple):
    retrieved: Integers  # documents by judged query; -1 where the run lacks it
    extra: int  # queries in the run that are not judged
    found: Places
    codes: Codes | None = None  # the first documents of each query, where they were wanted


NOTHING = Places(*(np.empty(0, dtype=np.int64) for _ in range(4)))


def join(parts: Sequence[Places]) -> Places:
    if not parts:
        return NOTHING
    return Places(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def count(
    ids: Sequence[Any],
    scores: Numbers,
    rows: Sequence[int],
    hits: Sequence[Any],
    values: Sequence[float],
    in_order: bool,
) -> Places:
    """Count above the documents `hits`, whose scores are `values` and which are the rows `rows` of the judgments.

    No ranking is made: the scores are sorted once, and a binary search counts the higher ones.
    """
    if not hits:
        return NOTHING
    ordered = np.sort(scores)
    wanted = np.array(values, dtype=np.float64)
    low = np.searchsorted(ordered, wanted, side="left")
    high = np.searchsorted(ordered, wanted, side="right")
    tied = high - low
    before = np.zeros(len(hits), dtype=np.int64)
    places: dict[float, dict[Any, int]] = {}
    for i in np.flatnonzero(tied > 1).tolist():
        score = float(wanted[i])
        if score not in places:
            group = [ids[at] for at in np.flatnonzero(scores == score).tolist()]
            if not in_order:
                group.sort(reverse=True)
            places[score] = {document: place for place, document in enumerate(group)}
        before[i] = places[score][hits[i]]
    above = len(scores) - high
    order = np.argsort(above + before)
    return Places(np.array(rows, dtype=np.int64)[order], above[order], before[order], tied[order])


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
