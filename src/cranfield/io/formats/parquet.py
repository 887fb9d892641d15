"""parquet: columns of strings and numbers, through Arrow."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from cranfield.errors import CranfieldError, InputError, need
from cranfield.io.column_names import Role, needed_columns
from cranfield.io.formats.format import Format, Plan, Writer
from cranfield.io.shapes import Rows, Table
from cranfield.io.streams import Stream, check_held, may_hold

if TYPE_CHECKING:
    import numpy.typing as npt

    from cranfield.io.frames import FrameColumns
    from cranfield.io.records import RecordFile, Records

    Integers = npt.NDArray[np.int64]

NUMBER = 8  # bytes of a number, or of the place of a text
BATCH = 1 << 16


class Parquet(Format):
    name = "parquet"
    meaning = "Parquet with the columns query_id, doc_id and score or grade"
    held = "the file, and the columns that are read"
    refused = f"columns of {Format.refused}; columns of lists"
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
    return list(_file(stream, stream.content()).schema_arrow.names)


def all_rows(stream: Stream) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The names of all columns, and the rows."""
    try:
        file, flat = _flat(stream)
        table = file.read(columns=flat)
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
        data = stream.content()
        file = _file(stream, data)
        names = file.schema_arrow.names
        query, document, value, *_, groups = needed_columns(names, role, stream.name)
        columns = [names[place] for place in (query, document, value, *(groups if grouped else ()))]
        for size in _sizes(file, data, columns, partial(_file, stream, data)):
            check_held(size, len(data), stream.name)
        return file.read(columns=columns)
    except CranfieldError:
        raise
    except Exception as error:  # ArrowInvalid, OSError, and others for damaged files
        raise _unreadable(stream, error) from error


def parquet_rows(stream: Stream) -> Iterator[dict[str, Any]]:
    """All columns, row by row: for documents, whose columns have names of their own."""
    try:
        file, flat = _flat(stream)
        for batch in file.iter_batches(1000, columns=flat):
            yield from batch.to_pylist()
    except CranfieldError:
        raise
    except Exception as error:  # ArrowInvalid, OSError, and others for damaged files
        raise _unreadable(stream, error) from error


def _flat(stream: Stream) -> tuple[Any, list[str]]:
    """The file, and its columns that hold no lists, which may be read: they fit into memory."""
    data = stream.content()
    file = _file(stream, data)
    leaves = [file.schema.column(number) for number in range(len(file.schema))]
    listed = {leaf.path.partition(".")[0] for leaf in leaves if leaf.max_repetition_level}
    flat = [name for name in file.schema_arrow.names if name not in listed]
    for size in _sizes(file, data, flat, partial(_file, stream, data)):
        check_held(size, len(data), stream.name)
    return file, flat


def _file(stream: Stream, data: bytearray, **options: Any) -> Any:
    arrow = need("pyarrow", extra="frames", purpose="reading Parquet")
    parquet = need("pyarrow.parquet", extra="frames", purpose="reading Parquet")
    try:
        return parquet.ParquetFile(arrow.BufferReader(data), **options)
    except Exception as error:
        raise _unreadable(stream, error) from error


def _sizes(file: Any, data: bytearray, columns: list[str], again: Callable[..., Any]) -> Iterator[int]:
    """What these columns take in memory, in steps that are safe if the steps before were small enough.

    Arrow takes no limit. It believes the headers of pages, so these are added up; what the end of the file says may be
    wrong. A text that rows repeat is in a page once: opened `again`, the file gives these texts and their codes.
    """
    size, groups = 0, [file.metadata.row_group(number) for number in range(file.num_row_groups)]
    for group in groups:
        for each in range(group.num_columns):
            leaf = file.schema.column(each)
            if any(f"{leaf.path}.".startswith(f"{name}.") for name in columns):
                if leaf.max_repetition_level:
                    raise ValueError(f"column '{leaf.path}' contains lists")
                size += _page_bytes(data, group.column(each)) + group.num_rows * max(leaf.length, NUMBER)
                yield size
    coded = again(read_dictionary=columns)
    for number, group in enumerate(groups):
        first = next(coded.iter_batches(1, [number], columns), None)
        longest = sum(int(lengths.max(initial=0)) for lengths, _ in _lengths(first)) if first else 0
        if size + group.num_rows * longest <= may_hold(len(data)):
            size += group.num_rows * longest
        else:
            for batch in coded.iter_batches(BATCH, [number], columns):
                size += sum(int(lengths[codes].sum()) for lengths, codes in _lengths(batch))
                yield size


def _lengths(batch: Any) -> list[tuple[Integers, Integers]]:
    """The lengths of the texts of each column that has codes, and the codes."""
    from pyarrow.compute import binary_length

    coded = [column for column in batch.columns if hasattr(column, "dictionary")]
    return [
        (
            binary_length(column.dictionary).to_numpy(zero_copy_only=False),
            column.indices.drop_null().to_numpy(zero_copy_only=False),
        )
        for column in coded
    ]


def _page_bytes(data: bytearray, column: Any) -> int:
    """The content of a column's pages, as their headers have it."""
    at = column.data_page_offset
    end = at + column.total_compressed_size
    if column.has_dictionary_page and 0 < column.dictionary_page_offset < at:
        at, end = column.dictionary_page_offset, end - at + column.dictionary_page_offset
    size = 0
    while at < end:
        header, at = _header(data, at)
        if min(header[2], header[3]) < 0:
            raise ValueError("a page has a negative size")
        size += header[2]  # uncompressed_page_size
        at += header[3]  # compressed_page_size
    return size


def _header(data: bytearray, at: int) -> tuple[dict[int, int], int]:
    """The numbers of a page's header by their fields, in Thrift's compact protocol, and where it ends."""

    def number() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte, at = data[at], at + 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    found: dict[int, int] = {}
    field = 0
    while kind := data[at]:
        at += 1
        step, kind = kind >> 4, kind & 15
        field = field + step if step else (value := number()) >> 1 ^ -(value & 1)
        if kind in (4, 5, 6):  # a whole number
            found[field] = (value := number()) >> 1 ^ -(value & 1)
        elif kind == 8:  # bytes
            length = number()
            at += length
        elif kind == 12:  # a structure
            at = _header(data, at)[1]
        elif kind in (3, 7):  # a byte, or a float
            at += 1 if kind == 3 else 8
        elif kind not in (1, 2):  # true and false have no bytes of their own
            raise ValueError("a page's header is damaged")
    return found, at + 1


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
