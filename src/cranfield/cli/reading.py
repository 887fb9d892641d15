"""How far a long reading has come, on a terminal; silence elsewhere."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from cranfield.read.streams import Stream

PATIENCE = 1.0  # seconds before the first word
EVERY = 0.1


@contextmanager
def shown_reading(streams: Sequence[Stream]) -> Iterator[None]:
    """Say how much of some files has been read, how fast, and how long the rest will take."""
    sizes = [stream.size for stream in streams]
    if not sys.stderr.isatty() or not any(sizes):
        yield
        return
    meter = Meter(sum(size or 0 for size in sizes))
    for stream in streams:
        stream.on_read = meter.add
    try:
        yield
    finally:
        meter.close()


class Meter:
    """Counts bytes, and now and then writes a line over the last one."""

    def __init__(self, total: int) -> None:
        self._total, self._done = total, 0
        self._start = time.monotonic()
        self._next = self._start + PATIENCE
        self._width = 0

    def add(self, size: int) -> None:
        """So many bytes more have been read."""
        self._done += size
        now = time.monotonic()
        if now >= self._next:
            self._next = now + EVERY
            self._write(self.line(now - self._start))

    def line(self, seconds: float) -> str:
        """What is said after so many seconds.

        >>> meter = Meter(4_000_000_000)
        >>> meter._done = 1_000_000_000
        >>> meter.line(2)
        'read 1.0 of 4.0 GB, 0.5 GB/s, 6 s left'
        """
        rate = self._done / max(seconds, 1e-9)
        left = max(self._total - self._done, 0) / max(rate, 1)
        return f"read {self._done / 1e9:.1f} of {self._total / 1e9:.1f} GB, {rate / 1e9:.1f} GB/s, {left:.0f} s left"

    def close(self) -> None:
        """Take the line away."""
        if self._width:
            self._write("")
            sys.stderr.write("\r")

    def _write(self, text: str) -> None:
        try:
            sys.stderr.write(f"\r{text:<{self._width}}")
            sys.stderr.flush()
        except OSError:  # the terminal has gone; the work has not
            sys.stderr = open(os.devnull, "w")  # noqa: SIM115 (until the end)
        self._width = len(text)
