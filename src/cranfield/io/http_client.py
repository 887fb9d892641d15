"""A client for HTTP: one deadline for a whole exchange, a bound on an answer's size, connections that stay open.

The standard library's client: an HTTP library would cost more time for each query of a search server than all the rest.
"""

from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
import time
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import Message
from typing import NamedTuple
from urllib.parse import SplitResult, quote, unquote, urlsplit

from cranfield.errors import InputError
from cranfield.io.connections import Connections, Proxy, connect_by, is_readable
from cranfield.version import __version__

_URL_SAFE = "%/?#[]@!$&'()*+,;=:{}~-._"  # all that a URL may hold: only blanks and the like are left to be quoted
_USUAL_PORTS = {"http": 80, "https": 443}


class Answer(NamedTuple):
    status: int
    headers: Message  # whose names may be written in any case
    data: bytes


@dataclass(eq=False)
class ExchangeError(Exception):
    """An exchange that brought no answer."""

    fact: str
    hint: str = ""
    retry: bool = False
    sent: bool = True  # the server may have worked on it


def request_target(parts: SplitResult) -> str:
    """What a request names of a URL: its path, and the part after a "?"."""
    return quote((parts.path or "/") + (f"?{parts.query}" if parts.query else ""), safe=_URL_SAFE)


class HttpClient:
    """Asks one server, from several threads; follows no redirects, which would take secrets elsewhere.

    url: any address of the server, whose scheme, host and port are read
    name: who asks, for errors
    timeout: seconds for a whole exchange
    largest: the most bytes of an answer
    resend: whether a request may be sent again if a connection that was kept open turns out to be closed
    """

    def __init__(
        self, url: str, headers: Mapping[str, str], *, name: str, timeout: float, largest: int, resend: bool
    ) -> None:
        parts = urlsplit(url)
        # Errors name the host as it was given, in which secrets are found and hidden.
        self._given = parts.hostname or ""
        self._host, self._port = _in_ascii(self._given, name), parts.port or _USUAL_PORTS[parts.scheme]
        self._where = f"{self._given}:{parts.port}" if parts.port else self._given
        self._headers = {"User-Agent": f"cranfield/{__version__}", "Accept": "application/json", **headers}
        self._timeout, self._largest, self._resend = timeout, largest, resend
        self._context = ssl.create_default_context() if parts.scheme == "https" else None
        self._proxy = _proxy_for(parts.scheme, self._host, self._port, name)
        self._prefix = ""
        if self._proxy and not self._context:  # such a proxy reads the request
            named = f"[{self._host}]" if ":" in self._host else self._host
            self._prefix = f"http://{named}:{self._port}"
            self._headers |= self._proxy.headers
        self._connections = Connections(self._connect)

    def exchange(self, method: str, target: str, body: bytes | None) -> Answer:
        """Send a request and return its answer, whatever its status; `ExchangeError` if there is none in time."""
        deadline = time.monotonic() + self._timeout
        while True:
            used, connection = False, None
            try:
                connection, used = self._take(deadline)
                return self._send(connection, method, target, body, deadline)
            except (http.client.HTTPException, OSError) as error:
                # One that was kept open may have been closed meanwhile: that is no failure yet.
                closed = isinstance(error, http.client.RemoteDisconnected | ConnectionResetError | BrokenPipeError)
                if not (used and closed and self._resend):
                    raise self._broken(error, sent=connection is not None) from None

    def _take(self, deadline: float) -> tuple[http.client.HTTPConnection, bool]:
        while True:
            connection, used = self._connections.take(deadline)
            if self._resend or not used or not is_readable(connection):
                return connection, used
            connection.close()

    def _connect(self, deadline: float) -> http.client.HTTPConnection:
        try:
            return connect_by(deadline, self._host, self._port, self._context, self._proxy)
        except UnicodeError:  # a part of the name is empty or too long
            raise socket.gaierror(socket.EAI_NONAME, "not the name of a host") from None

    def _send(
        self, connection: http.client.HTTPConnection, method: str, target: str, body: bytes | None, deadline: float
    ) -> Answer:
        kept, response = False, None
        connection.sock.deadline = deadline  # type: ignore[union-attr]  # our own socket, see connections.py
        try:
            # `http.client` itself asks for an answer that is not compressed.
            connection.request(method, self._prefix + target, body, self._headers)
            response = connection.getresponse()
            data = self._drained(response)
            kept = not response.will_close
            return Answer(response.status, response.headers, data)
        finally:
            if kept:
                self._connections.give(connection)
            else:  # half an answer may be left on it
                connection.close()
                if response is not None:
                    response.close()

    def _drained(self, response: http.client.HTTPResponse) -> bytes:
        """An answer piece by piece, so that one without end is noticed."""
        coding = response.headers.get("Content-Encoding", "identity").strip().lower()
        if coding not in ("", "identity"):  # a few bytes could become any number
            shown = repr(coding) if len(coding) <= 40 else "an unknown way"  # cut, a secret in it would not be hidden
            fact = f"{self._where} compressed its answer ({shown}), although it was asked not to."
            raise ExchangeError(fact, hint="does a proxy on the way compress it?")
        pieces, size = [], 0
        while piece := response.read1(1 << 16):
            pieces.append(piece)
            size += len(piece)
            if size > self._largest:
                raise ExchangeError(f"the answer is larger than {self._largest >> 20} MB.")
        if response.length:
            raise http.client.IncompleteRead(b"", response.length)
        response.close()  # else the connection would wait for it
        return b"".join(pieces)

    def _broken(self, error: Exception, sent: bool) -> ExchangeError:
        where = self._where if self._proxy is None else f"{self._where} (through the proxy {self._proxy.host})"
        if isinstance(error, TimeoutError):
            return ExchangeError(f"no answer from {where} within {self._timeout:g} s.", retry=True, sent=sent)
        if isinstance(error, ssl.SSLCertVerificationError):
            hint = "if you trust it, set SSL_CERT_FILE to a file with the certificate of its authority"
            fact = f"the certificate of {where} is not trusted: {error.verify_message}."
            return ExchangeError(fact, hint=hint, sent=sent)
        if isinstance(error, ssl.SSLError):
            return ExchangeError(f"no secure connection to {where}: {error.reason or error}.", sent=sent)
        if isinstance(error, socket.gaierror):
            host = self._proxy.host if self._proxy else self._given
            return ExchangeError(f"there is no host {host}: {error.strerror}.", retry=True, sent=sent)
        reason = error.strerror if isinstance(error, OSError) and error.strerror else f"{type(error).__name__}"
        if not sent:
            return ExchangeError(f"could not connect to {where}: {reason.lower()}.", retry=True, sent=False)
        return ExchangeError(f"the connection to {where} failed: {reason}.", retry=True)

    def close(self) -> None:
        self._connections.close()


def _in_ascii(host: str, name: str) -> str:
    try:
        return host if host.isascii() else host.encode("idna").decode()
    except UnicodeError:
        raise InputError(name, "the url does not contain the name of a host.", hint="https://host/path") from None


def _proxy_for(scheme: str, host: str, port: int, name: str) -> Proxy | None:
    """The proxy that HTTPS_PROXY, HTTP_PROXY or ALL_PROXY names, unless NO_PROXY or this machine needs none."""
    from urllib.request import getproxies, proxy_bypass

    known = getproxies()
    setting = known.get(scheme) or known.get("all")
    if not setting or _is_this_machine(host) or proxy_bypass(f"{host}:{port}"):
        return None
    try:
        parts = urlsplit(setting if "://" in setting else f"http://{setting}")
        there = parts.hostname, parts.port or 80
    except ValueError:
        parts, there = urlsplit(""), (None, 0)
    if parts.scheme != "http" or not there[0]:
        fact = f"the proxy for {scheme} is not the address of an HTTP proxy."
        raise InputError(name, fact, hint=f"{scheme.upper()}_PROXY=http://host:port, or NO_PROXY={host}")
    headers = {}
    if parts.username:
        said = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        headers["Proxy-Authorization"] = f"Basic {b64encode(said.encode()).decode()}"
    return Proxy(there[0], there[1], headers)


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
