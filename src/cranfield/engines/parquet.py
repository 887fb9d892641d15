"""Parquet files as a run in an engine: one file, a pattern, or a folder with hive partitions."""

from __future__ import annotations

import os
import re
import shutil
from typing import Any

from cranfield.engines.backends import briefly
from cranfield.errors import CranfieldError, InputError, need
from cranfield.ranks.judgments import Judgments
from cranfield.read.source import Lazy, is_lazy

ENGINES = ("duckdb", "polars", "spark")


def open_run(run: Any, engine: str | None = None, format: str | None = None, *, master: str = "local[*]") -> Lazy:
    """A lazy frame, or the Parquet files of a path with an engine to read them."""
    if isinstance(run, Lazy):
        return run
    if is_lazy(run):
        if engine is not None:
            raise InputError("the run", f"engine='{engine}' is for files; a {type(run).__name__} has its own.")
        return Lazy("the run", run)
    if not isinstance(run, str | os.PathLike):
        raise InputError(
            "the run",
            f"engine='{engine}' needs the path of Parquet files, not a {type(run).__name__}.",
            hint="leave the engine out for what is in memory",
        )
    if format not in (None, "parquet"):
        raise InputError(os.fspath(run), f"the engine {engine} reads Parquet, not {format}.")
    return Lazy(_name(os.fspath(run)), open_parquet(run, str(engine), master=master))


def open_judgments(
    qrels: Any, engine: str | None, format: str | None = None, *, beside: Any = None
) -> Judgments | Lazy:
    """Judgments that stay in an engine, or else read into memory; Parquet goes to the engine, where one is named.

    `beside` is the run that they are to meet.
    """
    if isinstance(qrels, Lazy):
        return qrels
    if is_lazy(qrels):
        return Lazy("the judgments", qrels)
    if engine is not None and format in (None, "parquet") and isinstance(qrels, str | os.PathLike):
        where = os.fspath(qrels)
        if format or is_many(where) or where.endswith((".parquet", ".parq", ".pq")):
            return Lazy(where, open_parquet(where, engine, beside=beside))
    return Judgments.read(qrels, format)


def is_many(qrels: Any) -> bool:
    """Whether this names a folder or a pattern of files."""
    import glob

    if not isinstance(qrels, str | os.PathLike):
        return False
    where = os.fspath(qrels)
    return os.path.isdir(where) or (glob.has_magic(str(where)) and not os.path.exists(where))


def _name(path: str) -> str:
    """What a run of many files is called by: the last part of the path without a pattern in it."""
    parts = [part for part in re.split(r"[/\\]", path) if part]
    named = [part for part in parts if not any(sign in part for sign in "*?[=")]
    return path if named[-1:] == parts[-1:] or not named else named[-1]


def open_parquet(path: str | os.PathLike[str], engine: str, *, master: str = "local[*]", beside: Any = None) -> Any:
    """The Parquet files of a path, a pattern or a folder as one lazy frame; hive partitions are columns of text.

    `master` is where Spark runs if there is no session yet, `beside` a relation whose connection DuckDB is to use.
    """
    if engine not in ENGINES:
        raise InputError(os.fspath(path), f"there is no engine '{engine}'.", hint=f"engines are {', '.join(ENGINES)}")
    if engine == "polars":
        library = need("polars", purpose="the engine polars")
    else:
        library = need("pyspark" if engine == "spark" else "duckdb", extra=engine, purpose=f"the engine {engine}")
    where = os.fspath(path)
    pattern = os.path.join(where, "**", "*.parquet") if os.path.isdir(where) else where
    files = _files(where, pattern)
    partitions = sorted({key for file in files for key in re.findall(r"([^/\\]+)=[^/\\]*[/\\]", file)})
    try:
        # Partitions are text, whatever they look like: '007' is not 7.
        if engine == "polars":
            hive = dict.fromkeys(partitions, library.String)
            return library.scan_parquet(files, hive_partitioning=bool(hive), hive_schema=hive or None)
        if engine == "duckdb":
            listed = ", ".join("'" + file.replace("'", "''") + "'" for file in files)
            options = f"hive_partitioning={bool(partitions)}, hive_types_autocast=false"
            query = f"SELECT * FROM read_parquet([{listed}], {options})"
            return _connected(library).sql(query) if beside is None else beside.query("cranfield_run", query)
        return _open_with_spark(files, re.split(r"[^/\\]+=", files[0])[0] if partitions else None, master)
    except CranfieldError:
        raise
    except Exception as error:  # each engine raises its own
        raise InputError(where, f"the engine {engine} cannot read it ({briefly(error)}).") from error


def _connected(duckdb: Any) -> Any:
    """A new connection; what memory cannot hold goes to the folder for temporary files, not to the current one."""
    import tempfile

    return duckdb.connect(config={"temp_directory": os.path.join(tempfile.gettempdir(), f"cranfield-{os.getpid()}")})


def _files(where: str, pattern: str) -> list[str]:
    if "://" in where:
        return [where]
    import glob

    files = sorted(glob.glob(pattern, recursive=True)) if glob.has_magic(pattern) else [pattern]
    if not files or not os.path.exists(files[0]):
        raise InputError(where, "there is no such Parquet file.")
    return files


def _open_with_spark(files: list[str], base: str | None, master: str) -> Any:
    """Read files with Spark; the folders below `base` are partitions."""
    sql = need("pyspark.sql", extra="spark", purpose="the engine spark")
    session = sql.SparkSession.getActiveSession() or _started(sql.SparkSession.builder, master)
    setting = "spark.sql.sources.partitionColumnTypeInference.enabled"
    before = session.conf.get(setting)
    session.conf.set(setting, "false")
    try:
        reader = session.read if base is None else session.read.option("basePath", os.path.abspath(base))
        return reader.parquet(*(file if "://" in file else os.path.abspath(file) for file in files))
    finally:
        session.conf.set(setting, before)


def _started(builder: Any, master: str) -> Any:
    if master.startswith("sc://"):  # Spark Connect, which needs no Java here
        return builder.remote(master).getOrCreate()
    if not (shutil.which("java") or "JAVA_HOME" in os.environ):
        raise CranfieldError("the engine spark needs Java, which is not installed.", hint="install Java 17 or later")
    quiet = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    session = builder.master(master).appName("cranfield").config(map=quiet).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session
