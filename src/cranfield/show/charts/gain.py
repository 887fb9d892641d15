"""What a grade is worth."""

from __future__ import annotations

from typing import Any

from cranfield.show.charts.chart import Chart
from cranfield.show.charts.parts import TICKS, Spec, channel, domain, scale, specification
from cranfield.show.charts.runs import lines


def gain_chart(highest: int = 4) -> Spec:
    """What a grade is worth: the grade itself (linear), or 2^grade - 1 (exponential)."""
    grades = list(range(highest + 1))
    curves = {
        "linear: g": [float(grade) for grade in grades],
        "exponential: 2^g - 1": [2.0**grade - 1 for grade in grades],
    }
    rows: list[dict[str, Any]] = [
        {"formula": name, "grade": grade, "gain": gain}
        for name, values in curves.items()
        for grade, gain in enumerate(values)
    ]
    ends = domain(row["gain"] for row in rows)
    x = channel("grade:Q", title="grade g", axis={"values": grades, "format": "d"}, scale=scale([0, highest]))
    y = channel("gain:Q", title="gain", axis={"tickCount": TICKS}, scale=scale(ends))
    told = ["formula:N", "grade:Q", "gain:Q"]
    chart = lines(rows, list(curves), "grade", "gain", ends, field="formula", x=x, y=y, tooltip=told)
    description = f"At grade {highest} the linear gain is {highest}, the exponential one {2**highest - 1}."
    return specification(chart, "What a grade is worth", description)


CHART = Chart(name="gain", meaning="what a grade is worth (without QRELS and RUN)", of="nothing", draw=gain_chart)
