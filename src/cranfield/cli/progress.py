"""Progress of commands: one line on standard error, on a terminal only, shown after a second, removed at the end."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cranfield.cli import output
from cranfield.io.progress import StatusLine, WorkProgress

if TYPE_CHECKING:
    from cranfield.io.streams import Stream
    from cranfield.systems.asking import Silent


@contextmanager
def shown_progress(what: str, total: int = 0, *, unit: str = "") -> Iterator[WorkProgress]:
    """Show progress while the block runs, if it takes long and standard error is a terminal."""
    progress = WorkProgress(what, total, unit=unit)
    if not sys.stderr.isatty():
        yield progress
        return
    line = StatusLine(progress)
    with output.interrupted_by(line.clear):
        line.start()
        try:
            yield progress
        finally:
            line.end()


@contextmanager
def shown_reading(what: str, streams: Sequence[Stream]) -> Iterator[WorkProgress]:
    """Show how much of some files has been read, and how long the next step takes."""
    with shown_progress(what, sum(stream.size or 0 for stream in streams), unit="bytes") as progress:
        for stream in streams:
            stream.on_read = progress.advance
        yield progress


@contextmanager
def shown_asking(name: str) -> Iterator[Silent]:
    """Show how many queries a system has answered."""
    from cranfield.systems.asking import Answer, Silent

    class AskingProgress(Silent):
        def start(self, done: int, queries: int) -> None:
            shown.begin(done, queries)

        def answer(self, answer: Answer) -> None:
            shown.advance(failed=answer.ranking is None)

    with shown_progress(name) as shown:
        yield AskingProgress()
