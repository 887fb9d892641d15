"""All engines: the only place that lists them and recognises their frames."""

from __future__ import annotations

from typing import Any

from cranfield.engines.duckdb import DuckDB
from cranfield.engines.ibis import Ibis
from cranfield.engines.polars import Polars
from cranfield.engines.protocol import Engine
from cranfield.engines.spark import Spark
from cranfield.errors import InputError, choice_hint
from cranfield.words import joined

ENGINES: dict[str, type[Engine]] = {}
_ANY = ("narwhals", "LazyFrame")  # the class that wraps frames of all engines


def register(engine: type[Engine]) -> type[Engine]:
    """Make an engine known, under its name.

    engine: a class that defines how it is recognised, how it reads files, and where it differs from others.

    Returns the class, so that this can be used as a decorator.
    """
    ENGINES[engine.name] = engine
    return engine


for _engine in (DuckDB, Polars, Spark, Ibis):
    register(_engine)


def readers() -> list[type[Engine]]:
    """The engines that read Parquet files, which users choose by name."""
    return [engine for engine in ENGINES.values() if engine.reads_parquet]


def engine_named(name: str, source: str) -> type[Engine]:
    if name not in ENGINES:
        known = [engine.name for engine in readers()]
        raise InputError(source, f"there is no engine '{name}'.", hint=choice_hint("engines are", known, name))
    return ENGINES[name]


def is_of_engine(thing: Any) -> bool:
    """Whether this is a frame whose rows an engine holds; no library is imported to find out."""
    kinds = _kinds(thing)
    return _ANY in kinds or any(kinds & engine.frames for engine in ENGINES.values())


def engine_of(frame: Any, source: str) -> Engine:
    native = frame.to_native() if _ANY in _kinds(frame) else frame
    kinds = _kinds(native)
    for engine in ENGINES.values():
        if kinds & engine.frames:
            return engine(native, source)
    kind = f"{type(native).__module__.partition('.')[0]}.{type(native).__name__}"
    raise InputError(source, f"no engine can read a {kind}.", hint=f"give {frames_taken()}")


def frames_taken() -> str:
    return joined((engine.takes.replace("`", "") for engine in ENGINES.values()), "or")


def _kinds(thing: Any) -> set[tuple[str, str]]:
    """The classes of a thing: (library, name). Libraries written in C have an underscore before their name."""
    return {(kind.__module__.partition(".")[0].removeprefix("_"), kind.__name__) for kind in type(thing).__mro__}
