"""What a system answers, whatever its shape, as a ranking: the documents in the order returned, with scores that fall.

What is returned is what is measured. A run is a file of scores, which every tool sorts, so scores that do not fall
would put other documents first than the system did: equal ones are parted, and those that contradict the order are
replaced.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from cranfield.errors import InputError, SystemFailure
from cranfield.read.mappings import id_text

Ranking = list[tuple[str, float]]
Order = Literal["returned", "score", "rank"]
Scores = Literal["kept", "parted", "replaced"]

_ID_NAMES = ("doc_id", "_id", "id", "docno", "document_id", "docid")
_SCORE_NAMES = ("score", "_score", "similarity", "relevance")
_MISSING = object()


class Returned(NamedTuple):
    """A ranking as it was returned, and what became of its scores: kept, equal ones parted, or all replaced.

    results: what was returned for each document, where that is more than ids and scores
    """

    ranking: Ranking
    scores: Scores = "kept"
    results: Sequence[Any] = ()


def chosen_order(order: Any, score: str | None, name: str) -> Order:
    """What the settings `order` and `score` say: a score that is set to nothing is not asked for."""
    if order is not None and order not in get_args(Order):
        raise InputError(name, f"there is no order {order!r}.", hint=f"order may be {', '.join(get_args(Order))}")
    return order or ("rank" if score == "" else "returned")


def ranking_of(answer: Any, *, id_path: str = "", score_path: str = "", order: Order = "returned") -> Returned:
    """Read an answer: ids, (id, score) pairs, {id: score}, or objects and mappings that hold an id and maybe a score.

    id_path, score_path: where to look in each result, such as "metadata.source"; by default the usual names are tried.
    order: "returned" keeps the order of the answer, and its scores where they agree; "score" refuses an answer whose
        scores rise; "rank" ignores the scores. {id: score} has no order of its own, and is sorted by score.

    >>> ranking_of(["b", "a"]).ranking
    [('b', 2.0), ('a', 1.0)]
    >>> ranking_of({"a": 0.1, "b": 0.7}).ranking
    [('b', 0.7), ('a', 0.1)]
    >>> ranking_of([{"_id": 7, "_score": 1.5, "title": "Cats"}])
    Returned(ranking=[('7', 1.5)], scores='kept', results=[{'_id': 7, '_score': 1.5, 'title': 'Cats'}])
    >>> ranking_of([("a", 0.5), ("b", 0.5)])
    Returned(ranking=[('a', 0.5), ('b', 0.4999999701976776)], scores='parted', results=())
    >>> ranking_of([("near", 0.1), ("far", 0.9)])[:2]  # distances
    ([('near', 2.0), ('far', 1.0)], 'replaced')
    """
    if order != "rank" and type(answer) is list and _is_ranking(answer):
        return falling(answer)
    if order != "rank" and id_path and score_path and type(answer) is list:
        plain: list[Any] = [(each.get(id_path), each.get(score_path)) for each in answer if type(each) is dict]
        if len(plain) == len(answer) and _is_ranking(plain):
            return falling(plain)._replace(results=answer)
    if isinstance(answer, Mapping):
        answer = sorted(answer.items(), key=lambda pair: -_finite(pair[1], pair[0]))
    if isinstance(answer, str | bytes) or not isinstance(answer, Iterable):
        raise SystemFailure(
            f"the answer is {type(answer).__name__}, not a list of results.",
            hint="return ids, (id, score) pairs or {id: score}",
        )
    results = list(answer)
    found = [_result(result, id_path, score_path) for result in results]
    if order == "rank" or all(score is None for _, score in found):
        return Returned(_by_rank([doc_id for doc_id, _ in found]), results=results)
    ranking = [(doc_id, _number(score, doc_id)) for doc_id, score in found]
    returned = falling(ranking)
    if order == "score" and returned.scores == "replaced":
        raise SystemFailure(_contradiction(ranking), hint="order = 'rank' measures the order that was returned")
    return returned._replace(results=results)


def falling(ranking: Ranking) -> Returned:
    """The ranking with scores that fall from document to document, for readers of 64 and of 32 bits.

    A score that is not below the one above it by so much that 32 bits show it becomes the next lower 32-bit number.
    Where a score rises, or is not finite in 32 bits, the scores say nothing about the order: all of them are replaced.
    """
    scores = np.array([score for _, score in ranking], dtype=np.float64)
    with np.errstate(over="ignore"):
        single = scores.astype(np.float32)
        if np.isfinite(single).all():
            if (single[1:] < single[:-1]).all():
                return Returned(ranking)
            if (scores[1:] <= scores[:-1]).all():
                parted = _parted(scores.tolist(), single)
                if np.isfinite(single[-1]):  # else there was no lower number left
                    return Returned([(doc_id, score) for (doc_id, _), score in zip(ranking, parted)], "parted")
    return Returned(_by_rank([doc_id for doc_id, _ in ranking]), "replaced")


def _parted(scores: list[float], single: Any) -> list[float]:
    """Scores that do not rise, and the same in 32 bits, which are changed in place, so that both fall."""
    for at in range(1, len(scores)):
        if not single[at] < single[at - 1]:
            single[at] = np.nextafter(single[at - 1], np.float32(-np.inf))
            scores[at] = float(single[at])
    return scores


def _by_rank(documents: list[str]) -> Ranking:
    return [(doc_id, float(len(documents) - at)) for at, doc_id in enumerate(documents)]


def _contradiction(ranking: Ranking) -> str:
    above = math.inf
    for doc_id, score in ranking:
        if not score <= above:
            return f"the score rises from {above:g} to {score:g} at document '{doc_id}'."
        if not abs(score) <= float(np.finfo(np.float32).max):
            return f"document '{doc_id}' has the score {score:g}, which is not finite."
        above = score
    return "the scores do not fall."


def _is_ranking(answer: list[Any]) -> bool:
    """Whether an answer is a ranking already, as those of our own engines are. What is not is read more slowly."""
    above = math.inf
    for pair in answer:
        if type(pair) is not tuple or len(pair) != 2:
            return False
        doc_id, score = pair
        if type(doc_id) is not str or type(score) is not float or not doc_id or not -math.inf < score <= above:
            return False
        above = score
    return not answer or bool(answer[0][1] < math.inf)


def checked(ranking: Ranking, k: int) -> Ranking:
    """The first k documents; none may appear twice."""
    ranking = ranking[:k]
    for doc_id, _ in ranking:
        if not doc_id.isascii() and any("\ud800" <= letter <= "\udfff" for letter in doc_id):
            raise SystemFailure(f"the id {doc_id!a} is not text: half of a pair of surrogates.")
    if len({doc_id for doc_id, _ in ranking}) == len(ranking):
        return ranking
    [(twice, _)] = Counter(doc_id for doc_id, _ in ranking).most_common(1)
    raise SystemFailure(
        f"document '{twice}' appears twice in the answer.",
        hint="if these are chunks, collapse their ids to documents (--collapse)",
    )


def _result(result: Any, id_path: str, score_path: str) -> tuple[str, Any]:
    score: Any = None
    if isinstance(result, tuple | list):
        if len(result) != 2:
            raise SystemFailure(f"a result has {len(result)} parts.", hint="return ids or (id, score) pairs")
        result, score = result
    if isinstance(result, str | int) and not isinstance(result, bool):
        doc_id: Any = result
    elif id_path:
        doc_id = look_up(result, id_path)
    else:
        doc_id = _usual(result, _ID_NAMES)
    if score_path:
        score = look_up(result, score_path)
    elif score is None and not isinstance(result, str | int):
        score = _usual(result, _SCORE_NAMES)
    if doc_id is _MISSING or doc_id is None:
        where = f"at '{id_path}'" if id_path else f"under any of {', '.join(_ID_NAMES)}"
        raise SystemFailure(f"a result has no id {where}.", hint="set id to where it is, such as 'metadata.source'")
    try:
        return id_text(doc_id, "the answer", "a result"), None if score is _MISSING else score
    except InputError as error:
        raise SystemFailure(error.fact) from None


def look_up(thing: Any, path: str) -> Any:
    """Follow a path such as "hits.hits" or "document.ids[0]" through mappings, lists and attributes."""
    if type(thing) is dict and "." not in path and "[" not in path:
        return thing.get(path, _MISSING)
    for step in path.replace("[", ".[").split("."):
        if not step:
            continue
        if step.startswith("["):
            try:
                thing = thing[int(step[1:-1])]
            except (ValueError, TypeError, LookupError):
                return _MISSING
        elif isinstance(thing, Mapping):
            thing = thing.get(step, _MISSING)
        else:
            thing = getattr(thing, step, _MISSING)
        if thing is _MISSING:
            return _MISSING
    return thing


def is_missing(thing: Any) -> bool:
    """Whether `look_up` found nothing."""
    return thing is _MISSING


def _usual(result: Any, names: tuple[str, ...]) -> Any:
    """The first of the usual names that a result, its metadata (LangChain) or its node (LlamaIndex) has."""
    node = look_up(result, "node")
    inner = [thing for thing in (look_up(result, "metadata"), node, look_up(node, "metadata")) if thing is not _MISSING]
    # Metadata come first for ids: what LangChain and LlamaIndex call id is often made up by the vector store.
    places = [*inner, result] if names is _ID_NAMES else [result]
    for place in places:
        for name in names:
            value = look_up(place, name)
            if value is not _MISSING and value is not None:
                return value
    return look_up(node, "node_id") if names is _ID_NAMES and node is not _MISSING else _MISSING


def _number(score: Any, doc_id: Any) -> float:
    if isinstance(score, bool) or score is None or isinstance(score, str | bytes):
        raise SystemFailure(f"document '{doc_id}' has the score {score!r}, others have numbers.")
    try:
        return float(score)
    except OverflowError:
        raise SystemFailure(f"document '{doc_id}' has a score beyond the range of floating point.") from None
    except (TypeError, ValueError):
        raise SystemFailure(f"document '{doc_id}' has the score {score!r}, which is not a number.") from None


def _finite(score: Any, doc_id: Any) -> float:
    number = _number(score, doc_id)
    if not math.isfinite(number):
        raise SystemFailure(f"document '{doc_id}' has the score {number}, which is not finite.")
    return number
