"""The page about speed, from what the benchmarks have recorded: `python docs/site/benchmarks.py docs/benchmarks.md`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

BENCH = Path(__file__).parents[2] / "bench"

HEAD = """\
# Benchmarks

See how long evaluations take compared with other tools on the same machine. Measure it on yours:

```sh
make bench
```

Every table shows what that command recorded, with machine and date; nothing is typed by hand. Times are the best of a
few runs of a whole process, unless a title says otherwise. The ratio is to the row in bold. Read ratios rather than
seconds: seconds depend on the machine and on what else it was doing (see the load, in processes waiting for a core,
below each table).

## Why it is fast

Hardly any measure needs more than the ranks and grades of *judged* documents. So cranfield neither sorts nor keeps a
ranking: it reads the run once, looks each document up among the judged ones, and counts the documents above each judged
one. Memory holds a block of the file and the largest query.
"""
GPU = """
## On a GPU

`PYTHONPATH=src python bench/gpu.py` records this, with the compiled scan that installations have. Whole calls are timed
by the clock, host work included; parts of them by CUDA events; each is the best of several. Against torchmetrics, both
are timed in turns, since the host is not equally fast all the time.
"""


def page() -> str:
    """The page, in Markdown."""
    text = [HEAD]
    cases = _recorded("results.json")
    if not cases:
        text.append("\nNothing has been recorded yet.\n")
    told = ""
    for title, case in cases.items():
        text.append(f"\n## {title}\n")
        if told != _told(case):  # what holds for the tables that follow as well
            told = _told(case)
            text.append(f"\n{told}\n")
        text.append("\n" + "\n".join(_table(case)) + f"\n\nTarget: {case['target']}. Load: {case['load']:g}.\n")
    for device, case in _recorded("gpu.json").items():
        rows = [f"| {row['what']} | {row['found']} | {row['target']} | {row['met'].lower()} |" for row in case["rows"]]
        head = ["| what | found | target | |", "| --- | --- | --- | --- |"]
        text.append("\n".join([GPU, f"### {device}\n", *head, *rows, "", _told(case), ""]))
    return "".join(text)


def _recorded(file: str) -> dict[str, Any]:
    path = BENCH / file
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def _table(case: Mapping[str, Any]) -> Iterator[str]:
    unit = next(row["seconds"] for row in case["rows"] if row["name"] == case["base"])
    memory = any(row["peak_mb"] for row in case["rows"])
    yield "| | seconds | ratio |" + " peak MB |" * memory
    yield "| --- | ---: | ---: |" + " ---: |" * memory
    for row in case["rows"]:
        name = f"**{row['name']}**" if row["name"] == case["base"] else row["name"]
        peak = f" {row['peak_mb']:.0f} |" if row["peak_mb"] else " |" * memory
        yield f"| {name} | {row['seconds']:.3f} | {row['seconds'] / unit:.1f} |{peak}"


def _told(case: Mapping[str, Any]) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in case["versions"].items())
    return f"{case['date']}; {case['machine']}; Python {case['python']}, {versions}."


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write(page())
