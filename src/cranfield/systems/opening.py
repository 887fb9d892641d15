"""From settings or a short name to a system that can be asked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from cranfield.errors import InputError
from cranfield.read.secrets import Secrets
from cranfield.read.settings import SETTINGS_FILE, check_settings, read_toml
from cranfield.systems.collection import Collection
from cranfield.systems.presets import MEANINGS
from cranfield.systems.system import System


class SystemKind(NamedTuple):
    """A kind of system: settings with this `type`."""

    home: str  # the module that has its SETTINGS, and `open_type`, which makes one of them
    meaning: str  # for documentation
    short: tuple[str, ...] = ()  # names under which it is opened without settings


KINDS: dict[str, SystemKind] = {
    "python": SystemKind("python", "a function, a class or a retriever in Python: package.module:name"),
    "sqlite": SystemKind(
        "sqlite", "SQLite's full-text search over the collection's documents, in memory", ("sqlite", "sqlite:tuned")
    ),
    "bm25s": SystemKind("bm25s", "BM25 by the library bm25s over the collection's documents, in memory", ("bm25s",)),
    "postgres": SystemKind("postgres", "an SQL query to PostgreSQL"),
    **{name: SystemKind("http", told) for name, told in MEANINGS.items()},
}


def open_system(
    what: Any, collection: Collection | None = None, *, name: str = "", timeout: float | None = None
) -> System:
    """Open a system.

    what: "sqlite", "sqlite:tuned" or "bm25s" (they index the collection's documents); "package.module:name";
        settings as a dict; a system, a retriever or a function (query, k); the name of a system in cranfield.toml; or
        "file.toml:name" (":name" may be left out where the file describes one system).
    collection: the documents to index, for a system that does that.
    name: what the system is called; by default after what it is.
    timeout: seconds to wait for a server's answer, instead of what its settings say; what runs here has no timeout.
    Returns a system, with `search(query, k)` and `close()`.

    >>> from cranfield import open_collection
    >>> system = open_system("sqlite", open_collection("builtin"))
    >>> [document for document, score in system.search("rank biased overlap", 1)]
    ['rbo']
    >>> system.close()
    >>> open_system(lambda query, k: ["a", "b"]).search("cats", 10)
    [('a', 2.0), ('b', 1.0)]
    """
    if isinstance(what, System):
        return what
    if isinstance(what, Mapping):
        return _from_settings(dict(what), collection, name, timeout)
    if not isinstance(what, str):
        from cranfield.systems.python import PythonSearch

        return System(PythonSearch(what, name or getattr(what, "name", "")))
    kind, _, variant = what.partition(":")
    if what in short_names():
        return _from_settings({"type": kind, "tuned": True} if variant else {"type": kind}, collection, name or what)
    if kind.endswith(".toml"):
        return open_system(
            _from_file(Path(kind), variant), collection, name=name or variant or Path(kind).stem, timeout=timeout
        )
    if ":" in what and "/" not in what:
        return _from_settings({"type": "python", "object": what}, collection, name or variant)
    if Path(SETTINGS_FILE).is_file():
        return open_system(_from_file(Path(SETTINGS_FILE), what), collection, name=name or what, timeout=timeout)
    shorts = ", ".join(short_names())
    raise InputError(
        what,
        "this is not a system.",
        hint=f"give package.module:name, {shorts}, a .toml file, or a name in {SETTINGS_FILE}",
    )


def short_names() -> list[str]:
    """The systems that need no settings."""
    return [name for kind in KINDS.values() for name in kind.short]


def _from_file(path: Path, name: str) -> Mapping[str, Any]:
    table = read_toml(path)
    systems = table.get("systems")
    if systems is None and "type" in table:
        systems = {name or path.stem: table}
    if not isinstance(systems, dict) or not systems:
        raise InputError(str(path), "it describes no system.", hint="a system is a table [systems.NAME] with a type")
    if not name and len(systems) == 1:
        name = next(iter(systems))
    if name not in systems:
        raise InputError(str(path), f"there is no system '{name}' in it.", hint=f"it has {', '.join(systems)}")
    settings: Mapping[str, Any] = systems[name]
    return settings


def _from_settings(
    settings: dict[str, Any], collection: Collection | None, name: str, timeout: float | None = None
) -> System:
    kind = settings.pop("type", None)
    name = name or str(kind)
    if kind not in KINDS:
        raise InputError(name, f"type = {kind!r} is not a type of system.", hint=f"types are {', '.join(KINDS)}")
    home = import_module(f"cranfield.systems.{KINDS[kind].home}")
    check_settings(settings, home.SETTINGS, name)
    described = json.dumps([kind, {**settings, "timeout": None}], sort_keys=True)
    if timeout is not None and "timeout" in home.SETTINGS:  # only what goes over a wire can be given up on
        settings["timeout"] = timeout
    secrets = Secrets(name)
    with secrets.hidden():
        search = home.open_type(kind, secrets.fill(settings), name, secrets, collection)
    return System(search, secrets, hashlib.sha256(described.encode()).hexdigest())
