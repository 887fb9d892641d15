"""The files that a command line names as runs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cranfield.errors import InputError
from cranfield.io.streams import Stream

if TYPE_CHECKING:
    from cranfield.evaluation.result import Evaluation


def expanded(runs: Sequence[str]) -> list[str]:
    """Files for names, patterns and folders, each in the order of the names."""
    files: list[str] = []
    for run in runs:
        if os.path.isdir(run):
            inside = sorted(entry.path for entry in os.scandir(run) if entry.is_file() and entry.name[0] != ".")
            if not inside:
                raise InputError(run, "there is no file in this folder.")
            files += inside
        elif any(sign in run for sign in "*?[") and not os.path.exists(run):
            import glob

            matching = sorted(glob.glob(run, recursive=True))
            if not matching:
                raise InputError(run, "no file matches this pattern.")
            files += filter(os.path.isfile, matching)
        else:
            files.append(run)
    return files


def scan_plain_files(arguments: Sequence[str]) -> None:
    """Start scanning the files of a command line that has only judgments, runs and measures.

    Any other option could change how they are read.
    """
    named: list[str] = []
    words = iter(arguments)
    for word in words:
        if word in ("-m", "--measure"):
            next(words, "")
        elif not word.startswith("-"):
            named.append(word)
        elif word != "--no-bounds":
            return
    try:
        qrels, *runs = [*named[:1], *expanded(named[1:])]
    except (InputError, OSError, ValueError):
        return  # errors are reported when the files are read
    from cranfield.ranks.scan.ahead import scan_ahead

    scan_ahead(qrels, runs)


def opened(paths: Sequence[str], *, hashed: bool = True) -> list[Stream | Evaluation]:
    from cranfield.evaluation import saving

    return [saving.opened(path, hashed=hashed) for path in paths]


def only(run: str) -> str:
    """The file for a name, or for a pattern or folder of one file."""
    files = expanded([run])
    if len(files) > 1:
        raise InputError(run, f"these are {len(files)} files, but only one run is needed.")
    return files[0]


def with_baseline(runs: list[str], baseline: str) -> tuple[list[str], int]:
    """The runs and the place of the baseline: one of them, by its file or its name, or another file, which is added."""
    from cranfield.evaluation.naming import named_runs, require_name
    from cranfield.io.streams import BUILT_IN_FILES

    names = list(named_runs(runs))
    path = baseline if baseline in (*runs, *names) else only(baseline)
    for known in (runs, names):
        if path in known:
            return runs, known.index(path)
    if path != "-" and path not in BUILT_IN_FILES and not os.path.exists(path):
        require_name(path, names)
    return [path, *runs], 0


def tag(run: Any) -> str:
    """The tag on the lines of a TREC run."""
    from cranfield.io.shapes import TREC_RUN
    from cranfield.io.text import last_fields

    run = getattr(run, "run", run)  # of a run with its chunks
    fields = last_fields(run, TREC_RUN)
    if len(fields) < 6:
        raise InputError(run.name, "its lines have no tag.", hint="only TREC runs have one; use --names file")
    return fields[5].decode(errors="replace")
