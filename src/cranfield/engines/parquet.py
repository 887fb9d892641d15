"""Parquet files as a frame of an engine: one file, a pattern, or a folder with hive partitions."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from cranfield.engines.protocol import briefly
from cranfield.engines.registry import engine_named
from cranfield.errors import CranfieldError, InputError
from cranfield.io.formats.parquet import Parquet


def open_parquet(
    path: str | os.PathLike[str], engine: str, *, beside: Any = None, settings: Mapping[str, str] | None = None
) -> Any:
    """The Parquet files of a path, a pattern or a folder as one lazy frame; hive partitions are columns of text.

    beside: a frame of the engine to join this one with.
    settings: those of the engine, as its `settings` name them.
    """
    where = os.fspath(path)
    reader = engine_named(engine, where)
    reader.imported()
    files = _files(where)
    partitions = sorted({key for file in files for key in re.findall(r"([^/\\]+)=[^/\\]*[/\\]", file)})
    try:
        return reader.scan(files, partitions, beside, **(settings or {}))
    except CranfieldError:
        raise
    except Exception as error:  # each engine raises its own errors
        raise InputError(where, f"the engine {engine} cannot read it ({briefly(error)}).") from error


def is_many(qrels: Any) -> bool:
    import glob

    if not isinstance(qrels, str | os.PathLike):
        return False
    where = os.fspath(qrels)
    return os.path.isdir(where) or (glob.has_magic(str(where)) and not os.path.exists(where))


def _files(where: str) -> list[str]:
    if "://" in where:
        return [where]
    import glob

    patterns = [where]
    if os.path.isdir(where):
        patterns = [os.path.join(where, "**", f"*{extension}") for extension in Parquet.extensions]
    files = sorted(file for pattern in patterns for file in glob.glob(pattern, recursive=True))
    if not files:
        raise InputError(where, "there is no such Parquet file.")
    return files
