"""What a chart is: its name, what it shows, and what it is made of. Each has a file of its own beside this one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from cranfield.evaluation.estimating import SAME
from cranfield.evaluation.result import Evaluation
from cranfield.look import LIGHT
from cranfield.measures import Measure
from cranfield.show.charts.parts import NOTE, ChartPart, ChartRows, Spec, calculate, fixed, layer


@dataclass(frozen=True)
class Chart:
    name: str
    meaning: str  # in a few words, for help and documentation
    draw: Callable[..., Spec]  # from what `of` names
    # Evaluations and a measure, what `rank_curves`, `standings`, `frontier` or `stability` found, or nothing.
    of: Literal["evaluations", "curves", "standings", "frontier", "stability", "nothing"] = "evaluations"
    usual: tuple[str, ...] = ("nDCG@10",)  # the measures it shows by default
    only: str | None = None  # the name of the one measure it can show
    needed: Callable[[Measure], Sequence[Measure]] | None = None  # what is evaluated to show a measure, if not itself
    runs: int | None = None  # how many it takes, where that matters
    options: tuple[str, ...] = ()  # of its own


def shared_values(results: Sequence[Evaluation], measure: Any) -> dict[str, tuple[float, float]]:
    one, other = (result.by_query(measure) for result in results)
    return {query: (value, other[query]) for query, value in one.items() if query in other}


def counts(gain: str, rows: ChartRows | None = None) -> list[ChartPart]:
    """How many queries are better, the same and worse, in a line above the chart; gain: an expression of its data."""
    counted = [
        *calculate(up=f"{gain} > {SAME} ? 1 : 0", down=f"{gain} < -{SAME} ? 1 : 0"),
        {"aggregate": [{"op": "count", "as": "n"}, *({"op": "sum", "field": w, "as": w} for w in ("up", "down"))]},
    ]
    texts = (
        ("better", "left", 0, "'▲ ' + format(datum.up, ',') + ' better'"),
        ("soft", "center", {"expr": "width / 2"}, "format(datum.n - datum.up - datum.down, ',') + ' the same'"),
        ("worse", "right", "width", "'▼ ' + format(datum.down, ',') + ' worse'"),
    )
    layers = []
    for colour, align, x, text in texts:
        look = {"style": NOTE, "baseline": "bottom", "fontWeight": "bold", "dy": -8, "align": align}
        channels: dict[str, Any] = {"x": fixed(x), "y": fixed(0), "text": "told:N", "color": fixed(LIGHT[colour])}
        layers.append(layer("text", look, rows=rows, steps=[*counted, *calculate(told=text)], **channels))
    return layers
