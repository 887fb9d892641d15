"""From chunks to documents: many chunk ids stand for one document, and its best rank counts."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Literal

from cranfield.errors import InputError
from cranfield.systems.answers import CHUNK_IDS, Ranking, Returned, look_up, texts_of, without_score

Collapse = Callable[[str], str]


def collapse_by(rule: str | Mapping[str, str] | Collapse) -> Collapse:
    """How a chunk id becomes a document id.

    rule: a separator ('#': the part before its last occurrence), a regular expression with one group (the
        document's id), a file of two columns "chunk <tab> document", a mapping, or a function.
    """
    if callable(rule):
        return rule
    if isinstance(rule, Mapping):
        return _looked_up(rule, "the mapping")
    if os.path.isfile(rule):
        return _looked_up(_read_mapping(rule), rule)
    if "(" in rule:
        return _by_expression(rule)
    if not rule:
        raise InputError("collapse", "the separator is empty.")
    return lambda chunk: chunk.rpartition(rule)[0] or chunk


def collapse(ranking: Ranking, to_document: Collapse) -> Ranking:
    """Each document once, at the rank and with the score of its best chunk."""
    best: dict[str, float] = {}
    for chunk, score in ranking:
        best.setdefault(to_document(chunk), score)
    return list(best.items())


def collapse_run(run: Any, rule: str | Mapping[str, str] | Collapse, *, format: str | None = None) -> dict[str, Any]:
    """A run of chunks (anything `evaluate` takes) as a run of documents.

    run, format: those of `evaluate`.
    rule: a separator such as "#", a regular expression with one group, {chunk: document}, or a function of an id.
    Returns {query: ranking}, which `evaluate` takes.

    >>> collapse_run({"q": {"a#1": 1.0, "a#2": 3.0, "b#1": 2.0}}, "#")
    {'q': {'a': 3.0, 'b': 2.0}}
    """
    from cranfield.io.source import open_source
    from cranfield.ranks.policy import Policy
    from cranfield.ranks.whole_rankings import scores_of

    to_document = collapse_by(rule)
    return {
        query: dict(collapse(sorted(scores.items(), key=lambda pair: -pair[1]), to_document))
        for query, scores in scores_of(open_source(run, "run", format), Policy()).items()
    }


def _by_expression(rule: str) -> Collapse:
    try:
        pattern = re.compile(rule)
    except re.error as error:
        raise InputError("collapse", f"'{rule}' is not a regular expression: {error}.") from None
    if pattern.groups != 1:
        hint = "one group must match the document's id"
        raise InputError("collapse", f"'{rule}' has {pattern.groups} groups.", hint=hint)

    def to_document(chunk: str) -> str:
        match = pattern.search(chunk)
        if match is None or not match[1]:
            raise InputError("collapse", f"'{rule}' does not match the id '{chunk}'.")
        return match[1]

    return to_document


def _looked_up(mapping: Mapping[str, str], name: str) -> Collapse:
    def to_document(chunk: str) -> str:
        try:
            return mapping[chunk]
        except KeyError:
            raise InputError(name, f"it does not contain the id '{chunk}'.") from None

    return to_document


def _read_mapping(path: str) -> dict[str, str]:
    mapping: dict[str, str] = {}
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            parts = line.rstrip("\n").split("\t") if "\t" in line else line.split()
            if not parts or not line.strip():
                continue
            if len(parts) != 2:
                raise InputError(path, f"{len(parts)} columns.", line=number, hint="a line is: chunk <tab> document")
            mapping[parts[0]] = parts[1]
    return mapping


DEEPEST = 64  # times the documents wanted; a system that repeats one document must not be asked forever

RolledUp = Literal["", "rolled", "short"]


def rolled_up(
    search: Callable[[int | None], Returned], k: int | None, to_document: Collapse | None, *, deepen: bool = False
) -> tuple[Ranking, Returned, RolledUp]:
    """Ask for documents, each once, at the place of its first chunk: what stands below closes up.

    search: gives a number of chunks, or as many as the system returns by itself (None)
    deepen: ask for more chunks until there are k documents
    The last part is "" where every result is a document of its own; "short" where the system has too few chunks, or
    returns no more of them, for the number of documents that was wanted.
    """
    wanted, before = k, -1
    while True:
        returned = search(wanted)
        given = len(returned.ranking)
        if to_document is None and not _has_chunks(returned):
            return returned.ranking, returned, ""
        ranking = collapse(returned.ranking, to_document or str)
        rolled: RolledUp = "rolled" if len(ranking) < given else ""
        if not deepen or k is None or wanted is None or len(ranking) >= k:
            return ranking, returned, rolled
        if given < wanted or given <= before or wanted >= DEEPEST * k:
            return ranking, returned, "short"
        before, wanted = given, min(2 * wanted, DEEPEST * k)


def _has_chunks(returned: Returned) -> bool:
    """Whether ids appear several times, each time with another chunk: the same chunk twice is a mistake."""
    times = Counter(document for document, _ in returned.ranking)
    if len(times) == len(returned.ranking) or not returned.id_place:
        return False
    chunks = [
        (document, _chunk(result, returned.id_place))
        for (document, _), result in zip(returned.ranking, returned.results, strict=True)
        if times[document] > 1
    ]
    return len(set(chunks)) == len(chunks)


def _chunk(result: Any, id_place: str) -> tuple[str, str]:
    """What tells chunks of one document apart: an id of their own, and their text."""
    own = (look_up(without_score(result), place) for place in CHUNK_IDS if place != id_place)
    texts = texts_of(Returned([("", 0.0)], results=[result]))
    return next((str(value) for value in own if value is not None), ""), texts.get("", {}).get("text", "")
