"""A server for the page: where it listens, who may come, and how it ends."""

from __future__ import annotations

import ipaddress
import os
import secrets
import socket
import sys
from collections.abc import Callable, Collection
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from cranfield.errors import CranfieldError, need
from cranfield.judging.events import StoreProgress
from cranfield.judging.store import Store

if TYPE_CHECKING:
    from cranfield.judging.ordering.followed_order import Followed

PORT = 8765
LOCAL = ("127.0.0.1", "localhost", "::1")
EVERYWHERE = ("0.0.0.0", "::")


@dataclass(frozen=True, slots=True)
class Listening:
    """Where a page can be opened, and how much waits there."""

    addresses: tuple[str, ...]
    progress: StoreProgress


def serve(
    store: Store,
    assessor: str = "",
    *,
    host: str = LOCAL[0],
    port: int | None = None,
    names: Collection[str] = (),
    pictures: Path | None = None,
    followed: Followed | None = None,
    on_start: Callable[[Listening], None],
) -> StoreProgress:
    """Serve the page until Ctrl-C.

    assessor: who judges, unless somebody says otherwise on the page.
    host: the address to listen on; visitors of a page that is shared need a token.
    port: the port; by default 8765, or a free one if that is taken.
    names: further names by which the server may be called.
    pictures: the folder beneath which images of documents lie; by default that of the store.
    followed: the order in which documents come; otherwise query by query, at random.
    on_start: is told where the page is, once it can be opened.
    Returns how far the judging is in the end.
    """
    need("starlette", purpose="the judging page", extra="judge")
    uvicorn = need("uvicorn", purpose="the judging page", extra="judge")
    from cranfield.judging.page.application import application
    from cranfield.judging.page.desk import Desk

    token = secrets.token_urlsafe(24) if is_shared(host, names) else None
    listener = _listen(host, port)
    app = application(Desk(store, assessor, followed), _known_names(host, names), token, pictures or _folder_of(store))
    settings = uvicorn.Config(
        app, log_level="warning", access_log=False, lifespan="off", server_header=False, timeout_graceful_shutdown=5
    )
    server = uvicorn.Server(settings)
    with closing(listener), suppress(KeyboardInterrupt):  # that is how it is stopped
        on_start(Listening(_addresses(host, listener.getsockname()[1], token), _progress(store)))
        server.run(sockets=[listener])
    return _progress(store)


def _progress(store: Store) -> StoreProgress:
    from cranfield.judging.listing import totals

    with store._reading() as connection:
        return totals(connection)


def has_screen() -> bool:
    """Whether a browser can be opened here; in a bare terminal one for text would take its place."""
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def is_shared(host: str, names: Collection[str]) -> bool:
    """Whether others than this machine can come: by its address, or by a name that leads here through a server."""
    return not all(map(_is_local, (host, *names)))


def _is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _listen(host: str, port: int | None) -> socket.socket:
    wanted = [PORT, 0] if port is None else [port]
    for number in wanted:
        try:
            family = socket.getaddrinfo(host, number, type=socket.SOCK_STREAM)[0][0]
            listener = socket.socket(family, socket.SOCK_STREAM)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((host, number))
            listener.listen(128)
        except OSError as error:
            if number == wanted[-1]:
                reason = (error.strerror or str(error)).lower()
                fact = f"cannot listen on {host}, port {number}: {reason}."
                raise CranfieldError(fact, hint="choose another --port, or leave it out") from None
        else:
            return listener
    raise AssertionError  # the last attempt returns or raises


def _known_names(host: str, names: Collection[str]) -> set[str]:
    known = {*LOCAL, host, *names}
    if host in EVERYWHERE:
        known |= {socket.gethostname(), socket.getfqdn(), *_own_addresses()}
    return known


def _own_addresses() -> list[str]:
    """The addresses of this machine, as far as it knows them."""
    found: list[str] = []
    with suppress(OSError):
        found += [str(each[4][0]) for each in socket.getaddrinfo(socket.gethostname(), None)]
    # What the machine would call itself to the rest of the world; nothing is sent.
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, suppress(OSError):
        probe.connect(("192.0.2.1", 9))
        found.append(probe.getsockname()[0])
    return [each for each in dict.fromkeys(found) if not ipaddress.ip_address(each).is_loopback]


def _addresses(host: str, port: int, token: str | None) -> tuple[str, ...]:
    query = f"?{urlencode({'token': token})}" if token else ""
    hosts = (_own_addresses() or [socket.gethostname()]) if host in EVERYWHERE else [host]
    return tuple(f"http://{f'[{each}]' if ':' in each else each}:{port}/{query}" for each in hosts)


def _folder_of(store: Store) -> Path:
    return Path.cwd() if "://" in store.name else Path(store.name).resolve().parent
