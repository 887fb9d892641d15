"""Charts as pictures: SVG, PNG, PDF."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from html import escape
from typing import Any

from cranfield.errors import MissingLibrary, OutputError
from cranfield.look import DARK, LIGHT
from cranfield.show.charts.parts import NOTE, Spec
from cranfield.show.layout import wrapped
from cranfield.show.renderer import render
from cranfield.words import visible

COLUMN_WIDTHS = {1: 240, 2: 504}  # points: a column of a two-column paper, and the whole of its width
PAPER = "paper"  # among a specification's notes: that its lengths are points of a page, not pixels of a screen
FORMATS = ("svg", "png", "pdf", "json")
DOTS = 300  # per inch, of a PNG
TITLE, LETTER = 64, 6.5  # columns of a title above a chart of the usual width, and the pixels that one takes
# The picture is described as a whole. Vega-Lite would describe each mark by an expression in which it forgets to quote
# backslashes: a name that contains "\\u0000" would become one that XML forbids.
UNNAMED = {"aria": False, "mark": {"aria": False}}
# Where a text is too long, Vega cuts it between the two halves of such a character, which vl-convert then refuses.
BEYOND = re.compile("[\U00010000-\U0010ffff]")
UNPARSED = {"if": "if\N{NO-BREAK SPACE}"}  # Vega's expressions take this text, even in quotes, for the function `if`
LIMITS = ("limit", "labelLimit", "titleLimit")  # 0 is none
LIMITED = {part: dict.fromkeys(LIMITS[1:], 0) for part in ("axis", "legend", "header")} | {"title": {"limit": 0}}
_WITHOUT_COLOURS = frozenset({"data", "domain", "sort", "values"})  # names, which may be any


def picture(spec: Mapping[str, Any], format: str) -> bytes:
    if format == "json":
        return json.dumps(spec, indent=2, ensure_ascii=False, allow_nan=False).encode(errors="backslashreplace")
    if PAPER not in spec.get("usermeta", {}):
        spec = _titled(spec, round(spec["width"] / LETTER) if isinstance(spec.get("width"), int | float) else TITLE)
    spec = drawable({**spec, "config": _merged(spec.get("config", {}), UNNAMED)})
    if BEYOND.search(json.dumps(spec, ensure_ascii=False)):
        spec = _unlimited({**spec, "config": _merged(spec["config"], LIMITED)})
    paper = {"background": spec.get("background") or LIGHT["paper"]} if format == "png" else {}
    options = {"ppi": DOTS} if format == "png" else {}
    drawn = render(f"vegalite_to_{format}", json.dumps({**spec, **paper}), **options)
    if format != "svg":
        return drawn
    svg = drawn.decode()
    description = escape(" ".join([*_title(spec), spec.get("description", "")]))  # for screen readers
    svg = svg.replace("<svg ", f'<svg role="img" aria-label="{description}" ', 1)
    if PAPER in spec.get("usermeta", {}):
        svg = re.sub(r'(<svg[^>]*?) width="([\d.]+)" height="([\d.]+)"', r'\1 width="\2pt" height="\3pt"', svg, count=1)
    return svg.encode()


def drawn_svg(svg: str, format: str) -> bytes:
    """A drawing of our own as SVG or PNG, without characters that XML forbids."""
    svg = visible(svg, keep="\n")
    return svg.encode() if format == "svg" else render("svg_to_png", svg)


def drawable(part: Any) -> Any:
    """A specification, with its names, without characters that XML forbids: vl-convert measures texts as SVG."""
    if isinstance(part, str):
        return UNPARSED.get(part) or visible(part, keep="\t\n\r")  # allowed, and part of expressions and titles
    if isinstance(part, Mapping):
        return {drawable(name): drawable(its) for name, its in part.items()}
    return [drawable(item) for item in part] if isinstance(part, list | tuple) else part


def _unlimited(part: Any) -> Any:
    """A specification in which no text is too long for its place."""
    if isinstance(part, Mapping):
        whole = {name: its if name in _WITHOUT_COLOURS else _unlimited(its) for name, its in part.items()}
        return {**whole, **{name: 0 for name in LIMITS if name in whole}}
    return [_unlimited(item) for item in part] if isinstance(part, list) else part


def _title(spec: Mapping[str, Any]) -> list[str]:
    lines = spec.get("title", [])
    return [f"{lines if isinstance(lines, str) else ' '.join(lines)}."] if lines else []


def on_paper(spec: Mapping[str, Any]) -> str | None:
    """A chart as SVG on white, readable on a dark page too; None where it cannot be drawn."""
    try:
        return picture({**spec, "background": LIGHT["paper"], "padding": 8}, "svg").decode()
    except (MissingLibrary, OutputError):
        return None


def darkened(spec: Mapping[str, Any]) -> Spec:
    dark = {LIGHT[name]: DARK[name] for name in reversed(LIGHT)}  # of names that share a colour, the first counts

    def turned(part: Any) -> Any:
        if isinstance(part, str):
            return dark.get(part, part)
        if isinstance(part, Mapping):
            return {name: its if name in _WITHOUT_COLOURS else turned(its) for name, its in part.items()}
        return [turned(item) for item in part] if isinstance(part, list | tuple) else part

    return Spec(turned(spec), background=DARK["paper"])


def sized(spec: Mapping[str, Any], columns: int) -> Spec:
    """A chart as wide as one or two columns of a paper, with letters that fit it."""
    if columns not in COLUMN_WIDTHS:
        raise OutputError("the chart", f"a paper has no {columns} columns.", hint="columns are 1 or 2")
    width = COLUMN_WIDTHS[columns]
    sizes = {
        "axis": {"labelFontSize": 7, "titleFontSize": 8, "titlePadding": 5, "labelLimit": width // 3},
        "legend": {"labelFontSize": 7, "labelLimit": width - 40},
        "title": {"fontSize": 9, "limit": width - 4, "offset": 8},
        "style": {NOTE: {"fontSize": 7}},
    }
    height = spec["height"]
    if isinstance(height, dict):
        height = {"step": round(height["step"] * 0.75, 1)}
    else:
        share = (1.5 if _turned(spec) else 1.2) if columns == 1 else 0.75  # names that are turned take height, too
        height = round(width * height / spec["width"] * share)
    fit = {"type": "fit-x" if isinstance(height, dict) else "fit", "contains": "padding"}
    config = _merged(spec.get("config", {}), sizes)
    spec = _titled(spec, width // 5)  # a letter is about 5 points wide
    # Vega fits a chart before it knows exactly how far names that are turned reach to the left.
    padding = {"left": 8, "right": 2, "top": 2, "bottom": 2} if _turned(spec) else 2
    return Spec(
        spec, width=width, height=height, padding=padding, autosize=fit, config=config, usermeta={PAPER: columns}
    )


def _titled(spec: Mapping[str, Any], width: int) -> Mapping[str, Any]:
    """A chart with the lines of its title no longer than so many columns."""
    title = spec.get("title")
    if not title or isinstance(title, Mapping):  # one of your own, with its own look
        return spec
    lines = [title] if isinstance(title, str) else title
    return {**spec, "title": [part for line in lines for part in wrapped(line, width=width)] or ""}


def _turned(spec: Mapping[str, Any]) -> bool:
    return any(
        part.get("encoding", {}).get("x", {}).get("axis", {}).get("labelAngle") for part in spec.get("layer", ())
    )


def _merged(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**one}
    for name, part in other.items():
        merged[name] = _merged(merged.get(name, {}), part) if isinstance(part, Mapping) else part
    return merged
