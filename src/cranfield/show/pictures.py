"""Charts as pictures: SVG, PNG, PDF."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from html import escape
from typing import Any

from cranfield.errors import MissingLibrary, OutputError, need
from cranfield.show.charts.drawing import HEIGHT, Spec

COLUMN_WIDTHS = {1: 240, 2: 504}  # points: a column of a two-column paper, and the whole of its width
FORMATS = ("svg", "png", "pdf", "json")
DOTS = 300  # per inch, of a PNG


def save_chart(
    spec: Mapping[str, Any], path: str | os.PathLike[str], *, columns: int | None = None, title: bool = True
) -> None:
    """Write a chart as a picture: SVG, PNG (300 dots an inch), PDF, or JSON for the specification itself.

    columns: make it as wide as one column of a two-column paper, or as both (2).
    title: without it, for a figure that has a caption.
    spec: what `draw_chart` returns.
    path: the file to write; its extension says what kind of picture.

    >>> import cranfield, os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_chart(cranfield.draw_chart("discount"), f"{folder}/discount.svg", columns=1)
    ...     os.path.getsize(f"{folder}/discount.svg") > 1000
    True
    """
    from cranfield.read.target import open_target

    name = os.fspath(path)
    ending = os.path.splitext(name)[1].lower().removeprefix(".")
    if ending not in FORMATS:
        raise OutputError(
            name,
            f"unsupported image format '.{ending}'." if ending else "the name has no extension.",
            hint=f"end it in {', '.join(f'.{each}' for each in FORMATS[:-1])} or .{FORMATS[-1]}",
        )
    shown = spec if columns is None else sized(spec, columns)
    content = picture(shown if title else {name: part for name, part in shown.items() if name != "title"}, ending)
    with open_target(name, force=True) as target, target.opened() as file:
        file.write(content)


def picture(spec: Mapping[str, Any], format: str) -> bytes:
    """A chart as the bytes of a picture."""
    if format == "json":
        return json.dumps(spec, indent=2, ensure_ascii=False, allow_nan=False).encode(errors="backslashreplace")
    converter = need("vl_convert", extra="report", purpose="drawing pictures")
    # Half of a character, as in a file name that is not UTF-8, cannot be drawn.
    text = json.dumps(spec if format != "png" else {**spec, "background": "white"}, ensure_ascii=False)
    drawn = text.encode(errors="replace").decode()
    if format == "svg":
        svg: str = converter.vegalite_to_svg(drawn)
        words = [f"{spec['title']}."] if "title" in spec else []
        told = escape(" ".join([*words, spec.get("description", "")]))  # for those who do not see it
        return svg.replace("<svg ", f'<svg role="img" aria-label="{told}" ', 1).encode(errors="replace")
    if format == "pdf":
        return bytes(converter.vegalite_to_pdf(drawn))
    return bytes(converter.vegalite_to_png(drawn, ppi=DOTS))


def shown_in_notebook(spec: Mapping[str, Any]) -> str | None:
    """A chart as SVG on white, readable on a dark page too; None where the library that draws it is not installed."""
    try:
        return picture({**spec, "background": "white", "padding": 8}, "svg").decode()
    except MissingLibrary:
        return None


def sized(spec: Mapping[str, Any], columns: int) -> Spec:
    """A chart as wide as one or two columns of a paper, with letters that fit it."""
    if columns not in COLUMN_WIDTHS:
        raise OutputError("the chart", f"a paper has no {columns} columns.", hint="columns are 1 or 2")
    width = COLUMN_WIDTHS[columns]
    small = {"labelFontSize": 7, "titleFontSize": 8}
    config = {
        **spec.get("config", {}),
        "axis": {**spec.get("config", {}).get("axis", {}), **small},
        "legend": {**spec.get("config", {}).get("legend", {}), **small, "labelLimit": width // 2 - 20},
        "title": {"anchor": "start", "fontSize": 9, "limit": width},
    }
    height = spec["height"]
    if not isinstance(height, dict):
        height += round(width * (0.75 if columns == 1 else 0.45)) - HEIGHT
    fit = {"type": "fit-x" if isinstance(height, dict) else "fit", "contains": "padding"}
    return Spec(spec, width=width, height=height, padding=2, autosize=fit, config=config)
