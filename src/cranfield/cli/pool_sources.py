"""The sources of a pool: runs in files, answers of live systems, and texts of documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cranfield.cli import output
from cranfield.layout import count, wrapped

if TYPE_CHECKING:
    from cranfield.systems.collapse import Collapse
    from cranfield.systems.collection import Collection
    from cranfield.systems.first_answers import FirstAnswers


def asked(
    system: Any,
    collection: Collection | None,
    queries: Mapping[str, str],
    k: int,
    *,
    timeout: float | None = None,
    collapse: str | Mapping[str, str] | Collapse | None = None,
    name: str = "",
    **asking: Any,
) -> FirstAnswers:
    """The first documents of a live system; `asking` is how it is asked."""
    from cranfield.cli.asking_progress import shown_asking
    from cranfield.systems.collapse import collapse_by
    from cranfield.systems.first_answers import first_answers
    from cranfield.systems.opening import open_system

    opened = open_system(system, collection, name=name, timeout=timeout)
    to_document = collapse_by(collapse) if collapse else None
    try:
        with shown_asking(opened.name) as progress:
            return first_answers(opened, queries, k, progress, to_document=to_document, **asking)
    finally:
        opened.close()


def named(files: Sequence[str], answers: Sequence[FirstAnswers]) -> dict[str, Any]:
    """All runs by name, those of files and those of systems."""
    from cranfield.evaluation.naming import named_runs, numbered

    runs = named_runs(files)
    for answer in answers:
        runs[numbered(answer.system, runs)] = answer.rankings
    return runs


def documents_of(answers: Sequence[FirstAnswers], collection: Collection | None) -> Iterator[Any]:
    """The texts of documents; those of the collection come last, so they take precedence."""
    for answer in answers:
        yield from answer.texts.items()
    if collection is not None:
        yield from collection.documents()


def failures(answers: Sequence[FirstAnswers]) -> Iterator[str]:
    """Messages about failed queries."""
    for answer in answers:
        if answer.failed:
            query, error = next(iter(answer.failed.items()))
            failed = count(len(answer.failed), "query failed", "queries failed")
            yield from wrapped(f"{answer.system}: {failed}; {query}: {error}", "  ", width=output.width())
