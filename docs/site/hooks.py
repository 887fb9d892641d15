"""What the build of the site does beyond MkDocs: formulas become MathML, and Learn lists the chapters there are."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from latex2mathml.converter import convert

_MATH = "{http://www.w3.org/1998/Math/MathML}"
ElementTree.register_namespace("", _MATH[1:-1])
_FORMULA = re.compile(r'<(?:span|div) class="arithmatex">\\([\[(])(.*?)\\[\])]</(?:span|div)>', re.S)


def on_page_content(content: str, **_: Any) -> str:
    """Turn formulas into MathML, which browsers draw by themselves."""
    return _FORMULA.sub(_mathml, content)


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


def on_config(config: Any) -> Any:
    """Fill Learn with the chapters in the order of their file names, the overview first."""
    learn = Path(config["docs_dir"], "learn")
    pages = sorted(learn.glob("*.md"), key=lambda page: (page.stem != "index", page.name))
    config["nav"] = [
        {"Learn": [f"learn/{page.name}" for page in pages]} if "Learn" in entry else entry
        for entry in config["nav"]
        if pages or "Learn" not in entry
    ]
    return config
