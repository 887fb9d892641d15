"""A sample of the queries of a log as text."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite

from cranfield.show.layout import Paint, aligned, wrapped
from cranfield.traffic.personal_data import KINDS
from cranfield.traffic.sampling import ESTIMANDS, QuerySample
from cranfield.words import count, joined, percent, visible


def sample_text(sample: QuerySample, path: str, spread: float, width: int, paint: Paint) -> Iterator[str]:
    """What the sample stands for, what was left out, and what it can detect."""
    queries = count(len(sample.queries), "query", "queries")
    where = f"Written: {path}, {queries}." if path not in ("", "-") else f"{queries}."
    yield from wrapped(f"{where} {stands_for(sample)}", width=width)
    for line in left_out(sample):
        yield from wrapped(line, hang=2, width=width)
    yield ""
    yield from aligned(
        [["a mean for", "weights", "as precise as", "detects"], *_rows(sample, spread)], (0, 1), paint.strong
    )
    yield ""
    known = (
        "Every query of the log is in it."
        if sample.distinct <= len(sample.queries)
        else f"Detects: with 80% power, where differences by query have a standard deviation of {spread:g}."
    )
    for line in wrapped(known, width=width):
        yield paint.dim(line)


def stands_for(sample: QuerySample) -> str:
    """The share of traffic that it stands for, and that of its own queries.

    >>> stands_for(QuerySample((), 990, 40, {}, 0, 0, {}, 0))
    'It stands for 990 searches for 40 distinct queries; 0% of these are for the queries drawn.'
    """
    searches, distinct = (
        count(sample.searches, "search", "searches"),
        count(sample.distinct, "distinct query", "distinct queries"),
    )
    share = f"{percent(sample.share)} of these are for the queries drawn."
    if sample.left_out:
        return f"It stands for {percent(sample.stands_for)} of traffic: {searches} for {distinct}; {share}"
    return f"It stands for {searches} for {distinct}; {share}"


def left_out(sample: QuerySample) -> Iterator[str]:
    """What the sample does not stand for, by reason."""
    for kind, left in sample.left_out.items():
        searches, queries = count(left.searches, "search", "searches"), count(left.queries, "query", "queries")
        yield f"Left out: {searches} ({queries}) with what looks like {KINDS[kind].meaning} ({kind})."
    if sample.empty:
        yield f"Left out: {count(sample.empty, 'search', 'searches')} without a text."
    if sample.skipped:
        yield f"Left out: {count(sample.skipped, 'line')} that could not be read."
    for log, columns in sample.columns.items():
        yield f"Read: {visible(log)}, column{'s' * (len(columns) > 1)} {joined(map(repr, columns.values()), 'and')}."


def _rows(sample: QuerySample, spread: float) -> Iterator[list[str]]:
    for of, column in ESTIMANDS.items():
        effective, detected = sample.effective(of), sample.detectable(of, spread)
        precise = count(round(effective), "query", "queries") if isfinite(effective) else "the whole log"
        yield [f"a {of}", column, precise, f"{detected:.3f}" if detected else ""]
