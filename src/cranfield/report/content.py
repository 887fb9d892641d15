"""Everything on the page, as plain data: the leaderboard and definitions, and what the page's program reads."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cranfield.comparison import stability
from cranfield.comparison.significance import TESTS, Settings
from cranfield.comparison.thinning import FRACTIONS
from cranfield.evaluation.result import Evaluation
from cranfield.measures import Measure, parse_measures
from cranfield.measures.arithmetic import gains
from cranfield.report.details import details, worst_first
from cranfield.report.encoding import safe_json
from cranfield.report.headline import headline
from cranfield.report.request import JUDGED, Request
from cranfield.show.charts.cutoff import by_cutoff, cutoffs_of
from cranfield.show.charts.difference import difference_chart
from cranfield.show.charts.discount import discount_chart
from cranfield.show.charts.distribution import distribution_chart
from cranfield.show.charts.drawing import Spec
from cranfield.show.charts.gain import gain_chart
from cranfield.show.charts.precision_recall import CHART as PRECISION_RECALL
from cranfield.show.charts.precision_recall import recall_levels
from cranfield.show.charts.rank_by_rank import rank_curves
from cranfield.show.charts.scatter import scatter_chart
from cranfield.show.charts.stability import of_stability
from cranfield.show.view import View

REPEATS = 5  # how often each share of the judgments is removed
REMOVED = 2_000_000  # judged ranks measured again, in all, that take a second or two: up to here without being asked


def page(request: Request) -> dict[str, Any]:
    """What is written into the page as text: readable without any program."""
    view = View(request.evaluations, segments=request.segments, bounds=request.bounds)
    names = [measure.name for measure in request.measures]
    first = request.evaluations[0]
    marks = _marks(request)
    rows = [_row(request, view, result, marks) for result in request.evaluations]
    _draw_intervals(rows)
    return {
        "title": request.title,
        "headline": headline(request),
        "runs": [each.run for each in request.evaluations],
        "queries": len(request.query_ids),
        "judgments": None if request.flat is None else len(request.flat.grades),
        "measures": [_definition(measure) for measure in request.measures],
        "shown_judged": JUDGED not in names and any(JUDGED in each for each in request.evaluations),
        "rows": rows,
        "segments": _segments(request, view),
        "notes": _notes(request),
        "signature": View(request.evaluations).signature(),
        "version": first.version,
        "qrels": {
            "name": "" if request.flat is None else os.path.basename(request.flat.name),
            "sha256": first.qrels_sha256,
        },
        "collection": request.collection.name if request.collection else None,
    }


def program_data(request: Request) -> dict[str, Any]:
    """What the page's program reads: values, rankings, differences, charts."""
    found = details(request)
    texts = request.collection.queries if request.collection else {}
    return {
        "runs": [each.run for each in request.evaluations],
        "measures": [
            {"name": each.name, "lower": each.definition.lower_is_better, "mean": each.definition.aggregate == "mean"}
            for each in request.measures
        ],
        "queries": request.query_ids,
        "worst_first": _places(request),
        "texts": [texts.get(query, "") for query in request.query_ids] if texts else None,
        "segments": [request.segments.get(query, "") for query in request.query_ids] if request.segments else None,
        "values": [
            safe_json([_column(request, result, measure) for measure in request.measures])
            for result in request.evaluations
        ],
        "pairs": _pairs(request),
        "baseline": _baseline(request),
        "families": list(request.families),
        "gains": _gains(request),
        "depth": request.depth,
        "details": found.queries,
        "rankings": found.rankings,
        "documents": found.documents,
        "left_out": [*found.left_out, *_not_drawn(request)],
        "charts": _charts(request) if request.charts else [],
        "templates": _templates() if request.charts else {},
    }


def _places(request: Request) -> list[int]:
    place = {query: at for at, query in enumerate(request.query_ids)}
    return [place[query] for query in worst_first(request)]


def _definition(measure: Measure) -> dict[str, Any]:
    known = measure.definition
    return {
        "name": measure.name,
        "summary": known.summary,
        "formula": " ".join(known.formula.split()),
        "reference": known.reference,
        "advice": known.advice,
        "lower": known.lower_is_better,
    }


def _row(request: Request, view: View, result: Evaluation, marks: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    cells = []
    for measure in request.measures:
        name = measure.name
        cell: dict[str, Any] = {
            "value": result[measure],
            "text": view.shown(result[measure], name),
            "best": result.run in view.best(name),
            "letters": marks.get(name, {}).get(result.run, ""),
            "interval": None,
            "ends": None,
            "drawn": None,
            "bounds": None,
        }
        column = result.column(measure)
        if measure.definition.aggregate == "mean" and not measure.definition.of_holes and len(column) > 1:
            least, most = measure.definition.range
            alone = Settings(request.alpha, 1, 0)
            ends = TESTS["t"].interval(column[:, None], np.array([request.alpha]), alone)
            low, high = (float(np.clip(end[0], least, most)) for end in ends)
            cell["interval"] = [view.shown(low, name), view.shown(high, name)]
            cell["ends"] = (low, result[measure], high)
        if request.bounds and not measure.definition.of_holes and result.ranks is not None:
            bounds = result.bounds(measure)
            cell["bounds"] = [view.shown(bounds.low, name), view.shown(bounds.high, name)]
        cells.append(cell)
    return {
        "run": result.run,
        "cells": cells,
        "judged": result.get(JUDGED),
        "sha256": result.run_sha256,
        "signature": View(request.evaluations).own_signature(result),
    }


def _draw_intervals(rows: Sequence[dict[str, Any]]) -> None:
    """Where the intervals lie in percent of their column, whose lowest end is 0 and whose highest is 100."""
    for column in zip(*(row["cells"] for row in rows), strict=True):
        known = [cell["ends"] for cell in column if cell["ends"] is not None]
        low, high = min((ends[0] for ends in known), default=0.0), max((ends[2] for ends in known), default=0.0)
        for cell in column:
            if cell["ends"] is not None and len(known) > 1 and high > low:
                cell["drawn"] = [round(100 * (end - low) / (high - low), 2) for end in cell["ends"]]


def _marks(request: Request) -> dict[str, dict[str, str]]:
    if request.comparison is None:
        return {}
    table = request.comparison.table()
    return {name: {row.run: row.cells[at].mark for row in table.rows} for at, name in enumerate(table.measures)}


def _segments(request: Request, view: View) -> list[dict[str, Any]]:
    if not request.segments:
        return []
    known = [request.segments.get(query) for query in request.query_ids]
    return [
        {
            "name": segment,
            "queries": known.count(segment),
            "rows": [
                {
                    "run": result.run,
                    "values": [
                        view.shown(view.mean(result, each.name, segment), each.name) for each in request.measures
                    ],
                }
                for result in request.evaluations
            ],
        }
        for segment in view.segment_names
    ]


def _notes(request: Request) -> list[str]:
    notes = [f"Warning: {text}." for text in View(request.evaluations).warnings()]
    if request.means and len(request.query_ids) > 1:
        drawn = " The bars draw it, from the lowest end in a column to the highest."
        several = len(request.evaluations) > 1
        notes.append(f"In brackets: the {1 - request.alpha:.0%} interval of the mean.{drawn if several else ''}")
    if not request.comparable:
        notes.append("Runs were measured by different judgments or policies, so they are not compared.")
    if request.comparison is not None:
        notes += [f"{note[0].upper()}{note[1:]}." for note in request.comparison.table().notes]
    if request.bounds:
        notes.append(f"Bounds: the lowest and highest mean, {View(request.evaluations).describe_bounds(())}.")
    counts = {each.run: each.describe_counts() for each in request.evaluations}
    if len(set(counts.values())) == 1:
        return [*notes, f"Each run: {next(iter(counts.values()))}."]
    return [*notes, *(f"{run}: {count}." for run, count in counts.items())]


def _column(request: Request, result: Evaluation, measure: Measure) -> list[float | None]:
    """A run's value of every query of the page; None for one that it was not measured on."""
    rounded = dict(zip(result.query_ids, np.round(result.column(measure), 6).tolist(), strict=True))
    return [rounded.get(query) for query in request.query_ids]


def _pairs(request: Request) -> list[dict[str, Any]]:
    keys = ("measure", "baseline", "run", "sentence", "could_reverse")
    return [{key: getattr(each, key) for key in keys} for each in request.comparison or ()]


def _charts(request: Request) -> list[list[Spec]]:
    """The charts of all runs; those that stand together are one chart on the page, of one measure or another."""
    found: list[list[Spec]] = []
    ranked = request.ranked
    if request.ordinary and ranked:
        levels, precision = parse_measures("IPrec@0 P@1")
        at_levels = [each.extended(recall_levels(levels)) for each in ranked]
        found += [[PRECISION_RECALL.draw(at_levels, levels)], [rank_curves(ranked, precision)]]
        found.append([_by_cutoff(ranked, each, request.depth) for each in request.families.values()])
    spread = []
    for measure in request.means or request.measures[:1]:
        columns = {each.run: np.round(each.column(measure), 4).tolist() for each in request.evaluations}
        spread.append(distribution_chart(measure.name, columns))
    found.append(spread)
    if _removes(request):
        assert request.flat is not None
        tables = {each.run: each.ranks for each in ranked}
        shares, policy = (0.0, *FRACTIONS), ranked[0].policy
        thinned = stability(request.flat, tables, _thinned(request), shares, repeats=REPEATS, policy=policy)
        found.append([of_stability(thinned)])
    if any("DCG" in each.definition.name for each in request.measures):
        highest = 4 if request.flat is None else int(max(request.flat.grades.max(initial=1), 2))
        found += [[discount_chart(request.depth)], [gain_chart(min(highest, 6))]]
    return [each for each in found if each]


def _by_cutoff(ranked: Sequence[Evaluation], measure: Measure, deepest: int) -> Spec:
    at = cutoffs_of(measure, deepest)
    return by_cutoff([each.extended(at) for each in ranked], measure, deepest)


def _thinned(request: Request) -> list[Measure]:
    return request.means[:4]


def _removes(request: Request) -> bool:
    """Whether to show the measures as judgments are removed: if asked, or if nobody asked and it takes no time."""
    possible = request.flat is not None and request.ordinary and request.ranked and request.means
    if not possible or request.removal is False or not request.comparable:
        return False
    work = sum(len(each.ranks.rank) for each in request.ranked if each.ranks is not None)
    return request.removal is True or work * REPEATS * len(FRACTIONS) * len(_thinned(request)) < REMOVED


def _not_drawn(request: Request) -> list[str]:
    if not request.charts or _removes(request) or not request.ordinary or request.flat is None:
        return []
    return ["There is no chart of the measures as judgments are removed, which takes a while; --removal draws it."]


def _baseline(request: Request) -> int:
    runs = [each.run for each in request.evaluations]
    chosen = request.comparison.baseline if request.comparison is not None else None
    return runs.index(chosen) if chosen in runs else 0


def _gains(request: Request) -> dict[str, float | None]:
    """What each grade is worth, by the first measure that says so; None where that is beyond floating point."""
    if request.flat is None:
        return {}
    named = (value for each in request.measures for name, value in each.parameters if name == "gain")
    grades = np.unique(request.flat.grades)
    worth = gains(grades, next(named, "linear"))
    pairs = zip(grades.tolist(), worth.tolist(), strict=True)
    # Grades as JavaScript writes them.
    return {
        str(int(grade) if grade == int(grade) else grade): gain if np.isfinite(gain) else None for grade, gain in pairs
    }


def _templates() -> dict[str, Any]:
    """The charts of two runs, whose data the page's program fills in."""
    return {
        "difference": difference_chart("\0measure", "\0one", "\0other", {}),
        "scatter": scatter_chart("\0measure", "\0one", "\0other", {}),
    }
