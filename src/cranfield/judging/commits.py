"""Changes of several threads that arrive at the same time share a transaction, and so one wait for the disk."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import sqlalchemy as sa

Made = TypeVar("Made")


@dataclass(eq=False)
class _PendingChange(Generic[Made]):
    what: str
    make: Callable[[sa.Connection], Made]
    lasting: bool
    called: threading.Event = field(default_factory=threading.Event)  # it is done, or its thread is to lead
    done: bool = False
    left: bool = False  # its thread was stopped, and waits no longer
    result: list[Made] = field(default_factory=list)
    error: Exception | None = None


class SharedCommits:
    """Runs changes, each on disk when its call returns. One that shared with a change that failed runs again, alone.

    The first thread leads: it makes all changes that wait, its own among them, and then calls the one that has waited
    longest to lead. So nobody waits for more than two transactions.

    writing: opens a transaction for something that is lost if it fails, on disk at its end or not
    """

    def __init__(self, writing: Callable[[str, bool], AbstractContextManager[sa.Connection]]) -> None:
        self._writing = writing
        self._lock = threading.Lock()
        self._waiting: deque[_PendingChange[Any]] = deque()
        self._led = False

    def run(self, what: str, make: Callable[[sa.Connection], Made], *, lasting: bool = True) -> Made:
        """Make a change; its result, or its error. One that is not `lasting` may be lost in a power failure."""
        mine = _PendingChange(what, make, lasting)
        leads = False
        try:
            with self._lock:
                self._waiting.append(mine)
                leads, self._led = not self._led, True
            if not leads:
                mine.called.wait()
            if not mine.done:
                leads = True
                self._make_all()
        finally:
            with self._lock:
                leads = leads or (mine.called.is_set() and not mine.done)  # called while it was being stopped
                mine.left = True
                if mine in self._waiting:
                    self._waiting.remove(mine)
                if leads:
                    self._call_next()
        if mine.error is not None:
            raise mine.error
        return mine.result[0]

    def _call_next(self) -> None:
        if self._waiting:
            self._waiting[0].called.set()
        else:
            self._led = False

    def _make_all(self) -> None:
        with self._lock:
            changes = [self._waiting.popleft() for _ in range(len(self._waiting))]
        try:
            self._make(changes)
        finally:  # if this thread is being stopped, the others have their turn still
            with self._lock:
                self._waiting.extendleft(change for change in reversed(changes) if not (change.done or change.left))

    def _make(self, changes: Sequence[_PendingChange[Any]]) -> None:
        try:
            with self._writing(changes[0].what, any(change.lasting for change in changes)) as connection:
                results = [change.make(connection) for change in changes]
        except Exception:  # one of them failed, and took the others with it: each tries alone and has its own error
            for change in changes:
                self._make_alone(change)
        else:
            for change, result in zip(changes, results, strict=True):
                change.result.append(result)
                change.done = True
                change.called.set()

    def _make_alone(self, change: _PendingChange[Any]) -> None:
        try:
            with self._writing(change.what, change.lasting) as connection:
                result = change.make(connection)
        except Exception as error:
            change.error = error
        else:
            change.result.append(result)
        change.done = True
        change.called.set()
