"""The names of runs: one rule wherever several runs are given."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from cranfield.engines.sources import Lazy
from cranfield.errors import ComparisonError, choice_hint
from cranfield.evaluation.summary import Summary
from cranfield.io.source import is_recorded, run_name
from cranfield.io.streams import Stream, stream_name
from cranfield.ranks.chunk_runs import ChunkRun
from cranfield.ranks.run import Run

UNNAMED = "the run"


def named_runs(
    runs: Mapping[str, Any] | Iterable[Any],
    *,
    opened: Callable[[Any], Any] | None = None,
    name_of: Callable[[Any], str] | None = None,
) -> dict[str, Any]:
    """Runs by name, each name once: {name: run} as it is, or one or many runs, named by themselves.

    A file is called by its name without folder and extensions, an evaluation by its own name, and anything else is
    "the run". Files of the same name in different folders get the folder in front; names that are still equal are
    numbered.

    opened: turns each run into what is named and returned
    name_of: names a run that has no name given

    >>> list(named_runs(["a/bm25.run", "b/bm25.run.gz", "dense.run", "dense.run", {"q": ["d"]}]))
    ['a/bm25', 'b/bm25', 'dense', 'dense (2)', 'the run']
    """
    if _is_one(runs):
        runs = [runs]
    given = runs.items() if isinstance(runs, Mapping) else ((None, run) for run in runs)
    pairs = [(name, opened(run) if opened else run) for name, run in given]
    names = [(name_of or own_name)(run) if name in (None, "") else str(name) for name, run in pairs]
    if not isinstance(runs, Mapping):
        names = _with_folders(names, [_folder(run) for _, run in pairs])
    named: dict[str, Any] = {}
    for name, (_, run) in zip(names, pairs, strict=True):
        named[numbered(name, named)] = run
    return named


def _is_one(runs: Any) -> bool:
    alone = (str, os.PathLike, Summary, Lazy, ChunkRun)
    return isinstance(runs, alone) or hasattr(runs, "_evaluated_by") or hasattr(runs, "read") or is_recorded(runs)


def require_name(name: str, runs: Iterable[str]) -> None:
    """Refuse a name that none of the runs has."""
    known = list(runs)
    if name not in known:
        raise ComparisonError(f"no run is called '{name}'.", hint=choice_hint("the runs are", known, name))


def own_name(run: Any) -> str:
    """The default name of a run."""
    if is_recorded(run):
        return str(run.name)
    return run.run if isinstance(run, Summary) else run_name(_source(run))


def numbered(name: str, taken: Collection[str]) -> str:
    """A name that is not taken yet: the name itself, or with a number.

    >>> numbered("bm25", ["bm25", "bm25 (2)"])
    'bm25 (3)'
    """
    title, count = name, 1
    while title in taken:
        count += 1
        title = f"{name} ({count})"
    return title


def _source(run: Any) -> str:
    """The file of a run, or whatever else is known about its source."""
    if isinstance(run, ChunkRun):
        return _source(run.run)
    if hasattr(run, "_evaluated_by"):
        return str(run.name)
    if isinstance(run, Run):
        return run.place
    if isinstance(run, Stream | Lazy):
        return run.name
    return stream_name(run) if isinstance(run, str | os.PathLike) or hasattr(run, "read") else UNNAMED


def _folder(run: Any) -> str:
    return "" if isinstance(run, Summary) else os.path.basename(os.path.dirname(os.path.abspath(_source(run))))


def _with_folders(names: list[str], folders: list[str]) -> list[str]:
    """Names with folders, where these distinguish runs of the same name."""
    places: dict[str, set[str]] = {}
    for name, folder in zip(names, folders, strict=True):
        places.setdefault(name, set()).add(folder)
    return [
        f"{folder}/{name}" if folder and len(places[name]) > 1 else name
        for name, folder in zip(names, folders, strict=True)
    ]
