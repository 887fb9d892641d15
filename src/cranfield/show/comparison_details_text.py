"""The details of a comparison as text: all pairs of runs, what can be detected, and how much runs agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from cranfield.comparison.conclusions import Comparison
from cranfield.comparison.differences import UNDECIDED, Difference, signed, span_text
from cranfield.comparison.pairing import judged_beside
from cranfield.comparison.power import USUAL
from cranfield.comparison.reliability import Reliability
from cranfield.layout import Paint, columns, cut, padded, wrapped
from cranfield.measures import known_measure
from cranfield.show.comparison_words import (
    effect_cell,
    interval_text,
    p_cell,
    reach_text,
    share_text,
    within_text,
)
from cranfield.show.run_table_text import verdict_tone

FEW = 3  # up to this many pairs of runs, everything is shown
MANY = 15  # from this many pairs of runs on, correlations are summarised
NUMBERS = 48  # columns for the numbers of a pair; names that leave less have a line of their own


def details_lines(
    comparison: Comparison, reliability: Reliability | None, *, pairs: bool, width: int, paint: Paint
) -> Iterator[list[str]]:
    """The parts after the evidence: all pairs, what the marks mean, what can be detected, and what agrees."""
    if pairs:
        for measure in comparison.measures:
            yield list(_differences_lines(comparison, measure.name, width, paint))
        yield list(map(paint.dim, _legend(comparison, width)))
    if reliability is not None:
        yield list(_power_lines(comparison, reliability, width, paint))
        if len(comparison.runs) > 2:
            yield list(_measures_lines(comparison, reliability, width, paint))


def _differences_lines(comparison: Comparison, measure: str, width: int, paint: Paint) -> Iterator[str]:
    listed = comparison.of(measure)
    beside = comparison.judged[judged_beside(known_measure(measure, comparison.measures)).name]
    second = "" if listed[0].primary else ", secondary"
    level = f"{100 * (1 - comparison.alpha):g}% interval"
    names = [f"{_marks(each)}{each.run} - {each.baseline}" for each in listed]
    room = width - NUMBERS
    wide = min(max(map(columns, (measure + second, *names))), room)
    yield from map(
        paint.strong, _beside(measure + second, f"{'difference':>11}{level:>20}{'p':>9}{'effect':>8}", wide, width)
    )
    for name, each in zip(names, listed, strict=True):
        numbers = f"{signed(each.estimate):>11}{span_text(each):>20}{p_cell(each):>9}{effect_cell(each.effect):>8}"
        tone = verdict_tone(each, paint)
        yield from (tone(line) if each.significant else line for line in _beside(name, numbers, wide, width))
        judged = [beside[run] for run in (each.run, each.baseline)]
        seen = f"; judged {share_text(judged[0])} and {share_text(judged[1])}" if judged != [None, None] else ""
        counts = f"queries: {each.better} better, {each.same} the same, {each.worse} worse{seen}"
        yield from map(paint.dim, wrapped(counts, "   ", width=width))
        if each.within:
            yield from wrapped(within_text(each), "   ", width=width)
        if each.reach and each.could_reverse and comparison.pairs <= FEW:
            yield from wrapped(f"{UNDECIDED} ({reach_text(each.reach)})", "   ", hang=5, width=width)


def _beside(name: str, numbers: str, room: int, width: int) -> list[str]:
    """Numbers beside a name, or below a long one."""
    shown = cut(name, width)
    if columns(shown) <= room:
        return [padded(shown, room) + numbers]
    if room < 0:  # a very narrow window
        return [shown, *wrapped(numbers, "  ", width=width)]
    return [shown, padded("", room) + numbers]


def _marks(difference: Difference) -> str:
    sign = {"significantly better": "▲", "significantly worse": "▼"}.get(difference.verdict, " ")
    return f"{sign}{'?' if difference.could_reverse else ' '} "


def _legend(comparison: Comparison, width: int) -> Iterator[str]:
    yield from wrapped(
        f"▲ ▼ significantly better, worse: p is at most {comparison.alpha:g}. {interval_text(comparison)} "
        f"Effect: {comparison.differences[0].effect_name}.",
        width=width,
    )
    known = [each for each in comparison if each.reach is not None]
    undecided = [each for each in known if each.could_reverse]
    if undecided:
        narrower = any(each.reach and not each.reach.exact for each in undecided)
        yield from wrapped(f"? {UNDECIDED}.{' ~ the true bounds may be narrower.' if narrower else ''}", width=width)


def _power_lines(comparison: Comparison, reliability: Reliability, width: int, paint: Paint) -> Iterator[str]:
    title = f"What {comparison.queries} queries can detect, if differences vary as in the most variable pair"
    yield from map(paint.strong, wrapped(title, width=width))
    for measure in comparison.measures:
        widest = max(comparison.of(measure.name), key=lambda each: each.spread)
        if not widest.spread:
            yield from wrapped(f"{measure}: {_no_variation(comparison.of(measure.name))}", "  ", hang=4, width=width)
            continue
        sizes = [f"{row.difference:g} takes {row.queries[1]:,}" for row in reliability.sizes[measure.name]]
        yield from wrapped(
            f"{measure}: a true difference of {widest.detectable:.4f} is detected {USUAL:.0%} of the time "
            f"(paired t-test{_family(widest)}). {'Without a correction, a' if _family(widest) else 'A'} difference of "
            f"{', '.join(sizes)} queries.",
            "  ",
            hang=4,
            width=width,
        )


def _no_variation(differences: Sequence[Difference]) -> str:
    """Why the variation of the differences cannot be estimated."""
    if any(each.constant for each in differences):
        return "every pair differs by the same amount on all queries, so the variation cannot be estimated"
    return "the runs do not differ, so the variation of their differences cannot be estimated"


def _family(difference: Difference) -> str:
    return f", corrected for {difference.family} comparisons" if difference.family > 1 else ""


def _measures_lines(comparison: Comparison, reliability: Reliability, width: int, paint: Paint) -> Iterator[str]:
    def title(text: str) -> Iterator[str]:
        return map(paint.strong, wrapped(text, width=width))

    yield from title("Pairs of runs that differ significantly (discriminative power)")
    for name, share in reliability.discriminative_power.items():
        yield f"  {name}: {share * comparison.pairs:.0f} of {comparison.pairs}"
    if reliability.measures:
        yield from title("How much they agree (Kendall's tau over runs, over queries)")
    for each in reliability.measures:
        yield f"  {each.one} and {each.other}: {share_text(each.runs, 2)}, {share_text(each.queries, 2)}"
    yield from title("How much runs agree on which queries are hard (Kendall's tau over queries)")
    if comparison.pairs > MANY:
        yield from (f"  {line}" for line in _agreement_ranges(comparison, reliability))
        return
    for pair in reliability.runs:
        yield from wrapped(
            f"{pair.one} and {pair.other}: {share_text(pair.queries, 2)} by {pair.measure}", "  ", hang=4, width=width
        )


def _agreement_ranges(comparison: Comparison, reliability: Reliability) -> Iterator[str]:
    """Over many pairs of runs: the range of the correlations, and their median."""
    for measure in comparison.measures:
        found = [each.queries for each in reliability.runs if each.measure == measure.name]
        known = [each for each in found if each is not None]
        if known:
            low, middle, high = (share_text(each, 2) for each in (min(known), median(known), max(known)))
            yield f"{measure}: {low} to {high}, median {middle}"
