"""Evaluations as a table of Markdown or LaTeX, the best value of each measure in bold."""

from __future__ import annotations

from cranfield.evaluation.result import Evaluation
from cranfield.show.escaping import latex_text, markdown_text
from cranfield.show.view import View


def markdown(view: View) -> str:
    """A table of Markdown, between warnings about ids and notes about ties."""
    head = ["run", *view.measures]
    lines = [line for text in view.warnings(ties=False) for line in (f"**Warning:** {markdown_text(text)}", "")]
    lines += [_row([markdown_text(name) for name in head]), _row([":--", *["--:"] * len(view.measures)])]
    for label, cells in _rows(view, "**{}**"):
        lines.append(_row([markdown_text(label), *cells]))
    lines += [line for text in view.other_names() for line in ("", f"{markdown_text(text)}.")]
    lines += [line for text in view.tie_warnings() for line in ("", markdown_text(text))]
    return "\n".join(lines)


def latex(view: View) -> str:
    """A table of LaTeX, for the package booktabs; warnings are comments."""
    lines = [
        *(f"% warning: {' '.join(text.split())}" for text in view.warnings()),
        f"\\begin{{tabular}}{{l{'r' * len(view.measures)}}}",
        "\\toprule",
        " & ".join(["run", *map(latex_text, view.measures)]) + r" \\",
        "\\midrule",
        *(" & ".join([latex_text(label), *cells]) + r" \\" for label, cells in _rows(view, "\\textbf{{{}}}")),
        "\\bottomrule",
        "\\end{tabular}",
        *(f"% {latex_text(text)}" for text in view.other_names()),
    ]
    return "\n".join(lines)


def _rows(view: View, bold: str) -> list[tuple[str, list[str]]]:
    best = {measure: view.best(measure) for measure in view.measures}

    def cell(result: Evaluation, measure: str) -> str:
        text = view.shown(view.mean(result, measure), measure)
        if view.bounds:
            ends = view.mean_bounds(result, measure)
            text += f" [{view.shown(ends.low, measure)}, {view.shown(ends.high, measure)}]"
        return bold.format(text) if result.run in best[measure] else text

    rows = [(result.run, [cell(result, measure) for measure in view.measures]) for result in view.evaluations]
    for segment in view.segment_names:
        for result in view.evaluations:
            means = [view.shown(view.mean(result, name, segment), name) for name in view.measures]
            rows.append((f"{result.run}, {segment}", means))
    if view.per_query:
        for result in view.evaluations:
            columns = [result.column(measure).tolist() for measure in result]
            for query, *values in zip(result.query_ids, *columns, strict=True):
                shown = [view.shown(value, name) for name, value in zip(result, values, strict=True)]
                rows.append((f"{result.run}, {query}", shown))
    return rows


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
