"""A measure at each cutoff."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cranfield.errors import MeasureError
from cranfield.evaluation.result import Evaluation
from cranfield.measures import Measure
from cranfield.show.charts.chart import Chart
from cranfield.show.charts.parts import TICKS, Spec, channel, domain, scale, specification, whole_ticks
from cranfield.show.charts.runs import best_of, emphasised, lines

CUTOFFS = 20  # how deep the chart goes


def cutoff_chart(
    measure: str,
    curves: Mapping[str, Mapping[int, float]],
    *,
    highlight: Sequence[str] = (),
    lower_is_better: bool = False,
    ends: Sequence[float] | None = None,
) -> Spec:
    """The mean of a measure at each cutoff, a line for each run: {run: {cutoff: value}}.

    ends: of the axis of values; by default round numbers around them.
    """
    rows: list[dict[str, Any]] = [
        {"run": run, "cutoff": k, "value": value} for run, values in curves.items() for k, value in values.items()
    ]
    ends = list(ends or domain(row["value"] for row in rows))
    whole = sorted({row["cutoff"] for row in rows}) or [1]
    means = {run: sum(values.values()) / max(len(values), 1) for run, values in curves.items()}
    shown = emphasised(list(curves), highlight, best_of(means, lower=lower_is_better))
    first, last = whole[0], whole[-1]
    x = channel("cutoff:Q", title="cutoff k", axis={"values": whole_ticks(first, last)}, scale=scale([first, last]))
    y = channel("value:Q", title=f"{measure}@k", axis={"tickCount": TICKS}, scale=scale(ends))
    told = ["run:N", "cutoff:Q", channel("value:Q", format=".3f")]
    chart = lines(rows, list(curves), "cutoff", "value", ends, shown=shown, x=x, y=y, tooltip=told)
    deepest = {run: list(values.items())[-1] for run, values in curves.items() if values}
    description = "; ".join(f"{run} reaches {value:.3f} at {k}" for run, (k, value) in deepest.items())
    return specification(chart, f"{measure} by cutoff", f"The mean of {measure} at each cutoff: {description}.")


def cutoffs_of(measure: Measure, deepest: int = CUTOFFS) -> list[Measure]:
    if "cutoff" not in measure.definition.kinds:
        raise MeasureError(f"{measure} has no cutoff.", hint="nDCG@10, P@10 and R@10 have one")
    return [measure.replace(cutoff=k) for k in range(1, deepest + 1)]


def family(measure: Measure) -> str:
    return measure.name.rpartition("@")[0] if "cutoff" in dict(measure.parameters) else measure.name


def by_cutoff(
    results: Sequence[Evaluation], measure: Measure, deepest: int = CUTOFFS, *, highlight: Sequence[str] = ()
) -> Spec:
    at = cutoffs_of(measure, deepest)
    curves = {result.run: {k: result[m] for k, m in enumerate(at, 1)} for result in results}
    lower = measure.definition.lower_is_better
    return cutoff_chart(family(measure), curves, highlight=highlight, lower_is_better=lower)


CHART = Chart(
    name="cutoff",
    meaning=f"a measure at each cutoff down to {CUTOFFS}",
    needed=cutoffs_of,
    draw=by_cutoff,
    options=("highlight",),
)
