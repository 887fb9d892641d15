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
    called: threading.Event = field(default_factory=threading.Event)  # it is done, or its thread must lead
    done: bool = False
    left: bool = False  # its thread was interrupted and no longer waits
    result: list[Made] = field(default_factory=list)
    error: Exception | None = None


class SharedCommits:
    """Runs changes, each on disk when its call returns. A change that shared a failed transaction runs again, alone.

    The first thread leads: it makes all waiting changes, its own among them, and then passes the lead to the thread
    that has waited longest. So no thread waits for more than two transactions.

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
                leads = leads or (mine.called.is_set() and not mine.done)  # called while it was being interrupted
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
        finally:  # the others still get their turn if this thread is interrupted
            with self._lock:
                self._waiting.extendleft(change for change in reversed(changes) if not (change.done or change.left))

    def _make(self, changes: Sequence[_PendingChange[Any]]) -> None:
        try:
            with self._writing(changes[0].what, any(change.lasting for change in changes)) as connection:
                results = [change.make(connection) for change in changes]
        except Exception:  # one failed, and the others with it: each is tried alone and gets its own error
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
