"""The parts that charts are made of, as Vega-Lite writes them: plain dicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

ChartPart = dict[str, Any]
ChartRows = Sequence[Mapping[str, Any]]
TYPES = {"N": "nominal", "O": "ordinal", "Q": "quantitative"}


def channel(field: str, **options: Any) -> ChartPart:
    """What a position, a colour or a text shows: a field of the rows, and the type of its values.

    >>> channel("run:N", title=None)
    {'field': 'run', 'type': 'nominal', 'title': None}
    >>> channel("high")  # the other end of something that has a type
    {'field': 'high'}
    """
    name, _, kind = field.partition(":")
    return {"field": name, **({"type": TYPES[kind]} if kind else {}), **options}


def fixed(value: Any) -> ChartPart:
    """A channel that does not depend on the rows."""
    return {"value": value}


def scale(ends: Sequence[float]) -> ChartPart:
    """The scale of an axis from one end to the other."""
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

    >>> layer("rule", {"strokeWidth": 1}, y="mean:Q")
    {'mark': {'type': 'rule', 'strokeWidth': 1}, 'encoding': {'y': {'field': 'mean', 'type': 'quantitative'}}}
    """
    found: ChartPart = {} if rows is None else data(rows)
    found["mark"] = {"type": mark, **look}
    found["encoding"] = encoding(**channels)
    return {**found, "transform": list(steps)} if steps else found


def encoding(**channels: Any) -> ChartPart:
    """Channels by name; texts are those of `channel`, in lists too."""

    def whole(each: Any) -> Any:
        if isinstance(each, list):
            return [whole(part) for part in each]
        return channel(each) if isinstance(each, str) else each

    return {name: whole(each) for name, each in channels.items()}


def data(rows: ChartRows) -> ChartPart:
    """The rows of a chart or of a layer."""
    return {"data": {"values": list(rows)}}


def calculate(**expressions: str) -> list[ChartPart]:
    """Steps that add a field each."""
    return [{"calculate": expression, "as": name} for name, expression in expressions.items()]


def flatten(*fields: str) -> ChartPart:
    """A step that makes rows of columns."""
    return {"flatten": list(fields)}
