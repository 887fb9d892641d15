"""The charts of the page, as specifications that its script draws, and the colours of the runs in them."""

from __future__ import annotations

import numpy as np

from cranfield.report.gathered import Gathered
from cranfield.show.charts.cutoff import cutoff_chart
from cranfield.show.charts.difference import difference_chart
from cranfield.show.charts.discount import discount_chart
from cranfield.show.charts.distribution import distribution_chart, weighted_means
from cranfield.show.charts.gain import gain_chart
from cranfield.show.charts.parts import COLOURS, Spec
from cranfield.show.charts.precision_recall import precision_recall_chart
from cranfield.show.charts.rank_by_rank import rank_by_rank_chart
from cranfield.show.charts.runs import emphasised
from cranfield.show.charts.scatter import scatter_chart
from cranfield.show.charts.stability import of_stability
from cranfield.show.charts.thresholds import thresholds_chart

AXIS = 70  # pixels below the rows
ROWS = 20  # runs that have a row of their own in a chart


def hues(gathered: Gathered) -> dict[str, int]:
    """The number of each run's colour: few runs all have one; of many, only the best and the two of the verdict."""
    pair = [gathered.pair.run, gathered.pair.baseline] if gathered.pair and len(gathered.runs) > len(COLOURS) else []
    return emphasised(list(gathered.runs), pair, gathered.best_first[0].run)


def charts(gathered: Gathered) -> list[list[Spec]]:
    """The charts of all runs; those in a group are one chart on the page, with a choice of measure."""
    groups: list[list[Spec]] = []
    if gathered.curves is not None:
        curves = gathered.curves
        known = [run for run in gathered.runs if run in curves.recall]
        chosen = _chosen(gathered, known)
        lower = {name: measure.definition.lower_is_better for name, measure in gathered.families.items()}
        groups.append(
            [
                cutoff_chart(name, {run: its[run] for run in known}, highlight=chosen, lower_is_better=lower[name])
                for name, its in curves.cutoffs.items()
            ]
        )
        groups.append([precision_recall_chart({run: curves.recall[run] for run in known}, highlight=chosen)])
        groups.append([rank_by_rank_chart({run: curves.ranks[run] for run in known}, highlight=chosen)])
    spread, few = [], len(gathered.evaluations) <= len(COLOURS)
    rows = gathered.evaluations if few else gathered.best_first[:ROWS]
    for measure in gathered.means or gathered.request.measures[:1]:
        columns = {result.run: np.round(result.column(measure), 4).tolist() for result in rows}
        spec = distribution_chart(
            measure.name,
            columns,
            means=weighted_means(rows, measure),
            highlight=_chosen(gathered, list(columns)),
            lower_is_better=measure.definition.lower_is_better,
        )
        spread.append(Spec(spec, height=spec["height"]["step"] * len(columns) + AXIS))
    groups.append(spread)
    answers = {run.run: run.answering for run in rows if run.answering is not None and run.answering.curve}
    if answers:
        groups.append([thresholds_chart(answers, highlight=_chosen(gathered, list(answers)))])
    if gathered.thinned is not None:
        groups.append([of_stability(gathered.thinned)])
    return [group for group in groups if group]


def _chosen(gathered: Gathered, known: list[str]) -> list[str]:
    """Of many runs, those that have a colour; few runs all have one."""
    if len(gathered.evaluations) <= len(COLOURS):
        return []
    coloured = hues(gathered)
    return [run for run in known if run in coloured]


def theory_charts(gathered: Gathered) -> list[list[Spec]]:
    """How much ranks and grades count, for the measures that discount and weigh them."""
    if not any({"gain", "discount"} <= measure.definition.kinds.keys() for measure in gathered.request.measures):
        return []
    highest = 4 if gathered.judgments is None else int(max(gathered.judgments.grades.max(initial=1), 2))
    return [[discount_chart(gathered.request.depth)], [gain_chart(min(highest, 6))]]


def templates(gathered: Gathered) -> dict[str, dict[str, Spec]]:
    """The charts of two runs, for measures where higher is better and others; the page's script fills in their data.

    They are made for the number of queries, since their look depends on it.
    """
    if len(gathered.runs) < 2:
        return {}
    pair = gathered.runs[:2] if gathered.pair is None else (gathered.pair.baseline, gathered.pair.run)
    results = dict(zip(gathered.runs, gathered.evaluations, strict=True))
    one, other = (results[run].by_query(gathered.primary) for run in pair)
    values = {query: (value, other[query]) for query, value in one.items() if query in other}
    names = ("\0measure", "\0one", "\0other")
    specs: dict[str, dict[str, Spec]] = {}
    for lower in sorted({measure.definition.lower_is_better for measure in gathered.request.measures}):
        changes = {query: after - before for query, (before, after) in values.items()}
        specs[str(lower).lower()] = {
            "difference": difference_chart(*names, changes, lower_is_better=lower),
            "scatter": scatter_chart(*names, values, lower_is_better=lower),
        }
    return specs


def not_drawn(gathered: Gathered) -> list[str]:
    asked = gathered.request
    if not asked.charts:
        return []
    missing = []
    if len(gathered.evaluations) > ROWS:
        missing.append(f"The spread over the queries is drawn for the best {ROWS} of {len(gathered.evaluations)} runs.")
    if gathered.thinned is None and asked.ordinary and gathered.judgments is not None:
        missing.append("The chart of the measures as judgments are removed takes a while; --removal draws it.")
    return missing
