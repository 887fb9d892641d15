"""How the programs start and end: settings that must be made before numpy is imported, and exit codes."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from typing import NoReturn

from cranfield.cli import output, standard_streams
from cranfield.errors import CranfieldError

INTERRUPTED = 130  # as shells report Ctrl-C


def start() -> None:
    """Set up the process, before numpy is imported."""
    # Imported modules stay until the end, so collecting garbage among them is wasted: a tenth of the start-up time.
    gc.disable()
    # numpy starts a thread for linear algebra that spins for a while, on a core that the scan could use.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Threads that hash and scan need Python only briefly, and should not wait long for it.
    sys.setswitchinterval(0.0005)
    standard_streams.reopen_closed()


def collect_garbage() -> None:
    """From here on, when most is imported; seldom, since what is made in between is mostly needed until the end."""
    gc.set_threshold(100_000)
    gc.enable()


def run(name: str, program: Callable[[], int]) -> NoReturn:
    """Run a program to its end: an error prints a message and exits with 2, Ctrl-C with 130, without a traceback."""
    try:
        standard_streams.guard()
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
