"""Suggest a file for a mistyped name."""

from __future__ import annotations

import os
from collections.abc import Iterable

from cranfield.errors import nearest


def near_file(path: str, others: Iterable[str] = ()) -> str:
    """A hint that names the most similar file in the same folder, or in `others`; empty if none is similar."""
    folder, name = os.path.split(path)
    try:
        beside = sorted(each for each in os.listdir(folder or ".") if each[0] != ".")
    except (OSError, ValueError):  # a name may contain characters that no file name can have
        beside = []
    near = nearest(name, [*(() if folder else others), *beside]) if name else ""
    if not nearest(_stem(name), [_stem(near)]):  # a common extension alone makes no two names similar
        near = ""
    return f"did you mean {os.path.join(folder, near)}?" if near else ""


def _stem(name: str) -> str:
    return os.path.splitext(name)[0]
