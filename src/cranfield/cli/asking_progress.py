"""Progress while a system answers queries."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from cranfield.cli.progress import WorkProgress, shown_progress
from cranfield.systems.asking import Answer, Silent


class AskingProgress(Silent):
    """Shows answers as progress."""

    def __init__(self, shown: WorkProgress) -> None:
        self._shown = shown

    def start(self, done: int, queries: int) -> None:
        """Set how many queries there are, and how many were answered before."""
        self._shown.begin(done, queries)

    def answer(self, answer: Answer) -> None:
        """Count one more answer."""
        self._shown.advance(failed=answer.ranking is None)


@contextmanager
def shown_asking(name: str) -> Iterator[Silent]:
    """Show how many queries a system has answered while the block runs."""
    with shown_progress(name) as shown:
        yield AskingProgress(shown)
