"""The parts of a result in a notebook: a frame in the look of all pages, with tables and pictures in it.

There are no scripts. The colours are those of `look`, for light and dark notebooks. JupyterLab, VS Code, Colab and
documentation built from notebooks each mark dark mode in their own way. That mark counts, not the browser's preference:
a light notebook may be open on a dark desktop.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape

from cranfield.errors import MissingLibrary
from cranfield.show.charts.drawing import Spec
from cranfield.show.look import DARK, LIGHT
from cranfield.show.pictures import picture

# Notebooks have their own rules for tables; ours name the class twice, so that they take precedence.
DARK_PAGES = (
    'body[data-jp-theme-light="false"]',
    "body.vscode-dark",
    "body.vscode-high-contrast",
    'html[theme="dark"]',
    'html[data-theme="dark"]',
    'body[data-theme="dark"]',
)
_RULES = """
.cranfield { color: var(--ink); font: 13px/1.45 system-ui, -apple-system, "Segoe UI", "Helvetica Neue", sans-serif;
  font-variant-numeric: tabular-nums; max-width: 60rem; }
.cranfield.cranfield table { border-collapse: collapse; border: 0; margin: 0.5em 0; font-size: 13px;
  table-layout: auto; }
.cranfield.cranfield table tr { background: none; }
.cranfield.cranfield table th, .cranfield.cranfield table td { padding: 4px 14px 4px 0; border: 0; color: var(--ink);
  border-bottom: 1px solid var(--line); background: none; vertical-align: top; text-align: left; max-width: 36em;
  overflow-wrap: anywhere; }
.cranfield.cranfield table th { color: var(--soft); font-weight: 550; white-space: nowrap; }
.cranfield.cranfield table .n { text-align: right; white-space: nowrap; }
.cranfield p { margin: 0.4em 0; }
.cranfield .headline { font-size: 15px; font-weight: 600; }
.cranfield .note { color: var(--soft); font-size: 12px; overflow-wrap: anywhere; }
.cranfield .badge, .cranfield .grade { border-radius: 5px; padding: 1px 7px; font-weight: 600; white-space: nowrap; }
.cranfield .better { color: var(--better); } .cranfield .badge.better { background: var(--better-ground); }
.cranfield .worse { color: var(--worse); } .cranfield .badge.worse { background: var(--worse-ground); }
.cranfield .close { color: var(--close); } .cranfield .badge.close { background: var(--close-ground); }
.cranfield .g3 { background: var(--grade-3); color: var(--on-grade-3); }
.cranfield .g2 { background: var(--grade-2); color: var(--on-grade-2); }
.cranfield .g1 { background: var(--grade-1); color: var(--on-grade-1); }
.cranfield .g0 { background: var(--grade-0); color: var(--on-grade-0); }
.cranfield .grade.none { border: 1px dashed var(--faint); color: var(--faint); }
.cranfield pre { color: var(--ink); background: none; border: 0; padding: 0; margin: 0.4em 0; white-space: pre-wrap;
  font: 12.5px/1.45 ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
.cranfield svg { max-width: 100%; height: auto; background: none; }
"""


def _tokens(colours: dict[str, str]) -> str:
    return " ".join(f"--{name}: {colour};" for name, colour in colours.items())


def frame(*parts: str) -> str:
    """Parts of HTML as one piece, in the look of all pages, that changes nothing around it."""
    dark = ", ".join(f"{page} .cranfield" for page in DARK_PAGES)
    style = f".cranfield {{ {_tokens(LIGHT)} }}\n{dark} {{ {_tokens(DARK)} }}{_RULES}"
    return f'<div class="cranfield"><style>{style}</style>{"".join(parts)}</div>'


@dataclass(frozen=True)
class HtmlCell:
    """A text in a table, and the classes that say how it looks."""

    text: str
    kind: str = ""

    def html(self) -> str:
        """The text, marked."""
        return f'<span class="{self.kind}">{escape(self.text)}</span>' if self.kind else escape(self.text)


def grade_cell(grade: float | None) -> HtmlCell:
    """A grade in its colour; none where a document is not judged."""
    if grade is None:
        return HtmlCell("?", "grade none")
    return HtmlCell(f"{grade:g}", f"grade g{min(max(int(grade), 0), 3)}")


def table(head: Sequence[str], rows: Iterable[Sequence[str | HtmlCell]], words: Sequence[int] = (0,)) -> str:
    """A table; columns of words are aligned left, all others hold numbers."""

    def side(at: int) -> str:
        return "" if at in words else ' class="n"'

    def line(row: Sequence[str | HtmlCell]) -> str:
        cells = (each if isinstance(each, HtmlCell) else HtmlCell(each) for each in row)
        return "".join(f"<td{side(at)}>{cell.html()}</td>" for at, cell in enumerate(cells))

    heads = "".join(f"<th{side(at)}>{escape(name)}</th>" for at, name in enumerate(head))
    body = "".join(f"<tr>{line(row)}</tr>" for row in rows)
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"


def paragraph(text: str, kind: str = "") -> str:
    """A text as a paragraph."""
    named = f' class="{kind}"' if kind else ""
    return f"<p{named}>{escape(text)}</p>" if text else ""


def notes(texts: Iterable[str]) -> str:
    """Texts in small letters, each in a line of its own."""
    lines = "<br>".join(escape(text) for text in texts if text)
    return f'<p class="note">{lines}</p>' if lines else ""


def chart(drawn: Callable[[], Spec]) -> str:
    """A picture in the colours of the notebook around it; nothing without the libraries that draw it."""
    try:
        svg = picture({**drawn(), "padding": 4}, "svg").decode()
    except MissingLibrary:
        return ""
    names = {LIGHT[name]: name for name in reversed(LIGHT)}
    rules = "".join(
        f'.cranfield [{part}="{colour}"] {{ {part}: var(--{names[colour]}); }}\n'
        for part, colour in sorted(set(re.findall(r' (fill|stroke)="(#[0-9a-f]{6})"', svg)))
        if colour in names
    )
    return f"<style>{rules}</style><p>{svg}</p>"
