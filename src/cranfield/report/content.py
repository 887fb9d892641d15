"""Everything on the page, as plain data: the leaderboard and definitions, and what the page's program reads."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cranfield.comparison.means import means_table
from cranfield.evaluation.result import Evaluation
from cranfield.measures import Measure
from cranfield.measures.arithmetic import gains
from cranfield.report.details import Details
from cranfield.report.encoding import safe_json
from cranfield.report.gathered import JUDGED, Gathered
from cranfield.report.headline import headline
from cranfield.show.charts.cutoff import cutoff_chart
from cranfield.show.charts.difference import difference_chart
from cranfield.show.charts.discount import discount_chart
from cranfield.show.charts.distribution import distribution_chart
from cranfield.show.charts.drawing import Spec
from cranfield.show.charts.gain import gain_chart
from cranfield.show.charts.precision_recall import precision_recall_chart
from cranfield.show.charts.rank_by_rank import rank_by_rank_chart
from cranfield.show.charts.scatter import scatter_chart
from cranfield.show.charts.stability import of_stability
from cranfield.show.view import View


def page(gathered: Gathered) -> dict[str, Any]:
    """What is written into the page as text: readable without any program."""
    view = View(gathered.overview)
    names = [measure.name for measure in gathered.request.measures]
    first = gathered.evaluations[0]
    marks = _marks(gathered)
    rows = [_row(gathered, view, result, marks) for result in gathered.evaluations]
    _draw_intervals(rows)
    return {
        "title": gathered.request.title,
        "headline": headline(gathered),
        "runs": [each.run for each in gathered.evaluations],
        "queries": len(gathered.query_ids),
        "judgments": None if gathered.judgments is None else len(gathered.judgments.grades),
        "measures": [_definition(measure) for measure in gathered.request.measures],
        "shown_judged": JUDGED not in names and any(JUDGED in each for each in gathered.evaluations),
        "rows": rows,
        "segments": _segments(gathered, view),
        "notes": _notes(gathered, view),
        "signature": view.signature(),
        "version": first.version,
        "qrels": {
            "name": "" if gathered.judgments is None else os.path.basename(gathered.judgments.name),
            "sha256": first.qrels_sha256,
        },
        "collection": gathered.request.collection.name if gathered.request.collection else None,
    }


def program_data(gathered: Gathered, found: Details) -> dict[str, Any]:
    """What the page's program reads: values, rankings, differences, charts."""
    texts = gathered.request.collection.queries if gathered.request.collection else {}
    return {
        "runs": [each.run for each in gathered.evaluations],
        "measures": [
            {"name": each.name, "lower": each.definition.lower_is_better, "mean": each.definition.aggregate == "mean"}
            for each in gathered.request.measures
        ],
        "queries": gathered.query_ids,
        "worst_first": _places(gathered),
        "texts": [texts.get(query, "") for query in gathered.query_ids] if texts else None,
        "segments": [gathered.request.segments.get(query, "") for query in gathered.query_ids]
        if gathered.request.segments
        else None,
        "values": [
            safe_json([_column(gathered, result, measure) for measure in gathered.request.measures])
            for result in gathered.evaluations
        ],
        "pairs": _pairs(gathered),
        "baseline": _baseline(gathered),
        "families": list(gathered.families),
        "gains": _gains(gathered),
        "depth": gathered.request.depth,
        "details": found.queries,
        "rankings": found.rankings,
        "documents": found.documents,
        "left_out": [*found.left_out, *_not_drawn(gathered)],
        "charts": _charts(gathered) if gathered.request.charts else [],
        "templates": _templates() if gathered.request.charts else {},
    }


def _places(gathered: Gathered) -> list[int]:
    place = {query: at for at, query in enumerate(gathered.query_ids)}
    return [place[query] for query in gathered.worst_first]


def _definition(measure: Measure) -> dict[str, Any]:
    known = measure.definition
    return {
        "name": measure.name,
        "summary": f"{measure.canonical}. {known.summary}" if measure.typed else known.summary,
        "formula": " ".join(known.formula.split()),
        "reference": known.reference,
        "advice": known.advice,
        "lower": known.lower_is_better,
    }


def _row(gathered: Gathered, view: View, result: Evaluation, marks: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    cells = []
    for measure in gathered.request.measures:
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
        ends = gathered.intervals[result.run].get(name)
        if ends is not None:
            cell["interval"] = [view.shown(end, name) for end in ends]
            cell["ends"] = (ends[0], result[measure], ends[1])
        bounds = gathered.bounds.get(result.run, {}).get(name)
        if bounds is not None:
            cell["bounds"] = [view.shown(end, name) for end in bounds]
        cells.append(cell)
    return {
        "run": result.run,
        "cells": cells,
        "judged": result.get(JUDGED),
        "sha256": result.run_sha256,
        "signature": view.own_signature(result),
    }


def _draw_intervals(rows: Sequence[dict[str, Any]]) -> None:
    """Where the intervals lie in percent of their column, whose lowest end is 0 and whose highest is 100."""
    for column in zip(*(row["cells"] for row in rows), strict=True):
        known = [cell["ends"] for cell in column if cell["ends"] is not None]
        low, high = min((ends[0] for ends in known), default=0.0), max((ends[2] for ends in known), default=0.0)
        for cell in column:
            if cell["ends"] is not None and len(known) > 1 and high > low:
                cell["drawn"] = [round(100 * (end - low) / (high - low), 2) for end in cell["ends"]]


def _marks(gathered: Gathered) -> dict[str, dict[str, str]]:
    if gathered.comparison is None:
        return {}
    table = means_table(gathered.comparison)
    return {name: {row.run: row.cells[at].mark for row in table.rows} for at, name in enumerate(table.measures)}


def _segments(gathered: Gathered, view: View) -> list[dict[str, Any]]:
    if not gathered.request.segments:
        return []
    known = [gathered.request.segments.get(query) for query in gathered.query_ids]
    return [
        {
            "name": segment,
            "queries": known.count(segment),
            "rows": [
                {
                    "run": result.run,
                    "values": [
                        view.shown(view.mean(result, each.name, segment), each.name)
                        for each in gathered.request.measures
                    ],
                }
                for result in gathered.evaluations
            ],
        }
        for segment in view.segment_names
    ]


def _notes(gathered: Gathered, view: View) -> list[str]:
    notes = [f"Warning: {text}." for text in view.warnings()]
    if gathered.means and len(gathered.query_ids) > 1:
        drawn = " The bars draw it, from the lowest end in a column to the highest."
        several = len(gathered.evaluations) > 1
        notes.append(
            f"In brackets: the {1 - gathered.request.alpha:.0%} interval of the mean.{drawn if several else ''}"
        )
    if not gathered.comparable:
        notes.append("Runs were measured by different judgments or policies, so they are not compared.")
    if gathered.comparison is not None:
        notes += [f"{note[0].upper()}{note[1:]}." for note in means_table(gathered.comparison).notes]
    if gathered.request.bounds:
        notes.append(f"Bounds: the lowest and highest mean, {view.describe_bounds(())}.")
    counts = {each.run: each.describe_counts() for each in gathered.evaluations}
    if len(set(counts.values())) == 1:
        return [*notes, f"Each run: {next(iter(counts.values()))}."]
    return [*notes, *(f"{run}: {count}." for run, count in counts.items())]


def _column(gathered: Gathered, result: Evaluation, measure: Measure) -> list[float | None]:
    """A run's value of every query of the page; None for one that it was not measured on."""
    rounded = dict(zip(result.query_ids, np.round(result.column(measure), 6).tolist(), strict=True))
    return [rounded.get(query) for query in gathered.query_ids]


def _pairs(gathered: Gathered) -> list[dict[str, Any]]:
    keys = ("measure", "baseline", "run", "sentence", "could_reverse")
    return [{key: getattr(each, key) for key in keys} for each in gathered.comparison or ()]


def _charts(gathered: Gathered) -> list[list[Spec]]:
    """The charts of all runs; those that stand together are one chart on the page, of one measure or another."""
    found: list[list[Spec]] = []
    if gathered.curves is not None:
        curves = gathered.curves
        found += [[precision_recall_chart(curves.recall)], [rank_by_rank_chart(curves.ranks)]]
        found.append([cutoff_chart(name, its) for name, its in curves.cutoffs.items()])
    spread = []
    for measure in gathered.means or gathered.request.measures[:1]:
        columns = {each.run: np.round(each.column(measure), 4).tolist() for each in gathered.evaluations}
        spread.append(distribution_chart(measure.name, columns))
    found.append(spread)
    if gathered.thinned is not None:
        found.append([of_stability(gathered.thinned)])
    if any("DCG" in each.definition.name for each in gathered.request.measures):
        highest = 4 if gathered.judgments is None else int(max(gathered.judgments.grades.max(initial=1), 2))
        found += [[discount_chart(gathered.request.depth)], [gain_chart(min(highest, 6))]]
    return [each for each in found if each]


def _not_drawn(gathered: Gathered) -> list[str]:
    asked = gathered.request
    if not asked.charts or gathered.thinned is not None or not asked.ordinary or gathered.judgments is None:
        return []
    return ["There is no chart of the measures as judgments are removed, which takes a while; --removal draws it."]


def _baseline(gathered: Gathered) -> int:
    runs = [each.run for each in gathered.evaluations]
    chosen = gathered.comparison.baseline if gathered.comparison is not None else None
    return runs.index(chosen) if chosen in runs else 0


def _gains(gathered: Gathered) -> dict[str, float | None]:
    """What each grade is worth, by the first measure that says so; None where that is beyond floating point."""
    if gathered.judgments is None:
        return {}
    named = (value for each in gathered.request.measures for name, value in each.parameters if name == "gain")
    grades = np.unique(gathered.judgments.grades)
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
