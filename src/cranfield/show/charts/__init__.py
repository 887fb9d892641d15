"""All charts, as Vega-Lite specifications: plain data in, a plain dict out.

The same specification becomes a part of a page or a picture. Colours are those of `look`, in light; anything shown by
colour is also shown by dashes, shapes or words, for people with any kind of colour vision. Every chart has a
description in words. A new chart is one file beside this one and one entry below; the command line, its help and the
documentation follow.
"""

from __future__ import annotations

from cranfield.show.charts import (
    cutoff,
    difference,
    discount,
    distribution,
    frontier,
    gain,
    heatmap,
    precision_recall,
    rank_by_rank,
    ranks,
    scatter,
    segments,
    slopes,
    stability,
    thresholds,
)
from cranfield.show.charts.chart import Chart

CHARTS: dict[str, Chart] = {
    file.CHART.name: file.CHART
    for file in (
        precision_recall,
        rank_by_rank,
        cutoff,
        distribution,
        ranks,
        heatmap,
        difference,
        slopes,
        scatter,
        segments,
        thresholds,
        frontier,
        stability,
        discount,
        gain,
    )
}
