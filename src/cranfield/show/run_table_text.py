"""The table of compared runs as text: the values, how far each is from another run, and which ranks it may have."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import NamedTuple

from cranfield.comparison.conclusions import Comparison
from cranfield.comparison.differences import DIGITS, Difference, estimate_text, signed
from cranfield.comparison.means import MeansTable, means_table
from cranfield.comparison.standing import Standings, standings
from cranfield.show.comparison_words import estimate_name, judged_cell, p_cell, p_number
from cranfield.show.layout import Paint, aligned, fitted, wrapped
from cranfield.words import columns, shortened, visible


class DrawnInterval(NamedTuple):
    """An estimate and the ends of its interval, which may be infinite."""

    low: float
    estimate: float
    high: float


def drawn_intervals(spans: Sequence[DrawnInterval | None], width: int) -> list[str]:
    """A drawing of each interval; where there is none, such as for the baseline, the line at 0 alone."""
    ends = [end for span in spans if span for end in span if isfinite(end)]
    low, high = min([*ends, 0.0]), max([*ends, 0.0])
    # Room for an interval that ends just before the line, where the line would be at the edge.
    first, last = int(low < 0), width - 1 - int(high > 0)

    def place(value: float) -> int:
        if not isfinite(value):
            return -1 if value < 0 else width
        # A mean in the middle of its interval is there on every machine: half a column is not left to rounding.
        return round(first + (value - low) / (high - low) * (last - first) - 1e-6) if high > low else width // 2

    zero = place(0.0)
    return [_drawn(span and _apart(DrawnInterval(*map(place, span)), span, zero), zero, width) for span in spans]


def _apart(places: DrawnInterval, span: DrawnInterval, zero: int) -> DrawnInterval:
    """Places that tell the ends from the estimate; an interval that excludes 0 does not touch the line."""
    first, point, last = places
    if span.low < span.estimate:
        first = min(first, point - 1)
    if span.estimate < span.high:
        last = max(last, point + 1)
    shift = min(zero - 1 - last, 0) if span.high < 0 else max(zero + 1 - first, 0) if span.low > 0 else 0
    return DrawnInterval(first + shift, max(point + shift, 0), last + shift)


def _drawn(places: DrawnInterval | None, zero: int, width: int) -> str:
    cells = [" "] * width
    if places is not None:
        first, last = int(places.low), int(places.high)
        for at in range(max(first, 0), min(last, width - 1) + 1):
            cells[at] = "─"
        for at, sign in ((first, "├"), (last, "┤")):
            if 0 <= at < width:
                cells[at] = sign
    cells[zero] = {" ": "│", "─": "┼"}.get(cells[zero], cells[zero])
    if places is not None:
        cells[min(int(places.estimate), width - 1)] = "●"
    return "".join(cells).rstrip()


DRAWN = (15, 41)  # the columns that a drawing has at least and at most
NAMED = 16  # columns that a name has at least beside a drawing
SHORTEST = 6  # columns that a name has at least
BESIDE = 14  # columns that the name of the baseline may take in the head of a column
GAP = 2
PLACE = "#"

Tone = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table: its head, its cells, and the tone of each."""

    head: str
    cells: Sequence[str]
    tones: Sequence[Tone | None] = ()
    left: bool = False
    asked_for: bool = True  # otherwise it is left out where it does not fit

    @property
    def width(self) -> int:
        return max(columns(visible(cell)) for cell in (self.head, *self.cells))


def run_table_lines(comparison: Comparison, width: int, paint: Paint) -> Iterator[str]:
    ranked = comparison.baseline is None and len(comparison.runs) > 2
    table = _ranked(comparison, paint) if ranked else _with_baseline(comparison, paint)
    yield from table.lines(width, paint)
    for note in (*table.means.other_names, *table.notes):
        yield from map(paint.dim, wrapped(note, hang=2, width=width))


@dataclass(frozen=True, slots=True)
class RunTable:
    """What the table shows, before its layout.

    first, behind: columns that are always there, before and after the drawing
    spare: columns that are only there where they fit, the most important first
    """

    runs: Sequence[str]
    first: Sequence[Column]
    spans: Sequence[DrawnInterval | None]
    span_tones: Sequence[Tone | None]
    behind: Sequence[Column]
    spare: Sequence[Column]
    means: MeansTable
    notes: Sequence[str]

    def lines(self, width: int, paint: Paint) -> Iterator[str]:
        name, drawn, beside = self._fit(width)
        names = [shortened(run, name) for run in self.runs]
        numbers = [column for column in self.first if column.head == PLACE]
        values = [column for column in self.first if column.head != PLACE]
        listed = [*numbers, Column("run", names, left=True), *values]
        if drawn:
            listed.append(Column(" " * drawn, drawn_intervals(self.spans, drawn), self.span_tones, left=True))
        yield from _lines([*listed, *self.behind, *beside], None, paint)
        rest = [column for column in self.spare if column not in beside and column.asked_for]
        if rest:
            yield ""
            yield from _lines([Column("run", self.runs, left=True), *rest], width, paint)
        if len(set(names)) < len(names):  # cut short, they look the same
            yield ""
            for at, run in enumerate(self.runs, 1):
                yield from wrapped(f"{at}. {run}", hang=4, width=width)

    def _fit(self, width: int) -> tuple[int, int, list[Column]]:
        """How wide names and drawings are, 0 where there is no room to draw, and which spare columns fit."""
        room = width - sum(column.width + GAP for column in (*self.first, *self.behind))
        drawn = DRAWN[0] if any(self.spans) and room - DRAWN[0] - GAP >= NAMED else 0
        room -= drawn + GAP if drawn else 0
        name = max(min(max(columns(visible(run)) for run in ("run", *self.runs)), room), SHORTEST)
        room -= name
        beside: list[Column] = []
        for column in self.spare:
            if column.width + GAP <= room:
                beside.append(column)
                room -= column.width + GAP
        return name, min(drawn + max(room, 0), DRAWN[1]) if drawn else 0, beside


def _lines(table: Sequence[Column], width: int | None, paint: Paint) -> list[str]:
    """The lines of a table; with a width, in blocks one below the other where its columns do not fit."""

    def tint(row: int, column: int, text: str) -> str:
        tones = table[column].tones
        tone = tones[row - 1] if tones and row else None
        return text if tone is None else tone(text)

    rows = [[column.head for column in table], *map(list, zip(*(column.cells for column in table), strict=True))]
    left = [at for at, column in enumerate(table) if column.left]
    if width is None:
        return aligned(rows, left, paint.strong, tint)
    return fitted(rows, width, paint.strong, left=left, tint=tint)


def _with_baseline(comparison: Comparison, paint: Paint) -> RunTable:
    """Runs against the baseline, or the second of two runs against the first."""
    measure = comparison.measures[0].name
    listed = {difference.run: difference for difference in comparison.of(measure)}
    against = next(iter(listed.values())).baseline
    order = comparison.best_first(measure)
    pairs = [listed.get(run) for run in order]
    head, one = f"vs {against}" if columns(visible(against)) <= BESIDE else "vs baseline", comparison.differences[0]
    median = "median" in one.of
    head = f"{estimate_name(one)} {head}" if median else head
    tones = [verdict_tone(pair, paint) if pair else None for pair in pairs]
    gaps = [estimate_text(pair) if pair else "baseline" for pair in pairs]
    several = [Column("p", [p_cell(pair) if pair else "" for pair in pairs])] if comparison.pairs > 1 else []
    means = means_table(comparison)
    marks = {one.name: {pair.run: pair for pair in comparison.of(one)} for one in comparison.measures}
    values, others = _value_columns(comparison, means, order, paint, marks)
    return RunTable(
        order,
        [values, Column(head, gaps, [tone or paint.dim for tone in tones])],
        [DrawnInterval(pair.low, pair.estimate, pair.high) if pair else None for pair in pairs],
        tones,
        several,
        others,
        means,
        [f"{estimate_name(one)}: of the queries that differ; not the difference of the means"] if median else [],
    )


def _ranked(comparison: Comparison, paint: Paint) -> RunTable:
    standing = standings(comparison)
    order = [row.run for row in standing.rows]
    means = means_table(comparison)
    values, others = _value_columns(comparison, means, order, paint, {})
    tones = [_standing_tone(standing, row.run, row.not_worse, paint) for row in standing.rows]
    gaps = ["" if row.behind is None else signed(row.behind) for row in standing.rows]
    ranks = [f"{row.first} to {row.last}" if row.first < row.last else f"{row.first}" for row in standing.rows]
    level = "rank" if standing.level is None else f"rank, {100 * standing.level:g}%"
    one = comparison.differences[0]
    p = ["" if row.p is None else p_number(row.p, comparison.alpha, one.finest) for row in standing.rows]
    mean = one._of_means
    letters = [means.notes[0]] if any(cell.mark for row in means.rows for cell in row.cells) else []
    return RunTable(
        order,
        [Column(PLACE, [str(row.place) for row in standing.rows]), values, Column("vs best", gaps, tones)],
        [
            None
            if row.low is None or row.high is None or row.behind is None
            else DrawnInterval(row.low, row.behind, row.high)
            for row in standing.rows
        ]
        if mean
        else [],
        tones,
        [Column(level, ranks)],
        [*others, Column("p", p, asked_for=False)],
        means,
        letters,
    )


def _value_columns(
    comparison: Comparison,
    means: MeansTable,
    order: Sequence[str],
    paint: Paint,
    pairs: dict[str, dict[str, Difference]],
) -> tuple[Column, list[Column]]:
    rows = {row.run: row for row in means.rows}
    listed = []
    for at, measure in enumerate(means.measures):
        cells = [rows[run].cells[at] for run in order]
        marks = [cell.mark for cell in cells]
        tones: list[Tone | None] = [paint.strong if at == 0 else None] * len(order)
        if measure in pairs:
            against = [pairs[measure].get(run) for run in order]
            signs = {"significantly better": "▲", "significantly worse": "▼"}
            marks = [signs.get(pair.verdict, "") if pair else "" for pair in against]
            if at:
                tones = [verdict_tone(pair, paint) if pair and pair.significant else None for pair in against]
        widest = max(map(len, marks))
        texts = [
            f"{cell.value:.{DIGITS}f}{' ' * bool(widest)}{mark:<{widest}}"
            for cell, mark in zip(cells, marks, strict=True)
        ]
        listed.append(Column(means.heads[at] + " " * (widest + bool(widest)), texts, tones))
    judged = [rows[run].judged[0] for run in order]
    column = Column("judged", list(map(judged_cell, judged)), asked_for=False)
    if all(part is None for part in judged):
        return listed[0], listed[1:]
    return listed[0], [*listed[1:], column]


def verdict_tone(difference: Difference, paint: Paint) -> Tone:
    return partial(paint.verdict, difference.verdict)


def _standing_tone(standing: Standings, run: str, not_worse: bool, paint: Paint) -> Tone | None:
    """Amber for what may be the best, red for what is significantly worse; a leader is not better than itself."""
    if run in standing.leaders:
        return None
    return paint.close if not_worse else paint.bad
