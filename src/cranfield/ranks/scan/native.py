"""The compiled scan, where there is one."""

from __future__ import annotations

import os

__all__ = ["CORES", "native"]

try:
    if os.environ.get("CRANFIELD_SCAN") == "pure":
        raise ImportError("the compiled scan is switched off")
    from cranfield.ranks.scan import _native as native
except ImportError:  # this machine had no C++ compiler
    native = None  # type: ignore[assignment]

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
