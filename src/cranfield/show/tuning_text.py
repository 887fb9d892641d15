"""Tuned mixtures as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cranfield.comparison.differences import Difference, signed
from cranfield.mixing.curves import Curve
from cranfield.mixing.tuning import Tuning
from cranfield.show.comparison_text import difference_lines
from cranfield.show.layout import Paint, aligned, warning_lines, wrapped
from cranfield.show.run_table_text import DRAWN, DrawnInterval, drawn_intervals
from cranfield.words import columns, count, shortened

_SIDES = 34  # columns of the numbers beside a drawing
MOST_POINTS = 9  # of a curve that is shown as text


def tuning_text(tuning: Tuning, width: int, paint: Paint, *, most: int = 0) -> str:
    """The verdict, the means, what was chosen, and how much of it was luck; most: how many settings to list."""
    parts = [
        list(warning_lines(tuning.warnings, width, paint)),
        list(difference_lines(tuning.differences[0], width, paint)),
        list(_table(tuning, width, paint)),
        list(_chosen(tuning, width, paint)),
        *(list(_curve(curve, tuning.measure, width, paint)) for curve in tuning.curves),
        list(_settings(tuning, most, width, paint)),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part)


def _table(tuning: Tuning, width: int, paint: Paint) -> Iterator[str]:
    """The mean of each, and how far it is from the first baseline."""
    best = next(iter(tuning.baselines))
    from_best = {pair.run: pair for pair in tuning.differences if pair.baseline == best}
    lower = tuning.differences[0].lower_is_better
    names = sorted(tuning.means, key=lambda name: tuning.means[name], reverse=not lower)
    rows = [
        (name, f"{tuning.means[name]:.4f}", _span(pair), signed(pair.estimate, 3) if pair else "", pair)
        for name, pair in ((name, from_best.get(name)) for name in names)
    ]
    rows = [(*row[:3], "baseline" if row[0] == best else row[3], row[4]) for row in rows]
    heads = ("", tuning.measure, "", f"vs {shortened(best, 14)}")
    yield from _drawn(heads, rows, width, paint)


def _drawn(
    heads: Sequence[str],
    rows: Sequence[tuple[str, str, DrawnInterval | None, str, Difference | None]],
    width: int,
    paint: Paint,
) -> Iterator[str]:
    """Names, values, drawn intervals and differences; each difference in the colour of its verdict."""
    widest = max(width - _SIDES - DRAWN[0], 16)
    taken = min(max(columns(row[0]) for row in rows), widest)
    room = min(max(width - _SIDES - taken, 0), DRAWN[1])
    drawn = drawn_intervals([row[2] for row in rows], room) if room >= DRAWN[0] else [""] * len(rows)
    cells = [list(heads)]
    cells += [[shortened(row[0], widest), row[1], picture, row[3]] for row, picture in zip(rows, drawn, strict=True)]

    def tint(row: int, column: int, text: str) -> str:
        pair = rows[row - 1][4]
        return paint.verdict(pair.verdict, text) if pair is not None and column > 1 else text

    yield from aligned(cells, (0, 2), paint.strong, tint)


def _span(pair: Difference | None) -> DrawnInterval | None:
    return DrawnInterval(pair.low, pair.estimate, pair.high) if pair is not None and pair.has_interval else None


def _chosen(tuning: Tuning, width: int, paint: Paint) -> Iterator[str]:
    queries, tried = count(tuning.queries, "query", "queries"), count(len(tuning.settings), "setting")
    final = tuning.final
    yield from wrapped(f"Final setting: {final.name}", hang=2, width=width)
    chosen = f"Chosen in {final.chosen:.0%} of the folds. On the {queries} that chose it among {tried} it has "
    looks = f"{tuning.measure} {final.seen:.4f}: do not report that. Settings chosen like this reach "
    value = tuning.value
    reach = f"{value.value:.4f} ({value.low:.3f} to {value.high:.3f}) on other queries"
    yield from wrapped(f"{chosen}{looks}{reach}, {_less(tuning.optimism)}.", width=width)
    for pair in reversed(tuning.gains):
        if pair.baseline in tuning.no_better_than:
            what = f" ({tuning.baselines[pair.baseline]})" if tuning.baselines[pair.baseline] else ""
            told = f"No better than {pair.baseline}{what}, as far as {queries} can tell: {signed(pair.estimate, 3)} "
            yield from wrapped(f"{told}({signed(pair.low, 3)} to {signed(pair.high, 3)}).", hang=2, width=width)
    yield from wrapped(f"{tuning.unjudged[:1].upper()}{tuning.unjudged[1:]}.", hang=2, width=width)
    yield from map(paint.dim, wrapped(_method(tuning), width=width))
    if tuning.requests:
        yield from ("To copy:", *(f"  {line}" for line in tuning.to_copy.splitlines()))


def _less(optimism: float) -> str:
    gap = round(optimism, 4)
    return f"{abs(gap):.4f} {'less' if gap > 0 else 'more'}" if gap else "as much"


def _method(tuning: Tuning) -> str:
    asked = f"{tuning.requests:,} requests. " if tuning.requests else ""
    compared = count(len(tuning.differences), "comparison")
    simultaneous = "simultaneous " if len(tuning.differences) > 1 else ""
    return (
        f"{asked}Cross-fitted: chosen on {tuning.folds - 1} of {tuning.folds} folds, measured on the other, "
        f"{count(tuning.repeats, 'time')}. {compared}, {simultaneous}{100 * (1 - tuning.alpha):g}% intervals."
    )


def _curve(curve: Curve, measure: str, width: int, paint: Paint) -> Iterator[str]:
    """How the measure changes with a parameter of few values."""
    if len(curve.points) > MOST_POINTS:
        return
    most = max(point.queries for point in curve.points)
    rows: list[tuple[str, str, DrawnInterval | None, str, Difference | None]] = [
        (
            f"{point.value:g}{' *' if point.value == curve.final else ''}"
            + ("" if point.queries == most else f", {count(point.queries, 'query', 'queries')}"),
            "",
            DrawnInterval(point.low, point.difference, point.high),
            signed(point.difference, 3),
            None,
        )
        for point in curve.points
    ]
    yield from _drawn((curve.parameter, "", "", f"{measure} vs {shortened(curve.baseline, 14)}"), rows, width, paint)
    others = "the other parameters are those of the final setting" if curve.alone else "means over the other parameters"
    told = f"* the final setting; {others}. Measured on the queries that choose, so the best value looks too good."
    yield from map(paint.dim, wrapped(told, width=width))


def _settings(tuning: Tuning, most: int, width: int, paint: Paint) -> Iterator[str]:
    """The best settings on all queries."""
    if most:
        rows = [["setting", "seen", "queries", "chosen"]]
        rows += [
            [shortened(its.name, width - 29), f"{its.seen:.4f}", f"{its.queries:,}", f"{its.chosen:.0%}"]
            for its in tuning.settings[:most]
        ]
        yield from aligned(rows, (0,), paint.strong)
        yield from map(
            paint.dim, wrapped("Seen: on the queries that choose, so the best of them is too high.", width=width)
        )
