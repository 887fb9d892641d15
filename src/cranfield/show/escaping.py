"""Names inside Markdown, LaTeX and spreadsheets, escaped so that they are shown as they are and never read as markup.

A cell of such a table must be one line, so control characters are escaped first.
"""

from __future__ import annotations

import re

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
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}
_FORMULA = frozenset("=+-@\t\r\n")  # what begins one
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?(e[+-]?\d+)?", re.IGNORECASE)


def markdown_text(text: str) -> str:
    r"""A text that Markdown shows as it is, also in a table.

    >>> print(markdown_text("bm25_v2 | <b>"))
    bm25\_v2 \| \<b\>
    """
    return _MARKDOWN.sub(r"\\\g<0>", visible(text))


def latex_text(text: str) -> str:
    r"""A text that LaTeX prints as it is, also in a table.

    >>> print(latex_text("50%_off & more"))
    50\%\_off \& more
    """
    written = "".join(_LATEX.get(sign, sign) for sign in visible(text))
    return re.sub("-(?=-)", "-{}", written)  # two would become one dash


def spreadsheet_text(text: str) -> str:
    """A text for a spreadsheet: after an apostrophe if it would be run as a formula.

    >>> spreadsheet_text("=1+1"), spreadsheet_text("bm25"), spreadsheet_text("-12")
    ("'=1+1", 'bm25', '-12')
    """
    return f"'{text}" if text[:1] in _FORMULA and not _NUMBER.fullmatch(text) else text
