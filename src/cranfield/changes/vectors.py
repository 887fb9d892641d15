"""Vectors of queries and documents: which documents are nearest, and how far a document really is, in float64."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from cranfield.errors import InputError, choice_hint
from cranfield.ranks.columns import Integers, Numbers

_QUERIES, _DOCUMENTS = 500, 50_000  # whose products are calculated at a time
_ARRAYS = ("query_ids", "queries", "document_ids", "documents")
_HINT = "give {id: vector}, or a pair of ids and an array with a row for each"


def _numbers(what: str, rows: Any) -> Any:
    try:
        array = np.asarray(rows)
    except ValueError:  # of several lengths
        array = np.empty(0, dtype=object)
    if array.dtype.kind not in "biuf":
        raise InputError(what, "they are not vectors of numbers, all of one length.", hint=_HINT)
    return array


def _squares(rows: Any) -> Any:
    return (rows * rows).sum(1)


# Of products of queries (rows) and documents (columns): what orders documents as their distances do.
_ORDERS: dict[str, Callable[[Any, Any], Any]] = {
    "l2": lambda products, documents: _squares(documents)[None] - 2 * products,
    "dot": lambda products, documents: -products,
    "cosine": lambda products, documents: -products / _lengths(documents)[None],
}


def _lengths(rows: Any) -> Any:
    squares = _squares(rows)
    return squares.clip(1e-300) ** 0.5


def _l2(query: Numbers, documents: Numbers) -> Numbers:
    return np.asarray(np.sqrt(np.square(documents - query).sum(axis=1)))


def _dot(query: Numbers, documents: Numbers) -> Numbers:
    return np.asarray(-(documents * query).sum(axis=1))


def _cosine(query: Numbers, documents: Numbers) -> Numbers:
    return np.asarray(1 + _dot(query, documents) / (_lengths(documents) * float(_lengths(query[None])[0])))


DISTANCES: dict[str, Callable[[Numbers, Numbers], Numbers]] = {"l2": _l2, "dot": _dot, "cosine": _cosine}


@dataclass(frozen=True, slots=True)
class Rows:
    """Ids with a vector each, as they were given: a NumPy array, which may be memory-mapped, or a tensor."""

    what: str
    ids: Sequence[str]
    array: Any
    place: Mapping[str, int] = field(repr=False)

    @classmethod
    def of(cls, what: str, given: Any) -> Self:
        if isinstance(given, Mapping):
            given = list(given), list(given.values())
        if not isinstance(given, Sequence) or isinstance(given, str) or len(given) != 2:
            raise InputError(what, "they are not vectors.", hint=_HINT)
        ids, array = [str(name) for name in given[0]], given[1]
        if not hasattr(array, "detach"):
            array = _numbers(what, array)
        place = {name: at for at, name in enumerate(ids)}
        if len(array.shape) != 2 or len(ids) != array.shape[0]:
            raise InputError(what, f"{len(ids)} ids do not go with an array of {tuple(array.shape)}.", hint=_HINT)
        if len(place) < len(ids):
            twice = next(name for at, name in enumerate(ids) if place[name] != at)
            raise InputError(what, f"'{twice}' appears twice.")
        return cls(what, ids, array, place)

    def of_ids(self, ids: Sequence[str]) -> Numbers:
        """The vectors of some ids in float64."""
        lacking = next((name for name in ids if name not in self.place), None)
        if lacking is not None:
            hint = choice_hint("ids are", list(self.ids[:3]), lacking)
            raise InputError(self.what, f"'{lacking}' has no vector.", hint=hint)
        return self.part([self.place[name] for name in ids])

    def part(self, rows: slice | Sequence[int]) -> Numbers:
        its = self.array[rows]
        values = np.asarray(its.detach().double().cpu().numpy() if hasattr(its, "detach") else its, dtype=np.float64)
        if not np.isfinite(values).all():
            raise InputError(self.what, "a vector has a number that is not finite.")
        return values


@dataclass(frozen=True, slots=True)
class Vectors:
    """Queries and documents with their vectors, and how far they are from each other.

    metric: "l2" (Euclidean), "dot" (the negative inner product) or "cosine" (1 less the cosine)
    """

    queries: Rows
    documents: Rows
    metric: str

    @classmethod
    def of(cls, given: Any, metric: str) -> Self:
        """From (queries, documents), or a file that `numpy.savez` wrote."""
        if metric not in DISTANCES:
            hint = choice_hint("it may be", DISTANCES, metric)
            raise InputError("the vectors", f"there is no metric '{metric}'.", hint=hint)
        if isinstance(given, str | os.PathLike):
            given = _read(os.fspath(given))
        if not isinstance(given, Sequence) or len(given) != 2:
            raise InputError("the vectors", "they are not those of queries and of documents.", hint="give both: a pair")
        queries, documents = Rows.of("the queries", given[0]), Rows.of("the documents", given[1])
        if queries.array.shape[1] != documents.array.shape[1]:
            sizes = f"{queries.array.shape[1]} dimensions, those of the documents {documents.array.shape[1]}"
            raise InputError("the vectors", f"those of the queries have {sizes}.")
        return cls(queries, documents, metric)

    def distances(self, query: str, documents: Sequence[str]) -> Numbers:
        """How far documents are from a query, calculated one by one in float64, smaller is nearer."""
        return DISTANCES[self.metric](self.queries.of_ids([query])[0], self.documents.of_ids(documents))

    def nearest(self, k: int) -> Iterator[tuple[str, dict[str, float]]]:
        """Of each query, the k nearest documents with their negative distances, the nearest first.

        All products are calculated, a block at a time where the vectors are: on a GPU if they are tensors there. Which
        of equally near documents are among them is left to chance; how far the k-th one is does not depend on it.
        """
        k = min(k, len(self.documents.ids))
        for start in range(0, len(self.queries.ids), _QUERIES):
            names = self.queries.ids[start : start + _QUERIES]
            for name, places in zip(names, self._best(slice(start, start + _QUERIES), k), strict=True):
                ids = [self.documents.ids[place] for place in places.tolist()]
                its = self.distances(name, ids)
                yield name, {ids[at]: -float(its[at]) for at in np.argsort(its, kind="stable").tolist()}

    def _best(self, part: slice, k: int) -> Integers:
        """The places of the k nearest documents of some queries, in any order."""
        orders = _ORDERS[self.metric]
        queries, documents = self.queries.part(part), self.documents.array
        on_device = documents.new_tensor(queries).double() if hasattr(documents, "detach") else None
        best: list[tuple[Numbers, Integers]] = []
        for start in range(0, len(self.documents.ids), _DOCUMENTS):
            if on_device is not None:
                block = documents[start : start + _DOCUMENTS].detach().double()
                found = orders(on_device @ block.T, block).topk(min(k, len(block)), dim=1, largest=False)
                best.append((found.values.cpu().numpy(), start + found.indices.cpu().numpy()))
            else:
                rows = self.documents.part(slice(start, start + _DOCUMENTS))
                best.append(_least(orders(queries @ rows.T, rows), np.arange(start, start + len(rows))[None], k))
            values, places = (np.concatenate(columns, axis=1) for columns in zip(*best, strict=True))
            best = [_least(values, places, k)]
        return best[0][1]


def _least(values: Numbers, places: Integers, k: int) -> tuple[Numbers, Integers]:
    """The k least values of each row, and their places."""
    if k >= values.shape[1]:
        return values, np.broadcast_to(places, values.shape)
    at = np.argpartition(values, k - 1, axis=1)[:, :k]
    return np.take_along_axis(values, at, 1), np.take_along_axis(np.broadcast_to(places, values.shape), at, 1)


def _read(path: str) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    hint = f"numpy.savez writes such a file, with the arrays {', '.join(_ARRAYS)}"
    try:
        with np.load(path, allow_pickle=False) as arrays:
            known = {name: arrays[name] for name in _ARRAYS if name in arrays}
    except (OSError, ValueError, AttributeError, TypeError) as error:
        fact = error.strerror if isinstance(error, OSError) and error.strerror else "it is not a file of arrays"
        raise InputError(path, f"{fact[:1].lower()}{fact[1:]}.", hint=hint) from None
    lacking = [name for name in _ARRAYS if name not in known]
    if lacking:
        raise InputError(path, f"it has no array '{lacking[0]}'.", hint=hint)
    return (known["query_ids"].tolist(), known["queries"]), (known["document_ids"].tolist(), known["documents"])
