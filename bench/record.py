"""Keeps the results of benchmarks in files for docs/benchmarks.md: figures with machine, date and versions."""

from __future__ import annotations

import datetime
import json
import os
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("results.json")
DECIDING_FILE = Path(__file__).with_name("deciding.json")
GPU_FILE = Path(__file__).with_name("gpu.json")
GROWTH_FILE = Path(__file__).with_name("growing.json")
LIBRARIES = (
    "cranfield",
    "numpy",
    "pytrec_eval-terrier",
    "ir_measures",
    "ranx",
    "polars",
    "pandas",
    "duckdb",
    "pyspark",
)


def record(title: str, rows: Sequence[tuple[str, float, float | None]], base: str, target: str) -> None:
    """Keep the figures of a case, which replace its earlier ones."""
    figures = [{"name": name, "seconds": seconds, "peak_mb": memory} for name, seconds, memory in rows]
    _keep(FILE, title, {"base": base, "target": target, "rows": figures, **_circumstances(LIBRARIES)})


def record_deciding(name: str, figures: Mapping[str, Any]) -> None:
    """Keep the results of replays of judging until decided."""
    _keep(DECIDING_FILE, name, {"figures": figures, **_circumstances(("cranfield", "numpy"))})


def record_gpu(device: str, rows: Sequence[tuple[str, str, str, str]]) -> None:
    """Keep the figures of a device."""
    figures = [dict(zip(("what", "found", "target", "met"), row, strict=True)) for row in rows]
    _keep(GPU_FILE, device, {"rows": figures, **_circumstances(("cranfield", "torch", "triton", "torchmetrics"))})


def record_growth(what: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Keep what each command takes, and how that grows."""
    _keep(GROWTH_FILE, what, {"rows": rows, **_circumstances(("cranfield", "numpy"))})


def _keep(file: Path, name: str, content: Mapping[str, Any]) -> None:
    kept = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    file.write_text(json.dumps({**kept, name: content}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _circumstances(libraries: Sequence[str]) -> dict[str, Any]:
    return {
        "date": datetime.date.today().isoformat(),
        "machine": f"{_processor()}, {len(os.sched_getaffinity(0))} cores, {platform.system()}",
        "load": round(os.getloadavg()[0], 1),  # of the minute before, this benchmark included
        "python": platform.python_version(),
        "versions": {name: found for name in libraries if (found := _version(name))},
    }


def _version(library: str) -> str | None:
    try:
        return version(library)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    return next((line.split(": ")[1] for line in lines if line.startswith("model name")), platform.machine())
