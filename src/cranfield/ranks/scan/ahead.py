"""Files that are read and scanned ahead of time, in threads, while numpy is imported.

Only the native part can do that, and only for plain files of TREC's lines and the usual order of ties. Opening one of
these files uses the results from here; in all other cases the file is read as usual.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cranfield.io.shapes import TREC_QRELS, TREC_RUN, Layout
from cranfield.io.streams import BYTE_ORDER_MARK, LOOK, OPENED
from cranfield.native import CORES, native, native_layout

if TYPE_CHECKING:
    from cranfield.io.shapes import Text
    from cranfield.ranks.judgments import Judgments
    from cranfield.ranks.policy import Policy
    from cranfield.ranks.scan.counting import Scanned

LARGEST = 1 << 30  # bytes; larger files take longer, and need a progress bar
MOST_RUNS = 200  # all of them are open at once
_scans: list[_ScanAhead] = []  # the scan that was started, if any


def scan_ahead(qrels: str, runs: Sequence[str]) -> None:
    _scans.clear()
    if native is None or os.name == "nt" or not 0 < len(runs) <= MOST_RUNS or len({qrels, *runs}) <= len(runs):
        return
    layouts = {qrels: TREC_QRELS, **dict.fromkeys(runs, TREC_RUN)}
    try:
        if not all(map(os.path.isfile, layouts)) or sum(map(os.path.getsize, layouts)) > LARGEST:
            return
        for path in layouts:
            file = open(path, "rb", buffering=0)  # noqa: SIM115 (its stream closes it)
            OPENED[path] = file, file.read(LOOK)
    except OSError:
        return  # errors are reported when the files are read
    if all(_is_plain(OPENED[path][1], layout) for path, layout in layouts.items()):
        _scans.append(_ScanAhead(qrels, runs))


def is_scanning() -> bool:
    return bool(_scans)


def _is_plain(head: bytes, layout: Layout) -> bool:
    first = head.partition(b"\n")[0].split()
    comment = not first or first[0].startswith(b"#")
    return (comment or len(first) == layout.least) and b"\0" not in head and not head.startswith(BYTE_ORDER_MARK)


def judged_ahead(source: Text) -> native.Judged | None:
    return next((scan.judged(source) for scan in _scans), None)


def scanned_ahead(source: Text, judgments: Judgments, policy: Policy) -> Scanned | None:
    return next((scan.scanned(source, judgments, policy) for scan in _scans), None)


class _ScanAhead:
    def __init__(self, qrels: str, runs: Sequence[str]) -> None:
        assert native is not None
        self._qrels = qrels
        self._number = {run: number for number, run in enumerate(runs)}
        self._index: native.Index | None = None
        judged, *others = [(file.fileno(), head) for file, head in (OPENED[path] for path in (qrels, *runs))]
        self._threads = native.Ahead(judged, others, native_layout(TREC_QRELS), native_layout(TREC_RUN), CORES)

    def judged(self, source: Text) -> native.Judged | None:
        assert native is not None
        if source.stream.address != self._qrels or source.stream.hashed or source.layout != TREC_QRELS:
            return None
        judged = native.judged_ahead(self._threads)
        if judged is not None:
            self._index = judged[-1]
        return judged

    def scanned(self, source: Text, judgments: Judgments, policy: Policy) -> Scanned | None:
        assert native is not None
        stream = source.stream
        usual = policy.ties != "file" and policy.same_id == "keep" and source.layout == TREC_RUN
        # Rows are those of the judgments that were read ahead, and of no others.
        same = self._index is not None and judgments._index is self._index
        if not (usual and same) or stream.hashed or stream.address not in self._number:
            return None
        answer = native.scanned_ahead(self._threads, self._number.pop(stream.address))
        if answer is None:
            return None
        from cranfield.ranks.scan.counting import Places, Scanned

        if stream.on_read:
            stream.on_read(stream.size or 0)
        retrieved, extra, columns = answer
        return Scanned(retrieved, extra, Places(*columns))
