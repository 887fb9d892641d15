"""How far a run is: a bar with rate, failures and remaining time on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from cranfield.layout import visible
from cranfield.systems.asking import Answer, Silent


class Bar(Silent):
    """Progress on a terminal."""

    def __init__(self, bar: Any, name: str) -> None:
        self._bar, self._name = bar, name
        self._failed = 0
        self._task: Any = None

    def start(self, done: int, queries: int) -> None:
        """Draw the bar."""
        self._task = self._bar.add_task(self._name, total=queries, completed=done, failed=0)

    def answer(self, answer: Answer) -> None:
        """Move the bar."""
        self._failed += answer.ranking is None
        self._bar.update(self._task, advance=1, failed=self._failed)


@contextmanager
def shown_progress(name: str) -> Iterator[Silent]:
    """A bar while the block runs."""
    with bar_on_terminal() as bar:
        yield Silent() if bar is None else Bar(bar, visible(name))


@contextmanager
def bar_on_terminal() -> Iterator[Any]:
    """An empty set of bars, to which tasks with a field `failed` are added; None where nobody would see it."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Any) -> Text:
            return Text(f"{task.speed:.0f}/s" if task.speed else "", style="dim")

    columns = (
        TextColumn("{task.description}", markup=False),  # a name may hold brackets
        BarColumn(),
        MofNCompleteColumn(),
        Rate(),
        TextColumn("{task.fields[failed]} failed"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield bar
