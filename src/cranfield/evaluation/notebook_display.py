"""How results get to what draws them in notebooks."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def notebook_html(kind: str, result: Any) -> str:
    """A result as HTML; kind: the function that makes it, in show/notebook.py.

    Notebooks ask the results themselves, but drawing belongs to a room that knows all results, so it is found by its
    name at that moment.
    """
    html: str = getattr(import_module("cranfield.show.notebook"), kind)(result)
    return html
