"""Connections that are kept open between queries, and that end at a deadline, however slowly their bytes come."""

from __future__ import annotations

import http.client
import io
import selectors
import socket
import ssl
import time
from collections.abc import Callable
from typing import Any, NamedTuple


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


class Proxy(NamedTuple):
    host: str
    port: int
    headers: dict[str, str]  # who we are to it


def connect_by(
    deadline: float, host: str, port: int, secure: ssl.SSLContext | None, proxy: Proxy | None = None
) -> http.client.HTTPConnection:
    """A connection to a server for `http.client`. Its `sock.deadline` is set anew for every exchange."""
    kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
    connection = kind(host, port)
    connection.response_class = _FinalResponse
    plain = _reach(*((proxy.host, proxy.port) if proxy else (host, port)), deadline)
    try:
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if proxy and secure:
            _ask_for_tunnel(TimedSocket(plain, deadline), host, port, proxy)
        plain.settimeout(_left(deadline))
        connection.sock = TimedSocket(secure.wrap_socket(plain, server_hostname=host) if secure else plain, deadline)
    except BaseException:
        plain.close()
        raise
    return connection


def _reach(host: str, port: int, deadline: float) -> socket.socket:
    """A connection to the first of a host's addresses that answers; all of them share the deadline."""
    failure = OSError("no address")
    for family, kind, protocol, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        left = _left(deadline)
        try:
            found = socket.socket(family, kind, protocol)
        except OSError as error:  # such as an address of IPv6 where there is none
            failure = error
            continue
        try:
            found.settimeout(left)
            found.connect(address)
            return found
        except OSError as error:
            found.close()
            failure = error
        except BaseException:
            found.close()
            raise
    raise failure


def _ask_for_tunnel(sock: TimedSocket, host: str, port: int, proxy: Proxy) -> None:
    """Ask a proxy to pass all bytes on to a server: what is said there is encrypted, and not for the proxy."""
    there = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    lines = [f"CONNECT {there} HTTP/1.1", f"Host: {there}"]
    lines += [f"{name}: {value}" for name, value in proxy.headers.items()]
    sock.sendall("\r\n".join([*lines, "", ""]).encode())
    response = _FinalResponse(sock, method="CONNECT")  # type: ignore[arg-type]  # our own socket
    try:
        response.begin()
    finally:
        response.close()
    if response.status != 200:
        raise ConnectionError(0, f"the proxy {proxy.host}:{proxy.port} answered {response.status} {response.reason}")


class _FinalResponse(http.client.HTTPResponse):
    """Skips all that comes before an answer, such as 103 Early Hints; `http.client` skips 100 Continue alone."""

    def begin(self) -> None:
        super().begin()
        while 100 < self.status < 200:
            self.headers = self.msg = None  # type: ignore[assignment]  # or it would not begin again
            super().begin()


def is_readable(connection: http.client.HTTPConnection) -> bool:
    """Whether something has come on a connection that waits for nothing: chiefly that the server has closed it."""
    with selectors.DefaultSelector() as selector:
        selector.register(connection.sock.fileno(), selectors.EVENT_READ)
        return bool(selector.select(0))


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


class TimedSocket:
    """What `http.client` needs of a socket. Every read and write waits no longer than until the deadline."""

    def __init__(self, inner: socket.socket, deadline: float) -> None:
        self._inner = inner
        self.deadline = deadline

    def sendall(self, data: Any) -> None:
        left = memoryview(data)
        while left:  # `sendall` of a secure socket would wait as long again for every piece
            self.wait()
            left = left[self._inner.send(left) :]

    def fileno(self) -> int:
        return self._inner.fileno()

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
