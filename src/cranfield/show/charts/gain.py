"""What a grade is worth."""

from __future__ import annotations

from cranfield.show.charts.chart import Chart
from cranfield.show.charts.drawing import Spec, altair, lines, specification


def gain_chart(highest: int = 4) -> Spec:
    """What a grade is worth: the grade itself (linear), or 2^grade - 1 (exponential)."""
    alt = altair()
    grades = list(range(highest + 1))
    curves = {
        "linear: grade": [float(grade) for grade in grades],
        "exponential: 2^grade - 1": [2.0**grade - 1 for grade in grades],
    }
    rows = [
        {"run": name, "grade": grade, "gain": gain}
        for name, values in curves.items()
        for grade, gain in enumerate(values)
    ]
    chart = lines(alt, rows, curves).encode(
        x=alt.X("grade:Q", title="grade", axis=alt.Axis(values=grades, format="d"), scale=alt.Scale(nice=False)),
        y=alt.Y("gain:Q", title="gain"),
        tooltip=[alt.Tooltip("run:N", title="gain"), "grade:Q", "gain:Q"],
    )
    told = f"At grade {highest} the linear gain is {highest}, the exponential one {2**highest - 1}."
    return specification(chart, "What a grade is worth", told, curves)


CHART = Chart(name="gain", meaning="what a grade is worth (without QRELS and RUN)", of="nothing", draw=gain_chart)
