"""Names inside Markdown, LaTeX and spreadsheets, escaped so that they are shown as they are and never read as markup.

A cell of such a table must be one line, so control characters are escaped first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from cranfield.words import visible

_MARKDOWN = re.compile(r"[\\`*_{}\[\]<>|#&~$]")
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    # At the start of a row they would belong to the command that ends the row before.
    "[": "{[}",
    "*": "{*}",
    "×": r"$\times$",
    "†": r"$\dagger$",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}
_FORMULA = frozenset("=+-@\t\r\n")  # what begins one
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?(e[+-]?\d+)?", re.IGNORECASE)


def markdown_text(text: str) -> str:
    return _MARKDOWN.sub(r"\\\g<0>", visible(text))


def markdown_warnings(texts: Iterable[str]) -> list[str]:
    """Paragraphs of reasons to doubt what follows."""
    return [line for text in texts for line in (f"**Warning:** {markdown_text(text)}", "")]


def latex_text(text: str) -> str:
    written = "".join(_LATEX.get(sign, sign) for sign in visible(text))
    return re.sub("-(?=-)", "-{}", written)  # two would become one dash


def spreadsheet_text(text: str) -> str:
    """A text for a spreadsheet: after an apostrophe if it would be run as a formula."""
    return f"'{text}" if text[:1] in _FORMULA and not _NUMBER.fullmatch(text) else text
