"""Evaluations as people read them in a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from cranfield.evaluation.result import Evaluation
from cranfield.evaluation.values import Bounds
from cranfield.show.answers_text import answers_lines
from cranfield.show.layout import UNPAINTED, WIDTH, Paint, aligned, fitted, folded, warning_lines, wrapped
from cranfield.show.view import View
from cranfield.words import columns, count, cut, shortened, visible

BEST = "*"
COUNTED = 3  # sets of counts that are shown of many runs


NO_TEXTS: Mapping[str, str] = {}


def table(
    view: View,
    width: int = WIDTH,
    paint: Paint = UNPAINTED,
    *,
    signatures: bool = True,
    texts: Mapping[str, str] = NO_TEXTS,
) -> str:
    """Warnings, and one row for each run; below it what the options add, then notes, counts and the signatures.

    texts: the texts of queries, as far as they are known.
    """
    if view.evaluations[0].basis is not None:
        from cranfield.show.corrected import evaluations_text

        return evaluations_text(view.evaluations, width, paint, signatures=signatures)
    lines = list(warning_lines(view.warnings(ties=False), width, paint))
    lines += [""] * bool(lines)
    if view.per_query:
        for result in view.evaluations:
            lines += [*_queries(view, result, width, paint), ""]
    lines += [*_means(view, width, paint), *map(paint.dim, _wrapped(view.other_names(), width))]
    if view.bounds:
        lines += ["", *_bounds(view, width, paint)]
    if view.modelled:
        lines += ["", *_modelled(view, width, paint)]
    if view.segment_names:
        lines += ["", *_segments(view, width, paint)]
    if view.evaluations[0].answering is not None:
        lines += ["", *answers_lines(view.evaluations, width, paint)]
    if view.groups:
        from cranfield.show.groups_text import groups_lines

        lines += ["", *groups_lines(view.groups, width, paint)]
    if view.worst:
        for result in view.evaluations:
            lines += ["", *_worst(view, result, width, paint, texts)]
    brief = view.ranked_by is not None and not signatures
    ties = _brief_ties(view) if brief else view.tie_warnings()
    below = [*(_brief_counts(view, width) if brief else _counts(view, width))]
    below += _signatures(view, width) if signatures else ()
    return "\n".join([*lines, "", *_wrapped(ties, width), *map(paint.dim, below)])


def _wrapped(texts: list[str], width: int) -> list[str]:
    return [line for text in texts for line in wrapped(text, hang=2, width=width)]


def _means(view: View, width: int, paint: Paint) -> list[str]:
    best = {measure: view.best(measure) for measure in view.measures}
    marked = any(best.values())

    def cell(result: Evaluation, measure: str) -> str:
        mark = (BEST if result.run in best[measure] else " ") if marked else ""
        return view.shown(view.mean(result, measure), measure) + mark

    head = ["run", *(measure + " " * marked for measure in view.heads)]
    rows = [[result.run, *(cell(result, measure) for measure in view.measures)] for result in view.evaluations]
    first = 1
    if view.ranked_by is not None:
        first, head = 2, ["#", *head]
        rows = [[str(place), *row] for place, row in zip(view.places(), rows, strict=True)]

    def tint(row: int, column: int, text: str) -> str:
        return paint.good(text) if row and column >= first and text.endswith(BEST) else text

    lines = fitted([head, *rows], width, paint.strong, repeated=first, left=[first - 1], tint=tint)
    return [*lines, paint.dim(f"{BEST} the best of the runs")] if marked else lines


def _bounds(view: View, width: int, paint: Paint) -> list[str]:
    """The ends of each mean: the table first, then what they allow for. What cannot move is left out."""
    ends = {measure: [view.mean_bounds(result, measure) for result in view.evaluations] for measure in view.measures}
    moving = [measure for measure, its in ends.items() if any(each.low < each.high for each in its)]
    scale = set[float]().union(*(each.scale for its in ends.values() for each in its))
    allowed = wrapped(f"Bounds: {view.describe_bounds(scale)}.", width=width)
    if not moving:
        return [paint.strong("These values can't move."), *map(paint.dim, allowed)]
    rows = [["could be", *(head for head, measure in zip(view.heads, view.measures, strict=True) if measure in moving)]]
    for at, result in enumerate(view.evaluations):
        rows.append([result.run, *(_ends(view, ends[measure][at], measure) for measure in moving)])
    exact = all(each.exact for its in ends.values() for each in its)
    note = [] if exact else [paint.dim("~ the true bounds may be narrower")]
    return [*fitted(rows, width, paint.strong), *note, *map(paint.dim, allowed)]


def _ends(view: View, its: Bounds, measure: str) -> str:
    low, high = view.shown(its.low, measure), view.shown(its.high, measure)
    mark = "" if its.exact else "~"
    return f"{low if low == high else f'{low} to {high}'}{mark}"


def _modelled(view: View, width: int, paint: Paint) -> list[str]:
    by_run: dict[str, list[str]] = {result.run: [] for result in view.evaluations}
    heads = []
    for value in view.modelled:
        head = value.measure if f"@{value.depth}" in value.measure else f"{value.measure}, first {value.depth}"
        heads += [head] * (head not in heads)
        by_run[value.run].append(f"{value.value:.2f} ({value.low:.2f} to {value.high:.2f})")
    shares = ", ".join(
        f"{value.judged:,} of {count(value.documents, 'document')} for {value.measure}"
        for value in {value.measure: value for value in view.modelled}.values()
    )
    queries = count(view.modelled[0].queries, "query", "queries")
    title = f"Estimated, with all documents that these runs return first judged (so far {shares}; {queries}):"
    rows = [["run", *heads], *([run, *cells] for run, cells in by_run.items())]
    return [*wrapped(title, width=width), *fitted(rows, width, paint.strong)]


def _segments(view: View, width: int, paint: Paint) -> list[str]:
    rows = [["segment: run", "queries", *view.heads]]
    for segment in view.segment_names:
        for result in view.evaluations:
            cells = (view.shown(view.mean(result, measure, segment), measure) for measure in view.measures)
            queries = f"{view.segment_queries(result, segment):,}"
            rows.append([f"{segment}: {result.run}" if len(view.evaluations) > 1 else segment, queries, *cells])
    if len(view.evaluations) == 1:
        rows[0][0] = "segment"
    return fitted(rows, width, paint.strong)


def _queries(view: View, result: Evaluation, width: int, paint: Paint) -> list[str]:
    columns = [result.column(measure).tolist() for measure in result]
    rows = [
        [query, *(view.shown(value, measure) for measure, value in zip(result, values, strict=True))]
        for query, *values in zip(result.query_ids, *columns, strict=True)
    ]
    title = f"{visible(result.run)}, query by query"
    return [title, *fitted([["query", *result], *rows], width, paint.strong)]


def _worst(view: View, result: Evaluation, width: int, paint: Paint, texts: Mapping[str, str]) -> list[str]:
    measure = view.measures[0]
    poor = view.poor(result)
    if not poor:
        return wrapped(f"{result.run}: the worst queries by {measure}: none, all are perfect", width=width)
    queries = "worst query" if len(poor) == 1 else f"{len(poor)} worst queries"
    title = f"{result.run}: the {queries} by {measure}"
    names = [shortened(query.query_id, width * 2 // 5) for query in poor]
    room = max(width - max([5, *map(columns, names)]) - max(len(measure), 6) - 4, 20)
    rows, asked = [["query", measure, "what happened"]], set[int]()
    for name, query in zip(names, poor, strict=True):
        if text := texts.get(query.query_id):
            asked.add(len(rows))
            rows.append([name, f"{query.value:.4f}", cut(text, room)])
            name, value = "", ""
        else:
            value = f"{query.value:.4f}"
        first, *rest = wrapped(query.reason, width=room) or [""]
        rows.append([name, value, first])
        rows += [["", "", line] for line in rest]

    def tint(row: int, column: int, text: str) -> str:
        return paint.dim(text) if column == 2 and row not in asked and texts else text

    return [*wrapped(title, width=width), *aligned(rows, left=(0, 2), style=paint.strong, tint=tint)]


def _counts(view: View, width: int) -> Iterator[str]:
    counts = {result.run: result.describe_counts() for result in view.evaluations}
    shared = len(set(counts.values())) == 1
    for run, words in list(counts.items())[: 1 if shared else None]:
        yield from wrapped(words if shared else f"{run}: {words}", hang=2, width=width)


def _brief_counts(view: View, width: int) -> Iterator[str]:
    """The counts of many runs: the most frequent ones, and how many others there are."""
    texts = Counter(result.describe_counts() for result in view.evaluations)
    for text, runs in texts.most_common(COUNTED):
        yield from wrapped(text if len(texts) == 1 else f"{count(runs, 'run')}: {text}", hang=2, width=width)
    if len(texts) > COUNTED:
        yield f"{count(len(texts) - COUNTED, 'other count')}: -v"


def _brief_ties(view: View) -> list[str]:
    runs = sum(bool(warning) for warning in view.overview.tie_warnings.values())
    return [f"ties matter to {runs} of {len(view.evaluations)} runs; -v shows how much"] if runs else []


def _signatures(view: View, width: int) -> Iterator[str]:
    yield from folded(view.signature(), "|", width)
    if len(view.evaluations) > 1:
        for run, signature in view.own_signatures().items():
            own = folded(signature, "|", width - 2)
            yield from wrapped(f"{run}: {own[0]}", hang=2, width=width)
            yield from (f"  {line}" for line in own[1:])
