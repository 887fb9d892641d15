"""parquet: columns of strings and numbers, through Arrow."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from cranfield.errors import CranfieldError, InputError, need
from cranfield.io.column_names import Role, needed_columns
from cranfield.io.formats.format import Format, Plan, Writer
from cranfield.io.shapes import Rows, Table
from cranfield.io.streams import Stream

if TYPE_CHECKING:
    import numpy.typing as npt

    from cranfield.io.frames import FrameColumns
    from cranfield.io.records import RecordFile, Records


class Parquet(Format):
    name = "parquet"
    meaning = "Parquet with the columns query_id, doc_id and score or grade"
    extensions = (".parquet", ".parq", ".pq")
    ids = "any"

    def begins(self, head: bytes, role: Role) -> bool:
        return head.startswith(b"PAR1") and head[4:5] < b" " and not head[4:5].isspace()  # it may also be a query

    def open(self, stream: Stream, role: Role, *, named: bool) -> Table:
        return Table(stream.name, _columns(stream, role), stream)

    def open_grouped(self, stream: Stream, *, named: bool) -> Rows:
        from cranfield.io.frames import frame_rows
        from cranfield.io.mappings import read_rows

        rows = frame_rows(_table(stream, "qrels", grouped=True), stream.name)
        return Rows(stream.name, read_rows(rows, "qrels", stream.name, grouped=True), stream)

    def open_records(self, stream: Stream, role: Role, *, named: bool) -> RecordFile:
        from cranfield.io.frames import frame_rows
        from cranfield.io.records import FrameRecords, RowRecords

        names = _names(stream)
        if role == "run":
            return FrameRecords(stream, role, names, _columns(stream, role).frame)
        # With the groups; there are never so many judgments that this is slow.
        return RowRecords(stream, role, names, list(frame_rows(_table(stream, role, grouped=True), stream.name)))

    def check_role(self, stream: Stream, role: Role, *, named: bool) -> None:
        needed_columns(_names(stream), role, stream.name)

    def writer(self, plan: Plan, file: Any) -> _ParquetWriter:
        return _ParquetWriter(plan, file)


def _names(stream: Stream) -> list[str]:
    return list(_file(stream).schema_arrow.names)


def all_rows(stream: Stream) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The names of all columns, and the rows."""
    try:
        table = _file(stream).read()
        columns = [column.to_pylist() for column in table.columns]
    except CranfieldError:
        raise
    except Exception as error:
        raise _unreadable(stream, error) from error
    return list(table.column_names), list(zip(*columns, strict=True))


def _columns(stream: Stream, role: Role) -> FrameColumns:
    from cranfield.io.frames import columns_of

    table = _table(stream, role)
    return columns_of(table.column_names, table.column, role, stream.name)


def _table(stream: Stream, role: Role, *, grouped: bool = False) -> Any:
    """The columns that are needed: query, document, value, and with `grouped` those of groups."""
    try:
        file = _file(stream)
        names = file.schema_arrow.names
        query, document, value, *_, groups = needed_columns(names, role, stream.name)
        places = (query, document, value, *(groups if grouped else ()))
        return file.read(columns=[names[place] for place in places])
    except CranfieldError:
        raise
    except Exception as error:  # ArrowInvalid, OSError, and others for damaged files
        raise _unreadable(stream, error) from error


def parquet_rows(stream: Stream) -> Iterator[dict[str, Any]]:
    """All columns, row by row: for documents, whose columns have names of their own."""
    file = _file(stream)
    try:
        for batch in file.iter_batches(1000):
            yield from batch.to_pylist()
    except Exception as error:  # ArrowInvalid, OSError, and others for damaged files
        raise _unreadable(stream, error) from error


def _file(stream: Stream) -> Any:
    arrow = need("pyarrow", extra="frames", purpose="reading Parquet")
    parquet = need("pyarrow.parquet", extra="frames", purpose="reading Parquet")
    data = stream.content()
    try:
        return parquet.ParquetFile(arrow.BufferReader(data))
    except Exception as error:
        raise _unreadable(stream, error) from error


def _unreadable(stream: Stream, error: Exception) -> InputError:
    return InputError(stream.name, f"this Parquet file cannot be read ({error}).")


class _ParquetWriter(Writer):
    def __init__(self, plan: Plan, file: Any) -> None:
        super().__init__(plan, file)
        self._arrow = need("pyarrow", extra="frames", purpose="writing Parquet")
        parquet = need("pyarrow.parquet", extra="frames", purpose="writing Parquet")
        *ids, value = plan.format.columns(plan)
        number = self._arrow.int64() if plan.whole else self._arrow.float64()
        self._schema = self._arrow.schema([*((name, self._arrow.string()) for name in ids), (value, number)])
        self._writer = parquet.ParquetWriter(_CountingFile(file), self._schema)

    def write(self, records: Records) -> None:
        self._plan.check(records, self._plan.groups_of(records))
        *ids, _ = self._plan.cells(records)
        values = -records.value if self._plan.ranks else records.value
        numbers: npt.NDArray[Any] = values.astype(np.int64) if self._plan.whole else values
        columns = [*(self._arrow.array(column, self._arrow.string()) for column in ids), self._arrow.array(numbers)]
        self._writer.write_table(self._arrow.table(columns, schema=self._schema))

    def close(self) -> None:
        self._writer.close()


class _CountingFile(io.RawIOBase):
    """A file that counts the bytes written, which compressing files do not."""

    def __init__(self, file: Any) -> None:
        self._target, self._size = file, 0

    def write(self, data: Any) -> int:
        if not self._target.closed:  # writing was aborted: Arrow's writer writes its end even then, when it is deleted
            self._target.write(data)
        self._size += len(data)
        return len(data)

    def tell(self) -> int:
        return self._size

    def writable(self) -> bool:
        return True
