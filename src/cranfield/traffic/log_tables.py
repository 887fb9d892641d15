"""A log as a table that DuckDB counts: of a file, a frame, or rows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from cranfield.errors import InputError, need
from cranfield.io.streams import Stream
from cranfield.traffic.click_columns import LogColumns, log_columns
from cranfield.traffic.logs import JSON_LINES, Log, members, open_log

_PARQUET = b"PAR1"
_LOOKED_AT = 2_000  # lines of JSON


class LogTable:
    """One file or frame, and which of its columns is what."""

    def __init__(self, connection: Any, source: Any, name: str, view: str) -> None:
        self._connection, self.name, self._sql = connection, name, {"": "NULL"}
        self.table = view
        self.columns: LogColumns
        self._log: Log | None = None
        if not isinstance(source, Stream):
            connection.register(view, _arrow(source, name))
            self._of_schema(view)
        elif source.address and source.head(len(_PARQUET)) == _PARQUET:
            self._of_schema(f"read_parquet({_file(source.address)})")
        else:
            self._log = open_log(source)
            self._of_log(self._log)

    def text(self, column: str) -> str:
        """The SQL of one of its columns: a text, NULL where there is none."""
        return f"nullif(CAST({self._sql[column]} AS VARCHAR), '')"

    def refuse_bad_line(self) -> None:
        """An error for the first line that cannot be read, in our words."""
        for _ in self._log.batches([]) if self._log else ():
            pass

    def _of_schema(self, table: str) -> None:
        self.table = table
        schema = self._connection.sql(f"SELECT * FROM {table} LIMIT 0").to_arrow_table().schema
        paths = [path for column in schema for path in _paths_of(column)]
        self._sql |= {".".join(path): _selected(path) for path in paths}
        self.columns = log_columns([".".join(path) for path in paths], self.name)

    def _of_log(self, log: Log) -> None:
        self.columns = log_columns(log.names, self.name)
        paths = _plain_paths(log) if log.format == JSON_LINES else []
        if paths:  # DuckDB reads plain JSON lines ten times as fast as Python does
            options = f"format='newline_delimited', columns={_structure(paths)}"
            self.table = f"read_json({_file(log.stream.address or '')}, {options})"
            self._sql |= {".".join(path): _selected(path) for path in paths}
            return
        from pyarrow import array, table

        wanted = list(dict.fromkeys(name for name in self.columns[1:] if name))
        places = {name: f"column{at}" for at, name in enumerate(wanted)}
        declared = ", ".join(f"{place} VARCHAR" for place in places.values())
        self._connection.execute(f"CREATE TABLE {self.table} ({declared})")
        self._sql |= places
        for batch in log.batches(wanted):
            texts = table(dict(zip(places.values(), map(array, batch.columns), strict=True)))
            self._connection.register("batch", texts)
            self._connection.execute(f"INSERT INTO {self.table} SELECT * FROM batch")


def _arrow(source: Any, name: str) -> Any:
    arrow = need("pyarrow", extra="duckdb", purpose="a log of clicks")
    if isinstance(source, list | tuple):
        try:
            return arrow.Table.from_pylist([dict(row) for row in source])
        except arrow.ArrowException as error:
            raise InputError(
                name, f"its rows are not alike ({error}).", hint="a column has values of one type"
            ) from None
    if hasattr(source, "__arrow_c_stream__"):
        return arrow.table(source)
    hint = "give a path, a frame, or rows as dicts"
    raise InputError(name, f"{source!r:.60} is not a log.", hint=hint)


def _paths_of(column: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The column, or if it holds objects, their members."""
    path = (*above, column.name)
    if str(column.type).startswith("struct"):
        for place in range(column.type.num_fields):
            yield from _paths_of(column.type.field(place), path)
    else:
        yield path


def _plain_paths(log: Log) -> list[tuple[str, ...]]:
    """The paths of the members of JSON lines; none if a line has to be unpacked, or the file cannot be opened again."""
    stream = log.stream
    if stream.address is None or not stream.seekable:
        return []
    paths: dict[tuple[str, ...], None] = {}
    lines = b"".join(islice(map(bytes, stream.whole_lines()), 1)).splitlines()
    try:
        for line in lines[:_LOOKED_AT]:
            if line.strip():
                paths |= dict.fromkeys(members(json.loads(line)))
    except (ValueError, RecursionError):
        return []
    plain = {".".join(path) for path in paths} == set(log.names) and not any(
        "." in name for path in paths for name in path
    )
    return list(paths) if plain else []


def _structure(paths: Iterable[Sequence[str]]) -> str:
    """Members of JSON as DuckDB takes them: everything is text."""
    tree: dict[str, Any] = {}
    for path in paths:
        branch = tree
        for name in path[:-1]:
            branch = branch.setdefault(name, {})
        branch[path[-1]] = None
    return "{" + ", ".join(f"{_literal(name)}: {_literal(_kind(its))}" for name, its in tree.items()) + "}"


def _kind(branch: Mapping[str, Any] | None) -> str:
    if branch is None:
        return "VARCHAR"
    return f"STRUCT({', '.join(f'{_quoted(name)} {_kind(its)}' for name, its in branch.items())})"


def _selected(path: Iterable[str]) -> str:
    return ".".join(map(_quoted, path))


def _file(path: str) -> str:
    """A path in SQL, where some characters would otherwise stand for others."""
    return _literal(re.sub(r"([*?\[])", r"[\1]", path))


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
