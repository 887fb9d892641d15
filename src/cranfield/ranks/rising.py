"""Whether scores rise down the rankings as they are written: then they may be distances, and the worst ranks first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from cranfield.io.mappings import Pairs
from cranfield.io.shapes import BadQuoting, Rankings, Source, Table, Text

LOOKED = 1_000  # documents at the beginning of a run; most show a falling score at once
RISING = "the scores rise from one document to the next, but the highest ranks first; negate them if they are distances"
LEAST = 20  # rises: so many do not happen by chance
EACH = 9  # rises for each fall, at least: a ranking that is in no order has as many falls


def rises(source: Source) -> bool:
    """Whether scores rise from one document of a ranking to the next, with hardly a fall; of a file, in its head."""
    risen, fallen, before = 0, 0, (None, 0.0)
    try:
        for query, score in islice(_scores(source), LOOKED):
            if query == before[0]:
                risen += score > before[1]
                fallen += score < before[1]
                if fallen * EACH > LOOKED:
                    return False
            before = query, score
    except (BadQuoting, IndexError, TypeError, ValueError):  # the scan reports what is wrong
        return False
    return bool(risen >= max(LEAST, EACH * fallen))  # of NumPy's numbers, too


def _scores(source: Source) -> Iterator[tuple[Any, Any]]:
    """The query and the score of each document, in the order given; none where ranks are given."""
    if isinstance(source, Text):
        return _of_lines(source)
    if isinstance(source, Table):
        return iter(() if source.columns.ranks else source.columns.first(LOOKED))
    return _of_rankings(source)


def _of_lines(source: Text) -> Iterator[tuple[bytes, float]]:
    layout = source.layout
    if layout.ranks:
        return
    header_awaited = layout.header
    for data in islice(source.stream.whole_lines(), 1):
        for line in bytes(data).split(b"\n"):
            fields = layout.split(line)
            if fields and not header_awaited:
                yield fields[layout.query], float(fields[layout.value])
            header_awaited = header_awaited and not fields


def _of_rankings(source: Rankings) -> Iterator[tuple[Any, Any]]:
    for query, ranking in source.by_query.items():
        scores: Iterable[Any] = ()
        if isinstance(ranking, Pairs):
            scores = (score for _, score in ranking)
        elif isinstance(ranking, Mapping):
            scores = ranking.values()
        for score in scores:
            yield query, score
