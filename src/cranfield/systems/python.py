"""Systems in Python: a function, an object with `search`, or a retriever of LangChain or LlamaIndex."""

from __future__ import annotations

import copy
import inspect
import os
import re
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from operator import attrgetter
from typing import Any

from cranfield.errors import InputError, SystemFailure
from cranfield.io.secrets import Secrets
from cranfield.io.settings import TomlSetting
from cranfield.systems.answers import ORDER, TEXTS, Returned, chosen_order, declared_texts, ranking_of

SETTINGS = {
    "object": TomlSetting(
        str, "`package.module:name` of a function, a class or a retriever; the working folder is searched, too"
    ),
    "id": TomlSetting(str, "the path of the document's id in each result, such as `metadata.page`", "the usual names"),
    "score": TomlSetting(str, 'the path of the score in each result; "" reads no scores', "the usual names"),
    "texts": TEXTS,
    "order": ORDER,
}
Ask = Callable[[str, int], Any]
_TOP_K = "similarity_top_k"


def open_type(kind: str, settings: Mapping[str, Any], name: str, secrets: Secrets, collection: Any) -> PythonSearch:
    read = dict(settings)
    target = read.pop("object", "")
    if ":" not in target:
        raise InputError(name, "object = 'package.module:name' is needed.")
    secrets.keep_parts(re.split("[.:]", target))  # which messages name one by one
    return PythonSearch(load_object(target), name, **read)


class PythonSearch:
    """Anything in this process that answers a query."""

    def __init__(
        self,
        target: Any,
        name: str = "",
        *,
        id: str = "",
        score: str | None = None,
        order: str | None = None,
        texts: Any = None,
    ) -> None:
        self.name = name or getattr(target, "__name__", type(target).__name__)
        self._search = search_of(target, self.name)
        self._awaited = _awaited(target)
        self._id, self._score, self._order = id, score or "", chosen_order(order, score, self.name)
        self._texts = declared_texts(texts, self.name)

    def search(self, query: str, k: int) -> Returned:
        try:
            answer = self._search(query, k)
        except SystemExit as error:  # a search that ends the program would end the run
            raise RuntimeError(f"SystemExit: {error}") from error
        except NotImplementedError as error:
            if not self._awaited:
                raise
            raise SystemFailure(f"NotImplementedError: {error}", hint=_wait_for(self._awaited)) from error
        returned = ranking_of(answer, id_path=self._id, score_path=self._score, order=self._order)
        return returned._replace(places=self._texts)

    def close(self) -> None:
        """Nothing to close: the object belongs to the caller."""


def load_object(path: str) -> Any:
    """Import "package.module:name"; the working directory is searched too."""
    module_name, _, attribute = path.partition(":")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        module = import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name and module_name.startswith(error.name):
            raise InputError(path, f"there is no module '{error.name}' on Python's path.") from error
        raise InputError(path, f"importing it failed: {error}.") from error
    except (Exception, SystemExit) as error:
        raise InputError(path, f"importing it failed: {type(error).__name__}: {error}") from error
    try:
        return attrgetter(attribute)(module)
    except AttributeError:
        raise InputError(path, f"module '{module_name}' has no '{attribute}'.") from None


def search_of(target: Any, name: str = "the system") -> Ask:
    """How to ask an object: search(query, k), invoke(query), retrieve(query), or the object itself if it is callable.

    A class, or a function without parameters, is called first: it makes the system. A store of vectors or an index of
    LangChain or LlamaIndex is asked through its retriever.
    """
    if inspect.isclass(target) or (inspect.isfunction(target) and not inspect.signature(target).parameters):
        target = target()
    if callable(getattr(target, "as_retriever", None)):
        target = target.as_retriever()
    if callable(getattr(target, "search", None)):
        return _with_k(target.search)
    if callable(getattr(target, "invoke", None)):  # LangChain
        if getattr(target, "_expects_other_args", False):
            return lambda query, k: target.invoke(query, k=k)
        return lambda query, k: target.invoke(query)
    if callable(getattr(target, "retrieve", None)):  # LlamaIndex
        return _of_llama_index(target)
    if callable(target):
        return _with_k(target)
    if awaited := _awaited(target):
        fact = f"{type(target).__name__} can be asked only asynchronously, with {awaited}."
        raise InputError(name, fact, hint=_wait_for(awaited))
    fact = "cannot be asked: it has none of search, invoke and retrieve, and is not callable."
    hint = "give a function (query, k) that returns ids or (id, score) pairs"
    raise InputError(name, f"{type(target).__name__} {fact}", hint=hint)


def _awaited(target: Any) -> str:
    return next((name for name in ("asearch", "ainvoke", "aretrieve") if callable(getattr(target, name, None))), "")


def _wait_for(method: str) -> str:
    return f"give a function that waits for the answer: lambda query: asyncio.run(retriever.{method}(query))"


def _of_llama_index(retriever: Any) -> Ask:
    """LlamaIndex retrievers take no k, but most have it as an attribute, which is only ever raised.

    It is raised in a copy: the retriever belongs to the caller, and may be part of another one.
    """

    def retrieve(query: str, k: int) -> Any:
        usual = getattr(retriever, _TOP_K, None)
        if not isinstance(usual, int) or usual >= k:
            return retriever.retrieve(query)
        deeper = copy.copy(retriever)
        setattr(deeper, _TOP_K, k)
        return deeper.retrieve(query)

    return retrieve


def _with_k(function: Callable[..., Any]) -> Ask:
    """A function of (query, k), (query, top_k=…) or (query) alone."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # built in: the usual form is assumed
        return function
    for name in ("k", "top_k", "limit", "n"):
        if name in parameters and parameters[name].kind is not inspect.Parameter.POSITIONAL_ONLY:
            return lambda query, k: function(query, **{name: k})
    positional = [p for p in parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    several = len(positional) > 1 or any(p.kind is p.VAR_POSITIONAL for p in parameters.values())
    return function if several else lambda query, k: function(query)
