"""Progress of long work: one line on standard error, shown after a second, removed at the end."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator
from threading import Event, Lock, Thread
from typing import TypeVar

from cranfield.words import columns, cut, visible

T = TypeVar("T")

PATIENCE = 1.0  # seconds before anything is shown
EVERY = 0.1  # seconds between updates
BAR = 20  # columns


class WorkProgress:
    """Work under way; `total` is how much there is, in items or bytes, and 0 if that is unknown."""

    def __init__(self, what: str, total: int = 0, *, unit: str = "") -> None:
        self.what, self.total, self.unit = visible(what), total, unit
        self.done, self.failed, self.before = 0, 0, 0
        self.began = time.monotonic()

    def advance(self, size: int = 1, *, failed: bool = False) -> None:
        self.done += size
        self.failed += failed

    def line(self, seconds: float) -> str:
        """The line after this many seconds.

        >>> reading = WorkProgress("reading", 4_000_000_000, unit="bytes")
        >>> reading.done = 1_000_000_000
        >>> reading.line(2)
        'reading  ━━━━━───────────────  1.0 of 4.0 GB, 0.5 GB/s, 6 s left'
        >>> asking = WorkProgress("tuned", 60)
        >>> asking.done, asking.failed = 30, 2
        >>> asking.line(3)
        'tuned  ━━━━━━━━━━──────────  30 of 60, 10/s, 2 failed, 3 s left'
        >>> WorkProgress("comparing 63 runs").line(12)
        'comparing 63 runs  12 s'
        """
        if not self.total or self.done >= self.total:
            return f"{self.what}  {seconds:.0f} s"
        filled = round(BAR * min(self.done / self.total, 1))
        rate = (self.done - self.before) / max(seconds, 1e-9)
        if self.unit == "bytes":
            size, name = (1e9, "GB") if self.total >= 1e9 else (1e6, "MB")
            parts = [f"{self.done / size:.1f} of {self.total / size:.1f} {name}", f"{rate / size:.1f} {name}/s"]
        else:
            parts = [f"{self.done:,} of {self.total:,}", f"{rate:.0f}/s" if rate >= 1 else ""]
        parts.append(f"{self.failed} failed" if self.failed else "")
        parts.append(f"{(self.total - self.done) / rate:.0f} s left" if rate else "")
        return f"{self.what}  {'━' * filled}{'─' * (BAR - filled)}  {', '.join(filter(None, parts))}"

    def begin(self, done: int, total: int) -> None:
        self.done = self.before = done
        self.total, self.began = total, time.monotonic()


class StatusLine:
    """The last line of the terminal, written over and over by a thread of its own."""

    def __init__(self, progress: WorkProgress) -> None:
        self._progress = progress
        self._width = 0
        self._ended, self._writing = Event(), Lock()
        self._thread = Thread(target=self._draw, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        self._ended.set()
        self._thread.join()
        self.clear()

    def clear(self) -> None:
        with self._writing:
            if self._width:
                sys.stderr.write(f"\r{' ' * self._width}\r")
                sys.stderr.flush()
                self._width = 0

    def _draw(self) -> None:
        waited = PATIENCE
        while not self._ended.wait(waited):
            waited = EVERY
            text = cut(self._progress.line(time.monotonic() - self._progress.began), _window() - 1)
            with self._writing:
                blanks = " " * (self._width - columns(text))
                sys.stderr.write(f"\r{text}{blanks}")
                sys.stderr.flush()
                self._width = columns(text)


def _window() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except OSError:
        return 80


def watched(things: Iterable[T], what: str, total: int) -> Iterator[T]:
    """The same things; while they are taken, a line says how many were, if standard error is a terminal."""
    progress = WorkProgress(what, total)
    line = StatusLine(progress) if sys.stderr.isatty() else None
    if line is not None:
        line.start()
    try:
        for thing in things:
            yield thing
            progress.advance()
    finally:
        if line is not None:
            line.end()
