"""The files in the folder of a collection, by their names."""

from __future__ import annotations

import os

from cranfield.read.compression import EXTENSIONS as COMPRESSED

QUERY_FILES = tuple(f"{name}.{form}" for name in ("queries", "topics") for form in ("jsonl", "tsv", "csv", "txt"))


def first_file(folder: str | os.PathLike[str], names: tuple[str, ...]) -> str | None:
    """The first of some files that is there, plain or compressed."""
    paths = (os.path.join(folder, f"{name}{ending}") for name in names for ending in ("", *COMPRESSED))
    return next(filter(os.path.isfile, paths), None)


def folder_of_queries(qrels: str) -> str | None:
    """The folder of the collection that a file of judgments belongs to; None where no queries are beside it."""
    beside = os.path.dirname(qrels).removesuffix(f"{os.sep}{os.curdir}")
    folder = (os.path.dirname(beside) if os.path.basename(beside) == "qrels" else beside) or os.curdir
    if not os.path.isfile(qrels) or first_file(folder, QUERY_FILES) is None:
        return None
    from pathlib import Path  # takes as long to import as all measures, and is rarely needed

    return str(Path(folder))
