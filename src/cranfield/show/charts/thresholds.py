"""What thresholds do: how many queries are rightly empty, by how many are wrongly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cranfield.errors import CranfieldError
from cranfield.evaluation.answering import Answering
from cranfield.evaluation.result import Evaluation
from cranfield.measures import Measure
from cranfield.show.charts.chart import Chart
from cranfield.show.charts.parts import TICKS, Spec, channel, scale, specification
from cranfield.show.charts.runs import best_of, emphasised, lines

SHARES = [0.0, 1.0]
TITLE = "Thresholds: queries without and with an answer"


def thresholds_chart(answers: Mapping[str, Answering], *, highlight: Sequence[str] = ()) -> Spec:
    """A line for each run, {run: answering}, with a point for each threshold: the higher up on the left, the better."""
    rows: list[dict[str, Any]] = [
        {"run": run, **point._asdict()} for run, its in answers.items() for point in its.curve
    ]
    best = best_of({run: max((point.value for point in its.curve), default=0.0) for run, its in answers.items()})
    axis = {"tickCount": TICKS, "format": "~%"}
    x = channel("wrongly_empty:Q", title="wrongly empty: queries with an answer", axis=axis, scale=scale(SHARES))
    y = channel("rightly_empty:Q", title="rightly empty: queries without one", axis=axis, scale=scale(SHARES))
    numbers = ("threshold", "rightly_empty", "wrongly_empty", "answered", "value")
    told = ["run:N", *(channel(f"{name}:Q", format=".3g") for name in numbers)]
    shown = emphasised(list(answers), highlight, best)
    chart = lines(rows, list(answers), "wrongly_empty", "rightly_empty", SHARES, shown=shown, x=x, y=y, tooltip=told)
    return specification(chart, TITLE, "; ".join(f"{run}: {_told(its)}" for run, its in answers.items()) + ".")


def _told(its: Answering) -> str:
    half = next((point for point in its.curve if point.rightly_empty >= 0.5), None)
    if half is None:
        return "half of the queries without an answer are never empty"
    return f"where {half.rightly_empty:.0%} are rightly empty, {half.wrongly_empty:.0%} are wrongly"


def by_threshold(results: Sequence[Evaluation], measure: Measure, *, highlight: Sequence[str] = ()) -> Spec:
    answers = {result.run: result.answering for result in results if result.answering is not None}
    if not answers:
        hint = "give the column 'answerable' of the queries"
        raise CranfieldError("this chart is about queries without an answer, and none is known.", hint=hint)
    return thresholds_chart(answers, highlight=highlight)


CHART = Chart(
    name="thresholds",
    meaning="what thresholds leave rightly and wrongly empty",
    draw=by_threshold,
    options=("highlight",),
)
