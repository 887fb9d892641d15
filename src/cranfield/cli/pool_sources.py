"""The sources of a pool: runs in files, answers of live systems, texts of documents, and all of a project."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cranfield.cli import output
from cranfield.show.layout import wrapped
from cranfield.words import count

if TYPE_CHECKING:
    from cranfield.systems.asking import FirstAnswers
    from cranfield.systems.collapse import Collapse
    from cranfield.systems.collection import Collection
    from cranfield.systems.project import Project


DEPTH = 10
EARLIER = "collection"  # the assessor of the judgments that a collection came with


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
    from cranfield.cli.progress import shown_asking
    from cranfield.systems.asking import first_answers
    from cranfield.systems.collapse import collapse_by
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


def pool_project(project: Project) -> str:
    """Pool the first documents of all systems; returns the name of the store.

    Runs recorded by the last test are used if the collection has the texts; other queries are asked now.
    """
    from cranfield.judging.pool import pool
    from cranfield.judging.store import open_store
    from cranfield.show.judging_text import pool_lines

    collection = project.open_collection()
    store = project.judged_in
    if project.store is None and collection.qrels is not None:
        from cranfield.judging.store import import_file

        output.say(str(import_file(collection.qrels, store, EARLIER)))
    runs: dict[str, Any] = {}
    answers: list[FirstAnswers] = []
    for name, settings in project.systems.items():
        runs[name], answer = _first_of(project, collection, name, settings)
        answers += [answer] if answer else []
    narratives = collection.narratives
    described = {
        query: {"text": text, "narrative": narratives.get(query, "")} for query, text in collection.queries.items()
    }
    pooled = pool(store, described, runs, DEPTH, documents=documents_of(answers, collection))
    if project.scale is not None:
        with open_store(store) as opened:
            opened.set_scale(project.scale)
    for line in (*pool_lines(pooled, output.width()), *failures(answers)):
        output.say(line)
    return store


def _first_of(
    project: Project, collection: Collection, name: str, settings: Mapping[str, Any]
) -> tuple[dict[str, Any], FirstAnswers | None]:
    """The first documents of a system by query, and its answers to the queries that were asked now."""
    from cranfield.io.source import open_source
    from cranfield.ranks.first_documents import first_documents
    from cranfield.ranks.policy import Policy

    recorded = project.recorded_run(name)
    known: dict[str, Any] = {}
    if collection.corpus is not None and os.path.isfile(recorded):
        wanted: dict[str, dict[str, float]] = {query: {} for query in collection.queries}
        known.update(first_documents(open_source(recorded, "run"), wanted, DEPTH, Policy()))
    missing = {query: text for query, text in collection.queries.items() if query not in known}
    if not missing:
        return known, None
    timeout = None if "timeout" in settings else project.timeout
    answer = asked(
        dict(settings),
        collection,
        missing,
        DEPTH,
        timeout=timeout,
        collapse=project.collapse,
        name=name,
        **project.asking,
    )
    return {**known, **answer.rankings}, answer
