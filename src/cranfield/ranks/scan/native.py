"""The compiled scan, if there is one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cranfield.read.line_layout import Layout

__all__ = ["CORES", "TWINS", "native", "native_layout"]

try:
    if os.environ.get("CRANFIELD_SCAN") == "pure":
        raise ImportError("the compiled scan is switched off")
    from cranfield.ranks.scan import _native as native
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
    "codes_of_text": "cranfield.ranks.first_documents:first_of_block",
    "codes": "cranfield.ranks.codes:hashes",
    "partition": "cranfield.read.text:partition",
    "largest_differences": "cranfield.comparison.significance.tukey:in_numpy",
    "largest_fractions": "cranfield.comparison.joint.fractions:largest_fractions",
    "add_up": "cranfield.ranks.tables.ranks:add_up",
}


def native_layout(layout: Layout) -> native.Layout:
    """The layout of lines of text, for the native scan."""
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
