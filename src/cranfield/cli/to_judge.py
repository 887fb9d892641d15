"""How many of the first documents are unjudged, and the command that lets them wait to be judged."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from cranfield.cli import output
from cranfield.layout import count, wrapped
from cranfield.read.formats.store import names_store
from cranfield.read.streams import BUILT_IN, stream_name

if TYPE_CHECKING:
    from cranfield.evaluation.result import Evaluation
    from cranfield.systems.project import Project

FIRST = 10  # what people see of a ranking, and how deep `cranfield pool` goes by itself
MOST_NAMES = 5  # runs in a command
STORE = "judgments.db"


class JudgedIn(NamedTuple):
    """Where judgments are and are to be: the words of `cranfield pool` for its store, queries and earlier judgments."""

    store: str
    queries: str
    qrels: str = ""  # to be brought into the store first


def judged_in(qrels: Any) -> JudgedIn | None:
    """The words for the judgments that a command was given; None where nobody could judge more of them.

    What some assessors have not judged may be judged by others, and would not wait: then nothing is said, either.
    """
    if getattr(qrels, "view", None) is not None:
        return None
    from cranfield.systems.collection import folder_of_queries

    name: str = getattr(qrels, "name", qrels)
    if name.startswith(BUILT_IN) or not (os.path.isfile(name) or names_store(name)):  # of which there are no texts
        return None
    queries = folder_of_queries(name) or "QUERIES"
    return JudgedIn(stream_name(name), queries) if names_store(name) else JudgedIn(STORE, queries, name)


def judged_by_project(project: Project, collection: Any) -> JudgedIn:
    """The words for the judgments of a project."""
    qrels = collection.qrels.name
    where = os.path.relpath(collection.name) if os.path.isdir(collection.name) else collection.name
    if names_store(qrels):
        return JudgedIn(os.path.relpath(qrels) if os.path.isfile(qrels) else qrels, where)
    return JudgedIn(os.path.relpath(project.folder / STORE), where, where)


def say_unjudged(evaluations: Sequence[Evaluation], find: Callable[[], JudgedIn | None], runs: Sequence[str]) -> None:
    """Say how to judge what is unjudged among the first documents, if anything is; `find` says where that can be."""
    unjudged = [sum(each.unjudged(FIRST).values()) for each in evaluations]
    if not any(unjudged) or not all(map(_can_be_named, runs)):
        return
    judged = find()
    if judged is None:
        return
    most, queries = max(unjudged), count(len(evaluations[0].query_ids), "query", "queries")
    documents = f"{count(most, 'document')} in the first {FIRST} of {queries} {'is' if most == 1 else 'are'} unjudged"
    output.say("")
    told = f"{'Up to ' if len(unjudged) > 1 else ''}{documents}. To judge {'it' if most == 1 else 'them'}:"
    for line in [*wrapped(told, width=output.width()), *_folded(_command(judged, runs), output.width())]:
        output.remark(line)


def _can_be_named(run: str) -> bool:
    return run != "-" and not run.startswith(BUILT_IN)


def _command(judged: JudgedIn, runs: Sequence[str]) -> list[str]:
    named = list(runs) if len(runs) <= MOST_NAMES else ["RUN..."]
    words = ["cranfield", "pool", judged.store, judged.queries, *named]
    return list(map(shlex.quote, [*words, "--qrels", judged.qrels] if judged.qrels else words))


def _folded(words: Sequence[str], width: int) -> Iterator[str]:
    """A command on lines that a shell takes as one."""
    line = f"  {words[0]}"
    for word in words[1:]:
        if len(line) + len(word) + 3 > width:
            yield f"{line} \\"
            line = "   "
        line += f" {word}"
    yield line
