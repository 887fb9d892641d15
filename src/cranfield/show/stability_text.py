"""How measures move as judgments are removed, and what runs would lose outside of the pool, as text."""

from __future__ import annotations

from collections.abc import Iterator

from cranfield.comparison.differences import signed
from cranfield.comparison.reusability import Reusability
from cranfield.comparison.stability import Stability
from cranfield.show.comparison_words import share_text
from cranfield.show.layout import UNPAINTED, WIDTH, Paint, fitted, wrapped
from cranfield.words import count, listed, shortened

_DESIGNS = {
    "per-query": "from the relevant and from the nonrelevant documents of every query, keeping at least one of each",
    "uniform": "from all judgments alike",
}


def _queries(result: Stability | Reusability) -> str:
    queries = count(result.queries, "query", "queries")
    return queries if result.weights is None else f"{queries} ({result.weights.sentence})"


def stability_text(result: Stability, width: int = WIDTH, paint: Paint = UNPAINTED) -> str:
    judgments, queries = count(result.judgments, "judgment"), _queries(result)
    runs, times = count(len(result.runs), "run"), "once" if result.repeats == 1 else f"{result.repeats} times"
    lines = wrapped(
        f"{judgments} of {queries}, {runs}. Each share is removed at random {times} (seed {result.seed}), "
        f"{_DESIGNS[result.design]} (design {result.design}).",
        width=width,
    )
    several = len(result.runs) > 1  # of one run, there is no order
    rows = [["measure", "removed", "left", "mean", "spread", "change", *(["tau", "lowest"] if several else [])]]
    before = ""
    for row in result.rows:
        if row.measure != before:
            blank = [""] * (len(rows[0]) - 4)
            rows.append([row.measure, "0%", str(result.judgments), f"{row.complete:.4f}", *blank])
        before = row.measure
        change = f"{(row.mean - row.complete) / row.complete:+.1%}" if row.complete else "-"
        order = [share_text(row.tau, 3), share_text(row.lowest, 3)] if several else []
        numbers = (f"{row.removed:.0%}", f"{row.left:.0f}", f"{row.mean:.4f}", f"{row.spread:.4f}")
        rows.append(["", *numbers, change, *order])
    lines += ["", *fitted(rows, width, paint.strong, repeated=2)]
    columns_legend = (
        "left: judgments that remain. mean: over the runs and the repeats; spread: standard deviation over the "
        "repeats; change: of the mean, relative to all judgments."
    )
    about_tau = (
        "tau: Kendall's correlation between the order of the runs by the judgments left and by all judgments, "
        "averaged over the repeats, and the lowest of them. At 1 the order is the same."
        if several
        else "Whether the order of runs changes (tau) takes at least two runs."
    )
    legend = [*wrapped(columns_legend, width=width), *wrapped(about_tau, width=width)]
    if result.pooled:
        infers = "infers" if len(result.pooled) == 1 else "infer"
        about_pool = (
            f"{listed(result.pooled)} {infers} what was pooled from what was judged: here, documents whose judgment is "
            "removed stay in the pool."
        )
        legend += wrapped(about_pool, width=width)
    return "\n".join([*lines, "", *map(paint.dim, legend)])


NAME = 32  # columns for the name of a run, or of a group


def reusability_text(result: Reusability, width: int = WIDTH, paint: Paint = UNPAINTED) -> str:
    judgments, queries = count(result.judgments, "judgment"), _queries(result)
    each, it = ("Each run", "it has") if not result.groups else ("Each run, or each group of runs,", "they have")
    lines = wrapped(
        f"{judgments} of {queries}, {len(result.runs)} runs. {each} is left out of the pool in turn: documents that "
        f"only {it} down to rank {result.pool_depth} become unjudged.",
        width=width,
    )
    for measure in result.measures:
        lines += ["", *_table(result, measure, width, paint), *_overall(result, measure, width)]
    return "\n".join([*lines, "", *map(paint.dim, _legend(result, width))])


def _table(result: Reusability, measure: str, width: int, paint: Paint) -> list[str]:
    head = ["group"] if result.groups else []
    rows = [[measure, *head, "unique", "value", "without", "change", "rank", "without"]]
    for row in result.rows:
        if row.measure == measure:
            name = shortened(row.run, NAME // 2 if head else NAME)
            group = [shortened(row.group or "-", NAME // 2)] if head else []
            numbers = [str(row.unique), f"{row.value:.4f}", f"{row.without:.4f}", signed(row.change, 4)]
            rows.append([name, *group, *numbers, str(row.rank), str(row.rank_without)])
    return fitted(rows, width, paint.strong, left=(0, 1) if head else (0,))


def _overall(result: Reusability, measure: str, width: int) -> Iterator[str]:
    overall = result.overall[measure]
    if not any(row.change for row in result.rows if row.measure == measure):
        yield "No run changes."
        return
    largest = f"largest {signed(overall.largest, 4)} ({shortened(overall.largest_run, NAME)})"
    order = "" if overall.tau is None else f"; tau {share_text(overall.tau, 3)}, lowest {share_text(overall.lowest, 3)}"
    yield from wrapped(f"change: mean {signed(overall.mean, 4)}, {largest}{order}", width=width)


def _legend(result: Reusability, width: int) -> Iterator[str]:
    others = "no run outside of its group" if result.groups else "no other run"
    yield from wrapped(
        f"unique: relevant documents of the run that {others} has down to rank {result.pool_depth}. without: the value "
        "and the rank if the documents that only it has were unjudged. A new run of the same kind may change as much.",
        width=width,
    )
    if any(overall.tau is not None for overall in result.overall.values()):
        yield from wrapped(
            "tau: Kendall's correlation between the order of the runs by the judgments left and by all judgments, "
            "averaged over everything left out in turn, and the lowest of them. At 1 the order is the same.",
            width=width,
        )
