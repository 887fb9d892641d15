"""The command that lets people judge what would settle a difference, as it can be pasted into a shell."""

from __future__ import annotations

import os
import shlex
from typing import Any

from cranfield.read.formats.store import STORE, names_store
from cranfield.read.streams import BUILT_IN_FILES, stream_name
from cranfield.report.pair import VerdictPair
from cranfield.report.request import Request
from cranfield.systems.collection import collection_beside

UNKNOWN = (
    "To settle it, judge the most informative documents first, with cranfield judge --decide. It needs a store of "
    "judgments, which cranfield pool fills, and the files of both runs; this page does not know where they all are."
)


def readable_name(source: Any) -> str | None:
    """The name under which a command can read a source again; None where it has none, or one with a password."""
    if getattr(source, "view", None) is not None:  # what some assessors lack, others may have judged
        return None
    named = source if isinstance(source, str | os.PathLike) else getattr(source, "name", None)
    if not isinstance(named, str | os.PathLike):
        return None
    name = stream_name(named)
    known = os.path.exists(name) or name in BUILT_IN_FILES or (names_store(name) and "***" not in name)
    return name if known else None


def settling_sentence(request: Request, pair: VerdictPair) -> str:
    """How to settle a difference: by one command where all that it needs is known, otherwise in words."""
    qrels = readable_name(request.qrels)
    runs = [readable_name(request.rankings.get(name)) for name in (pair.baseline, pair.run)]
    paths = [path for path in runs if path is not None]
    if qrels is None or len(paths) < 2:
        return UNKNOWN
    store, first = qrels, ""
    if not names_store(qrels):
        queries = collection_beside(qrels)
        if queries is None:
            return UNKNOWN
        store = STORE
        first = f"{shlex.join(['cranfield', 'pool', store, queries, *paths, '--qrels', qrels])} && "
    judge = shlex.join(["cranfield", "judge", store, "--decide", *paths, "-m", pair.measure.canonical])
    return f"To settle it, judge the most informative documents first: {first}{judge}"
