"""Rows of tools for retrieval-augmented generation: a question with the contexts retrieved and those that answer it.

    {"user_input": "…", "retrieved_contexts": ["…"], "reference_contexts": ["…"]}

ragas, and datasets of Hugging Face made for it, have one row for each question. Both the run and the judgments can be
read from them. If a row has ids on both sides, these are the documents; otherwise the texts are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from cranfield.errors import InputError
from cranfield.io.column_names import Role

QUESTION_IDS = ("query_id", "question_id", "id", "_id")
QUESTIONS = ("user_input", "question", "query")
# For the run and for the judgments: columns of ids, and columns of texts.
_IDS = {"run": ("retrieved_context_ids",), "qrels": ("reference_context_ids",)}
_TEXTS = {
    "run": ("retrieved_contexts", "contexts"),
    "qrels": ("reference_contexts", "ground_truth_contexts", "ground_truths_contexts"),
}
_RETRIEVED = (*_IDS["run"], *_TEXTS["run"])
_REFERENCE = (*_IDS["qrels"], *_TEXTS["qrels"])


def has_contexts(names: Iterable[Any]) -> bool:
    known = set(names)
    asked = any(name in known for name in (*QUESTIONS, *QUESTION_IDS))
    return asked and any(name in known for name in (*_RETRIEVED, *_REFERENCE))


def column_names(frame: Any) -> list[Any]:
    """The names of a frame's columns, for any library; none if they are not known."""
    for name in ("column_names", "columns"):  # pyarrow's columns are not their names
        names = getattr(frame, name, None)
        if names is not None and not callable(names):
            return list(names)
    return []


def plain_rows(rows: Iterable[Any], role: Role, source: str, *, lines: bool) -> Iterable[Any]:
    """Rows as (query, document, value): rows of questions and contexts are split, others stay as they are.

    With `lines`, every item is a line's number and its row.

    >>> row = {"user_input": "Do cats sleep?", "retrieved_contexts": ["A cat  sleeps.", "Dogs bark."]}
    >>> list(plain_rows([row], "run", "rows", lines=False))
    [('Do cats sleep?', 'A cat sleeps.', 2.0), ('Do cats sleep?', 'Dogs bark.', 1.0)]
    """
    found = iter(rows)
    first = next(found, None)
    if first is None:
        return ()
    row = first[1] if lines else first
    every = chain([first], found)
    return _taken_apart(every, role, source, lines) if isinstance(row, Mapping) and has_contexts(row) else every


def _taken_apart(rows: Iterable[Any], role: Role, source: str, lines: bool) -> Iterator[Any]:
    known: set[str] = set()
    for number, item in enumerate(rows, 1):
        place, row = item if lines else (number, item)
        where = f"{'line' if lines else 'row'} {place}"
        if not isinstance(row, Mapping) or not has_contexts(row):
            raise InputError(source, f"{where} is not a question with its contexts, unlike the rows above it.")
        query = _question(row, source, where)
        if query in known:
            raise InputError(source, f"{where}: the question '{query:.60}' appears twice.", hint="give each an id")
        known.add(query)
        documents = _contexts(row, role, source, where)
        for at, document in enumerate(documents):
            value = 1.0 if role == "qrels" else float(len(documents) - at)
            yield (place, (query, document, value)) if lines else (query, document, value)


def _question(row: Mapping[str, Any], source: str, where: str) -> str:
    for name in (*QUESTION_IDS, *QUESTIONS):
        value = row.get(name)
        if isinstance(value, str | int) and value != "":
            return str(value).strip()
    raise InputError(source, f"{where} has no question.", hint=f"its column may be called {', '.join(QUESTIONS)}")


def _contexts(row: Mapping[str, Any], role: Role, source: str, where: str) -> list[str]:
    by_id = all(_given(row, _IDS[side]) is not None for side in ("run", "qrels"))
    names = _IDS[role] if by_id else _TEXTS[role]
    name = _given(row, names)
    if name is None:
        what = "retrieved contexts" if role == "run" else "reference contexts"
        raise InputError(source, f"{where} has no {what}.", hint=f"they may be called {', '.join(names)}")
    value = row[name]
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InputError(source, f"{where}: {name} is {value!r:.60}, not a list.")
    found = [" ".join(each.split()) if isinstance(each, str) and not by_id else each for each in value]
    return list(dict.fromkeys(found)) if role == "qrels" else found


def _given(row: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    return next((name for name in names if row.get(name) is not None), None)
