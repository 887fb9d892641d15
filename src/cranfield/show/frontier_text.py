"""The frontier of quality and latency or cost as a table."""

from __future__ import annotations

from collections.abc import Iterator

from cranfield.comparison.frontier import Frontier, FrontierPoint
from cranfield.show.comparison_markup import markdown_table
from cranfield.show.escaping import markdown_text, markdown_warnings
from cranfield.show.layout import Paint, aligned, warning_lines, wrapped
from cranfield.show.run_table_text import DRAWN, DrawnInterval, drawn_intervals
from cranfield.show.systems_text import milliseconds
from cranfield.words import columns, joined, shortened

_SIDES = 44  # columns of the numbers and of what dominates


def frontier_lines(found: Frontier, width: int, paint: Paint) -> Iterator[str]:
    """Which runs are on the frontier, in a sentence; then all of them."""
    yield from warning_lines(found.warnings, width, paint)
    yield from map(paint.strong, wrapped(_ended(found.sentence), width=width))
    yield ""
    points = found.points
    head, cells = spent_cells(found)
    widest = max(width - _SIDES - DRAWN[0], 16)
    room = min(max(width - _SIDES - min(max(columns(its.run) for its in points), widest), 0), DRAWN[1])
    intervals = [DrawnInterval(its.low, its.value, its.high) for its in points]
    drawn = drawn_intervals(intervals, room) if room >= DRAWN[0] else [""] * len(points)
    rows = [["", found.measure, "", *head, ""]]
    for point, picture, numbers in zip(points, drawn, cells, strict=True):
        by = shortened(f"dominated by {point.dominated_by[0]}", 28) if point.dominated_by else "on the frontier"
        rows.append([shortened(point.run, widest), f"{point.value:.4f}", picture, *numbers, by])

    def tint(row: int, column: int, text: str) -> str:
        if points[row - 1].dominated_by:
            return paint.dim(text)
        return paint.good(text) if column == len(rows[0]) - 1 else text

    yield from aligned(rows, (0, 2, len(rows[0]) - 1), paint.strong, tint)
    yield ""
    yield from map(paint.dim, wrapped(_ended(found.method), width=width))


def spent_cells(found: Frontier) -> tuple[list[str], list[list[str]]]:
    """The heads and cells of what each run takes."""
    known = [(point.p50, point.p95) for point in found.points if point.p50 is not None and point.p95 is not None]
    if len(known) == len(found.points):
        return ["p50", "p95"], [[_latency(each) for each in pair] for pair in known]
    if found.by == "latency":
        return ["mean"], [[_latency(point.spent)] for point in found.points]
    return ["cost"], [[f"{point.spent:.4g}"] for point in found.points]


def _latency(seconds: float) -> str:
    """Milliseconds; those of engines in memory to a hundredth, where a tenth would not tell them apart."""
    return f"{1000 * seconds:.2f} ms" if seconds < 0.001 else milliseconds(seconds)


def _ended(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def frontier_markdown(found: Frontier) -> Iterator[str]:
    yield from markdown_warnings(found.warnings)
    yield f"**{markdown_text(_ended(found.sentence))}**"
    yield ""
    head, cells = spent_cells(found)
    rows = [
        [
            markdown_text(point.run),
            f"{point.value:.4f}",
            f"{point.low:.3f} to {point.high:.3f}",
            *numbers,
            markdown_text(standing_text(point)),
        ]
        for point, numbers in zip(found.points, cells, strict=True)
    ]
    yield from markdown_table(
        ["run", markdown_text(found.measure), "95% interval", *head, "standing"], rows, ("standing",)
    )
    yield f"\n{markdown_text(_ended(found.method))}"


def standing_text(point: FrontierPoint) -> str:
    return f"dominated by {joined(point.dominated_by, 'and')}" if point.dominated_by else "on the frontier"
