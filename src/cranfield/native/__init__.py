"""The compiled scan, if there is one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cranfield.io.shapes import Layout

__all__ = ["CORES", "TWINS", "native", "native_layout", "warn_of_slow_scan"]

_SWITCHED_OFF = os.environ.get("CRANFIELD_SCAN") == "pure"

try:
    if _SWITCHED_OFF:
        raise ImportError("the compiled scan is switched off")
    from cranfield.native import _native as native
except ImportError:  # this machine had no C++ compiler
    native = None  # type: ignore[assignment]

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

# The function in Python that must agree with each native one: the fallback, and the oracle in tests. By name, since
# those that define them import this.
TWINS = {
    "scan_text": "cranfield.ranks.scan.pure:scan",
    "read_judgments": "cranfield.ranks.reading_judgments:read_lines",
    "judged_ahead": "cranfield.ranks.reading_judgments:read_lines",
    "scanned_ahead": "cranfield.ranks.scan.pure:scan",
    "scan_frame": "cranfield.ranks.scan.memory:scan_rankings",
    "judge_frame": "cranfield.ranks.reading_judgments:read_rows",
    "judge_dicts": "cranfield.ranks.reading_judgments:read_mapping",
    "scan_dicts": "cranfield.ranks.scan.memory:scan_rankings",
    "first_of_text": "cranfield.ranks.first_documents:first_of_block",
    "codes": "cranfield.ranks.codes:hashes",
    "partition": "cranfield.io.text:partition",
    "largest_differences": "cranfield.comparison.significance.tukey:in_numpy",
    "largest_fractions": "cranfield.comparison.joint.gains:largest_fractions",
    "match_documents": "cranfield.ranks.matching:match_documents",
    "places_of_text": "cranfield.mixing.reading:places_of_lines",
    "ranked_text": "cranfield.mixing.reading:ranked_lines",
    "line_up": "cranfield.mixing.lists:line_up",
    "run_lines": "cranfield.mixing.fusing:records_of",
    "count_above": "cranfield.mixing.counting:count_above",
    "add_up": "cranfield.ranks.tables.ranks:add_up",
}


def warn_of_slow_scan() -> None:
    """Say that the compiled scan is missing and how to get it; Python shows this once in a process."""
    import warnings

    source = "install a C++ compiler, then reinstall cranfield from source (pip's option --no-binary cranfield)"
    hint = "unset CRANFIELD_SCAN" if _SWITCHED_OFF else source
    fact = "large files are read by pure Python, about 20 times slower than by the compiled scan."
    warnings.warn(f"{fact}\nHint: {hint}", RuntimeWarning, stacklevel=1)


def native_layout(layout: Layout) -> native.Layout:
    assert native is not None
    return native.Layout(
        layout.query,
        layout.document,
        layout.value,
        layout.least,
        layout.most,
        layout.rank,
        layout.separator,
        layout.ranks,
        layout.counted,
        layout.single,
    )
