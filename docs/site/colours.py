"""Writes docs/site/colours.css: the colours of `cranfield.look`, for the two schemes of the site."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from cranfield.look import DARK, LIGHT


def sheet() -> str:
    """The colours as custom properties of CSS."""
    return (
        "/* Written by docs/site/colours.py (make pages) from src/cranfield/look.py. */\n"
        f"{_properties(':root, [data-md-color-scheme=default]', LIGHT)}"
        f"{_properties('[data-md-color-scheme=slate]', DARK)}"
    )


def _properties(selector: str, colours: Mapping[str, str]) -> str:
    lines = "".join(f"  --{name}: {colour};\n" for name, colour in colours.items())
    return f"{selector} {{\n{lines}}}\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(sheet(), encoding="utf-8")
