"""A Markdown extension of the site: formulas become MathML, which browsers draw by themselves."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from xml.etree import ElementTree

from latex2mathml.converter import convert
from markdown import Extension, Markdown
from markdown.postprocessors import Postprocessor

_MATH = "{http://www.w3.org/1998/Math/MathML}"
ElementTree.register_namespace("", _MATH[1:-1])
_FORMULA = re.compile(r'<(?:span|div) class="arithmatex">\\([\[(])(.*?)\\[\])]</(?:span|div)>', re.S)


class Formulas(Extension):
    """What `pymdownx.arithmatex` marks as a formula, drawn."""

    def extendMarkdown(self, md: Markdown) -> None:  # the name that Markdown calls
        """Run last, on the finished HTML."""
        md.postprocessors.register(_Drawing(md), "formulas", -1)


class _Drawing(Postprocessor):
    def run(self, text: str) -> str:
        return _FORMULA.sub(_mathml, text)


def _mathml(found: re.Match[str]) -> str:
    formula = html.unescape(found[2]).strip()
    if found[1] == "(":
        return convert(formula, display="inline")
    [row] = ElementTree.fromstring(convert(formula, display="block"))
    return f'<div class="formula">{"".join(_parts(row))}</div>'


def _parts(row: ElementTree.Element) -> Iterator[str]:
    """A formula as pieces of MathML and the words between them, where a line may break; MathML alone breaks none."""
    piece = _piece()
    for part in row:
        words = (part.text or "").replace("\xa0", " ")
        if part.tag == f"{_MATH}mtext" and " " in words.strip():
            yield from filter(None, (_text(piece), html.escape(words)))
            piece = _piece()
        else:
            piece.append(part)
    yield _text(piece)


def _piece() -> ElementTree.Element:
    return ElementTree.Element(f"{_MATH}math", displaystyle="true")


def _text(piece: ElementTree.Element) -> str:
    return ElementTree.tostring(piece, encoding="unicode") if len(piece) else ""


def makeExtension(**_: object) -> Formulas:  # the name that Markdown looks for
    """The extension, as Markdown asks for it."""
    return Formulas()
