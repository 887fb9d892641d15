"""The one way to write a file: compressed by its extension, and moved into place only when complete."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
import time
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from cranfield.errors import OutputError, given, need

STANDARD_OUTPUT = "-"


class Target:
    """A temporary file. It may be written again from the start."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        self._file = file
        self._extension = os.path.splitext(name.lower())[1]

    @contextmanager
    def opened(self) -> Iterator[Any]:
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
def open_target(path: str | os.PathLike[str], *, force: bool = False) -> Iterator[Target]:
    """A target that becomes the file `path` at the end, unless there is an error; then nothing is left of it.

    "-" is standard output. Standard output, pipes and devices also get all or nothing, and stay what they are; a link
    stays a link to the file. A file that exists is only replaced with `force`, and keeps its permissions.
    """
    name = os.fspath(path)
    if name == STANDARD_OUTPUT:
        with tempfile.TemporaryFile() as file:
            with reported("standard output"):
                yield Target(file, name)
            with reported("standard output", passing=BrokenPipeError):  # the reader has gone: not an error
                _copy(file, sys.stdout.buffer)
        return
    place, there = _place(name)
    if not os.path.basename(name) or (there is not None and stat.S_ISDIR(there.st_mode)):
        raise OutputError(name, "this is a folder.", hint="name a file in it")
    if there is not None and not (stat.S_ISREG(there.st_mode) and _is_same(place, there)):
        with reported(name), tempfile.TemporaryFile() as file:
            yield Target(file, name)
            with open(name, "wb") as device:
                _copy(file, device)
        return
    if not force:
        refuse_existing(name)
    if there is not None and not os.access(place, os.W_OK):
        raise OutputError(name, "cannot be written: permission denied.")
    # A temporary file beside the target, with a short and unique name, replaces it at the end.
    folder, base = os.path.split(place)
    prefix = f".cranfield-{zlib.crc32(os.fsencode(base)):08x}-"
    _remove_abandoned(folder, prefix)
    partial = os.path.join(folder, f"{prefix}{os.urandom(8).hex()}.part")
    try:
        with reported(name):
            with open(partial, "x+b") as file:
                with suppress(OSError):  # not every file system has locks
                    _own(file)
                if there is not None:  # the owner stays where that is allowed
                    with suppress(OSError, AttributeError):
                        os.chown(partial, there.st_uid, there.st_gid)
                    os.chmod(partial, stat.S_IMODE(there.st_mode))
                yield Target(file, name)
            os.replace(partial, place)
    except BaseException:  # also an interruption
        with suppress(OSError):
            os.remove(partial)
        raise


def refuse_existing(name: str) -> None:
    """Refuse to replace a file, before any work is done for it."""
    if os.path.isfile(name):
        raise OutputError(name, "this file already exists.", hint=f"{given('force', True)} replaces it")


ABANDONED = 60.0  # seconds after which a temporary file that no process has locked is nobody's


def _own(file: IO[bytes]) -> None:
    """Lock a temporary file while it is open. Windows lets nobody remove an open file anyway."""
    if sys.platform != "win32":
        _lock(file.fileno(), wait=False)


def _remove_abandoned(folder: str, prefix: str) -> None:
    """Remove temporary files of the same target whose processes were killed."""
    for name in _names(folder):
        if not (name.startswith(prefix) and name.endswith(".part")):
            continue
        path = os.path.join(folder, name)
        with suppress(OSError):  # it is another process's, or gone
            if time.time() - os.stat(path).st_mtime > ABANDONED:
                with open(path, "rb") as file:
                    _own(file)
                os.remove(path)


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder or os.curdir)
    except OSError:
        return []


def write_text(path: str | os.PathLike[str], text: str | Iterable[str], *, force: bool = False) -> int:
    """Write a text, or its pieces one by one; returns the number of bytes. Halves of characters are escaped."""
    size = 0
    with open_target(path, force=force) as target, target.opened() as file:
        for piece in [text] if isinstance(text, str) else text:
            data = piece.encode(errors="backslashreplace")
            file.write(data)
            size += len(data)
    return size


def make_folder(path: str | os.PathLike[str]) -> None:
    with reported(os.fspath(path)):
        os.makedirs(path, exist_ok=True)


def _place(name: str) -> tuple[str, os.stat_result | None]:
    """Where a path leads after all links, and what is there."""
    try:
        with reported(name):
            place = os.path.realpath(name)
            with suppress(FileNotFoundError):
                return place, os.stat(name)
            return place, None
    except ValueError as error:  # a NUL character, or one without bytes
        raise OutputError(name, "cannot be written: this is not a valid file name.") from error


def _is_same(place: str, there: os.stat_result) -> bool:
    """Whether a path leads to the file that was found: /dev/stdout and the like do not."""
    try:
        return os.path.samestat(os.stat(place), there)
    except OSError:
        return False


@contextmanager
def reported(name: str, *, passing: type[OSError] | tuple[()] = ()) -> Iterator[None]:
    try:
        yield
    except passing:
        raise
    except OSError as error:
        raise unwritable(name, error) from error


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


def _lock(file: int, wait: bool) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)  # it waits for ten seconds
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))


def open_locked(
    path: Path,
    what: str,
    *,
    name: str = "",
    hint: str = "wait for it to end, or write to another place",
    wait: bool = False,
) -> int:
    """Open a file for reading and appending that no other process has opened like this, and make it if need be.

    what: is done to the file, or to what errors call `name`; another process that is doing it is an error.
    wait: whether to wait for that process instead.
    The lock goes when the file is closed, or when the process ends, however it ends.
    """
    while True:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o644)
        except OSError as error:
            raise unwritable(path, error) from None
        try:
            _lock(file, wait)
            if os.path.exists(path) and os.path.samestat(os.fstat(file), os.stat(path)):
                return file
        except (BlockingIOError, PermissionError):
            os.close(file)
            raise OutputError(name or str(path), f"another process is {what}.", hint=hint) from None
        except OSError as error:
            os.close(file)
            raise unwritable(path, error) from None
        os.close(file)  # another process removed it: it is no longer the file of this name


@contextmanager
def locked(path: Path, what: str, *, wait: bool = False, **words: str) -> Iterator[None]:
    file = open_locked(path, what, wait=wait, **words)
    try:
        yield
    finally:
        os.close(file)


def unwritable(path: str | Path, error: OSError) -> OutputError:
    reason = error.strerror or str(error)
    return OutputError(str(path), f"cannot be written: {reason[:1].lower()}{reason[1:]}.")
