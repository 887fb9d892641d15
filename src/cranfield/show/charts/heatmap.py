"""Every query by every run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cranfield.evaluation.estimating import SAME
from cranfield.evaluation.result import Evaluation
from cranfield.look import LIGHT
from cranfield.measures import Measure
from cranfield.show.charts import parts
from cranfield.show.charts.chart import Chart
from cranfield.show.charts.parts import BESIDE, HEIGHT, WIDTH, Spec, brief_labels, channel, layer
from cranfield.words import columns, count

QUERIES, RUNS = 200, 100  # that are shown
NAMED = 60  # queries whose names are written
CELL, THIN = 13, 3.5  # pixels of a row with a name, and of one without
SHADES = (0.15, 0.35, 0.55, 0.75, 1.0)  # of values above 0, from low to high
LEVELS = len(SHADES)
LETTER = 6.5  # pixels


def heatmap_chart(
    measure: str,
    values: Mapping[str, Mapping[str, float]],
    *,
    means: Mapping[str, float],
    lower_is_better: bool = False,
) -> Spec:
    """A cell for each query and run, darker for higher values: the hardest query on top, the best run on the left.

    values: {run: {query: value}}
    means: of the runs, which order them
    """
    sign = 1 if lower_is_better else -1
    runs = sorted(values, key=lambda run: sign * means[run])
    by_query: dict[str, list[float]] = {}
    for its in values.values():
        for query, value in its.items():
            by_query.setdefault(query, []).append(value)
    hardest = sorted(by_query, key=lambda query: -sign * float(np.mean(by_query[query])))
    shown, best = _spread(hardest), runs[:RUNS]
    top = max([1.0, *(value for its in by_query.values() for value in its)])
    levels = ["0", *(f"to {top * level / LEVELS:.2f}" for level in range(1, LEVELS + 1))]
    rows: list[dict[str, Any]] = [
        {"query": query, "run": run, "value": round(known, 4), "level": levels[_level(known, top)]}
        for query in shown
        for run in best
        if (known := values[run].get(query)) is not None
    ]
    wide, named = max(WIDTH, CELL * len(best)), len(shown) <= NAMED
    fits = max(map(columns, best), default=0) * LETTER < wide / max(len(best), 1)
    across = {"labelAngle": 0 if fits else -90, "labelLimit": 0, "labelOverlap": True, "labelColor": LIGHT["ink"]}
    plain = {"domain": False, "ticks": False, "grid": False}
    x_title = "best run on the left" + (f": {RUNS} of {count(len(runs), 'run')}" if len(runs) > RUNS else "")
    part = f", {len(shown)} of {count(len(hardest), 'query', 'queries')}" if len(shown) < len(hardest) else ""
    x = channel("run:N", title=x_title, sort=best, axis={**plain, **across, **brief_labels(best, BESIDE)})
    y = channel(
        "query:N",
        title=f"hardest query on top{part}",
        sort=shown,
        axis={**plain, "labels": named, "labelOverlap": True, **(brief_labels(shown, BESIDE) if named else {})},
    )
    key = {"orient": "top", "columns": 3, "symbolType": "square", "symbolStrokeWidth": 0, "symbolSize": 90}
    colour, shade = (
        channel("level:N", title=None, scale={"type": "ordinal", "domain": levels, "range": looks}, legend=key)
        for looks in ([LIGHT["grade-0"], *[LIGHT["grade-3"]] * LEVELS], [1.0, *SHADES])
    )
    told = ["query:N", "run:N", channel("value:Q", title=measure, format=".3f")]
    cells = layer("rect", {}, x=x, y=y, color=colour, opacity=shade, tooltip=told)
    height = max(CELL * len(shown), HEIGHT // 2) if named else max(round(THIN * len(shown)), HEIGHT)
    chart = {**parts.data(rows), "layer": [cells], "width": wide, "height": height}
    worst = "; ".join(f"{query} {float(np.mean(by_query[query])):.3f}" for query in hardest[:3])
    description = f"{measure} of {count(len(hardest), 'query', 'queries')} by {count(len(runs), 'run')}."
    if worst:
        description += f" The hardest, by their means: {worst}."
    return parts.specification(chart, f"{measure} by query and run", description)


def _spread(queries: Sequence[str]) -> list[str]:
    """All of a few; of many, some from the first to the last, at equal distances."""
    if len(queries) <= QUERIES:
        return list(queries)
    return [queries[at] for at in np.linspace(0, len(queries) - 1, QUERIES).round().astype(int)]


def _level(value: float, top: float) -> int:
    return 0 if value <= SAME else int(np.clip(np.ceil(LEVELS * value / top - SAME), 1, LEVELS))


def of_evaluations(results: Sequence[Evaluation], measure: Measure) -> Spec:
    return heatmap_chart(
        measure.name,
        {result.run: result.by_query(measure) for result in results},
        means={result.run: result[measure] for result in results},
        lower_is_better=measure.definition.lower_is_better,
    )


CHART = Chart(name="heatmap", meaning="every query by every run, the hardest on top", draw=of_evaluations)
