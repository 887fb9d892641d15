"""What all charts are drawn with: colours, dashes, scales, and the specification they become."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cranfield.errors import CranfieldError, need


class Spec(dict[str, Any]):
    """A Vega-Lite specification: a plain dict that notebooks show as a picture."""

    def _repr_svg_(self) -> str | None:
        from cranfield.show.pictures import shown_in_notebook

        return shown_in_notebook(self)


COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F", "#B8A800")
DASHES = ((1, 0), (6, 2), (2, 2), (8, 2, 2, 2))
WIDTH, HEIGHT, LINE = 420, 260, 16  # of a chart, and of each line of its legend after the first
CONFIG: dict[str, Any] = {
    "background": None,
    "font": "Helvetica, Arial, Liberation Sans, sans-serif",
    "view": {"stroke": None},
    "axis": {"gridOpacity": 0.4, "titleFontWeight": "normal"},
    "title": {"anchor": "start", "fontSize": 13},
    "legend": {
        "symbolType": "stroke",
        "symbolStrokeWidth": 2,
        "symbolSize": 300,
        "symbolOpacity": 1,
        "labelLimit": 300,
        "offset": 6,
    },
}


def altair() -> Any:
    """The library that makes specifications."""
    return need("altair", extra="report", purpose="drawing charts")


def lines(alt: Any, rows: Sequence[dict[str, Any]], names: Mapping[str, Any]) -> Any:
    """Lines with points, one for each name, told apart by colour and by dashes."""
    order = list(names)
    return (
        alt.Chart(alt.Data(values=list(rows)))
        .mark_line(point=alt.OverlayMarkDef(size=28, filled=True), strokeWidth=2)
        .encode(
            color=alt.Color("run:N", title=None, sort=order, scale=colour_scale(alt, order), legend=legend(alt, order)),
            strokeDash=alt.StrokeDash(
                "run:N", title=None, sort=order, scale=dash_scale(alt, order), legend=legend(alt, order)
            ),
        )
    )


def share_scale(alt: Any, rows: Sequence[Mapping[str, Any]], name: str) -> Any:
    """The scale of values between 0 and 1: all of it, unless they fill less than half."""
    top = share_top(max((row[name] for row in rows), default=1.0))
    return alt.Scale(domain=[0, 1]) if top == 1 else alt.Scale(zero=True)


def share_top(highest: float) -> float:
    """Where such a scale ends, about.

    >>> share_top(0.7), share_top(0.2), share_top(0.0)
    (1.0, 0.2, 1.0)
    """
    return highest if 0 < highest < 0.5 else 1.0


def legend(alt: Any, names: Sequence[str]) -> Any:
    """The names below the chart."""
    return alt.Legend(orient="bottom", columns=_legend_columns(names))


def _legend_columns(names: Sequence[str]) -> int:
    return 2 if len(names) <= 4 or max(map(len, names)) > 16 else 3


def colour_scale(alt: Any, names: Any) -> Any:
    """A colour for each name."""
    order = list(names)
    return alt.Scale(domain=order, range=[COLOURS[at % len(COLOURS)] for at in range(len(order))])


def dash(at: int) -> tuple[int, ...]:
    """The dashes of a line; those that share a colour differ in them.

    >>> dash(0), dash(len(COLOURS))
    ((1, 0), (6, 2))
    """
    return DASHES[(at + at // len(COLOURS)) % len(DASHES)]


def dash_scale(alt: Any, names: Any) -> Any:
    """Dashes for each name."""
    order = list(names)
    return alt.Scale(domain=order, range=[list(dash(at)) for at in range(len(order))])


def specification(chart: Any, title: str, description: str, names: Iterable[str] = ()) -> Spec:
    """A chart as a dict that holds its own data, with its title, what it says in words, and room for a legend."""
    listed = list(names)
    rows = -(-len(listed) // _legend_columns(listed)) if listed else 0
    spec: dict[str, Any] = chart.properties(
        title=title, description=description, width=WIDTH, height=HEIGHT + LINE * max(rows - 1, 0)
    ).to_dict(validate=False)
    spec["config"] = CONFIG
    datasets: dict[str, Any] = spec.pop("datasets", {})
    for part in (spec, *spec.get("layer", ())):
        name = part.get("data", {}).get("name")
        if name in datasets:
            part["data"] = {"values": datasets[name]}
    for part in (spec, *spec.get("layer", ())):
        part.pop("name", None)
    # Names become parts of Vega's expressions, where these two signs would end a line inside a string.
    try:
        text = json.dumps(spec, ensure_ascii=False, allow_nan=False)
    except ValueError:
        raise CranfieldError(f"{title}: some numbers are too large to draw.", hint="use smaller grades") from None
    return Spec(json.loads(text.replace("\u2028", "\ufffd").replace("\u2029", "\ufffd")))
