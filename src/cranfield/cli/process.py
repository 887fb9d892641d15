"""How the programs start and end: settings that must stand before numpy is imported, and leaving without delay."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

# What is imported stays until the end, so looking through it for garbage is wasted: a tenth of the start-up time.
gc.disable()
# numpy starts a thread for linear algebra that spins for a while, on a core that the scan could use.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# A thread that only passes through Python, as those that hash and scan do, should not have to wait for long.
sys.setswitchinterval(0.0005)


LARGE = 1 << 24  # bytes of a file that is worth a thread


def read_ahead(arguments: Sequence[str]) -> None:
    """Start to hash the largest file that the command line names, while the libraries are imported."""
    sizes = {path: os.path.getsize(path) for path in arguments if os.path.isfile(path)}
    largest = max(sizes, key=sizes.__getitem__, default="")
    if sizes.get(largest, 0) >= LARGE:
        from cranfield.read.hashing import hash_ahead

        hash_ahead(largest)


if sys.argv[1:2] == ["evaluate"]:
    read_ahead(sys.argv[2:])


def close_output() -> None:
    """Whoever read our output has gone; Python would complain once more when it flushes."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def leave(code: int) -> NoReturn:
    """Leave without taking apart what the end of the process takes apart anyway."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        pass
    os._exit(code)
