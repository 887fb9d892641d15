"""Fused runs and tuned mixtures as text."""

from __future__ import annotations

from collections.abc import Iterator

from cranfield.comparison.differences import Difference, signed
from cranfield.mixing.fusing import Fused
from cranfield.mixing.tuning import Tuning
from cranfield.show.comparison_text import difference_lines
from cranfield.show.layout import Paint, aligned, warning_lines, wrapped
from cranfield.show.run_table_text import DRAWN, DrawnInterval, drawn_intervals
from cranfield.words import columns, count, joined, shortened

_SIDES = 34  # columns of the numbers beside a drawing


def fused_text(fused: Fused, width: int, paint: Paint) -> Iterator[str]:
    """What was written, in a sentence."""
    yield from warning_lines(fused.warnings, width, paint)
    where = "Written" if fused.path in ("", "-") else f"Written: {fused.path}"
    facts = f"{count(fused.queries, 'query', 'queries')}, {count(fused.documents, 'document')}"
    of = joined(fused.runs, "and") if len(fused.runs) < 6 else count(len(fused.runs), "run")
    yield from wrapped(f"{where}, {facts}. {fused.mixture[:1].upper()}{fused.mixture[1:]}, of {of}.", width=width)


def tuning_text(tuning: Tuning, width: int, paint: Paint, *, most: int = 0) -> str:
    """The verdict, the means, what was chosen, and how much of it was luck; most: how many settings to list."""
    parts = [
        list(warning_lines(tuning.warnings, width, paint)),
        list(difference_lines(tuning.differences[0], width, paint)),
        list(_table(tuning, width, paint)),
        list(_chosen(tuning, width, paint)),
        list(_settings(tuning, most, width, paint)),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part)


def _table(tuning: Tuning, width: int, paint: Paint) -> Iterator[str]:
    """The mean of each, and how far it is from the best single run."""
    best = tuning.best_run
    from_best = {pair.run: pair for pair in tuning.differences if pair.baseline == best}
    lower = tuning.differences[0].lower_is_better
    names = sorted(tuning.means, key=lambda name: tuning.means[name], reverse=not lower)
    widest = max(width - _SIDES - DRAWN[0], 16)
    room = min(max(width - _SIDES - min(max(map(columns, names)), widest), 0), DRAWN[1])
    pairs = [from_best.get(name) for name in names]
    drawn = drawn_intervals([_span(pair) for pair in pairs], room) if room >= DRAWN[0] else [""] * len(names)
    rows = [["", tuning.measure, "", f"vs {shortened(best, 14)}"]]
    for name, pair, picture in zip(names, pairs, drawn, strict=True):
        gap = signed(pair.estimate, 3) if pair else "baseline" if name == best else ""
        rows.append([shortened(name, widest), f"{tuning.means[name]:.4f}", picture, gap])

    def tint(row: int, column: int, text: str) -> str:
        pair = pairs[row - 1]
        return paint.verdict(pair.verdict, text) if pair is not None and column > 1 else text

    yield from aligned(rows, (0, 2), paint.strong, tint)


def _span(pair: Difference | None) -> DrawnInterval | None:
    return DrawnInterval(pair.low, pair.estimate, pair.high) if pair is not None and pair.has_interval else None


def _chosen(tuning: Tuning, width: int, paint: Paint) -> Iterator[str]:
    queries, tried = count(tuning.queries, "query", "queries"), count(len(tuning.settings), "setting")
    final = tuning.final
    yield from wrapped(f"Final setting: {final.mixture}", hang=2, width=width)
    chosen = f"Chosen in {final.chosen:.0%} of the folds. On the {queries} that chose it among {tried} it has "
    looks = f"{tuning.measure} {final.seen:.4f}: do not report that. Settings chosen like this reach "
    yield from wrapped(f"{chosen}{looks}{tuning.value.value:.4f} on other queries.", width=width)
    for pair in (tuning.differences[-1], tuning.differences[0]):
        if pair.baseline in tuning.no_better_than:
            what = "plain reciprocal rank fusion" if pair.baseline == tuning.plain else "the best single run"
            told = f"No better than {pair.baseline} ({what}), as far as {queries} can tell: {signed(pair.estimate, 3)} "
            yield from wrapped(f"{told}({signed(pair.low, 3)} to {signed(pair.high, 3)}).", hang=2, width=width)
    method = (
        f"Cross-fitted: chosen on {tuning.folds - 1} of {tuning.folds} folds, measured on the other, "
        f"{tuning.repeats} times. {len(tuning.differences)} comparisons, simultaneous "
        f"{100 * (1 - tuning.alpha):g}% intervals."
    )
    yield from map(paint.dim, wrapped(method, width=width))


def _settings(tuning: Tuning, most: int, width: int, paint: Paint) -> Iterator[str]:
    """The best settings on all queries."""
    if most:
        rows = [["setting", "seen", "chosen"]]
        rows += [
            [shortened(its.mixture, width - 20), f"{its.seen:.4f}", f"{its.chosen:.0%}"]
            for its in tuning.settings[:most]
        ]
        yield from aligned(rows, (0,), paint.strong)
        yield from map(
            paint.dim, wrapped("Seen: on the queries that choose, so the best of them is too high.", width=width)
        )
