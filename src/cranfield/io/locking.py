"""Locks on files: if two processes want to write the same file, one continues and the other reports an error."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cranfield.errors import OutputError

try:
    import fcntl

    def _lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

except ImportError:  # Windows
    import msvcrt

    def _lock(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]  # which only Windows has


_ELSEWHERE = "wait for it to end, or write to another place"


def open_locked(path: Path, what: str, *, name: str = "", hint: str = _ELSEWHERE) -> int:
    """Open a file for reading and appending that no other process has opened like this, and make it if need be.

    what: is done to the file, or to what errors call `name`; another process that is doing it is an error.
    The lock goes when the file is closed, or when the process ends, however it ends.
    """
    while True:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o644)
        except OSError as error:
            raise unwritable(path, error) from None
        try:
            _lock(file)
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
def locked(path: Path, what: str, **words: str) -> Iterator[None]:
    file = open_locked(path, what, **words)
    try:
        yield
    finally:
        os.close(file)


def unwritable(path: Path, error: OSError) -> OutputError:
    reason = error.strerror or str(error)
    return OutputError(str(path), f"cannot be written: {reason[:1].lower()}{reason[1:]}.")
