"""What the build of the site does beyond MkDocs: formulas become MathML, and Learn lists the chapters there are."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert

_FORMULA = re.compile(r'<(?:span|div) class="arithmatex">\\([\[(])(.*?)\\[\])]</(?:span|div)>', re.S)


def on_page_content(content: str, **_: Any) -> str:
    """Turn formulas into MathML, which browsers draw by themselves."""
    return _FORMULA.sub(_mathml, content)


def _mathml(found: re.Match[str]) -> str:
    display = "block" if found[1] == "[" else "inline"
    return convert(html.unescape(found[2]).strip(), display=display)


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
