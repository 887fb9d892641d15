"""Clicks as an assessor, as text: who looks at which rank, and the grades that came of it."""

from __future__ import annotations

from collections.abc import Iterator

from cranfield.show.layout import UNPAINTED, WIDTH, Paint, aligned, wrapped
from cranfield.traffic.click_judging import ClickReport
from cranfield.words import count, joined, percent

_RANKS = 10  # shown; the others are summed up


def click_text(report: ClickReport, width: int = WIDTH, paint: Paint = UNPAINTED) -> str:
    """The log, the examination of ranks or why it is not known, the rule, and the grades."""
    log = (
        f"{report.source}: {count(report.impressions, 'impression')} and {count(report.clicks, 'click')} of "
        f"{count(report.queries, 'query', 'queries')}, {report.matched:,} of them in {report.store}"
    )
    parts = [wrapped(log, hang=2, width=width), list(_examination(report, width, paint)), list(_grades(report, width))]
    return "\n\n".join("\n".join(part) for part in parts)


def _examination(report: ClickReport, width: int, paint: Paint) -> Iterator[str]:
    tied = f"{count(report.tied_documents, 'document')} of {count(report.tied_queries, 'query', 'queries')}"
    if not report.corrected:
        there = f"too few: {tied}" if report.tied_documents else "none"
        told = (
            "Not identified: how many people look at each rank. That takes documents that were shown at several ranks "
            f"and clicked, and this log has {there}. So clicks are not corrected, and these grades favour whatever is "
            "ranked high now."
        )
        yield from map(paint.strong, wrapped(told, width=width))
        return
    shown = list(report.examination.items())[:_RANKS]
    top = shown[0][0]
    yield from map(paint.strong, wrapped(f"Of 100 people who look at rank {top}, so many look at another", width=width))
    rows = [["rank", "look", "95% interval"]]
    for rank, its in shown:
        interval = f"{100 * its.low:.1f} to {100 * its.high:.1f}" if rank != top else ""
        rows.append([str(rank), f"{100 * its.share:.1f}", interval])
    yield from aligned(rows)
    if more := len(report.examination) - len(shown):
        yield f"and {count(more, 'more rank')}"
    why = (
        f"Estimated from {tied} that were shown at several ranks. It holds if these moved for other reasons than "
        "becoming more or less attractive."
    )
    yield from map(paint.dim, wrapped(why, width=width))
    if report.unexplained:
        share = percent(report.unexplained / report.impressions)
        told = f"{share} of the impressions do not count: how many people look at their ranks is not identified."
        yield from map(paint.dim, wrapped(told, width=width))


def _grades(report: ClickReport, width: int) -> Iterator[str]:
    steps = [f"{grade:g} from {100 * lowest:.3g}%" for grade, lowest in [*report.rule.items()][:0:-1]]
    people = "of the people who look click" if report.corrected else "of the impressions are clicked"
    least = "people must have looked" if report.corrected else "impressions are needed"
    yield from wrapped(f"Grade {', '.join(steps)} {people}; at least {report.least:g} {least}.", width=width)
    graded = sum(report.grades.values())
    given = joined([f"{number:,} × {grade:g}" for grade, number in report.grades.items()] or ["none"], "and")
    yield from wrapped(f"{report.assessor}: {count(graded, 'grade')}, {report.new:,} of them new: {given}", width=width)
    if report.seldom:
        yield from wrapped(f"{count(report.seldom, 'document')} shown too seldom for a grade", "  ", width=width)
    if report.pooled:
        told = f"{report.pooled_graded:,} of {count(report.pooled, 'pooled document')} of these queries have a grade"
        yield from wrapped(told, "  ", hang=4, width=width)
        if graded and not report.pooled_graded:
            yield from wrapped("Hint: are documents called the same in the log?", "  ", width=width)
    for reason, number in report.left_out.items():
        yield from wrapped(f"left out: {number:,} {reason}", "  ", hang=4, width=width)
