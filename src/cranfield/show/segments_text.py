"""Differences within segments of the queries, as text and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from cranfield.comparison.differences import DIGITS, signed
from cranfield.comparison.segments import DIFFERING, ENOUGH, FINEST, SegmentComparison, SegmentDifference
from cranfield.evaluation.weighting import MARK
from cranfield.show.comparison_markup import markdown_table
from cranfield.show.comparison_words import as_sentence, p_number
from cranfield.show.escaping import markdown_text
from cranfield.show.layout import UNPAINTED, WIDTH, Paint, fitted, wrapped
from cranfield.words import count, shortened

FEW = 3  # up to this many pairs of runs, all are shown
NAME = 12  # columns for the name of a run
SIGNS = {"significantly better": "▲", "significantly worse": "▼"}
FEWER = f"No interval where queries are too few: a claim about a segment takes {ENOUGH}, {DIFFERING} of which differ."


def segments_text(
    found: SegmentComparison, *, pairs: bool = False, width: int = WIDTH, paint: Paint = UNPAINTED
) -> str:
    """A table for each pair and measure; of many pairs, those whose effect differs, unless all are wanted."""
    many = not pairs and len(found.interactions) > FEW * len(found.measures)
    parts: list[list[str]] = []
    for test in found.interactions:
        if many and not test.significant:
            continue
        rows = [each for each in found if (each.measure, each.baseline, each.run) == test[:3]]
        mark = MARK * (found.weights is not None)
        title = f"By segment: {test.run} vs {test.baseline}, {test.measure}{mark}"
        table = fitted([_head(rows[0]), *map(_cells, rows)], width, paint.strong)
        tone = paint.strong if test.significant else str
        sentence = wrapped(f"{as_sentence(test.finding)}.", width=width)
        parts.append([*map(paint.strong, wrapped(title, width=width)), *table, *map(tone, sentence)])
    quiet = [line for text in _remarks(found, many) for line in wrapped(text, width=width)]
    parts.append(list(map(paint.dim, quiet)))
    return "\n\n".join("\n".join(part) for part in parts)


def _head(one: SegmentDifference) -> list[str]:
    names = (shortened(name, NAME) for name in (one.baseline, one.run))
    return ["segment", "queries", *names, "difference", f"{100 * (1 - one.alpha):g}% interval", "p"]


def _cells(its: SegmentDifference) -> list[str]:
    sign = SIGNS.get(its.verdict, " ")
    p = "-" if its.adjusted is None else p_number(its.adjusted, its.alpha, FINEST)
    means = f"{its.baseline_mean:.{DIGITS}f}", f"{its.run_mean:.{DIGITS}f}"
    return [f"{sign} {its.segment}", f"{its.queries:,}", *means, signed(its.difference), its.span or "-", p]


def _remarks(found: SegmentComparison, many: bool) -> Iterator[str]:
    if many:
        differ = sum(test.significant for test in found.interactions)
        rest = len(found.interactions) - differ
        none = f"No sign that the effect differs between segments for {'the other ' * bool(differ)}"
        yield f"{none}{count(rest, 'pair')}; --pairs lists all."
    if found.weights is not None:
        yield f"{MARK} {found.weights.sentence}."
    if any(each.adjusted is None for each in found):
        yield FEWER if found.weights is None else f"{FEWER} Weighted queries count as those that are as precise."
    yield "Intervals and p-values are corrected for all segments and pairs of runs."
    if found.left_out:
        are = "is" if found.left_out == 1 else "are"
        yield f"{count(found.left_out, 'query', 'queries')} without a segment {are} left out."


def segments_markdown(found: SegmentComparison) -> str:
    segment, queries, _, _, *rest = _head(found.differences[0])
    head = ["measure", "runs", segment, queries, "baseline", "run", *rest]
    mark = MARK * (found.weights is not None)
    rows = [
        [*map(markdown_text, (f"{its.measure}{mark}", f"{its.run} - {its.baseline}", *_cells(its)))]
        for its in found.differences
    ]
    notes = [f"{markdown_text(test.sentence)}." for test in found.interactions]
    notes += [markdown_text(text) for text in _remarks(found, many=False)]
    return "\n".join([*markdown_table(head, rows, words=("runs", "segment")), "", "\n\n".join(notes)])
