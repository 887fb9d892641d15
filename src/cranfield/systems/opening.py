"""From settings or a short name to a system that can be asked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from cranfield.errors import InputError
from cranfield.systems.answers import Ranking
from cranfield.systems.collection import Collection
from cranfield.systems.presets import PRESETS
from cranfield.systems.settings import SETTINGS_FILE, read_toml

TYPES = ("python", "sqlite", "bm25s", "postgres", *PRESETS)


class System(Protocol):
    """Something that answers a query with its best documents, and their scores, which fall."""

    name: str

    def search(self, query: str, k: int) -> Ranking:
        """The k best documents, or a SystemFailure."""

    def close(self) -> None:
        """Let go of connections and memory."""


def open_system(
    what: Any, collection: Collection | None = None, *, name: str = "", timeout: float | None = None
) -> System:
    """Open a system.

    what: "sqlite", "sqlite:tuned" or "bm25s" (they index the collection's documents); "package.module:name";
        settings as a dict; a system, a retriever or a function (query, k); the name of a system in cranfield.toml; or
        "file.toml:name" (":name" may be left out where the file describes one system).
    timeout: seconds to wait for a server's answer, instead of what its settings say; a Python function is waited for

    >>> from cranfield import open_collection
    >>> system = open_system("sqlite", open_collection("builtin"))
    >>> [document for document, score in system.search("rank biased overlap", 1)]
    ['rbo']
    >>> system.close()
    >>> open_system(lambda query, k: ["a", "b"]).search("cats", 10)
    [('a', 2.0), ('b', 1.0)]
    """
    if isinstance(what, Mapping):
        settings = dict(what) if timeout is None else {**what, "timeout": timeout}
        return _from_settings(settings, collection, name)
    if not isinstance(what, str):
        from cranfield.systems.python import PythonSystem

        return PythonSystem(what, name or getattr(what, "name", ""))
    kind, _, variant = what.partition(":")
    if what in ("sqlite", "sqlite:tuned", "bm25s"):
        return _from_settings({"type": kind, "tuned": True} if variant else {"type": kind}, collection, name or what)
    if kind.endswith(".toml"):
        return open_system(
            _from_file(Path(kind), variant), collection, name=name or variant or Path(kind).stem, timeout=timeout
        )
    if ":" in what and "/" not in what:
        return _from_settings({"type": "python", "object": what}, collection, name or variant)
    if Path(SETTINGS_FILE).is_file():
        return open_system(_from_file(Path(SETTINGS_FILE), what), collection, name=name or what, timeout=timeout)
    raise InputError(
        what,
        "this is not a system.",
        hint=f"give package.module:name, sqlite, sqlite:tuned, bm25s, a .toml file, or a name in {SETTINGS_FILE}",
    )


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


def _from_settings(settings: dict[str, Any], collection: Collection | None, name: str) -> System:
    kind = settings.pop("type", None)
    name = name or str(kind)
    if kind not in TYPES:
        raise InputError(name, f"type = {kind!r} is not a type of system.", hint=f"types are {', '.join(TYPES)}")
    if kind in PRESETS:
        from cranfield.systems.http import HttpSystem

        return HttpSystem(settings, name, preset=kind)
    if kind == "postgres":
        from cranfield.systems.postgres import PostgresSystem

        return PostgresSystem(settings, name)
    settings.pop("timeout", None)  # only what goes over a wire can be given up on
    if kind == "python":
        from cranfield.systems.python import PythonSystem, load_object

        target = settings.pop("object", None)
        if not isinstance(target, str) or ":" not in target:
            raise InputError(name, "object = 'package.module:name' is needed.")
        return _built(lambda **options: PythonSystem(load_object(target), name, **options), settings, name)
    if collection is None or collection.corpus is None:
        raise InputError(name, f"{kind} needs documents to index.", hint="name a collection that has a corpus.jsonl")
    documents = collection.documents()
    if kind == "bm25s":
        from cranfield.systems.bm25s import Bm25sSystem

        return _built(lambda **options: Bm25sSystem(documents, name, **options), settings, name)
    from cranfield.systems.sqlite import SqliteSystem, tuned

    if settings.pop("tuned", False):
        return _built(lambda **options: tuned(documents, name, **options), settings, name)
    return _built(lambda **options: SqliteSystem(documents, name, **options), settings, name)


def _built(make: Any, settings: dict[str, Any], name: str) -> System:
    try:
        system: System = make(**settings)
    except TypeError as error:
        if "unexpected keyword" not in str(error):
            raise
        raise InputError(name, f"there is no such setting: {str(error).rpartition(' ')[2]}.") from None
    return system
