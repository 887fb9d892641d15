"""The searches of traces, trace by trace or task by task; a search that is part of another does not count."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Generic, NamedTuple, TypeVar

from cranfield.errors import InputError
from cranfield.io.formats.spans import Retrieval, Root, found_in
from cranfield.io.streams import Stream
from cranfield.words import count

Kept = TypeVar("Kept")


class Tasks(NamedTuple, Generic[Kept]):
    """The searches of all tasks, each with the id of its task and its number, from 1.

    searches: to be read once, since there may be millions
    over_traces: how many tasks have searches in several traces
    """

    searches: Iterator[tuple[str, int, Kept]]
    over_traces: int


class _Part(NamedTuple):
    """A search among those of its trace."""

    parent: str
    task: str
    start: float
    found: int  # how many documents
    kept: Any


@contextmanager
def collection_paused() -> Iterator[None]:
    """No search for garbage while millions of objects are made that stay: it takes a fifth of the time or more."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def searches(stream: Stream, kept: Callable[[Retrieval], Kept]) -> Iterator[Kept]:
    """The searches of a file of spans, trace by trace.

    kept: what to keep of a search, whose texts may be large
    """
    traces, _ = _traces(stream, kept, roots=False)
    return (part.kept for parts in traces.values() for part in parts)


def in_tasks(stream: Stream, kept: Callable[[Retrieval], Kept]) -> Tasks[Kept]:
    """The searches of each task in the order of their times.

    The id of a task is the one that the span of the search has, or another of its trace; else the text of the first
    span, unless another trace has the same; else the id of the trace.

    kept: what to keep of a search, whose texts may be large
    """
    traces, roots = _traces(stream, kept, roots=True)
    spoken = Counter(root.question for trace, root in roots.items() if trace in traces and not root.task)
    tasks: dict[str, list[_Part]] = {}
    first: dict[str, str] = {}  # the first trace of each task
    over_traces: set[str] = set()
    for trace, parts in traces.items():
        root = roots.get(trace, Root(trace, "", ""))
        named = {part.task for part in parts if part.task}
        whole = root.task or (named.pop() if len(named) == 1 else "")
        whole = whole or (root.question if spoken[root.question] == 1 else "") or trace
        for part in parts:
            task = part.task or whole
            tasks.setdefault(task, []).append(part)
            if first.setdefault(task, trace) != trace:
                over_traces.add(task)
    numbered = (
        (task, step, part.kept)
        for task, parts in tasks.items()
        for step, part in enumerate(sorted(parts, key=lambda part: part.start), 1)
    )
    return Tasks(numbered, len(over_traces))


def several_traces(tasks: int) -> str:
    """The note about tasks whose searches are in several traces."""
    of = "its searches count" if tasks == 1 else "the searches of each count"
    return f"{count(tasks, 'task is', 'tasks are')} in several traces: {of} as one task's, in the order of their times"


def _traces(
    stream: Stream, kept: Callable[[Retrieval], Any], *, roots: bool
) -> tuple[dict[str, Collection[_Part]], dict[str, Root]]:
    """The searches of each trace, and its first span."""
    traces: dict[str, dict[str, _Part]] = {}
    first: dict[str, Root] = {}
    for search, root in found_in(stream, roots=roots):
        if search is not None:
            part = _Part(search.parent, search.task, search.start, len(search.ids), kept(search))
            parts = traces.setdefault(search.trace, {})
            known = parts.setdefault(search.span or f"{search.line} {len(parts)}", part)
            if known is not part and (known.start, known.found) != (part.start, part.found):
                fact = f"span {search.span} appears twice in its trace, with another time or result."
                hint = "each span of a trace has an id of its own"
                raise InputError(stream.name, fact, line=search.line, hint=hint)
        if root is not None:
            first.setdefault(root.trace, root)
    if not traces:
        hint = "a search has retrieval.documents (OpenInference) or gen_ai.retrieval.documents (OpenTelemetry)"
        raise InputError(stream.name, "none of its spans is a search.", hint=hint)
    return {trace: parts.values() if len(parts) == 1 else _outermost(parts) for trace, parts in traces.items()}, first


def _outermost(parts: Mapping[str, _Part]) -> list[_Part]:
    """Searches without those that are a part of another, as of a retriever that asks others and merges their results.

    What was returned in the end is in the outermost one; where that lists no documents, in those within it.
    """
    if parts.keys().isdisjoint([part.parent for part in parts.values()]):
        return list(parts.values())
    listing: dict[str, str] = {}  # for each span the outermost one around it, or itself, that lists documents
    for span in parts:
        path: list[str] = []
        while span in parts and span not in listing:
            listing[span] = ""  # so that a circle has an end
            path.append(span)
            span = parts[span].parent
        for each in reversed(path):
            listing[each] = listing.get(parts[each].parent, "") or (each if parts[each].found else "")
    around: set[str] = set()  # spans with such a one in them
    for span in filter(None, listing.values()):
        while (span := parts[span].parent) in parts and span not in around:
            around.add(span)
    return [
        part
        for span, part in parts.items()
        if listing[span] == span or not (listing[span] or span in around or part.parent in parts)
    ]
