"""Answers of systems, in any shape, as rankings: the documents in the order returned, with scores that fall.

The order returned is the order measured. A run is a file of scores, which every tool sorts, so scores that do not fall
would change the order of the system: equal ones are parted, and those that contradict the order are replaced.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from numbers import Number
from typing import Any, Final, Literal, NamedTuple, get_args
from uuid import UUID

import numpy as np

from cranfield.errors import InputError, SystemFailure, choice_hint
from cranfield.io.column_names import FIELDS, plain_name
from cranfield.io.falling_scores import Scores, by_rank, falling_scores
from cranfield.io.mappings import id_text
from cranfield.io.settings import TomlSetting

MISSING: Final = object()
ID_NAMES = ("doc_id", "_id", "id", "docno", "document_id", "docid", "sku")
CHUNK_IDS = ("node.node_id", "id", "_id", "chunk_id")

# Metadata come first: what LangChain and LlamaIndex call id is often made up by the vector store, for a chunk.
_IN_A_NODE = (
    *(f"node.{name}" for name in ID_NAMES),
    *(f"node.metadata.{name}" for name in ID_NAMES),
    "node.ref_doc_id",
    *ID_NAMES,
    "node.node_id",
)
_ELSEWHERE = (
    *(f"metadata.{name}" for name in ID_NAMES),
    "ref_doc_id",  # of a node of LlamaIndex by itself
    "metadata.source",
    *ID_NAMES,
    "node_id",
)
PLACES = (*ID_NAMES, "metadata.source", "ref_doc_id", "node_id")  # in short, for messages


def look_up(thing: Any, path: str, otherwise: Any = None) -> Any:
    """Follow a path such as "hits.hits" or "document.ids[0]" through mappings, lists and attributes."""
    if type(thing) is dict and "." not in path and "[" not in path:
        return thing.get(path, otherwise)
    for step in path.replace("[", ".[").split("."):
        if not step:
            continue
        if step.startswith("["):
            try:
                thing = thing[int(step[1:-1])]
            except (ValueError, TypeError, LookupError):
                return otherwise
        elif isinstance(thing, Mapping):
            thing = thing.get(step, MISSING)
        else:
            thing = getattr(thing, step, MISSING)
        if thing is MISSING:
            return otherwise
    return thing


Ranking = list[tuple[str, float]]
AnswerOrder = Literal["returned", "score", "rank"]

ORDER = TomlSetting(
    str,
    'what counts where order and scores disagree: "returned" keeps the order of the answer, "score" refuses scores '
    'that rise, "rank" ignores the scores',
    '"returned"',
)
TEXTS = TomlSetting(
    dict,
    "where in each result the texts are, by field: title, text, url and image, such as "
    '`{ title = "name", text = "beschreibung" }`',
    "the usual names",
)
_SCORE_NAMES = ("score", "_score", "similarity", "relevance")


class Returned(NamedTuple):
    """A ranking as it was returned, and what became of its scores: kept, equal ones parted, or all replaced.

    results: what was returned for each document, where that is more than ids and scores
    id_place: where in the results the ids were found, where they are more than ids and scores
    cost: of the answer, where it says so
    places: where in the results the title, text, url and image are, if that was declared
    """

    ranking: Ranking
    scores: Scores = "kept"
    results: Sequence[Any] = ()
    id_place: str = ""
    cost: float | None = None
    places: Mapping[str, str] = {}


def chosen_order(order: Any, score: str | None, name: str) -> AnswerOrder:
    """The order by the settings `order` and `score`: an empty `score` reads no scores."""
    if order is not None and order not in get_args(AnswerOrder):
        hint = choice_hint("order may be", get_args(AnswerOrder), order)
        raise InputError(name, f"there is no order {order!r}.", hint=hint)
    return order or ("rank" if score == "" else "returned")


def declared_texts(texts: Any, name: str) -> Mapping[str, str]:
    """The setting `texts`, checked."""
    for field, place in (texts or {}).items():
        if field not in FIELDS:
            raise InputError(name, f"texts has no {field!r}.", hint=choice_hint("it may have", FIELDS, field))
        if not isinstance(place, str) or not place:
            raise InputError(name, f"texts.{field} must be the name of a column or a path in each result.")
    return texts or {}


def rows_as_results(
    names: Sequence[str], rows: Sequence[Sequence[Any]], declared: Mapping[str, str | None] | None = None
) -> list[Any]:
    """Rows of a database as results: ids, (id, score) pairs, or mappings where there are texts.

    The id is the first column that has the name of one, or the first of all. The score is a column that has the name
    of one, or the second column where that is a number.

    declared: the columns of id, score and texts that have other names; "" for no score

    >>> rows_as_results(["sku", "ts_rank", "name"], [("000444", 0.5, "Raincoat")])
    [{'doc_id': '000444', 'score': 0.5, 'title': 'Raincoat'}]
    >>> rows_as_results(["score", "id"], [(0.5, "000444")])
    [('000444', 0.5)]
    """
    declared = declared or {}
    plain = [plain_name(name) for name in names]

    def place(field: str, usual: Iterable[str]) -> int | None:
        column = declared.get(field)
        if column and column not in names:
            raise SystemFailure(f"there is no column '{column}' in the answer.", hint=f"it has {', '.join(names)}")
        if column is not None:
            return names.index(column) if column else None
        return next((plain.index(name) for name in usual if name in plain), None)

    id_at = place("id", [name for name in plain if name in ID_NAMES]) or 0
    score_at = place("score", _SCORE_NAMES)
    usual_score = score_at is None and declared.get("score") is None and id_at == 0 and len(names) > 1
    if usual_score and any(_is_number(row[1]) for row in rows):
        score_at = 1
    texts = {field: at for field, spellings in FIELDS.items() if (at := place(field, spellings)) not in (None, id_at)}

    def result(row: Sequence[Any]) -> Any:
        doc_id = str(row[id_at]) if isinstance(row[id_at], UUID) else row[id_at]
        if not texts:
            return doc_id if score_at is None else (doc_id, row[score_at])
        score = {} if score_at is None else {"score": row[score_at]}
        return {"doc_id": doc_id, **score, **{field: row[at] for field, at in texts.items() if at is not None}}

    return [result(row) for row in rows]


def _is_number(value: Any) -> bool:
    return isinstance(value, Number) and not isinstance(value, bool)


def ranking_of(answer: Any, *, id_path: str = "", score_path: str = "", order: AnswerOrder = "returned") -> Returned:
    """Read an answer: ids, (id, score) pairs, {id: score}, or objects and mappings that hold an id and maybe a score.

    id_path, score_path: where to look in each result, such as "metadata.source"; by default the usual names are tried.
    order: "returned" keeps the order of the answer, and its scores where they agree; "score" refuses an answer whose
        scores rise; "rank" ignores the scores. {id: score} has no order of its own, and is sorted by score.

    >>> ranking_of([("a", 0.5), ("b", 0.5)])[:2]
    ([('a', 0.5), ('b', 0.4999999701976776)], 'parted')
    >>> ranking_of([("near", 0.1), ("far", 0.9)])[:2]  # distances
    ([('near', 2.0), ('far', 1.0)], 'replaced')
    """
    if order != "rank" and type(answer) is list and _is_ranking(answer):
        return falling(answer)
    if order != "rank" and id_path and score_path and type(answer) is list:
        plain: list[Any] = [(result.get(id_path), result.get(score_path)) for result in answer if type(result) is dict]
        if len(plain) == len(answer) and _is_ranking(plain):
            return falling(plain)._replace(results=answer, id_place=id_path)
    if isinstance(answer, Mapping):
        answer = sorted(answer.items(), key=lambda pair: -_number(pair[1], pair[0], finite=True))
    if isinstance(answer, str | bytes) or not isinstance(answer, Iterable):
        fact = f"the answer is {type(answer).__name__}, not a list of results."
        raise SystemFailure(fact, hint="return ids, (id, score) pairs or {id: score}")
    results = list(map(_as_mapping, answer))
    id_place = id_path
    if results and not id_path and not _is_id(first := without_score(results[0])):
        # All are looked up where the first has its id, so that an answer has ids of one kind.
        places = _ELSEWHERE if look_up(first, "node") is None else _IN_A_NODE
        id_place = next((place for place in places if look_up(first, place) is not None), "")
    pairs = [_result(result, id_path, id_place, score_path) for result in results]
    if order == "rank" or all(score is None for _, score in pairs):
        return Returned(_by_rank([doc_id for doc_id, _ in pairs]), results=results, id_place=id_place)
    ranking = [(doc_id, _number(score, doc_id)) for doc_id, score in pairs]
    returned = falling(ranking)
    if order == "score" and returned.scores == "replaced":
        raise SystemFailure(_contradiction(ranking), hint="order = 'rank' measures the order that was returned")
    return returned._replace(results=results, id_place=id_place)


def falling(ranking: Ranking) -> Returned:
    """The ranking with scores that fall from document to document, for readers of 64 and of 32 bits.

    Equal ones are parted; where a score rises, all are replaced: see `falling_scores`.
    """
    scores, became = falling_scores([score for _, score in ranking])
    if became == "kept":
        return Returned(ranking)
    return Returned([(doc_id, score) for (doc_id, _), score in zip(ranking, scores, strict=True)], became)


def _by_rank(documents: list[str]) -> Ranking:
    return list(zip(documents, by_rank(len(documents)), strict=True))


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
    """Whether an answer is a ranking already, as those of our own engines are; other answers take longer to read."""
    above = math.inf
    for pair in answer:
        if type(pair) is not tuple or len(pair) != 2:
            return False
        doc_id, score = pair
        if type(doc_id) is not str or type(score) is not float or not doc_id or not -math.inf < score <= above:
            return False
        above = score
    return not answer or bool(answer[0][1] < math.inf)


def checked(ranking: Ranking, k: int | None) -> Ranking:
    """The first k documents, or all of them; none may appear twice."""
    ranking = ranking[:k]
    for doc_id, _ in ranking:
        if not doc_id.isascii() and any("\ud800" <= letter <= "\udfff" for letter in doc_id):
            raise SystemFailure(f"the id {doc_id!a} is not text: it contains half of a surrogate pair.")
    if len({doc_id for doc_id, _ in ranking}) == len(ranking):
        return ranking
    [(twice, _)] = Counter(doc_id for doc_id, _ in ranking).most_common(1)
    hint = "if these are chunks, count them as their documents: collapse in cranfield.toml, --collapse, or to_document"
    raise SystemFailure(f"document '{twice}' appears twice in the answer.", hint=hint)


def _is_id(result: Any) -> bool:
    return isinstance(result, str | int) and not isinstance(result, bool)


def _as_mapping(result: Any) -> Any:
    """A row of a database that knows the names of its columns, as a mapping; anything else as it is."""
    if isinstance(result, tuple) and len(result) > 2 and hasattr(result, "_asdict"):  # named tuples, SQLAlchemy
        return result._asdict()
    row = hasattr(type(result), "keys") and not hasattr(type(result), "__getattr__")  # sqlite3, asyncpg
    if row and not isinstance(result, tuple | list | Mapping):
        return dict(result)
    return result


def without_score(result: Any) -> Any:
    return result[0] if isinstance(result, tuple | list) and result else result


def _result(result: Any, id_path: str, id_place: str, score_path: str) -> tuple[str, Any]:
    score: Any = None
    if isinstance(result, tuple | list):
        if len(result) != 2:
            hint = "return ids, (id, score) pairs, or mappings with id, score, title, text, url and image"
            raise SystemFailure(f"a result has {len(result)} parts without names.", hint=hint)
        result, score = result
    doc_id = result if _is_id(result) else look_up(result, id_place) if id_place else None
    if score_path:
        score = look_up(result, score_path)
    elif score is None and not isinstance(result, str | int):
        score = next((value for name in _SCORE_NAMES if (value := look_up(result, name)) is not None), None)
    if doc_id is None:
        where = f"at '{id_place}'" if id_place else f"under any of {', '.join(PLACES)}"
        first = ", where the first one has it" if id_place and not id_path else ""
        hint = f"set id to where {'every result has it' if first else 'it is'}, such as 'metadata.page'"
        raise SystemFailure(f"a result has no id {where}{first}.", hint=hint)
    try:
        return id_text(doc_id, "the answer", "a result"), score
    except InputError as error:
        raise SystemFailure(error.fact) from None


def _number(score: Any, doc_id: Any, *, finite: bool = False) -> float:
    if isinstance(score, bool) or score is None or isinstance(score, str | bytes):
        raise SystemFailure(f"document '{doc_id}' has the score {score!r}, others have numbers.")
    try:
        number = float(score)
    except OverflowError:
        raise SystemFailure(f"document '{doc_id}' has a score beyond the range of floating point.") from None
    except (TypeError, ValueError):
        raise SystemFailure(f"document '{doc_id}' has the score {score!r}, which is not a number.") from None
    if finite and not math.isfinite(number):
        raise SystemFailure(f"document '{doc_id}' has the score {number}, which is not finite.")
    return number


DocumentTexts = Mapping[str, Mapping[str, str]]  # by document: title, text, url and image, as far as they are there

# Where they are in a result: Elasticsearch, Typesense, Vespa, Qdrant, LangChain, LlamaIndex.
_INSIDE = ("_source", "document", "fields", "payload", "metadata", "node", "node.metadata")


def texts_of(returned: Returned) -> DocumentTexts:
    """The texts of the documents of an answer, those that have any."""
    pairs = zip(returned.ranking, returned.results)
    texts = {doc_id: dict(_fields(without_score(result), returned.places)) for (doc_id, _), result in pairs}
    return {doc_id: fields for doc_id, fields in texts.items() if fields}


class Size(NamedTuple):
    """How much an answer brings to a prompt; characters, words and tokens of its texts are None where it has none."""

    documents: int
    chunks: int
    characters: int | None = None
    words: int | None = None
    tokens: int | None = None


def size_of(documents: Ranking, returned: Returned, count_tokens: Callable[[str], Any] | None = None) -> Size:
    """The size of an answer: its chunks as they were returned, also those that stand for one document."""
    size = Size(len(documents), len(returned.ranking))
    # All are looked up where the first text is, so that results without any cost nothing.
    first = next((without_score(result) for result in returned.results), None)
    usual = (f"{inside}.{name}" if inside else name for inside in ("", *_INSIDE) for name in FIELDS["text"])
    paths = [returned.places["text"]] if "text" in returned.places else usual
    place = next((path for path in paths if isinstance(look_up(first, path), str)), "") if not _is_id(first) else ""
    if not place:
        return size
    found = (look_up(without_score(result), place) for result in returned.results[: size.chunks])
    texts = [text for text in found if isinstance(text, str)]
    words = sum(len(text.split()) for text in texts)
    tokens = None if count_tokens is None else sum(map(_number_of, map(count_tokens, texts)))
    return size._replace(characters=sum(map(len, texts)), words=words, tokens=tokens)


def _number_of(tokens: Any) -> int:
    return tokens if isinstance(tokens, int) else len(tokens)


def _fields(result: Any, declared: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    if isinstance(result, str | int):  # an id and nothing else
        return
    inside = (look_up(result, path) for path in _INSIDE)
    places = [result, *(place for place in inside if place is not None)]
    for field, names in FIELDS.items():
        usual = ((place, name) for name in names for place in places)
        for value in (look_up(*path) for path in ([(result, declared[field])] if field in declared else usual)):
            if isinstance(value, list) and len(value) == 1:  # as Solr has a text
                [value] = value
            if isinstance(value, str) and value.strip():
                yield field, value.strip()
                break
