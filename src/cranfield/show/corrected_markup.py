"""Corrected evaluations and comparisons as tables of Markdown and LaTeX, with notes."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.comparison.corrected import CorrectedEvaluation
from cranfield.comparison.corrected_pairs import CorrectedComparison
from cranfield.show import corrected_words as words
from cranfield.show.comparison_markup import markdown_table
from cranfield.show.escaping import latex_text, markdown_text

TextRows = list[list[str]]


def corrected_markdown(found: CorrectedEvaluation) -> str:
    """A table of Markdown for each measure, below a title that says who corrects which model."""
    tables, notes = _evaluation_parts(found)
    return _markdown([f"{words.title(found.basis)}."], tables, notes)


def corrected_latex(found: CorrectedEvaluation) -> str:
    """A table of LaTeX for each measure, for the package booktabs; everything else is in comments."""
    tables, notes = _evaluation_parts(found)
    return _latex([f"{words.title(found.basis)}."], tables, notes)


def corrected_comparison_markdown(found: CorrectedComparison) -> str:
    """The verdicts, then tables of the differences and of the means, in Markdown."""
    sentences, tables, notes = _comparison_parts(found)
    return _markdown(sentences, tables, notes)


def corrected_comparison_latex(found: CorrectedComparison) -> str:
    """Tables of the differences and of the means for LaTeX with booktabs; verdicts and notes are comments."""
    sentences, tables, notes = _comparison_parts(found)
    return _latex(sentences, tables, notes)


def _evaluation_parts(found: CorrectedEvaluation) -> tuple[list[TextRows], list[str]]:
    values = [found.values[run][measure.name] for run in found.runs for measure in found.measures]
    return [words.value_rows(measure, found) for measure in found.measures], list(words.legend(found, values))


def _comparison_parts(found: CorrectedComparison) -> tuple[list[str], list[TextRows], list[str]]:
    evaluation = found.evaluation
    sentences = [each.difference.sentence for each in found]
    tables = [words.difference_rows(each.name, found.of(each), evaluation) for each in evaluation.measures]
    tables += [words.value_rows(each, evaluation) for each in evaluation.measures]
    notes = [words.WEIGHED, *words.legend(evaluation, [each.value for each in found])]
    return [*sentences, f"{words.title(evaluation.basis)}. {words.method(found)}."], tables, notes


def _markdown(sentences: Sequence[str], tables: Sequence[TextRows], notes: Sequence[str]) -> str:
    blocks = [markdown_text(each) for each in sentences]
    for head, *rows in tables:
        escaped = [[markdown_text(cell) for cell in row] for row in rows]
        blocks.append("\n".join(markdown_table([markdown_text(cell) for cell in head], escaped)))
    return "\n\n".join([*blocks, *map(markdown_text, notes)])


def _latex(sentences: Sequence[str], tables: Sequence[TextRows], notes: Sequence[str]) -> str:
    lines = [r"% needs \usepackage{booktabs}", *(f"% {_in_latex(each)}" for each in sentences)]
    for head, *rows in tables:
        lines += [rf"\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}", r"\toprule", _latex_row(head), r"\midrule"]
        lines += [*map(_latex_row, rows), r"\bottomrule", r"\end{tabular}", ""]
    return "\n".join([*lines[:-1], *(f"% {_in_latex(each)}" for each in notes)])


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(map(_in_latex, cells)) + r" \\"


def _in_latex(text: str) -> str:
    return latex_text(text).replace("±", r"$\pm$")
