"""Pooling for a project: the first documents of its systems wait in its store, if nobody has judged them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cranfield.cli import output
from cranfield.cli.pool_sources import asked, documents_of, failures

if TYPE_CHECKING:
    from cranfield.systems.collection import Collection
    from cranfield.systems.first_answers import FirstAnswers
    from cranfield.systems.project import Project

DEPTH = 10
EARLIER = "collection"  # the assessor of the judgments that a collection came with


def pool_project(project: Project) -> str:
    """Pool the first documents of all systems; returns the name of the store.

    Runs recorded by the last test are used if the collection has the texts; other queries are asked now.
    """
    from cranfield.judging.pool_text import pool_lines
    from cranfield.judging.pooling import pool
    from cranfield.judging.store import open_store

    collection = project.open_collection()
    store = project.judged_in
    if project.store is None and collection.qrels is not None:
        from cranfield.judging.importing import import_file

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
    found = pool(store, described, runs, DEPTH, documents=documents_of(answers, collection))
    if project.scale is not None:
        with open_store(store) as opened:
            opened.set_scale(project.scale)
    for line in (*pool_lines(found, output.width()), *failures(answers)):
        output.say(line)
    return store


def _first_of(
    project: Project, collection: Collection, name: str, settings: Mapping[str, Any]
) -> tuple[dict[str, Any], FirstAnswers | None]:
    """The first documents of a system by query, and its answers to the queries that were asked now."""
    from cranfield.ranks.first_documents import first_documents
    from cranfield.ranks.policy import Policy
    from cranfield.read.source import open_source

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
