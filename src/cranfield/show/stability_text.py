"""How measures move as judgments are removed, as text."""

from __future__ import annotations

from cranfield.comparison.thinning import Stability
from cranfield.layout import UNPAINTED, WIDTH, Paint, count, fitted, wrapped
from cranfield.show.comparison_words import share_text

_DESIGNS = {
    "per-query": "from the relevant and from the nonrelevant documents of every query, keeping at least one of each",
    "uniform": "from all judgments alike",
}


def stability_text(found: Stability, width: int = WIDTH, paint: Paint = UNPAINTED) -> str:
    """How measures move as judgments are removed, as text of so many columns."""
    judgments, queries = count(found.judgments, "judgment"), count(found.queries, "query", "queries")
    runs, times = count(len(found.runs), "run"), "once" if found.repeats == 1 else f"{found.repeats} times"
    lines = wrapped(
        f"{judgments} of {queries}, {runs}. Each share is removed at random {times} (seed {found.seed}), "
        f"{_DESIGNS[found.design]} (design {found.design}).",
        width=width,
    )
    several = len(found.runs) > 1  # of one run, there is no order
    rows = [["measure", "removed", "left", "mean", "spread", "change", *(["tau", "lowest"] if several else [])]]
    before = ""
    for row in found.rows:
        if row.measure != before:
            blank = [""] * (len(rows[0]) - 4)
            rows.append([row.measure, "0%", str(found.judgments), f"{row.complete:.4f}", *blank])
        before = row.measure
        change = f"{(row.mean - row.complete) / row.complete:+.1%}" if row.complete else "-"
        order = [share_text(row.tau, 3), share_text(row.lowest, 3)] if several else []
        rows.append(
            ["", f"{row.removed:.0%}", f"{row.left:.0f}", f"{row.mean:.4f}", f"{row.spread:.4f}", change, *order]
        )
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
    return "\n".join([*lines, "", *map(paint.dim, legend)])
