"""Where a file is written: compressed by its extension, and only put in its place when it is complete."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any

from cranfield.errors import OutputError, need

STANDARD_OUTPUT = "-"


class Target:
    """A temporary file. It may be written again from the start."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        self._file = file
        self._extension = os.path.splitext(name.lower())[1]

    @contextmanager
    def opened(self) -> Iterator[Any]:
        """What to write to."""
        self._file.seek(0)
        self._file.truncate()
        compressed = _compressed(self._file, self._extension)
        if compressed is None:
            yield self._file
        else:
            with compressed as file:
                yield file
        self._file.flush()


@contextmanager
def open_target(path: str, *, force: bool = False) -> Iterator[Target]:
    """A target that becomes the file `path` at the end, unless there is an error; then nothing is left of it.

    "-" is standard output, which also gets all or nothing. A file that exists is only replaced with `force`.
    """
    if path == STANDARD_OUTPUT:
        with tempfile.TemporaryFile() as file:
            yield Target(file, path)
            _copy(file, sys.stdout.buffer)
        return
    place = os.path.realpath(path)
    if os.path.isdir(place):
        raise OutputError(path, "this is a folder.", hint="name a file in it")
    if os.path.exists(place) and not os.path.isfile(place):  # a pipe or a device: it cannot be replaced
        with tempfile.TemporaryFile() as file:
            yield Target(file, path)
            with _reported(path), open(place, "wb") as device:
                _copy(file, device)
        return
    if os.path.exists(place) and not force:
        raise OutputError(path, "this file exists already.", hint="--force replaces it")
    folder, base = os.path.split(place)
    partial = os.path.join(folder, f".{base}.{os.getpid()}.part")
    try:
        with _reported(path), open(partial, "w+b") as file:
            yield Target(file, path)
        with _reported(path):
            os.replace(partial, place)
    except BaseException:  # also an interruption
        with suppress(OSError):
            os.remove(partial)
        raise


@contextmanager
def _reported(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise OutputError(path, f"cannot be written: {reason[:1].lower()}{reason[1:]}.") from error


def _copy(file: IO[bytes], target: IO[bytes]) -> None:
    file.seek(0)
    shutil.copyfileobj(file, target, 1 << 20)
    target.flush()


def _compressed(file: IO[bytes], extension: str) -> Any:
    if extension == ".gz":
        import gzip

        return gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0)  # the same content, the same bytes
    if extension == ".bz2":
        import bz2

        return bz2.BZ2File(file, "wb")
    if extension == ".xz":
        import lzma

        return lzma.LZMAFile(file, "wb")
    if extension == ".zst":
        if sys.version_info >= (3, 14):
            from compression import zstd

            return zstd.ZstdFile(file, "wb")
        library = need("zstandard", extra="zstd", purpose="writing a zstd file")
        return library.ZstdCompressor().stream_writer(file, closefd=False)
    return None
