"""The page as a web application: its views, its files, an address for each call of the desk, and who may use it."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Collection
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit

from sqlalchemy.exc import OperationalError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cranfield.errors import CranfieldError, OutputError
from cranfield.judging.page import STATIC
from cranfield.judging.page.desk import Desk, TakenError, read_image
from cranfield.look import coloured, css_tokens

TYPES = {".html": "text/html; charset=utf-8", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
ADMIT = "admit"  # in the state of a request: a function that tells its connection that it is let in
LARGEST = 1_000_000  # bytes that a page may send: a comment, never a document


class PageView(NamedTuple):
    address: str
    name: str  # in the navigation, and its title unless it sets another one
    script: str  # in `static`, whose `show` shows it


VIEWS = (
    PageView("/", "Judge", "judge.js"),
    PageView("/queries", "Queries", "queries.js"),
    PageView("/judged", "Judged", "judged.js"),
    PageView("/adjudicate", "Adjudicate", "adjudicate.js"),
    PageView("/flags", "Unclear", "flags.js"),
)


def application(desk: Desk, hosts: Collection[str], token: str | None, pictures: Path) -> ASGIApp:
    files = {path.name: path.read_bytes() for path in sorted(STATIC.iterdir()) if path.suffix in TYPES}
    declared = json.dumps([view._asdict() for view in VIEWS])
    files["views.js"] = f"// Declared in application.py.\nexport const VIEWS = {declared};\n".encode()
    files["look.css"] = css_tokens().encode()
    files["icon.svg"] = coloured(files["icon.svg"].decode()).encode()

    async def file(request: Request) -> Response:
        name = request.path_params.get("name", "page.html")
        if name not in files:
            return Response("There is no such file.\n", 404, media_type="text/plain")
        return Response(files[name], media_type=TYPES[Path(name).suffix])

    async def call(request: Request) -> Response:
        return await _answer(desk, request)

    async def image(request: Request) -> Response:
        doc_id = request.query_params.get("doc_id", "")
        shown = await run_in_threadpool(lambda: read_image(pictures, desk.image(doc_id)) if doc_id else None)
        return Response(shown[0], media_type=shown[1]) if shown else Response(status_code=404)

    routes = [
        *(Route(view.address, file) for view in VIEWS),
        Route("/static/{name}", file),
        Route("/image", image),
        Route("/api/{name}", call, methods=["POST"]),
    ]
    return Guard(Starlette(routes=routes), hosts, token)


async def _answer(desk: Desk, request: Request) -> Response:
    name = request.path_params["name"]
    if name not in desk.calls:
        return _error(404, "there is no such call.")
    body = b""
    try:
        async for piece in request.stream():
            body += piece
            if len(body) > LARGEST:
                return _error(413, "the request is too long.")
    except ClientDisconnect:
        return _error(400, "the request ended early.")  # nobody reads this
    try:
        asked = json.loads(body or b"{}")
    except (ValueError, RecursionError):  # not JSON, or brackets nested too deep
        asked = None
    if not isinstance(asked, dict):
        return _error(400, "a JSON object is needed.")
    try:
        return JSONResponse(await run_in_threadpool(desk.calls[name], asked))
    except TakenError as error:
        return _error(409, str(error))
    except OutputError as error:
        return _error(507, error.fact, error.hint)
    except CranfieldError as error:
        # A database that is gone is not the fault of what was asked, and may be back soon.
        lost = isinstance(error.__cause__, OperationalError)
        return _error(503 if lost else 400, getattr(error, "fact", str(error)), error.hint)


def _error(status: int, fact: str, hint: str | None = "") -> Response:
    return JSONResponse({"error": fact, "hint": hint or ""}, status)


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

    A name that another site made to point here is not among the `hosts`; only visitors from other machines need a
    `token`.
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
        admit = scope.get("state", {}).get(ADMIT)
        if admit and refusal is None:
            admit()
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
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(self._cookie)
        except CookieError:
            cookie = None
        if cookie and self._knows(cookie.value):
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
