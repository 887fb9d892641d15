"""Whether scores may be distances: they rise down the rankings, or the reverse order would be far better."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO
from itertools import islice, repeat
from typing import Any

import numpy as np

from cranfield.io.column_names import rank_place
from cranfield.io.mappings import Pairs
from cranfield.io.shapes import BadQuoting, Rankings, Source, Table, Text
from cranfield.ranks.columns import Flags
from cranfield.ranks.tables.ranks import JudgedRanks

LOOKED = 1_000  # documents at the beginning of a run; most show a falling score at once
RISING = "the scores rise from one document to the next, but the highest ranks first; negate them if they are distances"
LEAST = 20  # rises: so many do not happen by chance
EACH = 9  # rises for each fall, at least: a ranking that is in no order has as many falls
# The reverse order is told if it is better by all of these: of 1,560 random and good runs of 10 to 200 queries, none.
SHORTEST = 10  # documents of a ranking whose reverse order is looked at
FEWEST = 10  # queries with a relevant document
HIGHER, TIMES = 0.1, 2.0
ERRORS = 5.0  # standard errors of the difference over the queries


def rises(source: Source) -> bool:
    """Whether scores rise from one document of a ranking to the next, with hardly a fall; of a file, in its head."""
    try:
        return rising(_rows(source))
    except (BadQuoting, IndexError, TypeError, ValueError):  # the scan reports what is wrong
        return False


def rising(rows: Iterable[tuple[Any, Any, Any]]) -> bool:
    """The same of rows of query, score and rank, as they are written; ranks say the order where they are numbers."""
    risen, fallen = 0, 0
    before: dict[Any, tuple[Any, float | None]] = {}  # the last row of each query, since its rows may be scattered
    for query, score, given in islice(rows, LOOKED):
        rank = _number(given)
        last = before.get(query)
        if last is not None:
            backwards = rank is not None and last[1] is not None and rank < last[1]
            above, below = (score, last[0]) if backwards else (last[0], score)
            risen += below > above
            fallen += below < above
            if fallen * EACH > LOOKED:
                return False
        before[query] = score, rank
    return bool(risen >= max(LEAST, EACH * fallen))  # of NumPy's numbers, too


def backwards(judged: JudgedRanks, kept: Flags) -> str:
    """Say so if the reverse order of every ranking would be far better, by the documents that are not tied.

    By RR, whatever is measured, so that the same run is told of everywhere: the first relevant document from the top,
    and from the end. Relevant documents must also be further down than those judged not relevant: otherwise the order
    is right, and only unjudged documents are above. kept: the queries that are averaged over.
    """
    # The order of a few documents says little, whichever way it is read.
    rows = np.flatnonzero(judged.relevant(1) & ~judged.tied)
    rows = rows[judged.retrieved[judged.query[rows]] >= SHORTEST]
    query, rank = judged.query[rows], judged.rank[rows]
    reverse = judged.retrieved[query] + 1 - rank
    if reverse.sum() >= rank.sum():
        return ""  # as nearly always: relevant documents are rather at the top
    depth, others = judged.rank / judged.retrieved[judged.query], judged.judged & ~judged.relevant(1) & ~judged.tied
    if others.any() and depth[others].mean() >= depth[rows].mean():
        return ""
    starts = np.flatnonzero(np.diff(query, prepend=-1))
    top, end = np.zeros(len(judged)), np.zeros(len(judged))
    top[query[starts]] = 1 / rank[starts]
    end[query[starts]] = 1 / np.minimum.reduceat(reverse, starts)
    top, end = top[kept], end[kept]
    gain, error = end - top, np.std(end - top) / max(len(top), 1) ** 0.5
    better = end.mean() >= max(top.mean() + HIGHER, TIMES * top.mean()) and gain.mean() >= ERRORS * error
    if np.count_nonzero(end) < FEWEST or not better:
        return ""
    reached = f"RR would be {end.mean():.4f} instead of {top.mean():.4f}"
    return f"in the reverse order, {reached}; negate the scores if they are distances"


def _number(rank: Any) -> float | None:
    try:
        return None if rank is None else float(rank)
    except (TypeError, ValueError):
        return None


def _rows(source: Source) -> Iterator[tuple[Any, Any, Any]]:
    """The query, the score and the rank, if there is one, of each document as written; none where ranks are given."""
    if isinstance(source, Text):
        return _of_lines(source)
    if isinstance(source, Table):
        return iter(() if source.columns.ranks else source.columns.first(LOOKED))
    return _of_rankings(source)


def _of_lines(source: Text) -> Iterator[tuple[bytes, float, bytes | None]]:
    layout = source.layout
    if layout.ranks:
        return
    place = layout.rank if layout.rank >= 0 else rank_place(layout.names)
    header_awaited = layout.header
    for data in islice(source.stream.whole_lines(), 1):
        for line in BytesIO(data):  # as many as are looked at
            fields = layout.split(line)
            if fields and not header_awaited:
                yield fields[layout.query], float(fields[layout.value]), fields[place] if place >= 0 else None
            header_awaited = header_awaited and not fields


def _of_rankings(source: Rankings) -> Iterator[tuple[Any, Any, None]]:
    for query, ranking in source.by_query.items():
        scores: Iterable[Any] = ()
        if isinstance(ranking, Pairs):
            scores = (score for _, score in ranking)
        elif isinstance(ranking, Mapping):
            scores = ranking.values()
        yield from zip(repeat(query), scores, repeat(None))
