"""Commands with which people settle a difference by judging, ready to paste into a shell."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from cranfield.io.formats.store import STORE, names_store
from cranfield.io.streams import BUILT_IN_FILES, DATA, Stream, stream_name
from cranfield.systems.collection import collection_beside

HIDDEN = "***"  # in place of a password
ADVICE = "To settle it, judge the most informative documents first"


def readable_name(source: Any) -> str | None:
    """The name under which a command can read a source again; None where it has none, or one with a password."""
    if getattr(source, "view", None) is not None:  # others may have judged what these assessors have not
        return None
    named = source if isinstance(source, str | os.PathLike) else getattr(source, "name", None)
    if not isinstance(named, str | os.PathLike):
        return None
    name = _from_here(stream_name(named))
    known = os.path.exists(name) or name in BUILT_IN_FILES or (names_store(name) and HIDDEN not in name)
    return name if known else None


def _from_here(name: str) -> str:
    """A path as it is typed in this folder: a command is pasted here, and nobody types the folders above."""
    if not os.path.isabs(name):
        return name
    for built_in, path in BUILT_IN_FILES.items():
        if name == os.path.join(DATA, *path.split("/")):
            return built_in
    try:
        return os.path.relpath(name)
    except ValueError:  # on another drive
        return name


def settling_commands(qrels: Any, runs: Sequence[Any], measure: str) -> list[list[str]]:
    """The commands that settle which of two runs is better, the baseline first; none if they are not known.

    Judgments in a file are first imported into a store, with the documents to judge.

    >>> for words in settling_commands("builtin", ["builtin:plain", "builtin:tuned"], "nDCG@10"):
    ...     print(*words)
    cranfield pool judgments.db builtin builtin:plain builtin:tuned --qrels builtin
    cranfield judge judgments.db --decide builtin:plain builtin:tuned -m nDCG@10
    >>> settling_commands({"q": {"a": 1}}, ["builtin:plain", "builtin:tuned"], "nDCG@10")
    []
    """
    paths = [name for name in map(readable_name, runs) if name is not None]
    return judging_commands(qrels, paths, measure) if len(paths) == len(runs) else []


def judging_commands(qrels: Any, paths: Sequence[str], measure: str) -> list[list[str]]:
    """The same for files of runs that may not be there yet."""
    judged = readable_name(qrels)
    if judged is None:
        return []
    if names_store(qrels if isinstance(qrels, Stream) else judged):
        return [["cranfield", "judge", judged, "--decide", *paths, "-m", measure]]
    queries = collection_beside(judged)
    if queries is None:
        return []
    return [
        ["cranfield", "pool", STORE, queries, *paths, "--qrels", judged],
        ["cranfield", "judge", STORE, "--decide", *paths, "-m", measure],
    ]
