"""Comparisons as tables in Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.comparison.conclusions import Comparison
from cranfield.comparison.differences import DIGITS, UNDECIDED, estimate_text, interval_name
from cranfield.comparison.means import means_table
from cranfield.show import comparison_words as words
from cranfield.show.answers_text import answers_sentences
from cranfield.show.escaping import latex_text, markdown_text, markdown_warnings


def comparison_markdown(comparison: Comparison) -> str:
    if comparison.basis is not None:
        from cranfield.show.corrected import compared_markup

        return compared_markup(comparison, "markdown")
    table = means_table(comparison)
    rows = [
        [
            markdown_text(row.run),
            *(
                f"{'**' * cell.best}{cell.value:.{DIGITS}f}{'**' * cell.best}{f' {cell.mark}' if cell.mark else ''}"
                for cell in row.cells
            ),
            *map(words.judged_cell, row.judged),
        ]
        for row in table.rows
    ]
    lines = markdown_table(["run", *map(markdown_text, (*table.heads, *table.judged))], rows)
    one = comparison.differences[0]
    heads = [
        "measure",
        "runs",
        words.estimate_name(one),
        interval_name(one),
        "p",
        "effect",
        "better/same/worse",
        "conclusion",
    ]
    details = [
        [
            markdown_text(pair.measure) + ("" if pair.primary else " (secondary)"),
            markdown_text(f"{pair.run} - {pair.baseline}"),
            estimate_text(pair),
            words.span_and_p(pair)[0],
            words.p_cell(pair),
            words.effect_cell(pair.effect),
            f"{pair.better}/{pair.same}/{pair.worse}",
            "; ".join(filter(None, (pair.verdict, words.within_text(pair), UNDECIDED if pair.could_reverse else ""))),
        ]
        for pair in comparison
    ]
    notes = [
        *(f"{markdown_text(text)}." for text in table.other_names),
        f"{markdown_text(words.as_sentence(table.notes[0]))}.",
        markdown_text(words.basis_text(comparison)),
        words.interval_text(comparison),
        *map(markdown_text, answers_sentences(comparison.evaluations)),
    ]
    verdict = [*markdown_warnings(comparison.warnings), f"**{markdown_text(words.verdict(comparison))}**"]
    return "\n".join([*verdict, "", *lines, "", *notes, "", *markdown_table(heads, details)])


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]], words: Sequence[str] = ()) -> list[str]:
    """The lines of a table; all columns hold numbers but the first and those that are named as words."""
    rule = ["---", *("---" if name in words else "---:" for name in head[1:])]
    return [f"| {' | '.join(row)} |" for row in (head, rule, *rows)]


def comparison_latex(comparison: Comparison) -> str:
    """The table of runs for LaTeX with booktabs; the best of each measure is bold."""
    if comparison.basis is not None:
        from cranfield.show.corrected import compared_markup

        return compared_markup(comparison, "latex")
    table = means_table(comparison)
    signs = {"▲": r"\blacktriangle", "▼": r"\blacktriangledown"}
    lines = [
        r"% needs \usepackage{booktabs, amssymb}",
        *(f"% warning: {latex_text(text)}" for text in comparison.warnings),
        rf"\begin{{tabular}}{{l{'l' * len(table.measures)}{'r' * len(table.judged)}}}",
        r"\toprule",
        " & ".join(map(latex_text, ["run", *table.heads, *table.judged])) + r" \\",
        r"\midrule",
    ]
    for row in table.rows:
        cells = [latex_text(row.run)]
        for cell in row.cells:
            mark = signs.get(cell.mark) or (rf"\mathrm{{{cell.mark}}}" if cell.mark else "")
            value = rf"\textbf{{{cell.value:.{DIGITS}f}}}" if cell.best else f"{cell.value:.{DIGITS}f}"
            cells.append(value + (f"$^{{{mark}}}$" if mark else ""))
        lines.append(" & ".join([*cells, *(latex_text(words.judged_cell(share)) for share in row.judged)]) + r" \\")
    sentences = (words.verdict(comparison), *table.other_names, table.notes[0], words.basis_text(comparison))
    notes = [latex_text(text) for text in sentences]
    for sign, command in signs.items():
        notes = [note.replace(sign, f"${command}$") for note in notes]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", *(f"% {note}" for note in notes)])
