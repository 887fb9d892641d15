"""How the programs start and end: settings made before numpy is imported, standard streams, and exit codes.

Standard input, output and error may be closed, full, unread, or limited to some characters.
"""

from __future__ import annotations

import codecs
import gc
import io
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any, NoReturn

from cranfield.cli import output
from cranfield.errors import CranfieldError, OutputError

INTERRUPTED = 130  # as shells report Ctrl-C


def start() -> None:
    """Set up the process, before numpy is imported."""
    # Imported modules stay until the end, so collecting garbage among them is wasted: a tenth of the start-up time.
    gc.disable()
    # numpy starts a thread for linear algebra that spins for a while, on a core that the scan could use.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Threads that hash and scan need Python only briefly, and should not wait long for it.
    sys.setswitchinterval(0.0005)
    reopen_closed()


def collect_garbage() -> None:
    """From here on, when most is imported; seldom, since what is made in between is mostly needed until the end."""
    gc.set_threshold(100_000)
    gc.enable()


def run(name: str, program: Callable[[], int]) -> NoReturn:
    """Run a program to its end: an error prints a message and exits with 2, Ctrl-C with 130, without a traceback."""
    warnings.showwarning = lambda message, *_, **__: output.say_error(name, f"warning: {message}")
    try:
        guard()
        code = _ended(name, program)
        code = max(code, _ended(name, _flush))
    except KeyboardInterrupt:  # also while the last output waits to be read
        code = INTERRUPTED
    # Skip the cleanup that the end of the process does anyway.
    os._exit(code)


def _ended(name: str, program: Callable[[], int]) -> int:
    try:
        return program()
    except (Exception, SystemExit) as error:  # a file of the user's may call exit()
        if "--debug" in sys.argv:
            import traceback

            output.say("".join(traceback.format_exception(error)).rstrip("\n"), err=True)
        output.say_error(name, _message(error))
        return 2


def _message(error: BaseException) -> str:
    if isinstance(error, CranfieldError):
        return str(error)
    if isinstance(error, MemoryError):
        return "there is not enough memory."
    if isinstance(error, OSError) and error.strerror:
        place = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes) else ""
        return f"{place}{error.strerror.lower()}."
    return (
        f"unexpected error: {type(error).__name__}: {error}\n"
        "Hint: run it again as 'cranfield --debug …', and report the output"
    )


def _flush() -> int:
    sys.stdout.flush()
    sys.stderr.flush()
    return 0


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
