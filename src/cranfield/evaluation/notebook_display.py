"""How notebooks draw results."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def notebook_html(kind: str, result: Any) -> str:
    """A result as HTML; kind: the function that makes it, in show/notebook.py.

    Notebooks ask the results themselves, but drawing belongs to a room that knows all results, so the function is
    imported by name when needed.
    """
    html: str = getattr(import_module("cranfield.show.notebook"), kind)(result)
    return html
