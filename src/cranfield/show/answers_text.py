"""How runs deal with queries that have no answer, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

from cranfield.evaluation.result import Evaluation
from cranfield.show.layout import Paint, fitted, wrapped
from cranfield.words import percent


def answers_lines(evaluations: Sequence[Evaluation], width: int, paint: Paint) -> Iterator[str]:
    """A row for each run: how often it is rightly and wrongly empty, its value with an answer, its threshold."""
    first = evaluations[0]
    measure = next((name for name in first if first.definition(name).aggregate == "mean"), "")
    rows = [["no answer", "rightly empty", "wrongly empty", f"{measure} with one", "nAUC"]]
    for run in evaluations:
        its = run.answering
        if its is None:
            continue
        area = its.nauc.get("max")
        shares = [percent(its.rightly_empty), percent(its.wrongly_empty)]
        answered = f"{its.answered[measure]:.4f}" if measure in its.answered else "-"
        rows.append([run.run, *shares, answered, "-" if area is None else f"{area:.2f}"])
    yield from fitted(rows, width, paint.strong)
    its = first.answering
    if its is None:
        return
    said = [
        f"{len(its.unanswerable):,} of {len(first.query_ids):,} queries have no answer: they count 1 where nothing is "
        "returned, otherwise 0",
        "nAUC: how well the best score tells good rankings from bad ones (1: perfectly, 0: by chance)",
    ]
    yield from map(paint.dim, wrapped("; ".join(said) + ".", width=width))
    for run in evaluations:
        yield from wrapped(threshold_text(run, measure), hang=2, width=width)


def answers_sentences(evaluations: Sequence[Evaluation]) -> Iterator[str]:
    """The same of each run in sentences; nothing where it is not known which queries have no answer."""
    for run in evaluations:
        if run.answering is not None:
            yield f"{run.run}: {run.answering.sentence}."
            yield from filter(None, [threshold_text(run, next(iter(run.answering.answered), ""))])


def threshold_text(run: Evaluation, measure: str) -> str:
    """Which threshold there is, and how it was chosen; empty where there is none."""
    its = run.answering
    if its is None or its.threshold is None:
        return ""
    if its.fitted is None:
        return f"{run.run}: nothing below the score {its.threshold:.4g} is returned."
    low, high = its.fitted
    text = f"{run.run}: threshold {_score(its.threshold)} ({_score(low)} to {_score(high)}), chosen on other queries."
    if its.optimistic is not None:
        text += f" The best one for all queries has {measure} {its.optimistic:.4f} on them: do not report that."
    return text


def _score(threshold: float) -> str:
    return "none" if threshold == -inf else f"{threshold:.4g}"
