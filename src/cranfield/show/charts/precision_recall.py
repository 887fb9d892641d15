"""Precision at the eleven levels of recall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cranfield.measures import Measure
from cranfield.show.charts.chart import Chart
from cranfield.show.charts.parts import TICKS, Spec, channel, scale, share_domain, specification
from cranfield.show.charts.runs import best_of, emphasised, lines

RECALLS = tuple(level / 10 for level in range(11))


def precision_recall_chart(curves: Mapping[str, Sequence[float]], *, highlight: Sequence[str] = ()) -> Spec:
    """Interpolated precision at the eleven levels of recall 0, 0.1, …, 1, a line for each run."""
    rows: list[dict[str, Any]] = [
        {"run": run, "recall": level, "precision": value}
        for run, values in curves.items()
        for level, value in zip(RECALLS, values, strict=True)
    ]
    top = share_domain(max((row["precision"] for row in rows), default=1.0))
    shown = emphasised(list(curves), highlight, best_of({run: sum(values) for run, values in curves.items()}))
    x = channel("recall:Q", title="recall", axis={"tickCount": TICKS}, scale=scale([0, 1]))
    y = channel("precision:Q", title="interpolated precision", axis={"tickCount": TICKS}, scale=scale(top))
    told = ["run:N", "recall:Q", channel("precision:Q", format=".3f")]
    chart = lines(rows, list(curves), "recall", "precision", top, shown=shown, x=x, y=y, tooltip=told)
    ends = "; ".join(f"{run} from {values[0]:.2f} to {values[-1]:.2f}" for run, values in curves.items())
    description = f"Interpolated precision from recall 0 to recall 1: {ends}."
    return specification(chart, "Precision at levels of recall", description)


def recall_levels(measure: Measure) -> list[Measure]:
    return [measure.replace(recall=level) for level in RECALLS]


CHART = Chart(
    name="precision-recall",
    meaning="interpolated precision at eleven levels of recall",
    usual=("IPrec@0",),
    only="IPrec",
    needed=recall_levels,
    options=("highlight",),
    draw=lambda results, measure, **options: precision_recall_chart(
        {result.run: [result[level] for level in recall_levels(measure)] for result in results}, **options
    ),
)
