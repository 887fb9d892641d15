"""What is open already when it is given: standard input, other open files, and pipes, which are read only once."""

from __future__ import annotations

import io
import sys
from typing import Any, BinaryIO

from cranfield.errors import InputError
from cranfield.io.streams import why_unreadable

SPOOLED = 1 << 25  # beyond this, what was read from a pipe moves from memory to a temporary file
_taken: list[BinaryIO] = []  # standard input, once it is read


def standard_input() -> BinaryIO:
    """Standard input, which only one reader can read."""
    if any(file is sys.stdin.buffer for file in _taken):
        fact = "- (standard input) is given twice, but can be read only once."
        raise InputError("standard input", fact, hint="write it to a file first")
    _taken.append(sys.stdin.buffer)
    return sys.stdin.buffer


def binary_file(source: Any) -> BinaryIO:
    if isinstance(source, io.StringIO):
        return io.BytesIO(source.getvalue().encode())
    if isinstance(source, io.TextIOBase):
        source = getattr(source, "buffer", source)
    try:
        probe = source.read(0)
    except (OSError, ValueError) as error:
        raise InputError("an open file", why_unreadable(error)) from error
    if not isinstance(probe, bytes):
        fact = "it returns text, but bytes are needed."
        raise InputError("an open file", fact, hint="open the file with open(path, 'rb')")
    binary: BinaryIO = source
    return binary


def seekable(file: BinaryIO) -> bool:
    try:
        file.tell()
        return file.seekable()
    except (OSError, AttributeError, ValueError):
        return False


class Replay:
    """A pipe that can be read again: first what was read before, then more."""

    def __init__(self, pipe: BinaryIO) -> None:
        import tempfile  # which only pipes need

        self._pipe = pipe
        self._spool = tempfile.SpooledTemporaryFile(max_size=SPOOLED)  # noqa: SIM115 (lives as long as this)

    def rewind(self) -> None:
        self._spool.seek(0)

    def read(self, size: int) -> bytes:
        data = self._spool.read(size)
        if not data:
            data = self._pipe.read(size)
            self._spool.write(data)
        return data

    def close(self) -> None:
        self._spool.close()
