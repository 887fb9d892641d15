"""A reranker at several depths, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cranfield.comparison.differences import signed
from cranfield.show.layout import UNPAINTED, WIDTH, Paint, aligned, wrapped
from cranfield.show.systems_text import milliseconds
from cranfield.systems.reranking_depths import RerankedDepth
from cranfield.words import count, percent

SHOWN = 3  # queries that a reranker hurts most


def depths_text(found: Sequence[RerankedDepth], measure: str, width: int = WIDTH, paint: Paint = UNPAINTED) -> str:
    """What is gained at each depth, how long a query takes there, and the queries that are hurt most."""
    return "\n".join(_lines(found, measure, width, paint))


def _lines(found: Sequence[RerankedDepth], measure: str, width: int, paint: Paint) -> Iterator[str]:
    rows = [["depth", measure, "ideal", "gained", "helped", "hurt", "p50", "p95"]]
    for its in found:
        times = (milliseconds(its.latency[point]) if its.latency else "" for point in ("p50", "p95"))
        values = f"{its.value:.4f}", f"{its.ideal:.4f}", percent(its.gained)
        rows.append([f"{its.depth:,}", *values, f"{len(its.helped):,}", f"{len(its.hurt):,}", *times])
    yield from aligned(rows, (), paint.strong)
    deepest = found[-1]
    told = f"Before: {deepest.before:.4f}. Ideal: the documents that it gets in the order of their grades. Gained: the "
    told += "share of what that would gain. Helped, hurt: queries. p50, p95: the time of a query."
    if len(found) > 1:
        told += " The best of several depths looks better on the queries that chose it than it is."
    yield from map(paint.dim, wrapped(told, width=width))
    if deepest.hurt:
        worst = ", ".join(f"{query} {signed(gap, 3)}" for query, gap in deepest.hurt[:SHOWN])
        yield from wrapped(f"Hurt most at {deepest.depth:,}: {worst}", width=width)
    if failed := sum(its.failed for its in found):
        yield from wrapped(f"{count(failed, 'question')} failed; these queries count as they were.", width=width)
