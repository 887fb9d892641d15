"""Asking a system for its first documents, to look at them rather than to write a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cranfield.errors import SystemFailure
from cranfield.systems.asking import Silent, ask
from cranfield.systems.system import System


@dataclass(frozen=True, slots=True)
class FirstAnswers:
    """The first documents of a system.

    rankings: the documents of each query that was answered, best first
    texts: of these documents, as far as the answers hold them: title, text, url and image
    failed: the queries that failed, and why
    """

    system: str
    rankings: Mapping[str, list[str]]
    texts: Mapping[str, Mapping[str, str]]
    failed: Mapping[str, str]


def first_answers(
    system: System, queries: Mapping[str, str], k: int, progress: Silent | None = None, **options: Any
) -> FirstAnswers:
    """Ask a system all queries. `options` are those of `ask`.

    >>> from cranfield import open_system
    >>> mine = open_system(lambda query, k: [{"id": "d1", "title": "Cats"}], name="mine")
    >>> first_answers(mine, {"q1": "cats"}, 10)
    FirstAnswers(system='mine', rankings={'q1': ['d1']}, texts={'d1': {'title': 'Cats'}}, failed={})
    """
    progress = progress or Silent()
    progress.start(0, len(queries))
    rankings: dict[str, list[str]] = {}
    texts: dict[str, Mapping[str, str]] = {}
    failed: dict[str, str] = {}
    for answer in ask(system, queries.items(), k, texts=True, **options):
        progress.answer(answer)
        if answer.ranking is None:
            failed[answer.query_id] = answer.error
            continue
        rankings[answer.query_id] = [document for document, _ in answer.ranking]
        texts.update(answer.texts)
    if failed and not rankings:
        raise SystemFailure(f"{system.name}: every query failed; the last: {list(failed.values())[-1]}")
    return FirstAnswers(system.name, rankings, texts, failed)
