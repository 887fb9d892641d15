"""Bytes in chunks from a path, standard input or an open file, decompressed, hashed, and readable twice."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from cranfield.errors import InputError, nearest
from cranfield.read.compression import COMPRESSED_CHUNK, compression, decompressed

if TYPE_CHECKING:
    from cranfield.read.formats.store import JudgmentView
    from cranfield.read.open_files import Replay

CHUNK = 1 << 20
LOOK = 1 << 16
LONGEST_LINE = 1 << 24  # no real line is longer; it would be held in memory

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


def stream_name(source: Any) -> str:
    """The name of an input: its path, or what is known of an open file."""
    if isinstance(source, str | os.PathLike):
        path = os.fspath(source)
        return "standard input" if path == "-" else _without_password(path)
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else "an open file"


class Stream:
    """The content of one input. Every reading starts again from the first byte.

    hashed: whether `sha256` is made while the lines are read; otherwise only `hash_again` makes it.
    """

    def __init__(self, source: str | os.PathLike[str] | BinaryIO | io.TextIOBase, *, hashed: bool = True) -> None:
        self.hashed = hashed
        self._file: BinaryIO | None = None
        self._path: str | None = None
        self._start = 0
        self._replay: Replay | None = None
        self.sha256 = ""
        self.on_read: Callable[[int], None] | None = None  # called with the number of bytes of content read
        self.view: JudgmentView | None = None  # the choice from a store of judgments
        self.name = stream_name(source)
        if isinstance(source, str | os.PathLike):
            self._path = _located(os.fspath(source))
            if self._path != "-" and not _is_pipe(self._path):
                return  # a file, which is opened whenever it is read
        from cranfield.read.open_files import Replay, binary_file, seekable, standard_input

        if self._path is None:
            self._file = binary_file(source)
        elif self._path == "-":
            self._file = standard_input()
        else:
            self._file = self._pipe = cast(BinaryIO, self._open())
        if seekable(self._file):
            self._start = self._file.tell()
        else:
            self._replay = Replay(self._file)

    def __del__(self) -> None:
        for file in (getattr(self, "_replay", None), getattr(self, "_pipe", None)):
            if file is not None:
                file.close()

    def head(self, size: int) -> bytes:
        """The first bytes, decompressed."""
        taken = b""
        for chunk in self._chunks(size):
            taken += chunk
            if len(taken) >= size:
                break
        return taken[:size]

    def tail(self, size: int) -> bytes:
        """The last bytes, decompressed."""
        with self._opened() as file:
            first = self._read(file, COMPRESSED_CHUNK)
            if self._replay is None and not compression(first):
                file.seek(max(self._start, file.seek(0, os.SEEK_END) - size))
                return self._read(file, size)
            taken = b""
            for chunk in self._rest(file, first, CHUNK):
                taken = (taken + chunk)[-size:]
            return taken

    def chunks(self) -> Iterator[bytes]:
        """The content. Once it has all been read, `sha256` is the hash of the decompressed bytes."""
        import hashlib

        digest = hashlib.sha256()
        for chunk in self._chunks(CHUNK):
            digest.update(chunk)
            yield chunk
        self.sha256 = digest.hexdigest()

    def hash_again(self) -> str:
        """The hash, by reading all of the content again."""
        for _ in self.chunks():
            pass
        return self.sha256

    def content(self) -> bytearray:
        """All of the content at once, for formats that are read as a whole."""
        whole = bytearray()
        for chunk in self.chunks():
            whole += chunk
        return whole

    def pieces(
        self, size: int, cut: Callable[[bytes], int], *, hashed: bool = True
    ) -> Iterator[tuple[int, memoryview]]:
        """The content in pieces of about `size` bytes, each with its offset; then `sha256` is known, if it is wanted.

        `cut` returns how many of the bytes read belong to the piece; 0: more must be read to decide. The content is
        lines, and an error where one has no end.
        """
        digest: Any = None
        if hashed and self.hashed:
            from cranfield.read.hashing import hashed_ahead

            digest, done = hashed_ahead(self._path or "")
        for offset, piece in self._pieces(size, cut):
            if digest and offset + len(piece) > done:
                digest.update(piece[max(done - offset, 0) :])
            if self.on_read:
                self.on_read(len(piece))
            yield offset, piece
        if digest:
            self.sha256 = digest.hexdigest()

    def whole_lines(self) -> Iterator[memoryview]:
        """The content in pieces of whole lines, without a byte-order mark: without reporting progress."""
        for offset, piece in self._pieces(LOOK, end_of_lines):
            yield piece[0 if offset else mark_length(piece) :]

    @property
    def address(self) -> str | None:
        """The path or URL by which other code can open this; None if there is none."""
        return self._path if self._file is None else None

    @property
    def size(self) -> int | None:
        """The size of an uncompressed file; None if it is not known before reading."""
        if self._path is None or self._file is not None or not os.path.isfile(self._path):
            return None
        with self._open() as file:
            return None if compression(self._read(file, 10)) else os.path.getsize(self._path)

    def _pieces(self, size: int, cut: Callable[[bytes], int]) -> Iterator[tuple[int, memoryview]]:
        with self._opened() as file:
            first = self._read(file, COMPRESSED_CHUNK)
            read = self._by_joining if self._replay or compression(first) else self._by_reading_again
            yield from read(file, first, size, cut)

    def _by_reading_again(
        self, file: Any, first: bytes, size: int, cut: Callable[[bytes], int]
    ) -> Iterator[tuple[int, memoryview]]:
        # Reading the part after the cut again is cheaper than copying the piece together.
        offset, wanted = 0, size
        while True:
            file.seek(self._start + offset)
            data = self._read(file, wanted)
            end = cut(data) if len(data) == wanted else len(data)
            if end:
                yield offset, memoryview(data)[:end]
                offset += end
            elif not data:
                return
            else:
                self._check_lines(data)
            wanted = size if end else 2 * wanted

    def _by_joining(
        self, file: Any, first: bytes, size: int, cut: Callable[[bytes], int]
    ) -> Iterator[tuple[int, memoryview]]:
        held: list[bytes | memoryview] = []
        offset = length = 0
        wanted = size
        for chunk in self._rest(file, first, size):
            held.append(chunk)
            length += len(chunk)
            if length >= wanted:
                data = b"".join(held)
                end = cut(data)
                if end:
                    yield offset, memoryview(data)[:end]
                else:
                    self._check_lines(data)
                offset += end
                length -= end
                held = [memoryview(data)[end:]]
                wanted = max(size, 2 * length)
        if length:
            yield offset, memoryview(b"".join(held))

    def _check_lines(self, data: bytes) -> None:
        if len(data) > LONGEST_LINE and data.rfind(b"\n", len(data) - LONGEST_LINE) < 0:
            raise InputError(self.name, f"a line is longer than {LONGEST_LINE >> 20} MB.", hint="is this a text file?")

    def _chunks(self, size: int) -> Iterator[bytes]:
        with self._opened() as file:
            yield from self._rest(file, self._read(file, COMPRESSED_CHUNK), size)

    def _rest(self, file: Any, first: bytes, size: int) -> Iterator[bytes]:
        """All content of a file whose first bytes have been read."""
        if compression(first):
            yield from decompressed(first, partial(self._read, file, COMPRESSED_CHUNK), self.name)
            return
        while first:
            yield first
            first = self._read(file, size)

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        if self._replay is not None:
            self._replay.rewind()
            yield self._replay
        elif self._file is not None:
            self._file.seek(self._start)
            yield self._file
        else:
            with self._open() as file:
                yield file

    def _open(self) -> io.FileIO:
        assert self._path is not None
        try:
            return open(self._path, "rb", buffering=0)
        except (OSError, ValueError) as error:  # a name may contain characters that no file name can have
            raise InputError(self.name, why_unreadable(error), hint=_path_hint(self._path)) from error

    def _read(self, file: Any, size: int) -> bytes:
        try:
            data: bytes = file.read(size)
            while 0 < len(data) < size:  # a pipe returns what it has; only an empty result is the end
                more = file.read(size - len(data))
                if not more:
                    break
                data += more
        except (OSError, ValueError) as error:
            raise InputError(self.name, why_unreadable(error)) from error
        return data


def end_of_lines(data: bytes) -> int:
    """The end of the last complete line of the data; 0 if there is none."""
    return data.rfind(b"\n") + 1


def mark_length(data: memoryview) -> int:
    """The length of a byte-order mark at the start."""
    return len(BYTE_ORDER_MARK) if data[: len(BYTE_ORDER_MARK)] == BYTE_ORDER_MARK else 0


def _located(path: str) -> str:
    """The path of a file; some are part of the package."""
    if not path.startswith(BUILT_IN.removesuffix(":")) or os.path.exists(path):
        return path
    if path in BUILT_IN_FILES:
        return os.path.join(DATA, *BUILT_IN_FILES[path].split("/"))
    if path.startswith(BUILT_IN):
        near = nearest(path.removeprefix(BUILT_IN), [name.removeprefix(BUILT_IN) for name in BUILT_IN_FILES])
        hint = f"did you mean {BUILT_IN}{near}?" if near else BUILT_IN_LIST
        raise InputError(path, "there is no such built-in file.", hint=hint)
    return path


def _is_pipe(path: str) -> bool:
    """Whether a path is neither a file nor a folder: a named pipe, or the shell's <(command)."""
    return os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path))


def _without_password(path: str) -> str:
    """A name for messages: a path as it is, a URL without its password."""
    return re.sub(r"(://[^:/@]*):.*@", r"\1:***@", path) if "://" in path else path


def why_unreadable(error: Exception) -> str:
    """Why something cannot be read, as a sentence of an error."""
    text = getattr(error, "strerror", None) or str(error)
    return f"cannot be read: {text[:1].lower()}{text[1:]}."


def _path_hint(path: str) -> str:
    if "\n" in path:
        return "a string is taken as a path; for text in memory use io.BytesIO(text.encode())"
    if os.path.isdir(path):
        return "this is a folder; name a file in it"
    if os.path.exists(path):
        return ""
    from cranfield.read.near_files import near_file

    return near_file(path, BUILT_IN_FILES)
