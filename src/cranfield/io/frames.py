"""Columns in memory: frames of any library, and Arrow data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise, repeat
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cranfield.errors import CranfieldError, InputError, need
from cranfield.io.column_names import Role, needed_columns, rank_place, refuse_passages, refuse_searches
from cranfield.io.mappings import column_names, id_text

# Frames with columns by name. Narwhals reads the others; importing it takes longer than evaluating millions of rows.
_FRAMES = {("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "Table")}


class Ids(NamedTuple):
    """A column of ids as Arrow stores strings: id i is text[ends[i]:ends[i + 1]] in UTF-8."""

    text: npt.NDArray[np.uint8]
    ends: npt.NDArray[np.int64]

    def tolist(self) -> list[str]:
        text, ends = self.text.tobytes(), self.ends.tolist()
        return [text[a:b].decode() for a, b in pairwise(ends)]


class Frame(NamedTuple):
    """A run or judgments as three columns. Row i belongs to the query `queries[query[i]]`."""

    queries: list[str]
    query: npt.NDArray[np.int64]
    document: Ids
    value: npt.NDArray[np.float64]


def is_frame(thing: Any) -> bool:
    return any(hasattr(thing, name) for name in ("__arrow_c_stream__", "__dataframe__", "__narwhals_dataframe__"))


class FrameColumns:
    """The query, the document and the value (or the rank) of each row, as the frame's own library keeps them."""

    def __init__(
        self, columns: tuple[Any, Any, Any], names: tuple[str, str, str], ranks: bool, source: str, rank: Any = None
    ) -> None:
        """ranks: whether the values are ranks; rank: those beside the scores"""
        self.ranks, self._columns, self._names, self._source = ranks, columns, names, source
        self._rank = rank

    def lent(self) -> Iterator[tuple[Any, Any, Any]]:
        """The columns for the native scan, as Arrow streams or arrays: as they are, then as text and float64."""
        lent = tuple(map(_lent, self._columns))
        if all(column is not None for column in lent):
            yield lent
        from pyarrow import chunked_array

        *ids, values = self._converted
        query, document = (chunked_array([column]).__arrow_c_stream__() for column in ids)
        yield query, document, values

    def first(self, n: int) -> Iterator[tuple[Any, Any, Any]]:
        """The query, the value and the rank beside it, if there is one, of the first rows, as they are in the frame."""
        query, value = (_listed(column[:n]) for column in self._columns[::2])
        return zip(query, value, repeat(None) if self._rank is None else _listed(self._rank[:n]), strict=False)

    @cached_property
    def frame(self) -> Frame:
        query, document, values = self._converted
        return Frame(*_numbered(query), _ids(document), -values if self.ranks else values)

    @cached_property
    def _converted(self) -> tuple[Any, Any, npt.NDArray[np.float64]]:
        query, document, value = self._columns
        query_name, document_name, value_name = self._names
        values = _number_column(value, self._source, value_name)
        queries = _id_column(query, self._source, query_name)
        return queries, _id_column(document, self._source, document_name), values


def _listed(column: Any) -> list[Any]:
    return list(column.to_pylist() if hasattr(column, "to_pylist") else column.to_list())


def _lent(column: Any) -> Any:
    """A column as it is in memory; None if only its own library can read it."""
    if isinstance(getattr(column, "dtype", None), np.dtype):  # of pandas: numbers or objects
        return np.ascontiguousarray(column.to_numpy()) if column.dtype.kind in "fiuO" else None
    try:
        return column.__arrow_c_stream__()
    except Exception:  # each library raises its own error; the conversion will report what is wrong
        return None


def from_frame(frame: Any, role: Role, source: str) -> FrameColumns:
    kind = type(frame)
    if (kind.__module__.partition(".")[0], kind.__name__) in _FRAMES:
        names = column_names(frame)
        if len(set(names)) == len(names) and {*map(type, names)} == {str}:
            return columns_of(names, frame.__getitem__, role, source)
    columns = _columns(frame, source)
    return columns_of(list(columns), columns.__getitem__, role, source)


def frame_rows(frame: Any, source: str) -> Iterator[dict[str, Any]]:
    """The rows of a frame as mappings of column name to value: slow, and enough for judgments."""
    columns = _columns(frame, source)
    values = map(_listed, columns.values())
    names = [str(name) for name in columns]
    return (dict(zip(names, row, strict=True)) for row in zip(*values, strict=True))


def _columns(frame: Any, source: str) -> dict[str, Any]:
    arrow, narwhals = _libraries()
    try:
        native = narwhals.from_native(frame, eager_only=True, pass_through=True)
        if native is frame:  # unknown to narwhals, but it supports Arrow
            table = arrow.table(frame)
            return {name: table.column(name) for name in table.column_names}
        return {name: native[name].to_native() for name in dict.fromkeys(native.columns)}
    except CranfieldError:
        raise
    except Exception as error:  # each library raises its own
        raise InputError(source, f"this frame cannot be read ({error}).") from error


def _libraries() -> tuple[Any, Any]:
    arrow = need("pyarrow", extra="frames", purpose="reading a frame")
    return arrow, need("narwhals", extra="frames", purpose="reading a frame")


def columns_of(names: Sequence[Any], column: Callable[[Any], Any], role: Role, source: str) -> FrameColumns:
    texts = list(map(str, names))
    places = needed_columns(texts, role, source)
    refuse_passages(texts, role, source)
    refuse_searches(texts, role, source)
    query, document, value = names[places.query], names[places.document], names[places.value]
    columns = column(query), column(document), column(value)
    at = rank_place(texts) if role == "run" and not places.ranks else -1
    rank = column(names[at]) if at >= 0 else None
    return FrameColumns(columns, (str(query), str(document), str(value)), places.ranks, source, rank)


def _numbered(ids: Any) -> tuple[list[str], npt.NDArray[np.int64]]:
    """The different ids of a column, and which of them each row has; equal ids are mostly adjacent."""
    from pyarrow import array
    from pyarrow.compute import not_equal

    changes = not_equal(ids.slice(1), ids.slice(0, max(len(ids) - 1, 0))).to_numpy(zero_copy_only=False)
    starts = np.append(0, np.flatnonzero(changes) + 1)[: len(ids)]
    encoded = ids.take(array(starts)).dictionary_encode()
    number = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return encoded.dictionary.to_pylist(), np.repeat(number, np.diff(np.append(starts, len(ids))))


def _arrow(column: Any) -> Any:
    arrow, narwhals = _libraries()
    if isinstance(column, arrow.Array | arrow.ChunkedArray):
        return column
    return narwhals.from_native(column, series_only=True).to_arrow()


def _id_column(column: Any, source: str, name: str) -> Any:
    import pyarrow as arrow

    try:
        ids = _arrow(column)
        if isinstance(ids, arrow.ChunkedArray):
            ids = ids.combine_chunks()
        if isinstance(ids, arrow.ChunkedArray):  # still chunked: it had no chunk
            ids = arrow.array([], arrow.large_string())
        if arrow.types.is_dictionary(ids.type):
            ids = ids.dictionary_decode()
        textual = arrow.types.is_string(ids.type) or arrow.types.is_large_string(ids.type)
        if textual or arrow.types.is_integer(ids.type) or str(ids.type) == "string_view":
            ids = ids.cast(arrow.large_string())
            ends = _ids(ids).ends
            if not ids.null_count and not (ends[1:] == ends[:-1]).any():  # an empty id is refused below
                return ids
        values = ids.to_pylist()
    except CranfieldError:
        raise
    except arrow.ArrowException as error:
        if isinstance(column, arrow.Array | arrow.ChunkedArray):  # such as an index outside of its dictionary
            raise InputError(source, f"column '{name}' cannot be read ({error}).") from error
        values = column.to_list()  # Python objects of several types
    except Exception as error:
        raise InputError(source, f"column '{name}' cannot be read ({error}).") from error
    return arrow.array(
        [id_text(value, source, f"column '{name}', row {row}") for row, value in enumerate(values)],
        arrow.large_string(),
    )


def _ids(column: Any) -> Ids:
    _, ends, text = column.buffers()
    offset = np.frombuffer(ends, np.int64, count=len(column) + 1, offset=8 * column.offset)
    return Ids(np.frombuffer(text, np.uint8) if text else np.empty(0, np.uint8), offset)


def _number_column(column: Any, source: str, name: str) -> npt.NDArray[np.float64]:
    import pyarrow as arrow

    try:
        numbers = _arrow(column)
        kind = numbers.type
        if arrow.types.is_string(kind) or arrow.types.is_large_string(kind) or arrow.types.is_boolean(kind):
            fact = f"column '{name}' contains {kind}, not numbers."
            raise InputError(source, fact, hint="convert it to a number column")
        if numbers.null_count:
            row = numbers.is_null().to_pylist().index(True)
            raise InputError(source, f"column '{name}', row {row}: the value is missing.")
        values = np.asarray(numbers.cast(arrow.float64()).to_numpy(), dtype=np.float64)
    except CranfieldError:
        raise
    except Exception as error:
        raise InputError(source, f"column '{name}' does not contain numbers ({error}).") from error
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise InputError(source, f"column '{name}', row {bad[0]}: {values[bad[0]]} is not a finite number.")
    return np.ascontiguousarray(values)
