"""Evaluations as people read them in a terminal."""

from __future__ import annotations

from cranfield.evaluation.result import Evaluation
from cranfield.layout import Style, aligned, columns, fitted, folded, shortened, visible, wrapped
from cranfield.show.view import View

BEST = "*"


def table(view: View, width: int = 80, style: Style | None = None) -> str:
    """Warnings, and one row for each run; below it what else was asked for, then notes, counts and the signature."""
    lines = _wrapped([f"warning: {text}" for text in view.warnings(ties=False)], width)
    lines += [""] * bool(lines)
    if view.per_query:
        for result in view.evaluations:
            lines += [*_queries(view, result, width, style), ""]
    lines += [*_means(view, width, style), *_wrapped(view.other_names(), width)]
    if view.bounds:
        lines += ["", *_bounds(view, width, style)]
    if view.segment_names:
        lines += ["", *_segments(view, width, style)]
    if view.worst:
        for result in view.evaluations:
            lines += ["", *_worst(view, result, width, style)]
    return "\n".join([*lines, "", *_wrapped(view.tie_warnings(), width), *_provenance(view, width)])


def _wrapped(texts: list[str], width: int) -> list[str]:
    return [line for text in texts for line in wrapped(text, hang=2, width=width)]


def _means(view: View, width: int, style: Style | None) -> list[str]:
    best = {measure: view.best(measure) for measure in view.measures}
    marked = any(best.values())

    def cell(result: Evaluation, measure: str) -> str:
        mark = (BEST if result.run in best[measure] else " ") if marked else ""
        return view.shown(view.mean(result, measure), measure) + mark

    head = ["run", *(measure + " " * marked for measure in view.measures)]
    rows = [[result.run, *(cell(result, measure) for measure in view.measures)] for result in view.evaluations]
    lines = fitted([head, *rows], width, style)
    return [*lines, f"{BEST} the best of the runs"] if marked else lines


def _bounds(view: View, width: int, style: Style | None) -> list[str]:
    rows = [["run", *view.measures]]
    exact, scale = True, set[float]()
    for result in view.evaluations:
        cells = []
        for measure in view.measures:
            ends = view.mean_bounds(result, measure)
            exact, scale = exact and ends.exact, scale.union(ends.scale)
            cells.append(f"{view.shown(ends.low, measure)}–{view.shown(ends.high, measure)}{'' if ends.exact else '~'}")
        rows.append([result.run, *cells])
    title = f"Lowest and highest value, {view.describe_bounds(scale)}:"
    note = [] if exact else ["~ the true bounds may be narrower"]
    return [*wrapped(title, width=width), *fitted(rows, width, style), *note]


def _segments(view: View, width: int, style: Style | None) -> list[str]:
    rows = [["segment: run", *view.measures]]
    for segment in view.segment_names:
        for result in view.evaluations:
            cells = (view.shown(view.mean(result, measure, segment), measure) for measure in view.measures)
            rows.append([f"{segment}: {result.run}" if len(view.evaluations) > 1 else segment, *cells])
    if len(view.evaluations) == 1:
        rows[0][0] = "segment"
    return fitted(rows, width, style)


def _queries(view: View, result: Evaluation, width: int, style: Style | None) -> list[str]:
    columns = [result.column(measure).tolist() for measure in result]
    rows = [
        [query, *(view.shown(value, measure) for measure, value in zip(result, values, strict=True))]
        for query, *values in zip(result.query_ids, *columns, strict=True)
    ]
    title = f"{visible(result.run)}, query by query"
    return [title, *fitted([["query", *result], *rows], width, style)]


def _worst(view: View, result: Evaluation, width: int, style: Style | None) -> list[str]:
    """The queries of a run that perform poorly by the first measure, and what happened."""
    measure = view.measures[0]
    poor = view.poor(result)
    queries = "worst query" if len(poor) == 1 else f"{len(poor)} worst queries"
    title = f"{result.run}: the {queries} by {measure}"
    names = [shortened(each.query_id, width * 2 // 5) for each in poor]
    room = max(width - max([5, *map(columns, names)]) - max(len(measure), 6) - 4, 20)
    rows = [["query", measure, "what happened"]]
    for name, each in zip(names, poor, strict=True):
        first, *rest = wrapped(each.reason, width=room) or [""]
        rows.append([name, f"{each.value:.4f}", first])
        rows += [["", "", line] for line in rest]
    return [*wrapped(title, width=width), *aligned(rows, left=(0, 2), style=style)]


def _provenance(view: View, width: int) -> list[str]:
    lines: list[str] = []
    counts = {result.run: result.describe_counts() for result in view.evaluations}
    shared = len(set(counts.values())) == 1
    for run, words in list(counts.items())[: 1 if shared else None]:
        lines += wrapped(words if shared else f"{run}: {words}", hang=2, width=width)
    lines += folded(view.signature(), "|", width)
    if len(view.evaluations) > 1:
        for result in view.evaluations:
            own = folded(view.own_signature(result), "|", width - 2)
            lines += wrapped(f"{result.run}: {own[0]}", hang=2, width=width)
            lines += [f"  {line}" for line in own[1:]]
    return lines
