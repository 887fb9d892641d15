"""The leaderboard: runs ranked by the primary measure, with intervals."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from cranfield.comparison.conclusions import described_method
from cranfield.comparison.differences import Difference, decisive_p
from cranfield.comparison.pairing import judged_share
from cranfield.comparison.standing import Standing
from cranfield.evaluation.estimating import SAME
from cranfield.evaluation.result import Evaluation
from cranfield.report.card import doubts_about
from cranfield.report.gathered import Gathered
from cranfield.report.order import compare_place
from cranfield.report.pair import seen_from
from cranfield.report.sentences import capital, rounded, signed
from cranfield.show.answers_text import answers_sentences
from cranfield.show.charts.ranks import kind_of
from cranfield.show.comparison_words import if_the_test_holds
from cranfield.show.view import View
from cranfield.words import percent

WIDTH = 150.0  # of an interval, in the units of its drawing
FAR = 3.0  # an outlier is so many times farther from the quarters than they are from each other
SEVERAL = 6  # fewer runs have no outliers


def leaderboard(gathered: Gathered, view: View) -> dict[str, Any]:
    names = [measure.name for measure in gathered.request.measures]
    places, gaps = _places(gathered), _gaps(gathered)
    standing = {} if gathered.standings is None else {row.run: row for row in gathered.standings.rows}
    level = None if gathered.standings is None else gathered.standings.level
    best = {name: view.best(name) for name in names}
    rows = [
        _row(gathered, best, result, places[result.run], standing.get(result.run), gaps.get(result.run))
        for result in gathered.best_first
    ]
    _draw_intervals(rows)
    return {
        "measures": [
            {
                "name": gathered.evaluations[0].heading(measure),
                "summary": measure.definition.summary,
                "lower": measure.definition.lower_is_better,
            }
            for measure in primary_first(gathered)
        ],
        "against": _against(gathered),
        "ranks": None if gathered.standings is None else f"rank{f', {100 * level:g}%' if level else ''}",
        "judged": any(row["judged"] is not None for row in rows) and not _shows_holes(gathered),
        "drawn": any(row["primary"]["drawn"] for row in rows),
        "rows": rows,
    }


def _against(gathered: Gathered) -> str | None:
    if gathered.own:
        return gathered.own[0].baseline if len(gathered.own) == 1 else "its baseline"
    return "best" if gathered.standings else compared_with(gathered)


def _shows_holes(gathered: Gathered) -> bool:
    return any(measure.definition.of_holes for measure in gathered.request.measures)


def primary_first(gathered: Gathered) -> list[Any]:
    return sorted(gathered.request.measures, key=lambda each: each != gathered.primary)


def _places(gathered: Gathered) -> dict[str, int]:
    """The place of each run; runs of the same value share one."""
    places: dict[str, int] = {}
    place, before = 0, float("nan")
    for at, result in enumerate(gathered.best_first, start=1):
        value = result[gathered.primary]
        place = place if abs(value - before) <= SAME else at
        places[result.run], before = place, value
    return places


def compared_with(gathered: Gathered) -> str | None:
    """The run that all others are compared with: the baseline, the first of two, or the best."""
    if gathered.pair is None:
        return None
    return gathered.best_first[0].run if gathered.pair.chosen == "second" else gathered.pair.baseline


def _is_baseline(gathered: Gathered, run: str) -> bool:
    if gathered.own:
        return any(run == pair.baseline for pair in gathered.own)
    return gathered.pair is not None and gathered.pair.chosen != "second" and run == gathered.pair.baseline


def _row(
    gathered: Gathered,
    best: Mapping[str, Collection[str]],
    result: Evaluation,
    place: int,
    standing: Standing | None,
    gap: dict[str, Any] | None,
) -> dict[str, Any]:
    cells = []
    for measure in primary_first(gathered):
        bounds = gathered.bounds.get(result.run, {}).get(measure.name)
        ends = gathered.intervals[result.run].get(measure.name)
        counted = measure.definition.aggregate == "sum"
        cells.append(
            {
                "name": measure.name,
                "value": result[measure],
                "text": f"{result[measure]:.0f}" if counted else rounded(result[measure]),
                "best": result.run in best[measure.name],
                "interval": None if ends is None else [rounded(end) for end in ends],
                "ends": None if ends is None else (ends[0], result[measure], ends[1]),
                "bounds": None if bounds is None else [rounded(end) for end in bounds],
                "drawn": None,
                "beyond": "",
            }
        )
    judged = judged_share(result, gathered.primary)
    return {
        "run": result.run,
        "place": place,
        "ranks": None if standing is None else (standing.first, standing.last),
        "level": standing is not None and standing.not_worse and place > 1,
        "href": compare_place(gathered, result.run),
        "standing": "" if standing is None or gathered.standings is None else kind_of(standing, gathered.standings),
        "baseline": _is_baseline(gathered, result.run),
        "primary": cells[0],
        "others": cells[1:],
        "gap": gap,
        "judged": judged,
        "judged_text": "–" if judged is None else percent(judged),
    }


def _gaps(gathered: Gathered) -> dict[str, dict[str, Any]]:
    """How far each run is from the one it is compared with, and whether that is significant."""
    kinds = {"significantly better": "better", "significantly worse": "worse"}
    return {
        pair.run: {
            "value": pair.difference,
            "text": signed(pair.difference),
            "kind": kinds.get(pair.verdict, ""),
            "p": decisive_p(pair),
        }
        for pair in _differences(gathered)
    }


def _differences(gathered: Gathered) -> list[Difference]:
    if gathered.own:
        return [pair.difference for pair in gathered.own]
    against = compared_with(gathered)
    if gathered.comparison is None or against is None:
        return []
    return [
        seen_from(two, two.baseline if two.run == against else two.run)
        for two in gathered.comparison.of(gathered.primary)
        if against in (two.run, two.baseline)
    ]


def _draw_intervals(rows: Sequence[dict[str, Any]]) -> None:
    """The positions of the intervals of the primary measure, from the lowest end to the highest.

    Runs far from all others do not count for the axis: their intervals are cut off at its end, and `beyond` it.
    """
    cells = [row["primary"] for row in rows]
    known = [cell["ends"] for cell in cells if cell["ends"] is not None]
    if len(known) < 2:
        return
    values = np.array(known)
    quarters = np.quantile(values[:, 1], [0.25, 0.75])
    room = FAR * (quarters[1] - quarters[0])
    near = (values[:, 1] >= quarters[0] - room) & (values[:, 1] <= quarters[1] + room)
    near = near if len(known) >= SEVERAL else np.full(len(known), True)
    low, high = float(values[near, 0].min()), float(values[near, 2].max())
    for cell in cells:
        if cell["ends"] is not None and high > low:
            inside = [min(max(end, low), high) for end in cell["ends"]]
            cell["drawn"] = [round(5 + (WIDTH - 10) * (end - low) / (high - low), 1) for end in inside]
            cell["beyond"] = "below" if cell["ends"][1] < low else "above" if cell["ends"][1] > high else ""


def notes(gathered: Gathered, view: View) -> list[str]:
    lines = [f"Warning: {text}." for text in view.warnings()]
    lines += dict.fromkeys(f"Warning: {text}." for texts in doubts_about(gathered, primary=False) for text in texts)
    if gathered.means and len(gathered.query_ids) > 1:
        share = f"{100 * (1 - gathered.request.alpha):g}%"
        lines.append(f"Each run's bar is the {share} interval of its own mean; runs are compared query by query.")
    if not gathered.comparable:
        lines.append("Runs were measured by different judgments, policies or weights, so they are not compared.")
    if gathered.comparison is not None:
        lines.append("▲ ▼ significantly better, worse; without a sign the difference is too close to call.")
        method = gathered.own[0].comparison if gathered.own else gathered.comparison
        lines.append(f"{capital(described_method(method))}.")
    if gathered.own:
        lines.append("Each run is compared with its own baseline; other pairs are corrected for all pairs of runs.")
    if gathered.standings is not None:
        level = gathered.standings.level
        ranks = "from the runs that are significantly better to those that are significantly worse"
        if level is not None:
            ranks = f"all true ranks lie within these at once with {100 * level:g}% confidence"
            ranks += if_the_test_holds(gathered.comparison) if gathered.comparison else ""
        lines += ["≈ best: not significantly worse than the best run.", f"Ranks: {ranks}."]
    if gathered.request.bounds:
        lines.append(f"Bounds: {view.describe_bounds(())}.")
    return [*lines, *answers_sentences(gathered.evaluations), *_counted(gathered.evaluations)]


def _counted(evaluations: Sequence[Evaluation]) -> list[str]:
    counts: Mapping[str, str] = {result.run: result.describe_counts() for result in evaluations}
    if len(set(counts.values())) == 1:
        return [f"Each run: {next(iter(counts.values()))}."]
    return [f"{run}: {count}." for run, count in counts.items()]
