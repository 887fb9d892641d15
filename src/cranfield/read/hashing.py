"""Hashing a large file in a thread during other work, such as importing the code that will read it."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterable
from typing import Any

from cranfield.read.compression import compression

LARGE = 1 << 24  # bytes from which on a file is worth a thread
_hashing: dict[str, Ahead] = {}  # files that are hashed before they are read


def hash_largest(paths: Iterable[str]) -> None:
    """Start hashing the largest of some files, if it is worth a thread."""
    sizes = {path: os.path.getsize(path) for path in paths if os.path.isfile(path)}
    largest = max(sizes, key=sizes.__getitem__, default="")
    if sizes.get(largest, 0) >= LARGE:
        hash_ahead(largest)


def hash_ahead(path: str) -> None:
    """Start hashing a file."""
    _hashing[path] = Ahead(path)


class Ahead:
    """Hashes a file in a thread until it is stopped."""

    SIZE = 1 << 23  # large enough that the thread seldom waits for the interpreter

    def __init__(self, path: str) -> None:
        self._path = path
        self._digest = hashlib.sha256()
        self._done = 0
        self._stopped = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            with open(self._path, "rb", buffering=0) as file:
                room = memoryview(bytearray(min(self.SIZE, os.fstat(file.fileno()).st_size)))
                while not self._stopped and (size := file.readinto(room)):
                    if self._done == 0 and compression(bytes(room[:10])):
                        return  # the hash is of the content, not of its compressed form
                    self._digest.update(room[:size])
                    self._done += size
        except OSError:
            return  # errors are reported when the file is read

    def stop(self) -> tuple[Any, int]:
        """Stop, and return the hash so far and the number of bytes."""
        self._stopped = True
        self._thread.join()
        return self._digest, self._done


def hashed_ahead(path: str) -> tuple[Any, int]:
    """The hash of a file so far, and of how many bytes; none if hashing was not started."""
    ahead = _hashing.pop(path, None)
    return ahead.stop() if ahead else (hashlib.sha256(), 0)
