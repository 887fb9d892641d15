"""Connections to the page: how long a request may take to arrive, and how many strangers may wait at once.

A connection is a stranger's until one of its requests is let in. If there are too many, the oldest stranger makes room
for the newest: an honest request arrives at once, and is never the oldest. Addresses do not count, because a team may
share one.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, ClassVar, NamedTuple

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from cranfield.judging.page.application import ADMIT

DEADLINE = 20.0  # seconds from accepting a connection, or from its last answer, to a whole request
ACCEPTED = 128  # connections at most before the first of them is counted
WANTED = 4096  # open files, where the system allows so many
PAUSE = 10.0  # seconds for which warnings are counted before they are logged
LATE = "no whole request in time"
CROWDED = "too many connections without a token"
TOLD = "Refused: %s"


class Room(NamedTuple):
    """How many connections there is room for; the rest of the files is for the store, and for those just accepted."""

    all: int
    strangers: int


def make_room() -> Room:
    """Allow this process more open files, if it has few."""
    files = WANTED
    with suppress(ImportError):  # Windows has no such limit
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = WANTED if hard == resource.RLIM_INFINITY else min(WANTED, hard)
        if soft != resource.RLIM_INFINITY and soft < most:
            with suppress(ValueError, OSError):
                resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        files = WANTED if soft == resource.RLIM_INFINITY else min(WANTED, soft)
    return Room(files * 3 // 4, min(256, files // 4))


class Visit(H11Protocol):
    """A connection of uvicorn's with a deadline for its requests."""

    room: ClassVar[Room]
    strangers: ClassVar[dict[Visit, None]]  # the oldest first

    def __init__(self, *of: Any, **how: Any) -> None:
        super().__init__(*of, **how)
        self.app_state = {**self.app_state, ADMIT: self._admit}
        self._known = self._heard = False
        self._due: asyncio.TimerHandle | None = None

    @classmethod
    def within(cls, room: Room) -> type[Visit]:
        """The connections of one server."""
        return type(cls.__name__, (cls,), {"room": room, "strangers": {}})

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.strangers[self] = None
        if len(self.strangers) > self.room.strangers or len(self.connections) > self.room.all:
            next(iter(self.strangers))._refuse(CROWDED)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._left()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._heard = True
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def _admit(self) -> None:
        self._known = True
        self.strangers.pop(self, None)
        self._watch()

    def _watch(self) -> None:
        """Keep the deadline of a stranger, whatever it was answered, and of a request that is not whole."""
        if self.transport.is_closing():
            return
        if self._known and self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._cancel()
        elif self._due is None:
            self._due = self.loop.call_later(DEADLINE, self._refuse, LATE)

    def _refuse(self, why: str) -> None:
        self._left()
        if self._heard or why != LATE:  # browsers connect in advance, and may never need it
            self.logger.warning(why)
        self.transport.abort()

    def _left(self) -> None:
        self.strangers.pop(self, None)
        self._cancel()

    def _cancel(self) -> None:
        if self._due is not None:
            self._due.cancel()
            self._due = None


@contextmanager
def few_warnings() -> Iterator[None]:
    """One line for all warnings of uvicorn within `PAUSE`: anybody can cause thousands."""
    logger = logging.getLogger("uvicorn.error")
    counts: Counter[str] = Counter()

    def tell() -> None:
        told = "; ".join(f"{why.rstrip('.')} ({times:,})" for why, times in counts.most_common())
        counts.clear()
        logger.warning(TOLD, told)

    def is_shown(record: logging.LogRecord) -> bool:
        if record.levelno != logging.WARNING or record.msg is TOLD:
            return True
        if not counts:
            asyncio.get_running_loop().call_later(PAUSE, tell)
        counts[record.getMessage()] += 1
        return False

    logger.addFilter(is_shown)
    try:
        yield
    finally:
        if counts:
            tell()
        logger.removeFilter(is_shown)
