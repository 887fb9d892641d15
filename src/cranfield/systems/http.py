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
from cranfield.systems.answers import Ranking, is_missing, look_up, ranking_of
from cranfield.systems.connections import Connections
from cranfield.systems.presets import PRESETS
from cranfield.systems.secrets import Secrets
from cranfield.systems.settings import check_settings
from cranfield.version import __version__

_PLACE = re.compile(r"\{(query|k)\}")
_RETRIED = {408, 425, 429, 500, 502, 503, 504}
_LARGEST = 1 << 26  # bytes of an answer
_SETTINGS: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("url", "method", "auth", "results", "id", "id_pattern", "score", "order", "empty"), str),
    **dict.fromkeys(("headers", "params"), dict),
    "body": (dict, list, str),
    "timeout": (int, float),
}


class HttpSystem:
    """Sends a query as a request, and reads ids and scores from the JSON that comes back.

    url: with {query} and {k} where they belong, or without them if they stand in params or body
    method, headers, auth ("user:password"), params (of the URL), body (a table, or JSON as text)
    results: the path of the list of results, such as "hits.hits"; id, score: paths in each result
    id_pattern: a regular expression whose group is the id proper
    order: "score" (they must fall) or "rank" (trust the order)
    empty: a path that shows the answer to be one, where `results` is left out if nothing was found
    ${NAME} in any of these is the value of an environment variable, which is never shown.

    The standard library's client, with connections that stay open: an HTTP library would cost more time for
    each query than all the rest here.
    """

    def __init__(self, settings: Mapping[str, Any], name: str = "http", *, preset: str = "http") -> None:
        self.name = name
        check_settings(settings, _SETTINGS, name)
        self._secrets = Secrets(name)
        usual = PRESETS[preset]
        chosen = {**usual, **settings, "params": {**usual.get("params", {}), **settings.get("params", {})}}
        if "url" not in chosen:
            raise InputError(name, "the url is missing.")
        self._shown_url = str(chosen["url"])
        filled = self._secrets.fill(chosen)
        self._timeout = float(filled.get("timeout", 30))
        self._method = str(filled["method"]).upper()
        self._results, self._id, self._score = (str(filled.get(key, "")) for key in ("results", "id", "score"))
        self._empty = str(filled.get("empty", ""))
        self._id_pattern = self._pattern(filled.get("id_pattern", ""))
        self._order = filled.get("order", "score")
        if self._order not in ("score", "rank"):
            raise InputError(name, f"order = '{self._order}' is neither 'score' nor 'rank'.")
        self._address(str(filled["url"]), filled["params"])
        self._body = self._template(filled.get("body")) if self._method not in ("GET", "HEAD") else None
        self._headers = {
            "User-Agent": f"cranfield/{__version__}",
            "Accept": "application/json",
            **({"Content-Type": "application/json"} if self._body is not None else {}),
            **{str(key): str(value) for key, value in (filled.get("headers") or {}).items()},
        }
        if filled.get("auth"):
            encoded = base64.b64encode(str(filled["auth"]).encode()).decode()
            self._secrets.keep(encoded, "${auth}")
            self._headers["Authorization"] = f"Basic {encoded}"
        self._connections = Connections(self._connection)
        self._context: ssl.SSLContext | None = None

    def _address(self, url: str, params: Mapping[str, Any]) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InputError(self.name, f"'{self._shown_url}' is not the URL of a server.", hint="https://host/path")
        if parts.username or parts.password:
            raise InputError(self.name, "the url holds a password.", hint="set auth = '${USER}:${PASSWORD}' instead")
        self._secure, self._host, self._port = parts.scheme == "https", parts.hostname, parts.port
        query = urlencode({str(key): str(value) for key, value in params.items()}, safe="{}")
        joined = "&".join(part for part in (parts.query, query) if part)
        self._target = (parts.path or "/") + (f"?{joined}" if joined else "")

    def _pattern(self, pattern: str) -> re.Pattern[str] | None:
        try:
            compiled = re.compile(pattern) if pattern else None
        except re.error as error:
            raise InputError(self.name, f"id_pattern is not a regular expression: {error}.") from None
        if compiled is not None and compiled.groups != 1:
            raise InputError(self.name, f"id_pattern has {compiled.groups} groups.", hint="one group holds the id")
        return compiled

    def _template(self, body: Any) -> Any:
        if not isinstance(body, str):
            return body
        try:
            return json.loads(body)
        except ValueError as error:
            raise InputError(
                self.name, f"the body is not JSON: {error}.", hint='"{query}" and "{k}" in quotes'
            ) from None

    def search(self, query: str, k: int) -> Ranking:
        """Send one request."""
        words = {"query": query, "k": str(k)}
        target = _PLACE.sub(lambda match: quote(words[match[1]], safe=""), self._target)
        body = None if self._body is None else json.dumps(_filled(self._body, query, k)).encode()
        try:
            status, after, data = self._exchange(target, body)
            return self._read(status, after, data)
        except SystemFailure as failure:
            raise SystemFailure(
                self._secrets.hide(failure.fact), hint=failure.hint, retry=failure.retry, after=failure.after
            ) from None

    def _exchange(self, target: str, body: bytes | None) -> tuple[int, str | None, bytes]:
        while True:
            try:
                connection, used = self._connections.take()
                return self._send(connection, target, body)
            except (http.client.HTTPException, OSError) as error:
                # One that was kept open may have been closed meanwhile: that is no failure yet.
                stale = isinstance(error, http.client.RemoteDisconnected | ConnectionResetError | BrokenPipeError)
                if not (used and stale):
                    raise self._broken(error) from None

    def _connection(self) -> http.client.HTTPConnection:
        if not self._secure:
            return http.client.HTTPConnection(self._host, self._port, timeout=self._timeout)
        if self._context is None:
            self._context = ssl.create_default_context()
        return http.client.HTTPSConnection(self._host, self._port, timeout=self._timeout, context=self._context)

    def _send(
        self, connection: http.client.HTTPConnection, target: str, body: bytes | None
    ) -> tuple[int, str | None, bytes]:
        deadline = time.monotonic() + self._timeout
        kept = False
        try:
            connection.request(self._method, target, body, self._headers)
            response = connection.getresponse()
            data = self._drain(response, deadline)
            kept = not response.will_close
            return response.status, response.getheader("Retry-After"), data
        finally:
            if kept:
                self._connections.give(connection)
            else:  # half an answer may be left on it
                connection.close()

    def _drain(self, response: http.client.HTTPResponse, deadline: float) -> bytes:
        """An answer piece by piece, so that a server that drips is noticed."""
        pieces, size = [], 0
        while piece := response.read1(1 << 16):
            pieces.append(piece)
            size += len(piece)
            if time.monotonic() > deadline:
                raise TimeoutError
            if size > _LARGEST:
                raise SystemFailure(f"the answer is larger than {_LARGEST >> 20} MB.")
        if response.length:
            raise http.client.IncompleteRead(b"", response.length)
        response.close()  # else the connection would wait for it
        return b"".join(pieces)

    def _broken(self, error: Exception) -> SystemFailure:
        where = f"{self._host}:{self._port}" if self._port else self._host
        if isinstance(error, TimeoutError | socket.timeout):
            return SystemFailure(f"no answer from {where} within {self._timeout:g} s.", retry=True)
        if isinstance(error, ssl.SSLError):
            return SystemFailure(f"no secure connection to {where}: {error.reason or error}.")
        if isinstance(error, socket.gaierror):
            return SystemFailure(f"there is no host {self._host}: {error.strerror}.", retry=True)
        reason = error.strerror if isinstance(error, OSError) and error.strerror else f"{type(error).__name__}"
        return SystemFailure(f"the connection to {where} broke: {reason}.", retry=True)

    def _read(self, status: int, after: str | None, data: bytes) -> Ranking:
        if status >= 300:
            raise _refused(status, after, data)
        try:
            answer = json.loads(data)
        except ValueError as error:
            raise SystemFailure(f"the answer is not JSON: {error}: {_start(data)}") from None
        results = look_up(answer, self._results)
        if is_missing(results) or results is None:
            if self._empty and not is_missing(look_up(answer, self._empty)):
                return []
            raise SystemFailure(f"the answer has no '{self._results}': {_start(data)}", hint="set results to its path")
        ranking = ranking_of(results, id_path=self._id, score_path=self._score, order=self._order)
        return [(self._proper(doc_id), score) for doc_id, score in ranking] if self._id_pattern else ranking

    def _proper(self, doc_id: str) -> str:
        match = self._id_pattern.fullmatch(doc_id) if self._id_pattern else None
        if match is None:
            raise SystemFailure(f"id_pattern does not match the id '{doc_id}'.")
        return match[1]

    def close(self) -> None:
        """Close the connections."""
        self._connections.close()


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


def _refused(status: int, after: str | None, data: bytes) -> SystemFailure:
    hint = ""
    if status < 400:
        hint = "redirects are not followed; give the final url"
    elif status in (401, 403):
        hint = "set headers or auth, with values from the environment: ${NAME}"
    seconds = float(after) if after and after.strip().isdecimal() else None
    reason = http.client.responses.get(status, "")
    fact = f"the server answered {status} {reason}".rstrip() + f": {_start(data)}"
    return SystemFailure(fact, hint=hint, retry=status in _RETRIED, after=seconds)


def _start(data: bytes) -> str:
    text = " ".join(data[:200].decode(errors="replace").split())
    return f"{text[:117]}…" if len(text) > 120 else text or "(nothing)"
