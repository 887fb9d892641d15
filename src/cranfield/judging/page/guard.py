"""Who may use the page: only this machine or holders of the token, and only pages of this server."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "cranfield_token"
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Guard:
    """Refuses requests that did not come from the page itself, before anything reads them.

    hosts: names and addresses by which the server may be called: a name that another site made to point here is not
        among them
    token: what a visitor must know; None if only this machine can reach the server
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str], token: str | None = None) -> None:
        self._app, self._hosts, self._token = app, frozenset(name.lower() for name in hosts), token
        # A cookie holds for all ports of a machine: the servers of two stores need two.
        self._cookie = f"{COOKIE}_{hashlib.sha256((token or '').encode()).hexdigest()[:12]}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        refusal = self._refusal(scope)
        await (refusal or self._app)(scope, receive, send_guarded)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if _name(host) not in self._hosts:
            return PlainTextResponse("This server does not answer to that host name.\n", 421)
        if scope["method"] not in ("GET", "HEAD") and not _from_here(headers, host):
            return PlainTextResponse("Only the page of this server may change anything here.\n", 403)
        return self._unknown(scope, headers) if self._token else None

    def _unknown(self, scope: Scope, headers: Headers) -> Response | None:
        """The answer to a visitor without the cookie: with the token in the address, they get the cookie."""
        if self._knows(_cookie(headers, self._cookie)):
            return None
        asked = parse_qsl(scope["query_string"].decode("latin-1"))
        if not self._knows(dict(asked).get("token", "")):
            message = "Open the page with the address that 'cranfield judge' printed: its token is missing or wrong.\n"
            return PlainTextResponse(message, 401)
        rest = urlencode([(name, value) for name, value in asked if name != "token"])
        # A path of the page only: two slashes would lead elsewhere.
        path = "/" + scope["path"].lstrip("/\\")
        answer = RedirectResponse(f"{path}?{rest}" if rest else path, 303)
        answer.set_cookie(self._cookie, self._token or "", httponly=True, samesite="lax")
        return answer

    def _knows(self, token: str) -> bool:
        return secrets.compare_digest(token.encode(), (self._token or "").encode())


def _name(host: str) -> str:
    """A host without its port: localhost:8765, [::1]:8765."""
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


def _from_here(headers: Headers, host: str) -> bool:
    if not headers.get("content-type", "").startswith("application/json"):
        return False
    origin = headers.get("origin")
    if origin is None:
        return headers.get("sec-fetch-site") == "same-origin"
    try:
        return urlsplit(origin).netloc.lower() == host.lower()
    except ValueError:
        return False


def _cookie(headers: Headers, name: str) -> str:
    try:
        cookie = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return cookie.value if cookie else ""
