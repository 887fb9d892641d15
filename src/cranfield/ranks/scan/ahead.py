"""Files that are read and scanned ahead of time, in threads, while numpy is imported.

Only the native part can do that, and only for plain files of TREC's lines and the usual order of ties. Opening one of
these files uses the results from here; in all other cases the file is read as usual.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cranfield.ranks.scan.native import CORES, native, native_layout
from cranfield.read.compression import compression
from cranfield.read.line_layout import TREC_QRELS, TREC_RUN

if TYPE_CHECKING:
    from cranfield.ranks.judgments import Judgments
    from cranfield.ranks.policy import Policy
    from cranfield.ranks.scan.counting import Scanned
    from cranfield.read.shapes import Text

LARGEST = 1 << 30  # bytes; larger files take longer, and need a progress bar
_scans: list[_ScanAhead] = []  # the scan that was started, if any


def scan_ahead(qrels: str, runs: Sequence[str]) -> None:
    """Start reading judgments and scanning runs."""
    _scans.clear()
    files = (qrels, *runs)
    if native is not None and runs and all(map(_is_plain, files)) and sum(map(os.path.getsize, files)) <= LARGEST:
        _scans.append(_ScanAhead(qrels, runs))


def is_scanning() -> bool:
    """Whether runs are being scanned ahead, in threads of their own."""
    return bool(_scans)


def _is_plain(path: str) -> bool:
    """Whether this is a file that can be opened and is not compressed."""
    if not os.path.isfile(path):
        return False
    try:
        with open(path, "rb", buffering=0) as file:
            return compression(file.read(10)) is None
    except OSError:
        return False


def judged_ahead(source: Text) -> native.Judged | None:
    """The columns of judgments that were read ahead."""
    return next((scan.judged(source) for scan in _scans), None)


def scanned_ahead(source: Text, judgments: Judgments, policy: Policy) -> Scanned | None:
    """What was found in a run that was scanned ahead."""
    return next((scan.scanned(source, judgments, policy) for scan in _scans), None)


class _ScanAhead:
    def __init__(self, qrels: str, runs: Sequence[str]) -> None:
        assert native is not None
        self._qrels = qrels
        self._number = {run: number for number, run in enumerate(runs)}
        self._index: native.Index | None = None
        paths = os.fsencode(qrels), [os.fsencode(run) for run in runs]
        self._threads = native.Ahead(*paths, native_layout(TREC_QRELS), native_layout(TREC_RUN), CORES)

    def judged(self, source: Text) -> native.Judged | None:
        assert native is not None
        if source.stream.address != self._qrels or source.stream.hashed or source.layout != TREC_QRELS:
            return None
        found = native.judged_ahead(self._threads)
        if found is not None:
            self._index = found[-1]
        return found

    def scanned(self, source: Text, judgments: Judgments, policy: Policy) -> Scanned | None:
        assert native is not None
        stream = source.stream
        usual = policy.ties != "file" and policy.same_id == "keep" and source.layout == TREC_RUN
        # Rows are those of the judgments that were read ahead, and of no others.
        same = self._index is not None and judgments._index is self._index
        if not (usual and same) or stream.hashed or stream.address not in self._number:
            return None
        found = native.scanned_ahead(self._threads, self._number.pop(stream.address))
        if found is None:
            return None
        from cranfield.ranks.scan.counting import Places, Scanned

        if stream.on_read:
            stream.on_read(stream.size or 0)
        retrieved, extra, columns = found
        return Scanned(retrieved, extra, Places(*columns))
