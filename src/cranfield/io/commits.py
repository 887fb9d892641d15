"""Changes of several threads share a transaction, and each is on disk when its call returns."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from cranfield.errors import OutputError

if TYPE_CHECKING:
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
    result: Made | None = None
    error: Exception | None = None


class LostError(OutputError):
    """The connection broke before anything was saved: the change can be made again."""


class UnknownError(OutputError):
    """The connection broke while a change was being saved, and the server no longer says whether it was."""


class SharedCommits:
    """Runs changes, each on disk when its call returns. A change that shared a failed transaction runs again, alone.

    So does one that lost its connection, once. A change that may have been saved is never run again.

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
                if leads and self._waiting:
                    self._waiting[0].called.set()
                elif leads:
                    self._led = False
        if mine.error is not None:
            raise mine.error
        return cast("Made", mine.result)

    def _make_all(self) -> None:
        with self._lock:
            changes = [self._waiting.popleft() for _ in range(len(self._waiting))]
        try:
            self._make(changes)
        finally:  # the others still get their turn if this thread is interrupted
            with self._lock:
                self._waiting.extendleft(change for change in reversed(changes) if not (change.done or change.left))

    def _make(self, changes: Sequence[_PendingChange[Any]], *, again: bool = True) -> None:
        try:
            with self._writing(changes[0].what, any(change.lasting for change in changes)) as connection:
                results = [change.make(connection) for change in changes]
        except Exception as error:
            if len(changes) > 1 and not isinstance(error, UnknownError):
                for change in changes:  # one failed, and the others with it: each is tried alone, for its own error
                    self._make([change])
                return
            if again and isinstance(error, LostError):
                self._make(changes, again=False)
                return
            results = [None] * len(changes)
            for change in changes:
                change.error = error
        for change, result in zip(changes, results, strict=True):
            change.result, change.done = result, True
            change.called.set()
