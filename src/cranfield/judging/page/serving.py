"""A server for the page: where it listens, who may connect, and how it ends."""

from __future__ import annotations

import ipaddress
import os
import secrets
import socket
import sys
from collections.abc import Callable, Collection, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from cranfield.errors import CranfieldError, given, need
from cranfield.judging.store.events import StoreProgress
from cranfield.judging.store.store import Store

if TYPE_CHECKING:
    from cranfield.judging.page.finding import Corpus, SystemSearch
    from cranfield.judging.pool.order import Followed

PORT = 8765
LOCAL = ("127.0.0.1", "localhost", "::1")
EVERYWHERE = ("0.0.0.0", "::")


@dataclass(frozen=True, slots=True)
class Listening:
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
    documents: Corpus | None = None,
    system: SystemSearch | None = None,
    next_steps: Mapping[str, str] | None = None,
    on_start: Callable[[Listening], None],
) -> StoreProgress:
    """Serve the page until Ctrl-C; returns the progress of judging at the end.

    port: by default 8765, or a free one if that is taken
    names: further names by which the server may be called
    pictures: the folder of the images of documents; by default that of the store
    documents: reads the corpus, in which documents that an assessor adds must be; None if there is none
    system: searches for documents to add, where there is no corpus
    next_steps: what to do once a comparison is decided, and the commands for it
    on_start: called once the page can be opened
    """
    need("starlette", purpose="the judging page", extra="judge")
    uvicorn = need("uvicorn", purpose="the judging page", extra="judge")
    from cranfield.judging.page.application import application
    from cranfield.judging.page.connections import ACCEPTED, Visit, few_warnings, make_room
    from cranfield.judging.page.desk import Desk

    token = secrets.token_urlsafe(24) if is_shared(host, names) else None
    listener = _listen(host, port)
    folder = Path.cwd() if "://" in store.name else Path(store.name).resolve().parent
    own = {socket.gethostname(), socket.getfqdn(), *_own_addresses()} if host in EVERYWHERE else ()
    desk = Desk(store, assessor, followed, documents, system, next_steps)
    app = application(desk, {*LOCAL, host, *names, *own}, token, pictures or folder)
    settings = uvicorn.Config(
        app,
        http=Visit.within(make_room()),
        ws="none",
        backlog=ACCEPTED,
        log_level="warning",
        access_log=False,
        lifespan="off",
        server_header=False,
        timeout_graceful_shutdown=5,
    )
    server = uvicorn.Server(settings)
    with closing(listener), few_warnings(), suppress(KeyboardInterrupt):  # that is how it is stopped
        on_start(Listening(_addresses(host, listener.getsockname()[1], token), _progress(store)))
        server.run(sockets=[listener])
    return _progress(store)


def _progress(store: Store) -> StoreProgress:
    from cranfield.judging.store.listing import totals

    with store._reading() as connection:
        return totals(connection)


def has_screen() -> bool:
    """Whether a browser with a window can be opened; in a bare terminal, a text browser would start instead."""
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def is_shared(host: str, names: Collection[str]) -> bool:
    """Whether other machines can connect: by the address, or by a name that leads here through a server."""
    return not all(map(_is_local, (host, *names)))


def _is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _listen(host: str, port: int | None) -> socket.socket:
    number = PORT if port is None else port
    try:
        family = socket.getaddrinfo(host, number, type=socket.SOCK_STREAM)[0][0]
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, number))
        listener.listen(128)
    except OSError as error:
        if port is None:
            return _listen(host, 0)
        fact = f"cannot listen on {host}, port {number}: {(error.strerror or str(error)).lower()}."
        raise CranfieldError(fact, hint=f"choose another {given('port')}, or leave it out") from None
    return listener


def _own_addresses() -> list[str]:
    addresses: list[str] = []
    with suppress(OSError):
        addresses += [str(info[4][0]) for info in socket.getaddrinfo(socket.gethostname(), None)]
    # The address by which other machines see this one; nothing is sent.
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, suppress(OSError):
        probe.connect(("192.0.2.1", 9))
        addresses.append(probe.getsockname()[0])
    return [address for address in dict.fromkeys(addresses) if not ipaddress.ip_address(address).is_loopback]


def _addresses(host: str, port: int, token: str | None) -> tuple[str, ...]:
    query = f"?{urlencode({'token': token})}" if token else ""
    hosts = (_own_addresses() or [socket.gethostname()]) if host in EVERYWHERE else [host]
    return tuple(f"http://{f'[{name}]' if ':' in name else name}:{port}/{query}" for name in hosts)
