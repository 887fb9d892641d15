"""The table of means that texts, pages and notebooks show: runs by measures, marked by significance."""

from __future__ import annotations

from typing import NamedTuple

from cranfield.comparison.conclusions import LETTERED, Comparison, described_method
from cranfield.evaluation.weighting import MARK
from cranfield.measures.scope import Scope


class Cell(NamedTuple):
    """A mean in the table; `mark` is ▲ or ▼ against the baseline, or the letters of its groups."""

    value: float
    mark: str
    best: bool


class RunMeans(NamedTuple):
    """A run in the table: a cell for each measure, and the judged shares of what it returned (None: not known)."""

    run: str
    cells: tuple[Cell, ...]
    judged: tuple[float | None, ...]


class MeansTable(NamedTuple):
    """Means of runs by measures, with marks, and what they mean.

    judged: the heads of the judged shares, one for each depth that measures look at
    heads: the names of the measures, marked where means are weighted
    other_names: by which weights means are, and our measures behind the names of other tools that columns keep
    """

    measures: tuple[str, ...]
    judged: tuple[str, ...]
    rows: tuple[RunMeans, ...]
    notes: tuple[str, ...]
    heads: tuple[str, ...]
    other_names: tuple[str, ...] = ()


def means_table(comparison: Comparison) -> MeansTable:
    """The means of a comparison, with marks of significance."""
    names = [measure.name for measure in comparison.measures]
    marks = {name: _marks(comparison, name) for name in names}
    means = comparison.means
    best = {name: means[name][comparison.best_first(name)[0]] for name in names}
    known = [measure for measure in comparison.measures if {*comparison.judged[measure.name].values()} != {None}]
    depths: dict[int | None, str] = {}
    for measure in known or comparison.measures[:1]:
        depths.setdefault(Scope.of(measure).cutoff, measure.name)
    rows = tuple(
        RunMeans(
            run,
            tuple(Cell(means[name][run], marks[name][run], means[name][run] == best[name]) for name in names),
            tuple(comparison.judged[name][run] for name in depths.values()),
        )
        for run in comparison.runs
    )
    notes = (_meaning(comparison), described_method(comparison))
    named = tuple(comparison.evaluations[0].heading(name) for name in names)
    weighting = (f"{MARK} {comparison.weights.sentence}",) if comparison.weights else ()
    other_names = weighting + tuple(
        f"{measure.name} is {measure.canonical}" for measure in comparison.measures if measure.typed
    )
    heads = tuple(f"judged of {'all' if depth is None else depth}" for depth in depths)
    heads = heads if len(heads) > 1 else ("judged",)
    return MeansTable(tuple(names), heads, rows, notes, named, other_names)


def _meaning(comparison: Comparison) -> str:
    """What the marks mean."""
    level = f"at alpha {comparison.alpha:g}"
    if comparison.baseline is not None:
        return f"▲ ▼ significantly better, worse than {comparison.baseline} {level}"
    if len(comparison.runs) > LETTERED:
        return "there are too many runs to mark with letters; see their ranks"
    return f"runs that share a letter are not significantly different {level}"


def _marks(comparison: Comparison, measure: str) -> dict[str, str]:
    if comparison.baseline is not None:
        signs = {"significantly better": "▲", "significantly worse": "▼"}
        marks = {difference.run: signs.get(difference.verdict, "") for difference in comparison.of(measure)}
        return {comparison.baseline: ""} | marks
    if len(comparison.runs) > LETTERED:
        return dict.fromkeys(comparison.runs, "")
    groups = comparison.groups(measure)
    return {
        run: "".join(_letter(place) for place, group in enumerate(groups) if run in group) for run in comparison.runs
    }


def _letter(place: int) -> str:
    return chr(ord("a") + place)
