"""The compiled scan, where there is one."""

from __future__ import annotations

import os
from importlib import import_module
from types import ModuleType

native: ModuleType | None
try:
    native = import_module("cranfield._native")
except ImportError:  # this machine had no C++ compiler
    native = None

if os.environ.get("CRANFIELD_SCAN") == "pure":
    native = None

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
