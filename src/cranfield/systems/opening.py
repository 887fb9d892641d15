"""From settings or a short name to a system that can be asked.

Its failures become our exceptions, and none of them shows a secret.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from cranfield.errors import CranfieldError, InputError, SystemFailure, choice_hint, nearest, reworded
from cranfield.io.made import Tuned
from cranfield.io.secrets import Secrets
from cranfield.io.settings import SETTINGS_FILE, check_settings, read_toml
from cranfield.systems.answers import Ranking, Returned
from cranfield.systems.collection import Collection
from cranfield.systems.presets import PRESETS
from cranfield.systems.queries import leaves, placed, told_arguments, with_arguments
from cranfield.words import joined

if TYPE_CHECKING:
    from cranfield.systems.asking import Answer

TUNE = "tune"  # among the settings of a system: which values `tune` tries
DEFAULT_K = 100  # documents to ask for, where a system must be told and nobody says
_LONGEST = 1000  # characters of a failure


def known_settings(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """All settings that a system of this type may have; none if there is no such type."""
    kind = KINDS.get(str(settings.get("type")))
    known: Mapping[str, Any] = import_module(f"cranfield.systems.{kind.home}").SETTINGS if kind else {}
    return known


class Search(Protocol):
    """What a kind of system implements: it answers a query with its best documents, or raises any exception.

    needs_k: it must be told how many documents to return; otherwise `search` takes None for as many as it likes
    takes: the names of what else it is told by columns of the query, each with its default or REQUIRED; None if it
        takes any
    """

    name: str
    needs_k: bool

    @property
    def takes(self) -> Mapping[str, Any] | None: ...

    def search(self, query: str, k: int | None) -> Returned: ...

    def close(self) -> None: ...


class System:
    """An opened system: `search(query)` gives what it returns, with scores that fall, or a SystemFailure.

    settings: a hash of how it was described, without secrets; empty for an object of Python's
    arguments: what it is told with every query, as if these were columns of it

    >>> from cranfield import open_system
    >>> system = open_system(lambda query, k: [("a", 1.0), ("b", 1.0)], name="mine")
    >>> system.name, [document for document, score in system.search("cats", 10)]
    ('mine', ['a', 'b'])
    >>> system.close()
    """

    def __init__(
        self,
        kind: Search,
        secrets: Secrets | None = None,
        settings: str = "",
        arguments: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        self.name, self.settings = kind.name, settings
        self._kind, self._secrets = kind, secrets or Secrets(kind.name)
        self.reranks = ""  # which run it reranks, in words
        self._tuned: Tuned | None = None  # how its settings were chosen
        self._answers: Callable[..., Iterator[Answer]] | None = (
            None  # those that are there, where it is not asked again
        )
        self._arguments = told_arguments(arguments, kind.takes, self.name) if arguments else {}

    def __repr__(self) -> str:
        return f"<System {self.name}>"

    def search(self, query: str, k: int | None = None) -> Ranking:
        """The documents in the order returned, with scores that fall; k: how many to ask for, instead of its own."""
        try:
            return self.answer(query, self.asked_for(k)).ranking
        except Exception as error:
            raise self.failure(error) from None

    def asked_for(self, k: int | None) -> int | None:
        """How many documents it is asked for: k; without one, as many as it likes, or a default if it must be told."""
        return DEFAULT_K if k is None and self._kind.needs_k else k

    def answer(self, query: str, k: int | None) -> Returned:
        """The same, with what became of the scores. It may raise any exception: `failure` makes it fit to show."""
        return self._kind.search(with_arguments(query, self._arguments), k)

    def failure(self, error: BaseException) -> SystemFailure:
        """What went wrong, without secrets."""
        if isinstance(error, SystemFailure):
            failure = error
        elif isinstance(error, CranfieldError):
            failure = SystemFailure(error.fact, hint=error.hint)
        else:
            lost = isinstance(error, ConnectionError | TimeoutError)
            failure = SystemFailure(f"{type(error).__name__}: {error}", retry=lost)

        def shown(text: str) -> str:
            text = self._secrets.hide(text)
            return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"

        return reworded(failure, shown)

    def _told(self, arguments: Mapping[str, Any]) -> System:
        """The same system, told these arguments, too; they share what they have open."""
        other = copy(self)
        other._arguments = {**self._arguments, **told_arguments(arguments, self._kind.takes, self.name)}
        return other

    def close(self) -> None:
        """Let go of connections and memory."""
        self._kind.close()


class SystemKind(NamedTuple):
    """A kind of system: settings with this `type`."""

    # The module that has its SETTINGS, `open_type`, which makes one of them, and `open_reranker` if it can rerank.
    home: str
    meaning: str  # for documentation
    # Names under which it indexes the documents of a collection, without a file of settings; each has these settings.
    short: Mapping[str, Mapping[str, Any]] = MappingProxyType({})
    extra: str = ""  # of the package, which it needs
    reranks: bool = False


KINDS: dict[str, SystemKind] = {
    "postgres": SystemKind(
        "postgres", "PostgreSQL's full-text search, or an SQL statement of your own", extra="postgres"
    ),
    **{name: SystemKind("http", preset.meaning) for name, preset in PRESETS.items()},
    "python": SystemKind("python", "a function, a class or a retriever in Python: package.module:name"),
    "sqlite": SystemKind(
        "sqlite",
        "SQLite's full-text search over the collection's documents, in memory",
        {"sqlite": {}, "sqlite:tuned": {"tuned": True}},
    ),
    "bm25s": SystemKind(
        "bm25s", "BM25 by the library bm25s over the collection's documents, in memory", {"bm25s": {}}, "bm25s"
    ),
    "wordllama": SystemKind(
        "wordllama",
        "a small semantic search by the library wordllama over the collection's documents, in memory",
        {"wordllama": {}},
        "wordllama",
        reranks=True,
    ),
}


def open_system(
    what: Any,
    collection: Collection | None = None,
    *,
    name: str = "",
    timeout: float | None = None,
    id: str | None = None,
    score: str | None = None,
    order: str | None = None,
    arguments: Mapping[str, Any] = MappingProxyType({}),
) -> System:
    """Open a system.

    what: "sqlite", "sqlite:tuned", "bm25s" or "wordllama" (they index the collection's documents);
        "package.module:name"; settings as a dict; a system, a retriever or a function (query, k); the name of a system
        in cranfield.toml; or "file.toml:name" (":name" may be left out where the file describes one system).
    collection: the documents to index, for a system that does that.
    name: the name of the system; by default derived from `what`.
    timeout: seconds to wait for an answer, instead of its setting. A function may run on after that.
    id, score: where in each result the document's id and the score are, such as "metadata.source"; by default the
        usual names are tried, among them LangChain's metadata.source and LlamaIndex's node.ref_doc_id.
    order: "returned" keeps the order of the answer, "score" refuses scores that rise, "rank" ignores scores.
    arguments: what it is told with every query, by name: parameters of a function, placeholders in a request or SQL.
    Returns a system, with `search(query)` and `close()`.

    >>> from cranfield import open_collection
    >>> system = open_system("sqlite", open_collection("builtin"))
    >>> [document for document, score in system.search("rank biased overlap", 1)]
    ['rbo']
    >>> system.close()
    >>> open_system(lambda query, k: ["a", "b"]).search("cats", 10)
    [('a', 2.0), ('b', 1.0)]
    >>> open_system(lambda query, k: [{"metadata": {"page": 7}}], id="metadata.page").search("cats", 10)
    [('7', 1.0)]
    """
    read = {key: value for key, value in (("id", id), ("score", score), ("order", order)) if value is not None}
    if isinstance(what, System):
        if read:
            raise InputError(what.name, "it is already open.", hint=f"set {', '.join(read)} when you open it")
        return what._told(arguments) if arguments else what
    if not isinstance(what, str | Mapping):
        from cranfield.systems.python import PythonSearch

        kind = PythonSearch(what, name or getattr(what, "name", ""), timeout=timeout, **read)
        return System(kind, arguments=arguments)
    settings, usual = described(what)
    told = {**settings.get("arguments", {}), **arguments}
    return from_settings(
        {**settings, **read, **({"arguments": told} if told else {})}, collection, name or usual, timeout
    )


def described(what: str | Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """The settings of a system that is not an object, and what it is called."""
    if isinstance(what, Mapping):
        return dict(what), ""
    for name, kind in KINDS.items():
        if what in kind.short:
            return {"type": name, **kind.short[what]}, what
    first, _, rest = what.partition(":")
    if first.endswith(".toml"):
        return _from_file(Path(first), rest), rest or Path(first).stem
    if ":" in what and "/" not in what:
        return {"type": "python", "object": what}, rest
    if Path(SETTINGS_FILE).is_file():
        return _from_file(Path(SETTINGS_FILE), what), what
    near = nearest(what, short_names())
    others = f"give package.module:name, {', '.join(short_names())}, a .toml file, or a name in {SETTINGS_FILE}"
    raise InputError(what, "this is not a system.", hint=others + (f"; did you mean {near}?" if near else ""))


def short_names() -> list[str]:
    return [name for kind in KINDS.values() for name in kind.short]


def rerankers() -> list[str]:
    return [name for name, kind in KINDS.items() if kind.reranks]


def open_reranker(name: str) -> Any:
    """One of our own engines as a reranker, or an object of Python's: package.module:name."""
    if name in rerankers():
        return import_module(f"cranfield.systems.{KINDS[name].home}").open_reranker()
    if ":" not in name:
        hint = f"give package.module:name, or {joined(rerankers(), 'or')}"
        raise InputError(name, "this is not a reranker.", hint=hint)
    from cranfield.systems.python import load_object

    return load_object(name)


def _from_file(path: Path, name: str) -> dict[str, Any]:
    table = read_toml(path)
    systems = table.get("systems")
    if systems is None and "type" in table:
        systems = {name or path.stem: table}
    if not isinstance(systems, dict) or not systems:
        raise InputError(str(path), "it describes no system.", hint="a system is a table [systems.NAME] with a type")
    if not name and len(systems) == 1:
        name = next(iter(systems))
    if name not in systems:
        raise InputError(str(path), f"there is no system '{name}' in it.", hint=choice_hint("it has", systems, name))
    return dict(systems[name])


def from_settings(
    settings: Mapping[str, Any], collection: Collection | None, name: str, timeout: float | None = None
) -> System:
    """The system that settings describe."""
    settings = {key: value for key, value in settings.items() if key != TUNE}
    kind = settings.pop("type", None)
    name = name or str(kind)
    if kind not in KINDS:
        raise InputError(name, f"type = {kind!r} is not a type of system.", hint=choice_hint("types are", KINDS, kind))
    home = import_module(f"cranfield.systems.{KINDS[kind].home}")
    check_settings(settings, home.SETTINGS, name)
    told = json.dumps([kind, {**settings, "timeout": None}], sort_keys=True)
    arguments = settings.pop("arguments", {})
    settings = dict(placed(settings, [path for path, _ in leaves(arguments)]))
    if timeout is not None and "timeout" in home.SETTINGS:  # our own engines have none
        settings["timeout"] = timeout
    secrets = Secrets(name)
    with secrets.hidden():
        search = home.open_type(kind, secrets.fill(settings), name, secrets, collection)
    return System(search, secrets, hashlib.sha256(told.encode()).hexdigest(), arguments)
