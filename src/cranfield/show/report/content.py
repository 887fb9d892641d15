"""Everything on the page, as plain data: the leaderboard and definitions, and what the page's program reads."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from cranfield.comparison.significance import t_interval
from cranfield.measures import Measure
from cranfield.result import Evaluation
from cranfield.show import charts, pictures
from cranfield.show.report.details import details, worst_first
from cranfield.show.report.request import Request
from cranfield.show.view import View

JUDGED = "Judged@10"


def page(request: Request) -> dict[str, Any]:
    """What is written into the page as text: readable without any program."""
    view = View(request.evaluations, segments=request.segments, bounds=request.bounds)
    names = [measure.name for measure in request.measures]
    first = request.evaluations[0]
    return {
        "title": request.title,
        "runs": [each.run for each in request.evaluations],
        "queries": len(request.query_ids),
        "judgments": len(request.flat.grades),
        "measures": [_definition(measure) for measure in request.measures],
        "shown_judged": request.ordinary and JUDGED not in names,
        "rows": [_row(request, view, result) for result in request.evaluations],
        "segments": _segments(request, view),
        "notes": _notes(request),
        "signature": View(request.evaluations).signature(),
        "version": first.version,
        "qrels": {"name": os.path.basename(request.flat.name), "sha256": first.qrels_sha256},
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
            [_column(request, result, measure) for measure in request.measures] for result in request.evaluations
        ],
        "pairs": _pairs(request),
        "families": list(request.families),
        "depth": request.depth,
        "details": found.queries,
        "documents": found.documents,
        "left_out": found.left_out,
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


def _row(request: Request, view: View, result: Evaluation) -> dict[str, Any]:
    marks = _marks(request)
    cells = []
    for measure in request.measures:
        name = measure.name
        cell: dict[str, Any] = {
            "value": result[measure],
            "text": view.shown(result[measure], name),
            "best": result.run in view.best(name),
            "letters": marks.get(name, {}).get(result.run, ""),
            "interval": None,
            "bounds": None,
        }
        column = result.column(measure)
        if measure.definition.aggregate == "mean" and not measure.definition.of_holes and len(column) > 1:
            low, high = t_interval(column[:, None], request.alpha)
            cell["interval"] = [view.shown(float(low[0]), name), view.shown(float(high[0]), name)]
        if request.bounds and not measure.definition.of_holes:
            ends = result.bounds(measure)
            cell["bounds"] = [view.shown(ends.low, name), view.shown(ends.high, name)]
        cells.append(cell)
    return {
        "run": result.run,
        "cells": cells,
        "judged": result.get(JUDGED),
        "sha256": result.run_sha256,
        "signature": View(request.evaluations).own_signature(result),
    }


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
    level = f"{1 - request.alpha:.0%}"
    notes = [f"In brackets: the {level} interval of the mean over the queries."]
    if request.comparison is not None:
        notes += [f"{note[0].upper()}{note[1:]}." for note in request.comparison.table().notes]
    if request.bounds:
        notes.append("Bounds: the lowest and highest mean, whatever the unjudged documents turn out to be.")
    counts = {each.run: each.describe_counts() for each in request.evaluations}
    if len(set(counts.values())) == 1:
        return [*notes, f"Each run: {next(iter(counts.values()))}."]
    return [*notes, *(f"{run}: {count}." for run, count in counts.items())]


def _column(request: Request, result: Evaluation, measure: Measure) -> list[float | None]:
    """A run's value of every query of the page; None for one that it was not measured on."""
    rounded = dict(zip(result.query_ids, np.round(result.column(measure), 6).tolist(), strict=True))
    return [rounded.get(query) for query in request.query_ids]


def _pairs(request: Request) -> list[dict[str, Any]]:
    keys = ("measure", "baseline", "run", "difference", "low", "high", "adjusted", "effect", "better", "same", "worse")
    return [
        {
            **{key: _finite(getattr(each, key)) for key in keys},
            "verdict": each.verdict,
            "could_reverse": each.could_reverse,
        }
        for each in request.comparison or ()
    ]


def _finite(value: Any) -> Any:
    """JSON has no infinite numbers; the interval of a test may have such an end."""
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _charts(request: Request) -> list[dict[str, Any]]:
    """The charts of all runs."""
    results, measure = request.evaluations, request.measures[0]
    found = []
    if request.ordinary:
        found.append(pictures.precision_recall(results))
        found += [pictures.by_cutoff(results, each, request.depth) for each in list(request.families.values())[:1]]
    if request.removal:
        found.append(pictures.draw_chart("stability", request.flat, request.runs, _thinned(request.measures)))
    if any("DCG" in each.definition.name for each in request.measures):
        found.append(charts.discount_chart(request.depth))
    columns = {each.run: np.round(each.column(measure), 4).tolist() for each in results}
    return [*found, charts.distribution_chart(measure.name, columns)]


def _thinned(measures: Sequence[Measure]) -> list[Measure]:
    return [each for each in measures if each.definition.aggregate == "mean" and not each.definition.of_holes][:4]


def _templates() -> dict[str, Any]:
    """The charts of two runs, whose data the page's program fills in."""
    return {
        "difference": charts.difference_chart("\0measure", "\0one", "\0other", {}),
        "scatter": charts.scatter_chart("\0measure", "\0one", "\0other", {}),
    }
