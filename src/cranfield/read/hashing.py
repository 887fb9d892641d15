"""Hashing a large file in a thread while there is other work to do, such as importing what will read it."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterable
from typing import Any

from cranfield.read.compression import compression

LARGE = 1 << 24  # bytes of a file that is worth a thread
_hashing: dict[str, Ahead] = {}  # files whose content is being hashed before it is read


def hash_largest(paths: Iterable[str]) -> None:
    """Start to hash the largest of some files, if it is worth a thread."""
    sizes = {path: os.path.getsize(path) for path in paths if os.path.isfile(path)}
    largest = max(sizes, key=sizes.__getitem__, default="")
    if sizes.get(largest, 0) >= LARGE:
        hash_ahead(largest)


def hash_ahead(path: str) -> None:
    """Start to hash a file."""
    _hashing[path] = Ahead(path)


class Ahead:
    """Hashes a file in a thread until it is stopped."""

    SIZE = 1 << 23  # large enough that the thread seldom has to wait for its turn to run Python

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
                        return  # what is hashed is the content, not its compressed form
                    self._digest.update(room[:size])
                    self._done += size
        except OSError:
            return  # whoever reads the file for its content says what is wrong with it

    def stop(self) -> tuple[Any, int]:
        """The hash so far, and of how many bytes."""
        self._stopped = True
        self._thread.join()
        return self._digest, self._done


def hashed_ahead(path: str) -> tuple[Any, int]:
    """The hash of a file so far, and of how many of its bytes: none where nobody has started it."""
    ahead = _hashing.pop(path, None)
    return ahead.stop() if ahead else (hashlib.sha256(), 0)
