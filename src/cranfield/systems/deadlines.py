"""Connections that end at a deadline, however slowly their bytes come: a socket's own timeout is for one read."""

from __future__ import annotations

import http.client
import io
import socket
import ssl
import time
from typing import Any


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
    """Seconds until the deadline; an error when it has passed."""
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
        """Send it all."""
        self._inner.settimeout(_left(self.deadline))
        self._inner.sendall(data)

    def makefile(self, mode: str) -> io.BufferedReader:
        """The bytes received, as a file. The socket stays open until both are closed, as `http.client` expects."""
        incoming = self._inner.makefile(mode, buffering=0)  # type: ignore[call-overload]  # http.client gives "rb"
        return io.BufferedReader(_Incoming(incoming, self))

    def wait(self) -> None:
        """Let the next read wait no longer than until the deadline."""
        self._inner.settimeout(_left(self.deadline))

    def close(self) -> None:
        """Close it."""
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
