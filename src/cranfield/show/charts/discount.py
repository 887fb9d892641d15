"""How much of a gain counts at each rank."""

from __future__ import annotations

from typing import Any

import numpy as np

from cranfield.show.charts.chart import Chart
from cranfield.show.charts.parts import TICKS, Spec, channel, scale, specification, whole_ticks
from cranfield.show.charts.runs import lines


def discount_chart(depth: int = 10) -> Spec:
    """How much of a gain counts at rank i: 1/log2(i+1) in DCG, 1/i in RR, 0.8^(i-1) in RBP with persistence 0.8."""
    curves = {
        "DCG: 1/log2(i+1)": [1 / float(np.log2(i + 1)) for i in range(1, depth + 1)],
        "RR: 1/i": [1 / i for i in range(1, depth + 1)],
        "RBP: 0.8^(i-1)": [0.8 ** (i - 1) for i in range(1, depth + 1)],
    }
    rows: list[dict[str, Any]] = [
        {"discount": name, "rank": i, "kept": kept}
        for name, values in curves.items()
        for i, kept in enumerate(values, 1)
    ]
    share = {"format": "%", "tickCount": TICKS}
    x = channel("rank:Q", title="rank i", axis={"values": whole_ticks(1, depth)}, scale=scale([1, depth]))
    y = channel("kept:Q", title="share that counts", axis=share, scale=scale([0, 1]))
    told = ["discount:N", "rank:Q", channel("kept:Q", format=".1%")]
    chart = lines(rows, list(curves), "rank", "kept", [0, 1], field="discount", x=x, y=y, tooltip=told)
    shares = ", ".join(f"{value:.0%}" for value in curves["DCG: 1/log2(i+1)"][:5])
    description = f"DCG keeps {shares} of a gain at ranks 1, 2, 3, …"
    return specification(chart, "How much a document counts at each rank", description)


CHART = Chart(
    name="discount", meaning="what a rank is worth (without QRELS and RUN)", of="nothing", draw=discount_chart
)
