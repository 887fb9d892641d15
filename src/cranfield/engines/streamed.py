"""Rows that an engine on this machine gives out in a stream: rankings are counted as they pass, and then forgotten.

The native scan takes blocks of whole queries, as it does of a file. There is no answer where the rows of a query are
apart or too many, or a row is not plain: then the expressions of `lazy_run` find the ranks, or what is wrong.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from typing import Any

import numpy as np

from cranfield.engines.protocol import library
from cranfield.io.text import Scattered
from cranfield.native import CORES, native
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.scan.counting import Places, Scanned, join
from cranfield.ranks.scan.parallel import in_parallel

COLUMNS = ("query", "document", "value")
ROWS = 1 << 18  # of a block; more if one query has more
MOST = 40 * ROWS  # of one query, which is held in memory


def scan_stream(frames: Generator[Any], judgments: Judgments) -> Scanned | None:
    """What a scan of a file with these rows finds; None if a row is not plain. `Scattered`: a query comes again.

    frames: eager ones, wrapped by narwhals, with these `COLUMNS`
    """
    assert native is not None
    scan, index = native.scan_frame, judgments._index

    def work(block: Any) -> Any:
        query, document, value = (block[name].to_native().__arrow_c_stream__() for name in COLUMNS)
        return scan(query, document, value, False, index, 0, 1, 0)

    retrieved, extra = np.full(len(judgments), -1, dtype=np.int64), 0
    others: set[int] = set()  # hashes of the queries that are not judged
    places = []
    with closing(frames), closing(in_parallel(work, _whole_queries(frames), CORES)) as answers:
        for answer in answers:
            if answer is None:
                return None
            queries, sizes, unjudged, found, _ = answer
            hashes = unjudged.tolist()
            if (retrieved[queries] >= 0).any() or not others.isdisjoint(hashes):
                raise Scattered
            retrieved[queries] = sizes
            others.update(hashes)
            extra += len(hashes)
            places.append(Places(*found))
    return Scanned(retrieved, extra, join(places))


def _whole_queries(frames: Iterable[Any]) -> Iterator[Any]:
    """Blocks that end where a query ends. A query of too many rows is cut, which makes it one whose rows are apart."""
    nw = library("narwhals")
    waiting: list[Any] = []
    rows = 0
    for frame in frames:
        waiting.append(frame)
        rows += len(frame)
        if rows < ROWS:
            continue
        block = nw.concat(waiting)
        end = _start_of_last(block["query"]) or (rows if rows > MOST else 0)
        if end:
            yield block[:end]
        waiting, rows = [block[end:]], rows - end
    if rows:
        yield nw.concat(waiting)


def _start_of_last(query: Any) -> int:
    """The row from which on all have the last query."""
    last, size = query[-1], 1 << 10
    if last is None:  # which the scan refuses
        return len(query)
    while True:
        start = max(0, len(query) - size)
        others = (query[start:] != last).arg_true()
        if len(others):
            return start + int(others[-1]) + 1
        if not start:
            return 0
        size *= 8
