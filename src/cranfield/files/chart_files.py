"""Charts as files: SVG, PNG, PDF, or the specification itself."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from cranfield.errors import OutputError
from cranfield.layout import joined
from cranfield.read.target import open_target
from cranfield.show.pictures import FORMATS, darkened, picture, sized


def save_chart(
    spec: Mapping[str, Any],
    path: str | os.PathLike[str],
    *,
    columns: int | None = None,
    title: bool = True,
    dark: bool = False,
) -> None:
    """Write a chart as a picture: SVG, PNG (300 dots an inch), PDF, or JSON for the specification itself.

    spec: what `draw_chart` returns.
    path: the file to write; its extension chooses the format.
    columns: make it as wide as one column of a two-column paper, or as both (2).
    title: False leaves it out, for a figure that has a caption.
    dark: use colours for a dark page or slide.

    >>> import cranfield, os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_chart(cranfield.draw_chart("discount"), f"{folder}/discount.svg", columns=1)
    ...     os.path.getsize(f"{folder}/discount.svg") > 1000
    True
    """
    name = os.fspath(path)
    ending = os.path.splitext(name)[1].lower().removeprefix(".")
    if ending not in FORMATS:
        raise OutputError(
            name,
            f"unsupported image format '.{ending}'." if ending else "the file name has no extension.",
            hint=f"end it in {joined((f'.{each}' for each in FORMATS), 'or')}",
        )
    shown = spec if columns is None else sized(spec, columns)
    shown = darkened(shown) if dark else shown
    content = picture(shown if title else {name: part for name, part in shown.items() if name != "title"}, ending)
    with open_target(name, force=True) as target, target.opened() as file:
        file.write(content)
