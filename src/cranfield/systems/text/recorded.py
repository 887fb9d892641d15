"""The result of asking a system, as text."""

from __future__ import annotations

from collections.abc import Iterator

from cranfield.layout import UNPAINTED, WIDTH, Paint, count, wrapped
from cranfield.systems.recording import Recorded
from cranfield.systems.result_ids import ID_NAMES

_SHOWN = 5


def recorded_lines(recorded: Recorded, width: int = WIDTH, paint: Paint = UNPAINTED) -> Iterator[str]:
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
        yield from map(paint.dim, wrapped(points, "  latency  ", width=width))
    if recorded.unknown:
        listed = ", ".join(recorded.unknown_ids) + (", …" if recorded.unknown > len(recorded.unknown_ids) else "")
        note = f"{count(recorded.unknown, 'document is', 'documents are')} not in the corpus: {listed}"
        first, *rest = _wrapped(note, width, "  warning: ")
        yield from (first.replace("warning:", paint.close("warning:"), 1), *rest)
    yield from order_lines(recorded, width)
    yield from failure_lines(recorded, width, paint)


def order_lines(recorded: Recorded, width: int = WIDTH) -> Iterator[str]:
    """The queries without a document, and how the order that was returned was kept where the scores did not show it."""
    for note in (*_empty(recorded), *_chunks(recorded), *_scores(recorded)):
        yield from _wrapped(note, width)


def _empty(recorded: Recorded) -> Iterator[str]:
    if recorded.empty:
        listed = ", ".join(recorded.empty[:_SHOWN]) + (", …" if len(recorded.empty) > _SHOWN else "")
        queries = count(len(recorded.empty), "query", "queries")
        yield f"{queries} returned no documents and {'counts' if len(recorded.empty) == 1 else 'count'} 0: {listed}"


def _chunks(recorded: Recorded) -> Iterator[str]:
    """Where ids were found, where that had to be guessed or is not plain, and what became of chunks."""
    guessed = [place for place in recorded.id_places if place not in ID_NAMES]
    if guessed:
        yield f"the id of a document is its {', '.join(guessed)}"
    if recorded.rolled_up:
        yield f"{count(recorded.rolled_up, 'query', 'queries')}: chunks of one document count once, at the best rank"
    if recorded.short_of_chunks:
        queries = count(recorded.short_of_chunks, "query", "queries")
        yield f"{queries}: the system returned too few chunks for {recorded.k} documents"


def _scores(recorded: Recorded) -> Iterator[str]:
    if recorded.parted:
        queries = count(recorded.parted, "query", "queries")
        yield f"{queries} had tied scores, lowered slightly to keep the returned order"
    if recorded.replaced:
        what = "had scores that contradict the order returned, replaced by"
        yield f"{count(recorded.replaced, 'query', 'queries')} {what} falling ones"


def failure_lines(recorded: Recorded, width: int = WIDTH, paint: Paint = UNPAINTED) -> Iterator[str]:
    """The queries that failed, the first few with their reason."""
    if recorded.failed:
        failed = count(len(recorded.failed), "query failed and is", "queries failed and are")
        yield paint.bad(f"  {failed} not in the run:")
        for query, error in list(recorded.failed.items())[:_SHOWN]:
            yield from _wrapped(f"{query}: {error.partition(chr(10))[0]}", width, "    ")
        if len(recorded.failed) > _SHOWN:
            yield f"    … and {len(recorded.failed) - _SHOWN} more, in {recorded.path}.json"
        hints = {error.partition("\nHint: ")[2] for error in recorded.failed.values()} - {""}
        for hint in sorted(hints):
            first, *rest = _wrapped(hint, width, "    Hint: ")
            yield from (first.replace("Hint:", paint.hint("Hint:"), 1), *rest)
    if recorded.gave_up:
        yield f"  gave up: {count(len(recorded.not_asked), 'query was', 'queries were')} not asked"


def _wrapped(text: str, width: int, head: str = "  ") -> list[str]:
    return wrapped(text, head, hang=len(head) - len(head.lstrip()) + 2, width=width, break_words=False)


def milliseconds(seconds: float) -> str:
    """A time of a query.

    >>> milliseconds(0.0123), milliseconds(2.5)
    ('12.3 ms', '2500 ms')
    """
    return f"{1000 * seconds:.1f} ms" if seconds < 0.1 else f"{1000 * seconds:.0f} ms"
