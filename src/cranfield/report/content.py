"""Everything on the page, as plain data: its text, and the data for its script."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np

from cranfield.comparison.conclusions import LETTERED, Comparison
from cranfield.comparison.differences import UNDECIDED, Difference
from cranfield.evaluation.result import Evaluation
from cranfield.look import LIGHT
from cranfield.measures import Measure
from cranfield.measures.arithmetic import gains
from cranfield.report.card import card, page_title
from cranfield.report.charts import charts, hues, not_drawn, templates, theory_charts
from cranfield.report.details import add_details
from cranfield.report.encoding import DataWriter, safe_json
from cranfield.report.gathered import Gathered
from cranfield.report.leaderboard import leaderboard, notes
from cranfield.report.order import rank_chart, standing_kinds
from cranfield.report.pair import seen_from
from cranfield.report.segment_maps import segment_maps
from cranfield.report.sentences import BRIEF, capital, short_names
from cranfield.report.shown_documents import ShownDocuments
from cranfield.show.charts.runs import DASHES, FAR, GAP, LONG
from cranfield.show.view import View
from cranfield.words import listed


def page(gathered: Gathered, written: datetime) -> dict[str, Any]:
    """The text of the page, which is readable without scripts."""
    view = View(gathered.overview)
    first = gathered.evaluations[0]
    colours, own = hues(gathered), view.own_signatures()
    return {
        "title": page_title(gathered),
        "card": card(gathered),
        "hues": colours,
        "runs": gathered.runs,
        "queries": len(gathered.query_ids),
        "judgments": None if gathered.judgments is None else len(gathered.judgments.grades),
        "measures": [_definition(measure) for measure in gathered.request.measures],
        "board": leaderboard(gathered, view),
        "ranks": rank_chart(gathered),
        "segment_maps": segment_maps(gathered, view),
        "notes": notes(gathered, view),
        "signature": view.signature(),
        "hashes": [(result.run, result.run_sha256, own[result.run]) for result in gathered.evaluations],
        "version": first.version,
        "day": f"{written.day} {written:%B %Y}",
        "written": f"{written:%Y-%m-%d %H:%M %Z}".strip(),
        "command": gathered.request.command,
        "qrels": {
            "name": "" if gathered.judgments is None else os.path.basename(gathered.judgments.name),
            "sha256": first.qrels_sha256,
        },
        "collection": gathered.request.collection.name if gathered.request.collection else None,
        "theory": bool(gathered.request.charts and theory_charts(gathered)),
    }


def add_program_data(data: DataWriter, gathered: Gathered) -> list[str]:
    """Write the data for the page's script: values, rankings, differences, charts. Returns what it lacks, in words."""
    asked, shown_documents = gathered.request, ShownDocuments(gathered)
    texts = asked.collection.queries if asked.collection else {}
    colours, short = hues(gathered), short_names(gathered.runs)
    place = {query: at for at, query in enumerate(gathered.query_ids)}
    definitions = {measure.name: measure.definition for measure in asked.measures}
    data.add(
        runs=gathered.runs,
        short=[short[run] for run in gathered.runs],
        brief=list(short_names(gathered.runs, BRIEF).values()),
        hues=[colours.get(run, 0) for run in gathered.runs],
        order=[result.run for result in gathered.best_first],
        standing=standing_kinds(gathered),
        measures=[
            {"name": name, "lower": definition.lower_is_better, "mean": definition.aggregate == "mean"}
            for name, definition in definitions.items()
        ],
        queries=gathered.query_ids,
        worst_first=[place[query] for query in gathered.worst_first],
        texts=[texts.get(query, "") for query in gathered.query_ids] if texts else None,
        segments=[asked.segments.get(query, "") for query in gathered.query_ids] if asked.segments else None,
        pairs=_pairs(gathered),
        chosen=_chosen(gathered),
        families=list(gathered.families),
        gains=_gains(gathered),
        depth=asked.depth,
        colours=LIGHT,
        names={"gap": GAP, "far": FAR, "long": LONG, "dashes": DASHES},
        charts=charts(gathered) if asked.charts else [],
        theory=theory_charts(gathered) if asked.charts else [],
        templates=templates(gathered) if asked.charts else {},
    )
    # Nested JSON, which is parsed only for the runs that are shown.
    values = ([_column(gathered, result, measure) for measure in asked.measures] for result in gathered.evaluations)
    data.add_texts("values", map(safe_json, values))
    left_out = [*add_details(data, gathered, shown_documents), *_untested_note(gathered), *not_drawn(gathered)]
    data.add(left_out=left_out)
    return left_out


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


def _column(gathered: Gathered, result: Evaluation, measure: Measure) -> list[float | None]:
    rounded: list[float | None] = np.round(result.column(measure), 9).tolist()
    if result.query_ids == gathered.query_ids:
        return rounded
    known = dict(zip(result.query_ids, rounded, strict=True))
    return [known.get(query) for query in gathered.query_ids]


def _pairs(gathered: Gathered) -> dict[str, dict[str, list[str]]]:
    """The verdict on each two runs, by measure and "baseline run", by their places."""
    if gathered.comparison is None:
        return {}
    # Runs with a baseline of their own come last, so these take precedence for their pairs.
    sources = [gathered.comparison, *(pair.comparison for pair in gathered.own)]
    place, short = {run: at for at, run in enumerate(gathered.runs)}, short_names(gathered.runs)
    pairs: dict[str, dict[str, list[str]]] = {}
    for measure in _tested_measures(gathered.comparison):
        pairs[measure.name] = verdicts = {}
        for difference in (difference for source in sources for difference in source.of(measure)):
            two = (difference.run, difference.baseline)
            for run, baseline in (two, two[::-1]):
                seen = replace(seen_from(difference, run), run=short[run], baseline=short[baseline])
                verdicts[f"{place[baseline]} {place[run]}"] = _sentences(seen)
    return pairs


def _tested_measures(comparison: Comparison) -> tuple[Measure, ...]:
    """The measures with a verdict on each two runs: for many runs only the first."""
    return comparison.measures if len(comparison.runs) <= LETTERED else comparison.measures[:1]


def _untested_note(gathered: Gathered) -> list[str]:
    comparison = gathered.comparison
    if comparison is None or len(comparison.runs) <= LETTERED:
        return []
    tested, *_ = _tested_measures(comparison)
    others = [measure.name for measure in gathered.means if measure != tested]
    only = f"There are more than {LETTERED} runs, so pairs of runs are tested only by {tested}"
    return [f"{only}, not by {listed(others)}."] if others else []


def _sentences(difference: Difference) -> list[str]:
    """The sentence, and whether unjudged documents could reverse it, if it does not say so itself."""
    sentence = f"{difference.sentence}."
    if difference.reach is None or sentence.endswith(f"{UNDECIDED}."):
        return [sentence]
    may = "could" if difference.could_reverse else "can't"
    return [sentence, f"{capital(difference.reach.documents)} {may} reverse this."]


def _chosen(gathered: Gathered) -> list[int]:
    """The two runs that are first shown side by side, the baseline before the other: those of the verdict."""
    if gathered.pair is None:
        return [0, min(1, len(gathered.runs) - 1)]
    return [gathered.runs.index(gathered.pair.baseline), gathered.runs.index(gathered.pair.run)]


def _gains(gathered: Gathered) -> dict[str, float | None]:
    """The gain of each grade, by the first measure that has gains; None if it is beyond floating point."""
    if gathered.judgments is None:
        return {}
    named = (value for measure in gathered.request.measures for name, value in measure.parameters if name == "gain")
    grades = np.unique(gathered.judgments.grades)
    worth = gains(grades, next(named, "linear"))
    texts = (str(int(grade) if grade == int(grade) else grade) for grade in grades.tolist())  # as JavaScript's
    return dict(zip(texts, (gain if np.isfinite(gain) else None for gain in worth.tolist()), strict=True))
