"""Standard input, output and error, which may be closed, full, unread, or limited to some characters."""

from __future__ import annotations

import codecs
import io
import os
import sys
from typing import Any

from cranfield.errors import OutputError


def reopen_closed() -> None:
    """Replace closed streams by the null device; otherwise the first file opened would take their place.

    It is opened the wrong way round, so that reading and writing fail as they should; only errors are discarded.
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
    """The bytes of a stream. The first failure is reported, if the stream has a name; later ones are ignored."""

    def __init__(self, stream: Any, name: str | None) -> None:
        self._stream = stream  # kept alive: when deleted, it closes its file
        self._raw = getattr(stream.buffer, "raw", stream.buffer)  # PYTHONUNBUFFERED takes a buffer away
        self._name = name

    def write(self, data: Any) -> int | None:
        try:
            written: int | None = self._raw.write(data)
            return written
        except BrokenPipeError:
            return len(data)  # the reader has seen enough; the exit code still holds the result
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
    # A locale that allows only ASCII was hardly chosen; elsewhere, characters that the encoding lacks are escaped.
    ascii_only = codecs.lookup(stream.encoding).name == "ascii"
    return io.TextIOWrapper(
        io.BufferedWriter(_Guarded(stream, name)),
        encoding="utf-8" if ascii_only else stream.encoding,
        errors="backslashreplace",
        line_buffering=stream.line_buffering or stream.write_through,
    )
