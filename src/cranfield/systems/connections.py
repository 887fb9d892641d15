"""Connections that are kept open between queries and handed from thread to thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Connections:
    """One for each query under way. A list's append and pop need no lock."""

    def __init__(self, connect: Callable[..., Any]) -> None:
        self._connect = connect
        self._idle: list[Any] = []
        self._closed = False

    def take(self, *how: Any) -> tuple[Any, bool]:
        """A connection, and whether it has been used before; `how` is for one that must be opened."""
        try:
            return self._idle.pop(), True
        except IndexError:
            return self._connect(*how), False

    def give(self, connection: Any) -> None:
        """Put a connection back that can be used again."""
        if self._closed:
            connection.close()
        else:
            self._idle.append(connection)

    def close(self) -> None:
        """Close all that are idle now, and others when they come back."""
        self._closed = True
        while self._idle:
            self._idle.pop().close()
