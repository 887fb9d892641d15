"""Connections that are kept open between queries, and that end at a deadline, however slowly their bytes come."""

from __future__ import annotations

import http.client
import io
import socket
import ssl
import time
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
        if self._closed:
            connection.close()
        else:
            self._idle.append(connection)

    def close(self) -> None:
        """Close all that are idle now, and others when they come back."""
        self._closed = True
        while self._idle:
            self._idle.pop().close()


def connect_by(
    deadline: float, host: str, port: int | None, secure: ssl.SSLContext | None
) -> http.client.HTTPConnection:
    """A connection to a server for `http.client`. Its `sock.deadline` is set anew for every exchange."""
    kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
    connection = kind(host, port)
    plain: socket.socket = socket.create_connection((connection.host, connection.port), _left(deadline))
    try:
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        plain.settimeout(_left(deadline))
        connection.sock = TimedSocket(secure.wrap_socket(plain, server_hostname=host) if secure else plain)
    except BaseException:
        plain.close()
        raise
    return connection


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


class TimedSocket:
    """What `http.client` needs of a socket. Every read and write waits no longer than until the deadline."""

    def __init__(self, inner: socket.socket) -> None:
        self._inner = inner
        self.deadline = 0.0

    def sendall(self, data: Any) -> None:
        self._inner.settimeout(_left(self.deadline))
        self._inner.sendall(data)

    def makefile(self, mode: str) -> io.BufferedReader:
        """The bytes received, as a file. The socket stays open until both are closed, as `http.client` expects."""
        incoming = self._inner.makefile(mode, buffering=0)  # type: ignore[call-overload]  # http.client gives "rb"
        return io.BufferedReader(_Incoming(incoming, self))

    def wait(self) -> None:
        self._inner.settimeout(_left(self.deadline))

    def close(self) -> None:
        self._inner.close()


class _Incoming(io.RawIOBase):
    def __init__(self, raw: io.RawIOBase, sock: TimedSocket) -> None:
        self._raw, self._sock = raw, sock

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int | None:
        self._sock.wait()
        return self._raw.readinto(room)

    def close(self) -> None:
        self._raw.close()
        super().close()
