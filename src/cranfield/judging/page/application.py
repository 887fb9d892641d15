"""The page as a web application: its views, its files, and an address for each call of the desk."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any, NamedTuple

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from cranfield.errors import CranfieldError, OutputError
from cranfield.judging.page.desk import Desk, TakenError, read_image
from cranfield.judging.page.guard import Guard
from cranfield.look import coloured, css_tokens

FILES = Path(__file__).parent / "static"
TYPES = {".html": "text/html; charset=utf-8", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
LARGEST = 1_000_000  # bytes that a page may send: a comment, never a document


class PageView(NamedTuple):
    """A view of the page: its address, its name in the navigation, and the script in `static` that shows it."""

    address: str
    name: str
    script: str


VIEWS = (
    PageView("/", "Judge", "judge.js"),
    PageView("/queries", "Queries", "queries.js"),
    PageView("/judged", "Judged", "judged.js"),
    PageView("/adjudicate", "Adjudicate", "adjudicate.js"),
)


def application(desk: Desk, hosts: Collection[str], token: str | None, pictures: Path) -> ASGIApp:
    files = {path.name: path.read_bytes() for path in sorted(FILES.iterdir()) if path.suffix in TYPES}
    declared = json.dumps([view._asdict() for view in VIEWS])
    files["views.js"] = f"// Declared in application.py.\nexport const VIEWS = {declared};\n".encode()
    files["look.css"] = css_tokens().encode()
    files["icon.svg"] = coloured(files["icon.svg"].decode()).encode()

    async def page(request: Request) -> Response:
        return _file("page.html", files)

    async def file(request: Request) -> Response:
        return _file(request.path_params["name"], files)

    async def call(request: Request) -> Response:
        return await _answer(desk, request)

    async def image(request: Request) -> Response:
        return await run_in_threadpool(_image, desk, request.query_params.get("doc_id", ""), pictures)

    routes = [
        *(Route(view.address, page) for view in VIEWS),
        Route("/static/{name}", file),
        Route("/image", image),
        Route("/api/{name}", call, methods=["POST"]),
    ]
    return Guard(Starlette(routes=routes), hosts, token)


def _file(name: str, files: dict[str, bytes]) -> Response:
    if name not in files:
        return Response("There is no such file.\n", 404, media_type="text/plain")
    return Response(files[name], media_type=TYPES[Path(name).suffix])


def _image(desk: Desk, doc_id: str, pictures: Path) -> Response:
    image = read_image(pictures, desk.image(doc_id)) if doc_id else None
    return Response(image[0], media_type=image[1]) if image else Response(status_code=404)


async def _answer(desk: Desk, request: Request) -> Response:
    name = request.path_params["name"]
    if name not in desk.calls:
        return _error(404, "there is no such call.")
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > LARGEST:
            return _error(413, "the request is too long.")
    try:
        asked = json.loads(body or b"{}")
    except (ValueError, RecursionError):  # not JSON, or brackets nested too deep
        asked = None
    if not isinstance(asked, dict):
        return _error(400, "a JSON object is needed.")
    try:
        return JSONResponse(await run_in_threadpool(desk.calls[name], asked))
    except TakenError:
        return _error(409, "someone else is judging this document.")
    except OutputError as error:
        return _error(507, error.fact, error.hint)
    except CranfieldError as error:
        return _error(400, getattr(error, "fact", str(error)), error.hint)


def _error(status: int, fact: str, hint: str | None = "") -> Response:
    body: dict[str, Any] = {"error": fact, "hint": hint or ""}
    return JSONResponse(body, status)
