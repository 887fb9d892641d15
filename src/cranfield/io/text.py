"""Lines of text to columns: blocks of whole queries, and the errors of a bad line."""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cranfield.errors import InputError
from cranfield.io.shapes import BadQuoting, Layout
from cranfield.io.streams import Stream, mark_length

if TYPE_CHECKING:
    import numpy.typing as npt

BLOCK = 1 << 20
TAIL = 1 << 16  # bytes at the end in which the last line of data is searched first
NEAR = 64  # lines without data that may be between those of a query
FULL_LINE = re.compile(rb"^[^\S\n]*\S[^\n]*", re.MULTILINE)
DATA_LINE = re.compile(rb"^[^\S\n]*[^\s#][^\n]*", re.MULTILINE)  # not a comment either
_POWERS = 10.0 ** np.arange(23)  # the powers of ten that are exact
_LONGEST = 16  # digits, point and sign that cannot exceed 2^53


class Columns(NamedTuple):
    query: list[bytes]
    document: list[bytes]
    value: npt.NDArray[np.float64]
    line: list[int] | None  # numbers within the block, from 0, or within the file if numbered; None: 0, 1, 2, …
    groups: list[list[bytes]]  # one list for each column of groups


class Scattered(Exception):
    """The lines of a query are in more than one block."""


class BadLine(Exception):
    """What is wrong with a line of a block; call `located` once nothing else reads the stream."""

    def __init__(self, block: Block, line: int, fact: str, hint: str, kind: type[InputError]) -> None:
        self._block, self._line, self._fact, self._hint, self._kind = block, line, fact, hint, kind

    def located(self, first: int | None = None) -> InputError:
        """The error for the user, with the line's number in the file; `first`: the number of the block's first line."""
        line = self._line
        if not self._block.layout.numbered:
            line += 1 + lines_before(self._block.stream, self._block.offset) if first is None else first
        return self._kind(self._block.stream.name, self._fact, line=line, hint=self._hint)


@contextmanager
def located() -> Iterator[None]:
    try:
        yield
    except BadLine as bad:
        raise bad.located() from None


class Line(NamedTuple):
    """A valid line. `number` is that of `Columns.line`."""

    number: int
    fields: list[bytes]
    value: float


class Block(NamedTuple):
    """Whole lines of a stream. `offset` is where they start in it."""

    stream: Stream
    layout: Layout
    offset: int
    data: bytes | memoryview

    def error(self, line: int, fact: str, *, hint: str = "", kind: type[InputError] = InputError) -> BadLine:
        return BadLine(self, line, fact, hint, kind)

    def columns(self) -> Columns:
        layout, plain = self.layout, self.fields_at_once()
        if plain is not None:
            fields, values = plain
            query, document, *groups = (
                fields[column :: layout.least + 1] for column in (layout.query, layout.document, *layout.groups)
            )
            numbers = list(map(int, fields[:: layout.least + 1])) if layout.numbered else None
        else:
            lines: list[Line] = []
            for line in self.lines():
                if isinstance(line, BadLine):
                    raise line
                lines.append(line)
            query, document, *groups = (
                [line.fields[column] for line in lines] for column in (layout.query, layout.document, *layout.groups)
            )
            values = np.array([line.value for line in lines], dtype=np.float64)
            numbers = [line.number for line in lines]
        if layout.single:
            with np.errstate(over="ignore"):  # numbers too large for 32 bits become infinite
                values = values.astype(np.float32).astype(np.float64)
        return Columns(query, document, values, numbers, groups)

    def fields_at_once(self) -> tuple[list[bytes], npt.NDArray[np.float64]] | None:
        """The columns of all lines one after the other, and the values; None if a line is not plain.

        In the usual block, every line has exactly the least number of columns. One split of the whole, with a mark for
        each line's end, checks that; it is twice as fast as splitting each line. The marks stay in the list.
        """
        layout, data = self.layout, bytes(self.data)
        if layout.separator or any(mark in data for mark in (b"#", b"\0", b"\r", b"\n\n")) or not _is_utf8(data):
            return None
        fields = data.replace(b"\n", b" \0 ").split()
        step = layout.least + 1
        if fields[layout.least :: step] != [b"\0"] * (len(fields) // step) or len(fields) % step:
            return None
        values = parse_numbers(fields[layout.value :: step])
        return None if values is None else (fields, values)

    def lines(self) -> Iterator[Line | BadLine]:
        data = bytes(self.data)
        wanted = FULL_LINE if self.layout.separator else DATA_LINE
        # Bytes that are not UTF-8 are an error even in a comment.
        for number, text in numbered_lines(data, wanted) if _is_utf8(data) else enumerate(data.split(b"\n")):
            try:
                line = self._line(number, text)
            except BadLine as bad:
                yield bad
            else:
                if line is not None:
                    yield line

    def _line(self, number: int, line: bytes) -> Line | None:
        layout = self.layout
        if layout.numbered and line:
            number = int(line.partition((layout.separator or " ").encode())[0])
        try:
            _ = _is_utf8(line) or line.decode()
            fields = layout.split(line)
        except UnicodeDecodeError as error:
            bad = line[error.start : error.start + 1].hex()
            hint = "save the file as UTF-8, for instance with: iconv -f LATIN1 -t UTF-8"
            raise self.error(number, f"byte 0x{bad} at column {error.start + 1} is not UTF-8.", hint=hint) from None
        except BadQuoting as error:
            raise self.error(number, f"invalid quoting ({error}).") from None
        if not fields:
            return None
        if b"\r" in line.rstrip(b"\r"):
            hint = "lines end with a newline; convert the file, for instance with: tr '\\r' '\\n'"
            raise self.error(number, "there is a carriage return in the middle of the line.", hint=hint)
        shape = f"a line is: {layout.shape}"
        if len(fields) < layout.least or (layout.most and len(fields) > layout.most):
            extra = int(layout.numbered)
            width, least, most = len(fields) - extra, layout.least - extra, layout.most and layout.most - extra
            wanted = f"{least}" if least == most else f"at least {least}"
            raise self.error(number, f"{width} column{'s' * (width != 1)} where {wanted} are needed.", hint=shape)
        if len(fields) > layout.least and layout.rank >= 0 and not fields[layout.rank].lstrip(b"+-").isdigit():
            shown = fields[layout.rank].decode()
            fact = f"{len(fields) - layout.numbered} columns, and '{shown}' is not a rank: an id may contain a blank."
            raise self.error(number, fact, hint=shape)
        for what, column in (("query", layout.query), ("document", layout.document)):
            if not fields[column]:
                raise self.error(number, f"the {what} id is empty.", hint=shape)
        text, finite = fields[layout.value], ""
        try:
            value = float(text)
            if math.isfinite(value) and b"_" not in text:  # Python reads 1_000 as a number
                return Line(number, fields, value)
            finite = "" if math.isfinite(value) else "finite "
        except ValueError:
            pass
        raise self.error(number, f"{layout.value_name} '{text.decode()}' is not a {finite}number.", hint=shape)


def parse_numbers(texts: Sequence[bytes]) -> npt.NDArray[np.float64] | None:
    """The numbers, correctly rounded; None if one of them is not a finite number."""
    plain = _plain_decimals(texts)
    if plain is not None:
        return plain
    if b"_" in b"".join(texts):
        return None
    try:
        values = np.fromiter(map(float, texts), np.float64, len(texts))
    except ValueError:
        return None
    return values if np.isfinite(values).all() else None


def _plain_decimals(texts: Sequence[bytes]) -> npt.NDArray[np.float64] | None:
    """Numbers like -12.50, all with a point: read as whole numbers, then divided by a power of ten.

    Both are exact as floats, so the division is the only rounding. It is three times as fast as float().
    """
    text = b" ".join(texts) + b" "
    if text.translate(None, b"0123456789.- ") or b"- " in text:
        return None
    if b"-" in text and text.count(b" -") + text.startswith(b"-") != text.count(b"-"):
        return None
    characters = np.frombuffer(text, np.uint8)
    points, ends = np.flatnonzero(characters == ord(".")), np.flatnonzero(characters == ord(" "))
    if len(points) != len(ends) or (points > ends).any() or (points[1:] < ends[:-1]).any():
        return None
    lengths = np.diff(ends, prepend=-1)
    if lengths.max(initial=0) > _LONGEST + 1 or lengths.min(initial=9) < 3 or b"-. " in text:
        return None
    digits: npt.NDArray[np.int64] = np.fromstring(text.replace(b".", b""), np.int64, sep=" ")
    values: npt.NDArray[np.float64] = digits / _POWERS[ends - points - 1]
    if b"-0" in text or b"-." in text:  # whole numbers have no negative zero
        values = np.where(characters[np.append(0, ends[:-1] + 1)] == ord("-"), -abs(values), values)
    return values


def numbered_lines(data: bytes, wanted: re.Pattern[bytes]) -> Iterator[tuple[int, bytes]]:
    """Lines with their numbers, from 0. Skipped lines take hardly any time."""
    number = last = 0
    for line in wanted.finditer(data):
        number += data.count(b"\n", last, line.start())
        last = line.start()
        yield number, line.group()


def decoded(ids: Sequence[bytes]) -> list[str]:
    """Ids as text; no id contains a newline, so all of them can be decoded at once."""
    return b"\n".join(ids).decode().split("\n") if ids else []


def _is_utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def blocks(
    stream: Stream, layout: Layout, least: int = BLOCK, *, hashed: bool = True, held: bool = False
) -> Iterator[Block]:
    """The lines of a stream in pieces of whole queries, if their lines are adjacent, of at least `least` bytes.

    held: whether all of them will be held, as judgments are
    """
    header_awaited = layout.header
    for offset, data in stream.pieces(least, partial(cut, layout=layout), hashed=hashed):
        if held:
            stream.check_held(offset + len(data))
        start = mark_length(data) if offset == 0 else 0
        if header_awaited:  # blank lines and comments may come before it
            header = DATA_LINE.search(data[start:])
            header_awaited = header is None
            start = len(data) if header is None else start + header.end() + 1
        data = data[start:]
        if data:
            complete = data if data[-1] == ord("\n") else bytes(data) + b"\n"
            yield Block(stream, layout, offset + start, complete)


def first_line(stream: Stream) -> bytes:
    line = next(filter(None, map(DATA_LINE.search, stream.whole_lines())), None)
    return line.group().rstrip(b"\r") if line else b""


def header_lines(stream: Stream, layout: Layout) -> int:
    count = 0
    for data in stream.whole_lines() if layout.header else ():
        header = DATA_LINE.search(data)
        count += bytes(data[: header.end() + 1] if header else data).count(b"\n")
        if header:
            break
    return count


def cut(data: bytes, layout: Layout) -> int:
    """Where the last query of the data starts; 0 if it is the only one.

    Bisection, as if the lines of every query were adjacent. If they are not, the cut may fall anywhere: the query is
    then in two blocks, which the scan detects. A long stretch without data counts as a query's end.
    """
    end = data.rfind(b"\n")
    if end < 0:
        return 0
    low = 0
    high, last = _query_before(data, low, end, layout)
    if last is None:
        return end + 1
    while low < high:
        stop = data.find(b"\n", (low + high) // 2)
        start, query = _query_before(data, low, stop, layout)
        if query == last:
            high = start
        else:
            low = stop + 1
    return high


def _query_before(data: bytes, low: int, stop: int, layout: Layout) -> tuple[int, bytes | None]:
    """The last line before `stop` that names a query, and where it starts; None if it takes too long to find one."""
    for _ in range(NEAR):
        start = data.rfind(b"\n", low, stop) + 1 or low
        query = layout.query_of(data[start:stop])
        if query is not None or start == low:
            break
        stop = start - 1
    return start, query


def lines_before(stream: Stream, offset: int) -> int:
    """How many lines end before an offset; only needed to report an error."""
    count = 0
    for chunk in stream.chunks():
        count += chunk.count(b"\n", 0, offset) if offset < len(chunk) else chunk.count(b"\n")
        offset -= len(chunk)
        if offset <= 0:
            break
    return count


def last_fields(stream: Stream, layout: Layout) -> list[bytes]:
    end = stream.tail(TAIL)
    if len(end) == TAIL:
        end = end.partition(b"\n")[2]  # the first line may have lost its start
    last = _last_line(end)
    if last is None:
        for data in stream.whole_lines():
            last = _last_line(data) or last
    return layout.split(last) if last else []


def _last_line(data: bytes | memoryview) -> bytes | None:
    last = deque(DATA_LINE.finditer(data), maxlen=1)
    return last[0].group() if last else None


def partition(block: Block, line: int, count: int) -> list[bytes]:
    """The lines of a block, each with its number in front, divided by query into `count` parts."""
    import zlib

    parts: list[list[bytes]] = [[] for _ in range(count)]
    mark = (block.layout.separator or " ").encode()
    for number, text in numbered_lines(bytes(block.data), FULL_LINE if block.layout.separator else DATA_LINE):
        query = block.layout.query_of(text)
        parts[zlib.crc32(query or b"") % count].append(b"%d%s%s\n" % (line + number, mark, text))
    return [b"".join(part) for part in parts]
