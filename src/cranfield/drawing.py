"""The one door to rooms further to the right: results draw themselves through it, and judgments in a store are read.

Results stand to the left of `show`, which knows all of them, and formats to the left of `judging`, which keeps stores.
These rooms are therefore imported by name when they are needed, here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from cranfield.evaluation.result import Evaluation
    from cranfield.measures import Measure
    from cranfield.show.charts.parts import Spec


class Written(Protocol):
    """What results write themselves with; each says what it consists of."""

    def to_dict(self) -> dict[str, Any]: ...

    def to_json(self, *, indent: int | None = 2) -> str:
        """The result as JSON.

        indent: how many spaces to indent each level by; None writes everything on one line.
        Returns the text.
        """
        import json

        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)


def as_text(where: str, result: Any) -> str:
    """A result as text; where: the module of `show` and the function in it, such as "check_text.advice_text"."""
    module, _, function = where.partition(".")
    text: str = getattr(import_module(f"cranfield.show.{module}"), function)(result)
    return text


def as_html(kind: str, result: Any) -> str:
    """A result as a notebook shows it: that of `{kind}_html` in `show/notebook.py`."""
    html: str = getattr(import_module("cranfield.show.notebook"), f"{kind}_html")(result)
    return html


def plotted(
    kind: str,
    results: Sequence[Evaluation],
    measure: str | Measure | None,
    *,
    baseline: str | None = None,
    **options: Any,
) -> Spec:
    """A chart of evaluations; what they lack is measured if they know the ranks.

    baseline: the run that comes first in a chart of two runs; other charts keep the order, which their colours follow
    """
    charts = import_module("cranfield.show.charts.evaluated")
    request = charts.requested(kind, results, measure, options)
    if request.chart.runs is not None:
        results = sorted(results, key=lambda result: result.run != baseline) if baseline is not None else results
    needed = set(request.needed)
    full = [result if needed <= set(result.measures) else result.extended(request.needed) for result in results]
    spec: Spec = charts.drawn(request.chart, full, request.measure, request.own)
    return spec


def drawn_curves(tuning: Any) -> Spec:
    """How a measure changes with each parameter that was tuned."""
    spec: Spec = import_module("cranfield.show.charts.response").response_chart(tuning)
    return spec


def to_mlflow(result: Any, *, report: bool) -> str:
    """Log a result to MLflow; returns the id of the run."""
    run: str = import_module("cranfield.report.tracking").log_to_mlflow(result, report=report)
    return run


def from_store(what: str, path: str, choice: Any) -> tuple[Any, str]:
    """What is in a store, and which assessors it comes from.

    what: "view", "strata" or "passages" of judgments, "documents", or "answers"
    """
    opened: tuple[Any, str] = import_module("cranfield.judging.store.store").open_view(path, what, choice)
    return opened
