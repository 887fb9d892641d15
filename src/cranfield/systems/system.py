"""A system of any kind. Its failures become our exceptions, and none of them shows a secret."""

from __future__ import annotations

from typing import Protocol

from cranfield.errors import CranfieldError, SystemFailure, reworded
from cranfield.io.secrets import Secrets
from cranfield.systems.answers import Ranking, Returned

_LONGEST = 1000  # characters of a failure


class Search(Protocol):
    """What a kind of system implements: it answers a query with its best documents, or raises any exception."""

    name: str

    def search(self, query: str, k: int) -> Returned:
        """The k best documents."""

    def close(self) -> None:
        """Let go of connections and memory."""


class System:
    """An opened system: `search(query, k)` gives its best documents, with scores that fall, or a SystemFailure.

    settings: a hash of how it was described, without secrets; empty for an object of Python's

    >>> from cranfield import open_system
    >>> system = open_system(lambda query, k: [("a", 1.0), ("b", 1.0)], name="mine")
    >>> system.name, [document for document, score in system.search("cats", 10)]
    ('mine', ['a', 'b'])
    >>> system.close()
    """

    def __init__(self, kind: Search, secrets: Secrets | None = None, settings: str = "") -> None:
        self.name = kind.name
        self.settings = settings
        self._kind = kind
        self._secrets = secrets or Secrets(kind.name)

    def __repr__(self) -> str:
        return f"<System {self.name}>"

    def search(self, query: str, k: int) -> Ranking:
        """The k best documents in the order returned, with scores that fall."""
        try:
            return self.answer(query, k).ranking
        except Exception as error:
            raise self.failure(error) from None

    def answer(self, query: str, k: int) -> Returned:
        """The same, with what became of the scores. It may raise any exception: `failure` makes it fit to show."""
        return self._kind.search(query, k)

    def failure(self, error: BaseException) -> SystemFailure:
        """What went wrong, without secrets."""
        if isinstance(error, SystemFailure):
            failure = error
        elif isinstance(error, CranfieldError):
            failure = SystemFailure(error.fact, hint=error.hint)
        else:
            lost = isinstance(error, ConnectionError | TimeoutError)
            failure = SystemFailure(f"{type(error).__name__}: {error}", retry=lost)
        return reworded(failure, self._shown)

    def _shown(self, text: str) -> str:
        text = self._secrets.hide(text)
        return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"

    def close(self) -> None:
        """Let go of connections and memory."""
        self._kind.close()
