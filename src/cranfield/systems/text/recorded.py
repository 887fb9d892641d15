"""The result of asking a system, as text."""

from __future__ import annotations

from collections.abc import Iterator

from cranfield.layout import count, visible
from cranfield.systems.recording import Recorded
from cranfield.systems.result_ids import ID_NAMES

_SHOWN = 5


def recorded_lines(recorded: Recorded) -> Iterator[str]:
    """How many queries were answered, how fast, and what failed."""
    yield f"{recorded.path}: {recorded.answered} of {recorded.queries} queries answered by {recorded.system}"
    notes = []
    if recorded.short:
        notes.append(f"{recorded.short} with fewer than {recorded.k} documents")
    if recorded.retried:
        notes.append(f"{count(recorded.retried, 'attempt')} repeated")
    if notes:
        yield f"  {', '.join(notes)}"
    if recorded.latency:
        points = "  ".join(f"{name} {milliseconds(recorded.latency[name])}" for name in ("p50", "p95", "p99", "max"))
        yield f"  latency  {points}"
    if recorded.unknown:
        listed = ", ".join(map(visible, recorded.unknown_ids)) + (
            ", …" if recorded.unknown > len(recorded.unknown_ids) else ""
        )
        yield f"  warning: {count(recorded.unknown, 'document is', 'documents are')} not in the corpus: {listed}"
    yield from order_lines(recorded)
    yield from failure_lines(recorded)


def order_lines(recorded: Recorded) -> Iterator[str]:
    """The queries without a document, and how the order that was returned was kept where the scores did not show it."""
    if recorded.empty:
        listed = ", ".join(map(visible, recorded.empty[:_SHOWN])) + (", …" if len(recorded.empty) > _SHOWN else "")
        queries = count(len(recorded.empty), "query", "queries")
        yield f"  {queries} returned no documents and {'counts' if len(recorded.empty) == 1 else 'count'} 0: {listed}"
    yield from chunk_lines(recorded)
    if recorded.parted:
        queries = count(recorded.parted, "query", "queries")
        yield f"  {queries} had equal scores, lowered a little to keep the order returned"
    if recorded.replaced:
        what = "had scores that contradict the order returned, replaced by"
        yield f"  {count(recorded.replaced, 'query', 'queries')} {what} falling ones"


def chunk_lines(recorded: Recorded) -> Iterator[str]:
    """Where ids were found, where that had to be guessed or is not plain, and what became of chunks."""
    guessed = [place for place in recorded.id_places if place not in ID_NAMES]
    if guessed:
        yield f"  the id of a document is its {', '.join(guessed)}"
    if recorded.rolled_up:
        yield f"  {count(recorded.rolled_up, 'query', 'queries')}: chunks of one document count once, at the best rank"
    if recorded.short_of_chunks:
        queries = count(recorded.short_of_chunks, "query", "queries")
        yield f"  {queries}: the system returned too few chunks for {recorded.k} documents"


def failure_lines(recorded: Recorded) -> Iterator[str]:
    """The queries that failed, the first few with their reason."""
    if recorded.failed:
        failed = count(len(recorded.failed), "query failed and is", "queries failed and are")
        yield f"  {failed} not in the run:"
        for query, error in list(recorded.failed.items())[:_SHOWN]:
            yield f"    {visible(query)}: {visible(error.partition(chr(10))[0])}"
        if len(recorded.failed) > _SHOWN:
            yield f"    … and {len(recorded.failed) - _SHOWN} more, in {recorded.path}.json"
        hints = {error.partition("\nHint: ")[2] for error in recorded.failed.values()} - {""}
        for hint in sorted(hints):
            yield f"    Hint: {hint}"
    if recorded.gave_up:
        yield f"  gave up: {count(len(recorded.not_asked), 'query was', 'queries were')} not asked"


def milliseconds(seconds: float) -> str:
    """A time of a query.

    >>> milliseconds(0.0123), milliseconds(2.5)
    ('12.3 ms', '2500 ms')
    """
    return f"{1000 * seconds:.1f} ms" if seconds < 0.1 else f"{1000 * seconds:.0f} ms"
