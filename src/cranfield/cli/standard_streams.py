"""Standard input, output and error: they may be closed, full, read by nobody, or unable to hold every letter."""

from __future__ import annotations

import codecs
import io
import os
import sys
from typing import Any

from cranfield.errors import OutputError


def reopen_closed() -> None:
    """Put the null device where a stream is closed; or the first file that is opened would take its place.

    It is opened the wrong way round, so that reading and writing fail as they should. Errors alone may go nowhere.
    """
    ways = {"stdin": (os.O_WRONLY, "r"), "stdout": (os.O_RDONLY, "w"), "stderr": (os.O_WRONLY, "w")}
    for number, (name, (way, mode)) in enumerate(ways.items()):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, way)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 (until the end)


def guard() -> None:
    """From here on, standard output fails in one way only, with an OutputError, and standard error never does."""
    sys.stdout = _guarded(sys.stdout, "standard output")
    sys.stderr = _guarded(sys.stderr, None)


class _Guarded(io.RawIOBase):
    """Where the bytes of a stream go. Its failure is reported once, if it has a name; then nobody can be helped."""

    def __init__(self, stream: Any, name: str | None) -> None:
        self._stream = stream  # which closes what it writes to when it goes
        self._raw = getattr(stream.buffer, "raw", stream.buffer)  # PYTHONUNBUFFERED takes a buffer away
        self._name = name

    def write(self, data: Any) -> int | None:
        try:
            written: int | None = self._raw.write(data)
            return written
        except BrokenPipeError:
            return len(data)  # the reader has seen enough; what was found out still is the exit code
        except OSError as error:
            name, self._name = self._name, None
            if name is None:
                return len(data)
            raise OutputError(name, f"cannot be written: {(error.strerror or str(error)).lower()}.") from error

    def fileno(self) -> int:
        number: int = self._raw.fileno()
        return number

    def isatty(self) -> bool:
        return bool(self._raw.isatty())

    def writable(self) -> bool:
        return True


def _guarded(stream: Any, name: str | None) -> io.TextIOWrapper:
    stream.flush()
    # Where a locale allows only ASCII, nobody has chosen that; elsewhere, what an encoding lacks is written out.
    ascii_only = codecs.lookup(stream.encoding).name == "ascii"
    return io.TextIOWrapper(
        io.BufferedWriter(_Guarded(stream, name)),
        encoding="utf-8" if ascii_only else stream.encoding,
        errors="backslashreplace",
        line_buffering=stream.line_buffering or stream.write_through,
    )
