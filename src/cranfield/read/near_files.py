"""Which file may have been meant by a name that no file has."""

from __future__ import annotations

import os
from collections.abc import Iterable

from cranfield.errors import nearest


def near_file(path: str, others: Iterable[str] = ()) -> str:
    """A hint at the file in the same folder, or at the one of `others`, whose name is nearest; empty where none is.

    >>> near_file("bultin", ["builtin"]), near_file("/no/such/folder/x.run")
    ('did you mean builtin?', '')
    """
    folder, name = os.path.split(path)
    try:
        beside = sorted(each for each in os.listdir(folder or ".") if each[0] != ".")
    except (OSError, ValueError):  # a name may hold what no file can be called
        beside = []
    near = nearest(name, [*(() if folder else others), *beside]) if name else ""
    return f"did you mean {os.path.join(folder, near)}?" if near else ""
