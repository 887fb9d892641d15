"""Runs and judgments that stay where they are: lazy frames, and files that an engine opens."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from cranfield.errors import CranfieldError, InputError
from cranfield.io.formats.parquet import Parquet
from cranfield.ranks.judgments import Judgments

_NO_FRAMES = ("builtins", "pathlib", "cranfield")  # where paths, dicts and our own classes come from


class Lazy(NamedTuple):
    """A frame whose rows an engine holds; they stay there when it is evaluated."""

    name: str
    frame: Any
    stream: None = None


def is_lazy(thing: Any) -> bool:
    """Whether this is a frame whose rows an engine holds. Engines are imported only for what may be one."""
    if type(thing).__module__.partition(".")[0] in _NO_FRAMES:
        return False
    from cranfield.engines.registry import is_of_engine

    return is_of_engine(thing)


def stays_in_engine(run: Any, engine: str | None) -> bool:
    return engine is not None or isinstance(run, Lazy) or is_lazy(run)


def open_lazily(
    run: Any, engine: str | None = None, format: str | None = None, settings: Mapping[str, str] | None = None
) -> Lazy:
    if isinstance(run, Lazy):
        return run
    if is_lazy(run):
        if engine is not None:
            fact = f"is for files; a {type(run).__name__} has its own."
            raise InputError("the run", fact, parameter="engine", value=engine)
        return Lazy("the run", run)
    if not isinstance(run, str | os.PathLike):
        fact = f"needs the path of Parquet files, not a {type(run).__name__}."
        hint = "leave out the engine for data in memory"
        raise InputError("the run", fact, parameter="engine", value=engine, hint=hint)
    if format not in (None, Parquet.name):
        raise InputError(os.fspath(run), f"the engine {engine} reads Parquet, not {format}.")
    return Lazy(_name(os.fspath(run)), open_parquet(run, str(engine), settings=settings))


def open_judgments(
    qrels: Any, engine: str | None, format: str | None = None, *, beside: Any = None
) -> Judgments | Lazy:
    """Judgments that stay in an engine, to be joined with the run `beside`, or else are read into memory."""
    if isinstance(qrels, Lazy):
        return qrels
    if is_lazy(qrels):
        return Lazy("the judgments", qrels)
    if engine is not None and format in (None, Parquet.name) and isinstance(qrels, str | os.PathLike):
        where = os.fspath(qrels)
        if format or is_many(where) or where.endswith(Parquet.extensions):
            return Lazy(where, open_parquet(where, engine, beside=beside))
    return Judgments.read(qrels, format)


def _name(path: str) -> str:
    """The name of a run of many files: the path down to its last part without a pattern."""
    parts = list(re.finditer(r"[^/\\]+", path))
    named = [part for part in parts if not any(sign in part[0] for sign in "*?[=")]
    return path if named[-1:] == parts[-1:] or not named else path[: named[-1].end()]


def open_parquet(
    path: str | os.PathLike[str], engine: str, *, beside: Any = None, settings: Mapping[str, str] | None = None
) -> Any:
    """The Parquet files of a path, a pattern or a folder as one lazy frame; hive partitions are columns of text."""
    from cranfield.engines.protocol import briefly
    from cranfield.engines.registry import engine_named

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
    from glob import has_magic

    return isinstance(qrels, str | os.PathLike) and (
        os.path.isdir(qrels) or (has_magic(str(qrels)) and not os.path.exists(qrels))
    )


def _files(where: str) -> list[str]:
    if "://" in where:
        return [where]
    from glob import glob

    patterns = [where]
    if os.path.isdir(where):
        patterns = [os.path.join(where, "**", f"*{extension}") for extension in Parquet.extensions]
    files = sorted(file for pattern in patterns for file in glob(pattern, recursive=True))
    if not files:
        raise InputError(where, "there is no such Parquet file.")
    return files
