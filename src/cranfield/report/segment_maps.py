"""The heat map of segments: the mean of each run in each, and how far it is from the run that it is compared with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cranfield.comparison.differences import p_text
from cranfield.comparison.segments import DIFFERING, ENOUGH, FINEST, Interaction, SegmentComparison, SegmentDifference
from cranfield.measures import Measure
from cranfield.report.gathered import Gathered
from cranfield.report.leaderboard import compared_with, primary_first
from cranfield.report.sentences import capital, rounded, signed
from cranfield.show.view import View
from cranfield.words import count

SHADES = 8  # 1 is the lightest that differs from none
KINDS = {"significantly better": "better", "significantly worse": "worse"}
SIGNS = {"better": "▲ ", "worse": "▼ "}


def segment_maps(gathered: Gathered, view: View) -> list[dict[str, Any]]:
    """For each measure a table of runs by segments."""
    if not view.segment_names:
        return []
    known = [gathered.request.segments.get(query) for query in gathered.query_ids]
    sizes = {name: known.count(name) for name in view.segment_names}
    found = _compared(gathered)
    against = "its baseline" if gathered.own else compared_with(gathered) or ""
    heads = [{"name": name, "queries": size, "enough": size >= ENOUGH} for name, size in sizes.items()]
    maps = []
    for measure in primary_first(gathered):
        pairs = {run: by for run, (base, by) in found.items() if measure in by.measures}
        gaps = {run: by.of(measure, run, found[run][0]) for run, by in pairs.items()}
        tests = [by.interaction(measure, run, found[run][0]) for run, by in pairs.items()]
        maps.append(
            {
                "measure": gathered.evaluations[0].heading(measure),
                "segments": heads,
                "rows": list(_rows(gathered, view, measure, gaps)),
                "sentences": list(_sentences(tests, against)),
                "notes": list(_notes(gaps, sizes, against, len(gathered.query_ids))),
            }
        )
    return maps


def _compared(gathered: Gathered) -> dict[str, tuple[str, SegmentComparison]]:
    """Of each run, the run that it is compared with, and both by segment."""
    segments, compared, against = gathered.request.segments, gathered.comparison, compared_with(gathered)
    # Queries with a segment may be among those that only some runs have, and these are not compared.
    if compared is None or against is None or not any(query in segments for query in compared._paired.query_ids):
        return {}
    if gathered.own:
        return {pair.run: (pair.baseline, pair.comparison.by_segment(segments)) for pair in gathered.own}
    by = compared.by_segment(segments)
    return {run: (against, by) for run in by.runs if run != against}


def _rows(
    gathered: Gathered,
    view: View,
    measure: Measure,
    gaps: Mapping[str, Sequence[SegmentDifference]],
) -> Iterator[dict[str, Any]]:
    """The higher a mean, the darker it is; but a mean of few queries has no shade, which would be a claim."""
    means = {
        (result.run, name): view.mean(result, measure.name, name)
        for result in gathered.best_first
        for name in view.segment_names
    }
    sizes = gathered.overview.segment_queries
    shaded = [value for (run, name), value in means.items() if sizes[run].get(name, 0) >= ENOUGH]
    low, high = min(shaded, default=0.0), max(shaded, default=0.0)
    for result in gathered.best_first:
        by_segment = {gap.segment: _gap(gap) for gap in gaps.get(result.run, ())}
        cells = []
        for name in view.segment_names:
            value, queries = means[result.run, name], view.segment_queries(result, name)
            shade = 1 + round((SHADES - 1) * (value - low) / (high - low)) if high > low else 1
            text = f"{value:.0f}" if measure.definition.aggregate == "sum" else rounded(value)
            cells.append(
                {
                    "text": text if queries else "–",
                    "shade": shade if queries >= ENOUGH else None,
                    "gap": by_segment.get(name),
                }
            )
        yield {"run": result.run, "cells": cells}


def _gap(gap: SegmentDifference) -> dict[str, str]:
    kind = KINDS.get(gap.verdict, "")
    ends = [] if gap.low is None or gap.high is None else [signed(gap.low), signed(gap.high)]
    p = "" if gap.adjusted is None else f"p {p_text(gap.adjusted, gap.alpha, FINEST)}"
    changed = f"{gap.better} better, {gap.same} the same, {gap.worse} worse"
    return {
        "text": SIGNS.get(kind, "") + signed(gap.difference),
        "kind": kind,
        "span": " to ".join(ends),
        "title": "; ".join(filter(None, (p, changed))),
    }


def _sentences(tests: Sequence[Interaction], against: str) -> Iterator[str]:
    """Whether effects differ between segments: those that do, and the others together."""
    differ = [test for test in tests if test.significant]
    alike = [test for test in tests if test.adjusted is not None and not test.significant]
    if len(differ) > 1:
        runs = ", ".join(f"{test.run} (p {p_text(test.adjusted or 0.0, test.alpha, FINEST)})" for test in differ)
        yield f"Compared with {against}, the effect differs between segments: {runs}."
    if len(alike) > 1:
        runs = f"{'the other ' * bool(differ)}{len(alike):,} runs"
        least = min(alike, key=lambda test: test.adjusted or 0.0)
        p = p_text(least.adjusted or 0.0, least.alpha, FINEST).replace("=", "≥")
        yield f"No sign that the effect differs between segments for {runs} (p {p})."
    for [test] in (some for some in (differ, alike) if len(some) == 1):
        yield f"{test.run} vs {test.baseline}: {test.finding}."
    if tests and not differ and not alike:
        yield f"{capital(tests[0].finding)}."


def _notes(
    gaps: Mapping[str, Sequence[SegmentDifference]], sizes: Mapping[str, int], against: str, queries: int
) -> Iterator[str]:
    shown = [each for its in gaps.values() for each in its]
    few = any(size < ENOUGH for size in sizes.values())
    if shown:
        pairs = " and pairs of runs" if len(gaps) > 1 and len({each.baseline for each in shown}) == 1 else ""
        yield (
            f"Below each value: the difference to {against}, with its {100 * (1 - shown[0].alpha):g}% interval, "
            f"corrected for all segments{pairs}. ▲ ▼ significantly better, worse."
        )
    if few or any(each.adjusted is None for each in shown):
        differ = f", and {DIFFERING} on which the two runs differ" if shown else ""
        without = " and no interval" if shown else ""
        yield (
            f"A claim about a segment takes {ENOUGH} queries{differ}. "
            + (f"One with fewer than {ENOUGH} has no colour{without}." if few else "With fewer, there is no interval.")
        )
    if left := queries - sum(sizes.values()):
        yield f"{count(left, 'query', 'queries')} without a segment {'is' if left == 1 else 'are'} left out."
