"""The result of a pool, and of writing a sheet, as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cranfield.judging.pooling import Pooled
from cranfield.judging.sheets import WrittenSheet
from cranfield.layout import WIDTH, count, visible, wrapped

SHOWN = 5  # ids of a kind
BIASED = (
    "chosen by grades, so the judgments are a biased sample: never estimate from them how many documents are relevant"
)


def pool_lines(found: Pooled, width: int = WIDTH) -> Iterator[str]:
    """How many documents wait and why, and what to check."""
    queries = f" of {count(found.waiting_queries, 'query', 'queries')}" if found.waiting else ""
    waits = f"{count(found.waiting, 'document')}{queries} {'waits' if found.waiting == 1 else 'wait'} to be judged"
    yield from wrapped(f"{found.store}: {waits}", hang=2, width=width)
    for line in _facts(found):
        yield from wrapped(line, "  ", width=width)


def _facts(found: Pooled) -> Iterator[str]:
    judged = f", {found.judged:,} of them judged already" if found.judged else ""
    yield f"{count(found.documents, 'document')} in the pool of {count(found.runs, 'run')}{judged}"
    if found.new < found.waiting:
        yield f"{found.new:,} of those that wait are new, {found.waiting - found.new:,} waited before"
    if found.drawn:
        queries = f"{len(found.drawn):,} of {count(found.queries, 'query', 'queries')}"
        yield f"{queries} drawn at random (seed {found.seed}) for people, who judge all their documents"
        yield f"{count(found.for_models, 'document')} of the other queries for models only"
    if found.sampled or found.not_drawn:
        drawn = f"{found.sampled:,} of those that wait {'was' if found.sampled == 1 else 'were'} drawn at random"
        yield f"{drawn}; {found.not_drawn:,} more belong to the pool and stay unjudged (--pooled)"
    if found.twice:
        yield f"{found.twice:,} {'is' if found.twice == 1 else 'are'} for two assessors"
    if found.beyond_limit:
        by = f"left for later by the order {found.chosen_by}" if found.chosen_by else "left out by the limit"
        yield f"{count(found.beyond_limit, 'unjudged document')} {by}"
    if found.chosen_by:
        yield f"{BIASED}; judge, then pool again for the next ones"
    if found.without_text:
        lacking = count(len(found.without_text), "document has no text", "documents have no text")
        yield f"{lacking}: {_some(found.without_text)}; give a collection that has it with --corpus"
    if found.empty:
        empty = count(len(found.empty), "query got no document", "queries got no document")
        yield f"{empty} from any run: {_some(found.empty)}"
    for run, number in found.unknown.items():
        yield f"{run}: {count(number, 'query is', 'queries are')} not among the queries and left out"


def _some(names: Sequence[str]) -> str:
    return ", ".join(map(visible, names[:SHOWN])) + (", …" if len(names) > SHOWN else "")


def sheet_lines(found: WrittenSheet, store: str, width: int = WIDTH) -> Iterator[str]:
    """What is in a sheet, and how to import it."""
    yield from wrapped(f"{found.path}: {count(found.documents, 'document')} to be judged", hang=2, width=width)
    if found.cut:
        yield f"  {count(found.cut, 'text is', 'texts are')} longer than a spreadsheet cell and cut"
    if found.parts:
        yield f"  {count(found.parts, 'part of a document has', 'parts of documents have')} no place in a sheet"
    yield f"  to import it again: cranfield convert {found.path} {store} --assessor NAME"
