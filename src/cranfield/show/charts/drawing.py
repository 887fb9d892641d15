"""What all charts share: the look of axes, letters and lines, and the specification they become."""

from __future__ import annotations

import json
from typing import Any

from cranfield.errors import CranfieldError
from cranfield.show.charts.fonts import LATIN, fonts_for
from cranfield.show.charts.parts import ChartPart, fixed, layer
from cranfield.show.look import LIGHT


class Spec(dict[str, Any]):
    """A Vega-Lite specification: a plain dict that notebooks show as a picture."""

    def __repr__(self) -> str:
        return f"<chart: {self.get('title', 'without a title')}>"

    def _repr_html_(self) -> str | None:
        from cranfield.show.notebook import chart_html

        return chart_html(self)

    def _repr_svg_(self) -> str | None:
        from cranfield.show.pictures import on_paper

        return on_paper(self)


SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
WIDTH, HEIGHT, LINE = 420, 260, 16  # of a chart, and of each line of its legend after the first
COLOURS = tuple(LIGHT[f"run-{number}"] for number in range(1, 9))  # of runs
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


def remark(text: str) -> ChartPart:
    """A few words above a chart, on the right."""
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
