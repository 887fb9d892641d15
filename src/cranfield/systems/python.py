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
from types import MappingProxyType
from typing import Any, NamedTuple

from cranfield.errors import InputError, SystemFailure
from cranfield.io.secrets import Secrets
from cranfield.io.settings import TomlSetting
from cranfield.systems.answers import ORDER, TEXTS, Returned, chosen_order, declared_texts, ranking_of
from cranfield.systems.queries import ARGUMENTS, REQUIRED, columns_of
from cranfield.systems.waiting import Waiting

SETTINGS = {
    "object": TomlSetting(
        str, "`package.module:name` of a function, a class or a retriever; the working folder is searched, too"
    ),
    "id": TomlSetting(str, "the path of the document's id in each result, such as `metadata.page`", "the usual names"),
    "score": TomlSetting(str, 'the path of the score in each result; "" reads no scores', "the usual names"),
    "texts": TEXTS,
    "order": ORDER,
    "arguments": ARGUMENTS,
    "timeout": TomlSetting((int, float), "seconds to wait for an answer; the call itself may run on", "none"),
}
K_NAMES = ("k", "top_k", "limit", "n")
_TOP_K = "similarity_top_k"
# Ways to ask an object, and the same in a way that has to be awaited.
_METHODS = {"search": "asearch", "invoke": "ainvoke", "retrieve": "aretrieve"}


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
        timeout: float | None = None,
        texts: Any = None,
    ) -> None:
        self.name = name or getattr(target, "__name__", type(target).__name__)
        self._call = call_of(target, self.name)
        self.needs_k, self.takes = self._call.needs_k, self._call.takes
        self._waiting = Waiting(timeout)
        self._id, self._score, self._order = id, score or "", chosen_order(order, score, self.name)
        self._texts = declared_texts(texts, self.name)

    def search(self, query: str, k: int | None) -> Returned:
        try:
            answer = self._waiting.result(lambda: self._call.ask(query, k))
        except SystemExit as error:  # a search that ends the program would end the run
            raise RuntimeError(f"SystemExit: {error}") from error
        except NotImplementedError:
            if self._call.awaited is None:
                raise
            self._call = self._call._replace(ask=self._call.awaited, awaited=None)
            return self.search(query, k)
        cost = None
        if type(answer) is tuple and len(answer) == 3 and not isinstance(answer[0], str):
            answer, cost = _with_cost(*answer)
        returned = ranking_of(answer, id_path=self._id, score_path=self._score, order=self._order)
        return returned._replace(cost=cost, places=self._texts)

    def close(self) -> None:
        """Stop waiting; the object belongs to the caller."""
        self._waiting.close()


def _with_cost(results: Any, scores: Any, cost: Any) -> tuple[Any, float]:
    """The results and the cost of an answer (results, scores, cost); scores may be None."""
    if (
        isinstance(cost, bool)
        or not isinstance(cost, int | float)
        or (scores is not None and len(scores) != len(results))
    ):
        fact = "the answer has three parts, but they are not results, scores and a cost."
        raise SystemFailure(fact, hint="return results, or (results, scores or None, the cost as a number)")
    return results if scores is None else list(zip(results, scores)), float(cost)


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


Ask = Callable[[str, int | None], Any]


class Call(NamedTuple):
    """How to ask an object: for k documents, or as it is (None).

    needs_k: it cannot be asked without a k
    awaited: the same in a way that has to be awaited, for an object that does not implement the plain one
    takes: the columns of a query that it takes by name, with their defaults; None if it takes any
    """

    ask: Ask
    needs_k: bool = False
    awaited: Ask | None = None
    takes: Mapping[str, Any] | None = MappingProxyType({})


def call_of(target: Any, name: str = "the system") -> Call:
    """How to ask an object: search(query, k), invoke(query), retrieve(query), or the object itself if it is callable.

    A class, or a function without parameters, is called first: it makes the system. A store of vectors or an index of
    LangChain or LlamaIndex is asked through its retriever. What has to be awaited is.
    """
    if inspect.isclass(target) or (inspect.isfunction(target) and not inspect.signature(target).parameters):
        target = target()
    if callable(getattr(target, "as_retriever", None)):
        target = target.as_retriever()
    for method, awaited in _METHODS.items():
        ways = [_of_method(target, way) for way in (method, awaited) if callable(getattr(target, way, None))]
        if ways:
            return ways[0]._replace(awaited=ways[1].ask if len(ways) > 1 else None)
    if callable(target):
        return _of_function(target)
    fact = "cannot be asked: it has none of search, invoke and retrieve, and is not callable."
    hint = "give a function (query, k) that returns ids or (id, score) pairs"
    raise InputError(name, f"{type(target).__name__} {fact}", hint=hint)


def _of_method(target: Any, method: str) -> Call:
    ask = getattr(target, method)
    if method.endswith("search"):
        return _of_function(ask)
    if method.endswith("invoke"):  # LangChain
        takes_k = getattr(target, "_expects_other_args", False)
        return Call(lambda query, k: ask(query, k=k) if takes_k and k is not None else ask(query))
    return Call(_of_llama_index(target, method))


def _of_llama_index(retriever: Any, method: str) -> Ask:
    """LlamaIndex retrievers take no k, but most have it as an attribute.

    It is set in a copy: the retriever belongs to the caller, and may be part of another one.
    """

    def retrieve(query: str, k: int | None) -> Any:
        asked = retriever
        if k is not None and isinstance(getattr(retriever, _TOP_K, None), int):
            asked = copy.copy(retriever)
            setattr(asked, _TOP_K, k)
        return getattr(asked, method)(query)

    return retrieve


def _of_function(function: Callable[..., Any]) -> Call:
    """A function of (query, k), (query, top_k=…) or (query) alone, which takes columns of the query by name."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # built in: the usual form is assumed
        return Call(function, needs_k=True)
    by_name = {
        name: its for name, its in parameters.items() if its.kind in (its.POSITIONAL_OR_KEYWORD, its.KEYWORD_ONLY)
    }
    positional = [its for its in parameters.values() if its.kind in (its.POSITIONAL_ONLY, its.POSITIONAL_OR_KEYWORD)]
    own = {its.name for its in positional[:1]}  # the query
    named_k = next((name for name in K_NAMES if name in by_name and name not in own), None)
    second = positional[1] if named_k is None and len(positional) > 1 else None  # k by place, unless it is a column
    every_name = any(its.kind is its.VAR_KEYWORD for its in parameters.values())
    places = any(its.kind is its.VAR_POSITIONAL for its in parameters.values())
    of_k = parameters[named_k] if named_k else second

    def ask(query: str, k: int | None) -> Any:
        columns = columns_of(query)
        given = {name: value for name, value in columns.items() if every_name or (name in by_name and name not in own)}
        lacking = [
            name
            for name, its in by_name.items()
            if its.default is its.empty and name not in own and its is not of_k and name not in columns
        ]
        if lacking:
            known = f"its columns are {', '.join(columns)}" if columns else "it has no further columns"
            raise SystemFailure(
                f"the function needs '{lacking[0]}', which the query has no column for; {known}.", final=True
            )
        if k is None:
            return function(query, **given)
        if named_k:
            return function(query, **{**given, named_k: k})
        by_place = places or (second is not None and second.name not in given)
        return function(query, k, **given) if by_place else function(query, **given)

    # Of *places nothing is known: the usual form is assumed.
    needs_k = places if of_k is None else of_k.default is of_k.empty
    named = own | ({named_k} if named_k else set())
    defaults = {name: REQUIRED if its.default is its.empty else its.default for name, its in by_name.items()}
    takes = None if every_name else {name: default for name, default in defaults.items() if name not in named}
    return Call(ask, needs_k, takes=takes)
