"""Changes of several threads that arrive at the same time share a transaction, and so one wait for the disk."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import sqlalchemy as sa

Made = TypeVar("Made")


@dataclass(eq=False)
class _PendingChange(Generic[Made]):
    what: str
    make: Callable[[sa.Connection], Made]
    done: bool = False
    result: list[Made] = field(default_factory=list)
    error: Exception | None = None


class SharedCommits:
    """Runs changes, each on disk when its call returns. One that shared with a change that failed runs again, alone.

    writing: opens a transaction for something that is lost if it fails
    """

    def __init__(self, writing: Callable[[str], AbstractContextManager[sa.Connection]]) -> None:
        self._writing = writing
        self._waiting: deque[_PendingChange[Any]] = deque()
        self._turn = threading.Lock()

    def run(self, what: str, make: Callable[[sa.Connection], Made]) -> Made:
        """Make a change; its result, or its error."""
        mine = _PendingChange(what, make)
        self._waiting.append(mine)
        with self._turn:
            if not mine.done:  # nobody made it while this thread waited for its turn
                self._make_all()
        if mine.error is not None:
            raise mine.error
        return mine.result[0]

    def _make_all(self) -> None:
        changes = [self._waiting.popleft() for _ in range(len(self._waiting))]
        try:
            with self._writing(changes[0].what) as connection:
                results = [change.make(connection) for change in changes]
        except Exception:  # one of them failed, and took the others with it: each tries alone and has its own error
            for change in changes:
                self._make_alone(change)
        except BaseException:  # this thread is being stopped; the others have their turn still
            self._waiting.extendleft(reversed(changes))
            raise
        else:
            for change, result in zip(changes, results, strict=True):
                change.result.append(result)
                change.done = True

    def _make_alone(self, change: _PendingChange[Any]) -> None:
        try:
            with self._writing(change.what) as connection:
                result = change.make(connection)
        except Exception as error:
            change.error = error
        else:
            change.result.append(result)
        change.done = True
