"""A search server behind HTTP, described by a few settings."""

from __future__ import annotations

import base64
import http.client
import json
import re
import socket
import ssl
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from cranfield.errors import InputError, SystemFailure
from cranfield.io.secrets import Secrets
from cranfield.io.settings import TomlSetting
from cranfield.systems.answers import MISSING, ORDER, Returned, chosen_order, look_up, ranking_of
from cranfield.systems.connections import Connections, connect_by
from cranfield.systems.presets import PRESETS
from cranfield.version import __version__

_PLACE = re.compile(r"\{(query|k)\}")
_RETRIED = {408, 425, 429, 500, 502, 503, 504}
_LARGEST = 1 << 26  # bytes of an answer
SETTINGS = {
    "url": TomlSetting(str, "the address to ask"),
    "method": TomlSetting(str, "GET, POST or another method of HTTP; a GET has no body", '"POST"'),
    "params": TomlSetting(dict, "parameters to add to the URL"),
    "body": TomlSetting((dict, list, str), "the JSON to send: a table, a list, or JSON as text"),
    "headers": TomlSetting(dict, "headers of the request"),
    "auth": TomlSetting(str, "`user:password`, sent as HTTP Basic authentication"),
    "results": TomlSetting(
        str, "the path of the list of results in the answer, such as `hits.hits` or `data[0].items`"
    ),
    "id": TomlSetting(str, "the path of the document's id in each result, such as `_id` or `document.id`"),
    "id_pattern": TomlSetting(
        str, "a regular expression that the whole id matches; its one group becomes the id", "none"
    ),
    "score": TomlSetting(str, 'the path of the score in each result; "" reads no scores', "the usual names"),
    "order": ORDER,
    "empty": TomlSetting(
        str, "a path that an answer has even if it leaves out `results` because nothing was found", "none"
    ),
    "timeout": TomlSetting((int, float), "seconds to wait for the whole answer", "30"),
}


def open_type(kind: str, settings: Mapping[str, Any], name: str, secrets: Secrets, collection: Any) -> HttpSearch:
    return HttpSearch(settings, name, secrets, preset=kind)


class HttpSearch:
    """Sends a query as a request, and reads ids and scores from the JSON that comes back: see SETTINGS.

    The standard library's client, with connections that stay open: an HTTP library would cost more time for
    each query than all the rest here.
    """

    def __init__(self, settings: Mapping[str, Any], name: str, secrets: Secrets, *, preset: str = "http") -> None:
        self.name = name
        self._secrets = secrets
        usual = PRESETS[preset].settings
        chosen = {**usual, **settings, "params": {**usual.get("params", {}), **settings.get("params", {})}}
        if "url" not in chosen:
            raise InputError(name, "the url is missing.")
        self._timeout = float(chosen.get("timeout", 30))
        self._method = str(chosen["method"]).upper()
        self._results, self._id, self._score = (str(chosen.get(key, "")) for key in ("results", "id", "score"))
        self._empty = str(chosen.get("empty", ""))
        self._id_pattern = self._pattern(chosen.get("id_pattern", ""))
        self._order = chosen_order(chosen.get("order"), chosen.get("score"), name)
        self._address(str(chosen["url"]), chosen["params"])
        self._body = self._template(chosen.get("body")) if self._method not in ("GET", "HEAD") else None
        if "{query}" not in self._target and "{query}" not in json.dumps(self._body):
            hint = "write {query} in url, params or body"
            raise InputError(name, "the request does not contain the query.", hint=hint)
        self._headers = {
            "User-Agent": f"cranfield/{__version__}",
            "Accept": "application/json",
            **({"Content-Type": "application/json"} if self._body is not None else {}),
            **{str(key): str(value) for key, value in (chosen.get("headers") or {}).items()},
        }
        if chosen.get("auth"):
            secrets.keep(str(chosen["auth"]), "${auth}")
            self._headers["Authorization"] = f"Basic {base64.b64encode(str(chosen['auth']).encode()).decode()}"
        for header, value in self._headers.items():
            if not _HEADER.fullmatch(header) or any(mark in value for mark in "\r\n\0"):
                raise InputError(name, f"the header {header!r} contains a line break or is not a valid header name.")
        self._connections = Connections(self._connect)
        self._context = ssl.create_default_context() if self._secure else None

    def _address(self, url: str, params: Mapping[str, Any]) -> None:
        try:
            parts = urlsplit(url)
            self._host, self._port = parts.hostname or "", parts.port
        except ValueError:  # whose message shows a part of it
            raise InputError(self.name, f"'{url}' is not a URL.", hint="https://host:port/path") from None
        self._secrets.keep_parts((parts.netloc, self._host))
        if parts.scheme not in ("http", "https") or not self._host:
            raise InputError(self.name, f"'{url}' is not the URL of a server.", hint="https://host/path")
        if parts.username or parts.password:
            raise InputError(self.name, "the url contains a password.", hint="set auth = '${USER}:${PASSWORD}' instead")
        self._secure = parts.scheme == "https"
        query = urlencode({str(key): str(value) for key, value in params.items()}, safe="{}")
        joined = "&".join(part for part in (parts.query, query) if part)
        self._target = quote((parts.path or "/") + (f"?{joined}" if joined else ""), safe=_URL_SAFE)

    def _pattern(self, pattern: str) -> re.Pattern[str] | None:
        try:
            compiled = re.compile(pattern) if pattern else None
        except re.error as error:
            raise InputError(self.name, f"id_pattern is not a regular expression: {error}.") from None
        if compiled is not None and compiled.groups != 1:
            raise InputError(self.name, f"id_pattern has {compiled.groups} groups.", hint="one group must match the id")
        return compiled

    def _template(self, body: Any) -> Any:
        if not isinstance(body, str):
            return body
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            hint = '"{query}" and "{k}" in quotes'
            raise InputError(self.name, f"the body is not JSON: {error}.", hint=hint) from None

    def search(self, query: str, k: int) -> Returned:
        words = {"query": query, "k": str(k)}
        target = _PLACE.sub(lambda match: quote(words[match[1]], safe=""), self._target)
        body = None if self._body is None else json.dumps(_filled(self._body, query, k)).encode()
        return self._read(*self._exchange(target, body))

    def _exchange(self, target: str, body: bytes | None) -> tuple[int, str | None, bytes]:
        deadline = time.monotonic() + self._timeout
        while True:
            used = False
            try:
                connection, used = self._connections.take(deadline)
                return self._send(connection, target, body, deadline)
            except (http.client.HTTPException, OSError) as error:
                # One that was kept open may have been closed meanwhile: that is no failure yet.
                stale = isinstance(error, http.client.RemoteDisconnected | ConnectionResetError | BrokenPipeError)
                if not (used and stale):
                    raise self._broken(error) from None

    def _connect(self, deadline: float) -> http.client.HTTPConnection:
        return connect_by(deadline, self._host, self._port, self._context)

    def _send(
        self, connection: http.client.HTTPConnection, target: str, body: bytes | None, deadline: float
    ) -> tuple[int, str | None, bytes]:
        kept, response = False, None
        connection.sock.deadline = deadline  # type: ignore[union-attr]  # our own socket, see connections.py
        try:
            connection.request(self._method, target, body, self._headers)
            response = connection.getresponse()
            data = _drained(response)
            kept = not response.will_close
            return response.status, response.getheader("Retry-After"), data
        finally:
            if kept:
                self._connections.give(connection)
            else:  # half an answer may be left on it
                connection.close()
                if response is not None:
                    response.close()

    def _broken(self, error: Exception) -> SystemFailure:
        where = f"{self._host}:{self._port}" if self._port else self._host
        if isinstance(error, TimeoutError):
            return SystemFailure(f"no answer from {where} within {self._timeout:g} s.", retry=True)
        if isinstance(error, ssl.SSLError):
            return SystemFailure(f"no secure connection to {where}: {error.reason or error}.")
        if isinstance(error, socket.gaierror):
            return SystemFailure(f"there is no host {self._host}: {error.strerror}.", retry=True)
        reason = error.strerror if isinstance(error, OSError) and error.strerror else f"{type(error).__name__}"
        if isinstance(error, ConnectionRefusedError):
            return SystemFailure(f"could not connect to {where}: connection refused.", retry=True)
        return SystemFailure(f"the connection to {where} failed: {reason}.", retry=True)

    def _read(self, status: int, after: str | None, data: bytes) -> Returned:
        if status >= 300:
            raise self._refused(status, after, data)
        try:
            answer = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise SystemFailure(f"the answer is not JSON: {error}: {self._secrets.excerpt(data)}") from None
        results = look_up(answer, self._results)
        if results is None:
            if self._empty and look_up(answer, self._empty, MISSING) is not MISSING:
                return Returned([])
            fact = f"the answer has no '{self._results}': {self._secrets.excerpt(data)}"
            raise SystemFailure(fact, hint="set results to its path")
        returned = ranking_of(results, id_path=self._id, score_path=self._score, order=self._order)
        if self._id_pattern is None:
            return returned
        matches = [(self._id_pattern.fullmatch(doc_id), doc_id, score) for doc_id, score in returned.ranking]
        for match, doc_id, _ in matches:
            if match is None:
                raise SystemFailure(f"id_pattern does not match the id '{doc_id}'.")
        return returned._replace(ranking=[(match[1], score) for match, _, score in matches if match])

    def _refused(self, status: int, after: str | None, data: bytes) -> SystemFailure:
        hint = ""
        if status < 400:
            hint = "redirects are not followed; give the final url"
        elif status in (401, 403):
            hint = "set headers or auth, with values from the environment: ${NAME}"
        seconds = float(after) if after and after.strip().isdecimal() and len(after) < 9 else None
        reason = http.client.responses.get(status, "")
        fact = f"the server answered {status} {reason}".rstrip() + f": {self._secrets.excerpt(data)}"
        return SystemFailure(fact, hint=hint, retry=status in _RETRIED, after=seconds, final=status == 401)

    def close(self) -> None:
        self._connections.close()


_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_URL_SAFE = "%/?#[]@!$&'()*+,;=:{}~-._"  # all that a URL may hold: only blanks and the like are left to be quoted


def _filled(template: Any, query: str, k: int) -> Any:
    """The body for one query; "{k}" alone is a number."""
    if isinstance(template, str):
        if template == "{k}":
            return k
        return _PLACE.sub(lambda match: query if match[1] == "query" else str(k), template)
    if isinstance(template, dict):
        return {key: _filled(value, query, k) for key, value in template.items()}
    if isinstance(template, list):
        return [_filled(value, query, k) for value in template]
    return template


def _drained(response: http.client.HTTPResponse) -> bytes:
    """An answer piece by piece, so that one without end is noticed."""
    pieces, size = [], 0
    while piece := response.read1(1 << 16):
        pieces.append(piece)
        size += len(piece)
        if size > _LARGEST:
            raise SystemFailure(f"the answer is larger than {_LARGEST >> 20} MB.")
    if response.length:
        raise http.client.IncompleteRead(b"", response.length)
    response.close()  # else the connection would wait for it
    return b"".join(pieces)
