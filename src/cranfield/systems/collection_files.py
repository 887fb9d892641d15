"""The files in the folder of a collection, by their names."""

from __future__ import annotations

from pathlib import Path

QUERY_FILES = tuple(f"{name}.{form}" for name in ("queries", "topics") for form in ("jsonl", "tsv", "csv", "txt"))
_COMPRESSED = ("", ".gz", ".bz2", ".xz", ".zst")


def first_file(folder: Path, names: tuple[str, ...]) -> Path | None:
    """The first of some files that is there, plain or compressed."""
    paths = (folder / f"{name}{ending}" for name in names for ending in _COMPRESSED)
    return next((path for path in paths if path.is_file()), None)


def folder_of_queries(qrels: str) -> str | None:
    """The folder of the collection that a file of judgments belongs to; None where no queries are beside it."""
    beside = Path(qrels).parent
    folder = beside.parent if beside.name == "qrels" else beside
    return str(folder) if Path(qrels).is_file() and first_file(folder, QUERY_FILES) else None
