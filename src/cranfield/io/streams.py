"""Bytes in chunks from a path, standard input or an open file, decompressed, hashed, and readable twice."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

from cranfield.errors import InputError, near_file, nearest
from cranfield.io.compression import COMPRESSED_CHUNK, EXTENSIONS, compression, decompressed

if TYPE_CHECKING:
    from cranfield.io.formats.store import JudgmentView

CHUNK = 1 << 20
LOOK = 1 << 16
BEGINNING = 16  # bytes that tell a database
LONGEST_LINE = 1 << 24  # no real line is longer; it would be held in memory
# How much content may be held at once, a query's lines or a whole file of JSON: so much, or so many times the size of
# the file. Real files are compressed to a tenth; a file that becomes a thousand times larger is made to harm.
HELD, PROPORTION = 1 << 27, 32

BUILT_IN = "builtin:"
# Examples that come with the package: a collection of 60 queries with its documents, and ten queries to try things.
BUILT_IN_FILES = {
    "builtin": "collection/qrels/test.tsv",
    "builtin:plain": "collection/runs/plain.run.gz",
    "builtin:tuned": "collection/runs/tuned.run.gz",
    "builtin:ten": "qrels.txt",
    "builtin:keywords": "keywords.run",
    "builtin:meaning": "meaning.run",
    "builtin:qrels": "qrels.txt",  # the older name of builtin:ten
}
BUILT_IN_LIST = (
    "there are builtin, the judgments of 60 queries, with the runs builtin:plain and builtin:tuned; and builtin:ten, "
    "those of ten queries, with builtin:keywords and builtin:meaning"
)
DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data")

BYTE_ORDER_MARK = b"\xef\xbb\xbf"

# Files that were opened before their streams were made, by path, each with the bytes that were read of it.
OPENED: dict[str, tuple[io.FileIO, bytes]] = {}
_BEGINNINGS: dict[tuple[str, int, int, int], bytes] = {}  # the first bytes of the files that were looked at


def stream_name(source: Any) -> str:
    if isinstance(source, str | os.PathLike):
        path = os.fspath(source)
        if "://" in path:  # without its password
            return re.sub(r"(://[^:/@]*):.*@", r"\1:***@", path)
        return "standard input" if path == "-" else path
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else "an open file"


def beginning(path: str) -> bytes:
    """The first bytes of a file, which is not opened again for them if they are known and it has not changed."""
    known = _BEGINNINGS.get(_identity(path))
    return Stream(path).head(BEGINNING) if known is None else known


def _identity(path: str) -> tuple[str, int, int, int]:
    try:
        there = os.stat(path)
    except (OSError, ValueError):
        return path, 0, 0, 0
    return path, there.st_ino, there.st_size, there.st_mtime_ns


def as_stream(thing: Any) -> Stream | None:
    """The stream of a path or an open file, or a stream itself; None for anything else."""
    if isinstance(thing, Stream):
        return thing
    return Stream(thing) if isinstance(thing, str | os.PathLike) or hasattr(thing, "read") else None


class Stream:
    """The content of one input, which is opened once. Every reading starts again from the first byte.

    What `head` reads to recognise a format is kept for the first reading, so the bytes of a file are read once. Its
    file is closed at the end of a whole reading, unless `keep_open`; a later reading opens it again.

    hashed: whether `sha256` is made while the lines are read; otherwise only `hash_again` makes it.
    """

    def __init__(self, source: str | os.PathLike[str] | BinaryIO | io.TextIOBase, *, hashed: bool = True) -> None:
        self.hashed = hashed
        self.keep_open = False
        self._file: Any = None  # what is read: an open file, or a pipe that can be read again
        self._path: str | None = None
        self._start = 0
        self._begun: _Reading | None = None  # a reading of which only the head was asked for
        self._last: _Reading | None = None  # the reading that was taken last
        self.sha256 = ""
        self.begins = b""  # the first bytes, once they were looked at
        self.on_read: Callable[[int], None] | None = None  # called with the number of bytes of content read
        self.view: JudgmentView | None = None  # the choice from a store of judgments
        self.name = stream_name(source)
        self.again = False  # whether the file can be opened again by its path
        if isinstance(source, str | os.PathLike):
            self._path = _located(os.fspath(source))
            # A path may also be a named pipe, or the shell's <(command).
            pipe = os.path.exists(self._path) and not (os.path.isfile(self._path) or os.path.isdir(self._path))
            self.again = self._path != "-" and not pipe
            if self.again:
                return
        from cranfield.io.open_files import Replay, binary_file, seekable, standard_input

        if self._path is None:
            self._file = binary_file(source)
        elif self._path == "-":
            self._file = standard_input()
        else:
            self._file = self._pipe = self._open()
        if seekable(self._file):
            self._start = self._file.tell()
        else:
            self._file = self._replay = Replay(self._file)

    def __del__(self) -> None:
        self.close()
        for file in (getattr(self, "_replay", None), getattr(self, "_pipe", None)):
            if file is not None:
                file.close()

    def close(self) -> None:
        """Close a file that can be opened again."""
        if getattr(self, "again", False) and self._file is not None:
            self._file.close()
            self._file = self._begun = None

    def head(self, size: int) -> bytes:
        if self._begun is None:
            self._begun = self._reading()
        if not self.begins:
            self.begins = self._begun.look(BEGINNING)
            if self.again and self._path is not None:
                _BEGINNINGS[_identity(self._path)] = self.begins
        return self._begun.look(size)

    def tail(self, size: int) -> bytes:
        reading = self._begun or self._reading()
        self._begun = reading
        if reading.seekable:
            return reading.tail(size)
        taken = b""
        for chunk in self._chunks():
            taken = (taken + chunk)[-size:]
        return taken

    def chunks(self) -> Iterator[bytes]:
        """The content. Once it has all been read, `sha256` is the hash of the decompressed bytes."""
        import hashlib

        digest = hashlib.sha256()
        for chunk in self._chunks():
            digest.update(chunk)
            yield chunk
        self.sha256 = digest.hexdigest()

    def hash_again(self) -> str:
        for _ in self.chunks():
            pass
        return self.sha256

    def content(self) -> bytearray:
        whole = bytearray()
        for chunk in self.chunks():
            whole += chunk
            self.check_held(len(whole))
        return whole

    def check_held(self, size: int) -> None:
        """Refuse to hold so much of what was read last, if that is out of proportion to the file."""
        if self._last is not None:
            self._last.check_held(size)

    def pieces(
        self, size: int, cut: Callable[[bytes], int], *, hashed: bool = True
    ) -> Iterator[tuple[int, memoryview]]:
        """The content in pieces of about `size` bytes, each with its offset; then `sha256` is known, if it is wanted.

        `cut` returns how many of the bytes read belong to the piece; 0: more must be read to decide. The content is
        lines, and an error where one has no end.
        """
        digest: Any = None
        if hashed and self.hashed:
            import hashlib

            digest = hashlib.sha256()
        for offset, piece in self._taken().pieces(size, cut):
            if digest:
                digest.update(piece)
            if self.on_read:
                self.on_read(len(piece))
            yield offset, piece
        if digest:
            self.sha256 = digest.hexdigest()
        self._ended()

    def part(self, offset: int, size: int) -> bytes:
        """Some bytes of a file that is not compressed and can be read again."""
        return _read(self._opened(), self._start + offset, size, self.name)

    def whole_lines(self) -> Iterator[memoryview]:
        """The content in pieces of whole lines, without a byte-order mark; the first from the head that is kept."""
        head = memoryview(self.head(LOOK))
        seen = end_of_lines(head.tobytes()) if len(head) == LOOK else len(head)
        yield head[mark_length(head) : seen]
        if len(head) == LOOK:
            for offset, piece in self._reading().pieces(LOOK, end_of_lines):
                if offset + len(piece) > seen:
                    yield piece[max(seen - offset, mark_length(piece) if offset == 0 else 0) :]

    @property
    def address(self) -> str | None:
        """The path or URL by which other code can open this; None if there is none."""
        return self._path if self.again else None

    @property
    def seekable(self) -> bool:
        """Whether `part` can read some bytes of it later: a file that is not compressed."""
        return self.again and (self._begun or self._reading()).seekable

    @property
    def size(self) -> int | None:
        """The size of an uncompressed file; None if it is not known before reading."""
        if not self.again or self._path is None or not os.path.isfile(self._path):
            return None
        return None if self._path.lower().endswith(EXTENSIONS) else os.path.getsize(self._path)

    def _chunks(self) -> Iterator[bytes]:
        yield from self._taken().chunks()
        self._ended()

    def _taken(self) -> _Reading:
        self._last, self._begun = self._begun or self._reading(), None
        return self._last

    def _ended(self) -> None:
        if not self.keep_open:
            self.close()

    def _reading(self) -> _Reading:
        if not self.again:
            self._begun = None  # it has only one place where it is read
        elif self._file is None and self._path in OPENED:
            self._file, head = OPENED.pop(self._path)
            return _Reading(self._file, self._start, self.name, head)
        return _Reading(self._opened(), self._start, self.name)

    def _opened(self) -> Any:
        if self._file is None:
            self._file = self._open()
        return self._file

    def _open(self) -> io.FileIO:
        assert self._path is not None
        try:
            return open(self._path, "rb", buffering=0)
        except (OSError, ValueError) as error:  # a name may contain characters that no file name can have
            raise InputError(self.name, why_unreadable(error), hint=_path_hint(self._path)) from error


class _Reading:
    """One reading of a file from its first byte, decompressed; `look` keeps what it reads."""

    def __init__(self, file: Any, start: int, name: str, head: bytes = b"") -> None:
        self._file, self._start, self._name = file, start, name
        self._at = len(head)  # bytes of the file read so far
        if isinstance(file, io.FileIO):
            self._next = self._at_its_place
        else:
            rewind = getattr(file, "rewind", None) or partial(file.seek, start)
            rewind()
            self._next = self._in_order
        first = head or self._next(LOOK)
        self._rest: Iterator[bytes] | None = None
        if compression(first):
            self._rest = decompressed(first, partial(self._next, COMPRESSED_CHUNK), name)
            first = b""
        self._held = first

    @property
    def seekable(self) -> bool:
        return isinstance(self._file, io.FileIO) and self._rest is None

    def look(self, size: int) -> bytes:
        while len(self._held) < size:
            more = next(self._rest, b"") if self._rest else self._next(size - len(self._held))
            if not more:
                break
            self._held += more
        return self._held[:size]

    def tail(self, size: int) -> bytes:
        end: int = self._file.seek(0, os.SEEK_END)
        return _read(self._file, max(self._start, end - size), size, self._name)

    def chunks(self) -> Iterator[bytes]:
        if self._held:
            yield self._held
        if self._rest:
            yield from self._rest
            return
        while chunk := self._next(CHUNK):
            yield chunk

    def pieces(self, size: int, cut: Callable[[Any], int]) -> Iterator[tuple[int, memoryview]]:
        yield from self._by_place(size, cut) if self.seekable else self._by_joining(size, cut)

    def _by_place(self, size: int, cut: Callable[[Any], int]) -> Iterator[tuple[int, memoryview]]:
        # The part after the cut is copied to the start of the next piece; the rest is read to its place behind it.
        offset, carried, wanted = 0, memoryview(self._held), size
        while True:
            wanted = max(wanted, len(carried))
            room = bytearray(wanted)
            data = memoryview(room)
            data[: len(carried)] = carried
            got = len(carried) + self._into(data[len(carried) :])
            end = cut(room) if got == wanted else got
            if end:
                yield offset, data[:end]
                offset += end
            elif not got:
                return
            else:
                self._check_lines(room)
                self.check_held(got)
            carried, wanted = data[end:got], size if end else 2 * wanted

    def _by_joining(self, size: int, cut: Callable[[Any], int]) -> Iterator[tuple[int, memoryview]]:
        held: list[bytes | memoryview] = []
        offset = length = 0
        wanted = size
        for chunk in self.chunks():
            held.append(chunk)
            length += len(chunk)
            if length >= wanted:
                data = b"".join(held)
                end = cut(data)
                if end:
                    yield offset, memoryview(data)[:end]
                else:
                    self._check_lines(data)
                    self.check_held(length)
                offset += end
                length -= end
                held = [memoryview(data)[end:]]
                wanted = max(size, 2 * length)
        if length:
            yield offset, memoryview(b"".join(held))

    def _check_lines(self, data: bytes | bytearray) -> None:
        if len(data) > LONGEST_LINE and data.rfind(b"\n", len(data) - LONGEST_LINE) < 0:
            raise InputError(self._name, f"a line is longer than {LONGEST_LINE >> 20} MB.", hint="is this a text file?")

    def check_held(self, size: int) -> None:
        check_held(size, self._at, self._name)

    def _in_order(self, size: int) -> bytes:
        data = _filled(self._file.read, self._name, size)
        self._at += len(data)
        return data

    def _at_its_place(self, size: int) -> bytes:
        data = _read(self._file, self._start + self._at, size, self._name)
        self._at += len(data)
        return data

    def _into(self, room: memoryview) -> int:
        done = 0
        try:
            self._file.seek(self._start + self._at)
            while done < len(room) and (got := self._file.readinto(room[done:])):
                done += got
        except (OSError, ValueError) as error:
            raise InputError(self._name, why_unreadable(error)) from error
        self._at += done
        return done


def _read(file: Any, place: int, size: int, name: str) -> bytes:
    try:
        file.seek(place)
    except (OSError, ValueError) as error:
        raise InputError(name, why_unreadable(error)) from error
    return _filled(file.read, name, size)


def _filled(read: Callable[[int], bytes], name: str, size: int) -> bytes:
    try:
        data = read(size)
        while 0 < len(data) < size:  # a pipe returns what it has; only an empty result is the end
            more = read(size - len(data))
            if not more:
                break
            data += more
    except (OSError, ValueError) as error:
        raise InputError(name, why_unreadable(error)) from error
    return data


def may_hold(taken: int) -> int:
    """How many bytes may be held at once, of a file of which `taken` bytes were read."""
    return max(HELD, PROPORTION * taken)


def check_held(size: int, taken: int, name: str) -> None:
    if size > may_hold(taken):
        fact = f"more than {HELD >> 20} MB of it must be held at once, over {PROPORTION} times the size of the file."
        raise InputError(name, fact, hint="if this is right, decompress the file, or write it in another format")


def end_of_lines(data: bytes) -> int:
    """The end of the last complete line of the data; 0 if there is none."""
    return data.rfind(b"\n") + 1


def mark_length(data: memoryview) -> int:
    return len(BYTE_ORDER_MARK) if data[: len(BYTE_ORDER_MARK)] == BYTE_ORDER_MARK else 0


def _located(path: str) -> str:
    if not path.startswith(BUILT_IN.removesuffix(":")) or os.path.exists(path):
        return path
    if path in BUILT_IN_FILES:
        return os.path.join(DATA, *BUILT_IN_FILES[path].split("/"))
    if path.startswith(BUILT_IN):
        near = nearest(path.removeprefix(BUILT_IN), [name.removeprefix(BUILT_IN) for name in BUILT_IN_FILES])
        hint = f"did you mean {BUILT_IN}{near}?" if near else BUILT_IN_LIST
        raise InputError(path, "there is no such built-in file.", hint=hint)
    return path


def why_unreadable(error: Exception) -> str:
    text = getattr(error, "strerror", None) or str(error)
    return f"cannot be read: {text[:1].lower()}{text[1:]}."


def _path_hint(path: str) -> str:
    if "\n" in path:
        return "a string is taken as a path; for text in memory use io.BytesIO(text.encode())"
    if os.path.isdir(path):
        return "this is a folder; name a file in it"
    return "" if os.path.exists(path) else near_file(path, BUILT_IN_FILES)
