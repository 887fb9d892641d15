"""What charts are made of: parts as Vega-Lite writes them, ends and ticks of axes, fonts, and the look of all."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from math import ceil, floor, inf, isfinite, log10, sqrt
from typing import Any

from cranfield.errors import CranfieldError
from cranfield.look import LIGHT
from cranfield.words import columns, shortened

# Helvetica and Liberation Sans have Arial's widths, so text measured here fits wherever it is shown.
LATIN = "Helvetica, Arial, Liberation Sans, sans-serif"
# By letters that only one script has; letters shared by Japanese and Chinese count as Chinese if they are alone.
EAST_ASIAN = (
    (re.compile("[\u3040-\u30ff\uff66-\uff9f]"), "Hiragino Sans, Yu Gothic, Noto Sans CJK JP, Noto Sans JP"),
    (re.compile("[\u1100-\u11ff\uac00-\ud7af]"), "Apple SD Gothic Neo, Malgun Gothic, Noto Sans CJK KR, Noto Sans KR"),
    (
        re.compile("[\u2e80-\u2fdf\u3400-\u9fff\uf900-\ufaff]"),
        "PingFang SC, Microsoft YaHei, Noto Sans CJK SC, Noto Sans SC, WenQuanYi Micro Hei",
    ),
)


def fonts_for(text: str) -> str:
    """The fonts of a chart in which this text is written, the best first."""
    if text.isascii():
        return LATIN
    return ", ".join([*(fonts for letters, fonts in EAST_ASIAN if letters.search(text)), LATIN])


TICKS = 5  # about
SAME = 1e-9  # values that differ by a smaller share are equal
EVERY = 12  # up to this many whole numbers, all are marked


def step(length: float, ticks: int = TICKS) -> float:
    """A round distance between ticks, 1, 2 or 5 times a power of ten: the one that Vega takes for this many ticks."""
    rough = max(length, 1e-12) / ticks
    power: float = 10.0 ** floor(log10(rough))
    factor = next((factor for above, factor in ((50, 10), (10, 5), (2, 2)) if rough / power >= sqrt(above)), 1)
    return float(f"{factor * power:.6g}")


def domain(values: Iterable[float]) -> list[float]:
    """Round ends of an axis that holds all values; it starts at 0 unless they lie far from there."""
    known = list(values)
    low, high = min(known, default=inf), max(known, default=-inf)
    if not (isfinite(low) and isfinite(high)):
        return [0.0, 1.0]
    same = high - low <= SAME * max(abs(low), abs(high))  # but for rounding
    if (low >= 0 and low < 0.6 * high) or same:
        low, high = min(low, 0.0), max(high, 0.0)
    if low == high:
        return [0.0, 1.0]
    by = step(high - low)
    return [float(f"{end:.10g}") for end in (floor(low / by + 1e-9) * by, ceil(high / by - 1e-9) * by)]


def share_domain(highest: float) -> list[float]:
    """The ends of an axis for values between 0 and 1: all of it, unless they fill less than half."""
    return domain([0.0, highest]) if 0 < highest < 0.5 else [0.0, 1.0]


def whole_ticks(first: int, last: int) -> list[int]:
    """Which of the whole numbers from the first to the last are marked; the first always is."""
    if last - first < EVERY:
        return list(range(first, last + 1))
    by = int(step(last - first))
    marked = range(-(-first // by) * by, last + 1, by)
    return [first, *(number for number in marked if number - first > by // 2)]


ChartPart = dict[str, Any]
ChartRows = Sequence[Mapping[str, Any]]
TYPES = {"N": "nominal", "O": "ordinal", "Q": "quantitative"}


def channel(field: str, **options: Any) -> ChartPart:
    """What a position, a colour or a text shows: a field of the rows, and the type of its values, as in "run:N".

    The other end of something that has a type needs none: "high".
    """
    name, _, kind = field.partition(":")
    return {"field": name, **({"type": TYPES[kind]} if kind else {}), **options}


def fixed(value: Any) -> ChartPart:
    return {"value": value}


def scale(ends: Sequence[float]) -> ChartPart:
    return {"domain": list(ends)}


def layer(
    mark: str,
    look: Mapping[str, Any],
    *,
    rows: ChartRows | None = None,
    steps: Sequence[ChartPart] = (),
    **channels: Any,
) -> ChartPart:
    """Marks of one kind.

    look: what is the same for all marks
    rows: a mark for each; by default those of the chart
    steps: what is calculated from the rows
    channels: what differs from mark to mark, by name; texts are those of `channel`
    """
    part = {**({} if rows is None else data(rows)), "mark": {"type": mark, **look}, "encoding": encoding(**channels)}
    return {**part, "transform": list(steps)} if steps else part


def encoding(**channels: Any) -> ChartPart:
    """Channels by name; texts are those of `channel`, in lists too."""

    def whole(part: Any) -> Any:
        return [*map(whole, part)] if isinstance(part, list) else channel(part) if isinstance(part, str) else part

    return {name: whole(part) for name, part in channels.items()}


def data(rows: ChartRows) -> ChartPart:
    return {"data": {"values": list(rows)}}


def calculate(**expressions: str) -> list[ChartPart]:
    return [{"calculate": expression, "as": name} for name, expression in expressions.items()]


def flatten(*fields: str) -> ChartPart:
    return {"flatten": list(fields)}


class Spec(dict[str, Any]):
    """A Vega-Lite specification: a plain dict that notebooks show as a picture."""

    def __repr__(self) -> str:
        title = self.get("title", "without a title")
        return f"<chart: {title if isinstance(title, str) else '; '.join(title)}>"

    def _repr_html_(self) -> str | None:
        from cranfield.show.notebook import chart_html

        return chart_html(self)

    def _repr_svg_(self) -> str | None:
        from cranfield.show.pictures import on_paper

        return on_paper(self)


SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
WIDTH, HEIGHT, LINE = 420, 260, 16  # of a chart, and of each line of its legend after the first
COLOURS = tuple(LIGHT[f"run-{number}"] for number in range(1, 9))  # of runs
IN_TITLE, IN_LEGEND, BESIDE = 44, 46, 22  # columns of a name in a title, in a legend and beside an axis
NOTE = "note"  # the style of texts inside a chart, so that one setting sizes them all
CONFIG: dict[str, Any] = {
    "background": None,
    "font": LATIN,
    "view": {"stroke": None},
    "axis": {
        "labelColor": LIGHT["soft"],
        "titleColor": LIGHT["ink"],
        "gridColor": LIGHT["line"],
        "domainColor": LIGHT["faint"],
        "tickColor": LIGHT["faint"],
        "titleFontWeight": "normal",
        "labelFontSize": 11,
        "titleFontSize": 12,
        "titlePadding": 8,
        "labelFlush": False,  # each label stays at its tick
        "tickSize": 4,
    },
    "axisX": {"grid": False},
    "axisY": {"domain": False, "ticks": False, "labelPadding": 6},
    "title": {"anchor": "start", "color": LIGHT["ink"], "fontSize": 13, "offset": 12},
    "legend": {
        "labelColor": LIGHT["ink"],
        "labelFontSize": 11,
        "symbolType": "stroke",
        "symbolStrokeWidth": 2,
        "symbolSize": 300,
        "symbolOpacity": 1,
        "labelLimit": 300,
        "offset": 6,
    },
    "style": {NOTE: {"fontSize": 11, "fill": LIGHT["soft"]}},
}


def brief(name: str, width: int) -> str:
    """A name for a place of so many columns, cut in the middle where it is longer."""
    return name if columns(name) <= width else shortened(name, width)


def brief_labels(names: Iterable[str], width: int) -> ChartPart:
    """For an axis or a legend: long names are cut in the middle, so that those with the same beginning differ."""
    long = [name for name in names if columns(name) > width]
    if not long:
        return {}
    known, shown = (json.dumps(texts) for texts in (long, [shortened(name, width) for name in long]))
    at = f"indexof({known}, datum.label)"
    return {"labelExpr": f"{at} < 0 ? datum.label : {shown}[{at}]"}


def remark(text: str) -> ChartPart:
    look = {"style": NOTE, "align": "right", "baseline": "bottom", "dy": -4, "text": text}
    colour = fixed(LIGHT["faint"])
    return layer("text", look, rows=[{}], x=fixed("width"), y=fixed(0), color=colour, tooltip=fixed(None))


def specification(chart: ChartPart, title: str, description: str) -> Spec:
    """A chart as a dict that holds its own data, with its title and its description in words."""
    whole = {"$schema": SCHEMA, "title": title, "description": description, "width": WIDTH, "height": HEIGHT}
    spec = {**whole, **chart, "config": CONFIG}
    # Names become part of Vega's expressions, where these two characters would end a line inside a string.
    try:
        text = json.dumps(spec, ensure_ascii=False, allow_nan=False)
    except ValueError:
        raise CranfieldError(f"{title}: some numbers are too large to draw.", hint="use smaller grades") from None
    spec = json.loads(text.replace("\u2028", "\ufffd").replace("\u2029", "\ufffd"))
    spec["config"]["font"] = fonts_for(text)
    return Spec(spec)
