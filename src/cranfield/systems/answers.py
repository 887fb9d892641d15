"""What a system answers, whatever its shape, as a ranking: documents with scores that fall."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any, Literal

from cranfield.errors import InputError, SystemFailure
from cranfield.read.mappings import id_text

Ranking = list[tuple[str, float]]
Order = Literal["score", "rank"]

_ID_NAMES = ("doc_id", "_id", "id", "docno", "document_id", "docid")
_SCORE_NAMES = ("score", "_score", "similarity", "relevance")
_MISSING = object()


def ranking_of(answer: Any, *, id_path: str = "", score_path: str = "", order: Order = "score") -> Ranking:
    """Read an answer: ids, (id, score) pairs, {id: score}, or objects and mappings that hold an id and maybe a score.

    id_path, score_path: where to look in each result, such as "metadata.source"; by default the usual names are tried.
    order: "score" uses the scores, which must fall from result to result; "rank" trusts the order and ignores them.

    >>> ranking_of(["b", "a"])
    [('b', 2.0), ('a', 1.0)]
    >>> ranking_of({"a": 0.1, "b": 0.7})
    [('b', 0.7), ('a', 0.1)]
    >>> ranking_of([{"_id": 7, "_score": 1.5}])
    [('7', 1.5)]
    """
    if order == "score" and type(answer) is list and _is_ranking(answer):
        return answer
    if order == "score" and id_path and score_path and type(answer) is list:
        plain: list[Any] = [(each.get(id_path), each.get(score_path)) for each in answer if type(each) is dict]
        if len(plain) == len(answer) and _is_ranking(plain):
            return plain
    if isinstance(answer, Mapping):
        answer = sorted(answer.items(), key=lambda pair: -_number(pair[1], pair[0]))
    if isinstance(answer, str | bytes) or not isinstance(answer, Iterable):
        raise SystemFailure(
            f"the answer is {type(answer).__name__}, not a list of results.",
            hint="return ids, (id, score) pairs or {id: score}",
        )
    found = [_result(result, id_path, score_path) for result in answer]
    scores = [score for _, score in found]
    if order == "rank" or all(score is None for score in scores):
        return [(doc_id, float(len(found) - at)) for at, (doc_id, _) in enumerate(found)]
    ranking = [(doc_id, _number(score, doc_id)) for doc_id, score in found]
    for (_, above), (doc_id, below) in pairwise(ranking):
        if below > above:
            raise SystemFailure(
                f"the score rises from {above:g} to {below:g} at document '{doc_id}'.",
                hint="if these are distances, or the order is not that of the scores, set order = 'rank'",
            )
    return ranking


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
    """The first k documents; none may stand there twice."""
    ranking = ranking[:k]
    if len({doc_id for doc_id, _ in ranking}) == len(ranking):
        return ranking
    [(twice, _)] = Counter(doc_id for doc_id, _ in ranking).most_common(1)
    raise SystemFailure(
        f"document '{twice}' is twice in the answer.",
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
        number = float(score)
    except (TypeError, ValueError):
        raise SystemFailure(f"document '{doc_id}' has the score {score!r}, which is not a number.") from None
    if not math.isfinite(number):
        raise SystemFailure(f"document '{doc_id}' has the score {number}, which is not finite.")
    return number
