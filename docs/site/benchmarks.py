"""The page about speed, from what the benchmarks have recorded: `python docs/site/benchmarks.py docs/benchmarks.md`."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

BENCH = Path(__file__).parents[2] / "bench"

OTHERS = ("pytrec_eval", "ir_measures", "ranx", "trec_eval", "Spark's RankingMetrics")  # tools, by how rows begin

# What a case shows, by how its title begins: [row] is a time, [row / row] a ratio, by name or place.
SENTENCES = {
    "43 queries": "A small evaluation takes [cranfield], of which importing numpy is [import numpy].",
    "Ten times the lines": "Ten times the lines take [1 / 0] times as long.",
    "10 systems": "By randomisation, all pairs take [cranfield, randomisation]; ranx's Fisher test takes "
    "[ranx, Fisher (scaled)], [ranx, Fisher (scaled) / cranfield, randomisation] times as long.",
    **dict.fromkeys(
        ("A Parquet file of 100,000,000", "A Parquet file of 1,000,000,000"),
        "Polars takes [cranfield, Polars], DuckDB [cranfield, DuckDB]; bare SQL in DuckDB, which only counts ranks and "
        "checks nothing, takes [DuckDB's bare SQL, which only counts ranks].",
    ),
    "All measures of the catalogue": "The measures take [1], the scan that they share [the scan].",
    "Measures on 50,000": "AP takes [AP]; the nine measures of the C/W/L framework together take [cwl: all 9].",
    "2,000 queries": "Asking 2,000 queries and keeping the answers takes [1], besides the system's own time.",
    "1,000 queries": "cranfield takes [cranfield], a bare loop [a bare httpx loop].",
    "A report": "A page of 50 queries is written in [0], one of 6,980 queries in [3]; of 100 runs, the whole command "
    "takes [2].",
    "A store of a million": "The next document is there after [the next document, p99]; with 20 people at once, 99 of "
    "100 grades are saved within [a grade is saved, 20 at once, p99].",
    "63 runs × 200": "Pooling 63 runs to depth 10 takes [pooling to depth 10], to depth 100 [pooling to depth 100].",
    "63 runs of 200 queries × 240 documents by": "All 1,953 pairs are compared in [compare --no-bounds]; with bounds "
    "on unjudged documents, in [compare, with bounds].",
    "Two files": "Comparing two files takes [compare --no-bounds], evaluating them [evaluate both].",
    "A history": "A result is appended in [append a result], with its run in [append a result and its run]; `history` "
    "takes [history], the page [history -o history.html].",
    "Fusing 10 runs of 6,980": "Reciprocal rank fusion takes [cranfield, rrf], CombSUM [cranfield, combsum].",
    "231 settings": "All settings are measured for all queries in [cranfield].",
    "What changed": "`diff` takes [diff / evaluate both] times as long as evaluating both, with `--depth 100` "
    "[diff --depth 100 / evaluate both] times.",
    "Clicks of": "Counting ten million impressions, finding out who looks at which rank, and grading takes "
    "[rows of a CSV file]; from events of UBI, [events of UBI].",
    "Quotes": "4,000 quotes are located in [4,000 quotes in one text of 1 MB], 100,000 chunks in "
    "[100,000 chunks, 60 MB].",
}

HEAD = """\
# Benchmarks

See how long evaluations take compared with other tools on the same machine. Measure it on yours:

```sh
make bench
```

Every sentence, bar and number shows what that command recorded, with machine and date; nothing is typed by hand. Times
are the best of a few runs of a whole process, unless a title says otherwise; a shorter bar is faster. The ratio is to
the row in bold. Read ratios rather than seconds: seconds depend on the machine and on what else it was doing (see the
load, in processes waiting for a core, below each table).

## Why it is fast

Hardly any measure needs more than the ranks and grades of *judged* documents. So cranfield neither sorts nor keeps a
ranking: it reads the run once, looks each document up among the judged ones, and counts the documents above each judged
one. Memory holds a block of the file and the largest query.
"""
GROWTH = """
## How each command grows

`python bench/growing.py` gives each command an input and twice that input. Time is processor time without the start of
the program, and memory the peak, with it. Work × 2 means twice the time for twice the input.

| command | what grows | time | work | MB | memory |
| --- | --- | ---: | ---: | ---: | ---: |
"""
GPU = """
## On a GPU

`PYTHONPATH=src python bench/gpu.py` records this, with the compiled scan that installations have. Whole calls are timed
by the clock, host work included; parts of them by CUDA events; each is the best of several. Against torchmetrics, both
are timed in turns, since the host is not equally fast all the time.
"""
PARTS = {
    "a": "A matrix of scores",
    "b": "Counting over a long ranking",
    "c": "A full corpus, without an index",
    "": "Values and ranks",
}


def page() -> str:
    """The page, in Markdown."""
    text = [HEAD]
    cases = _recorded("results.json")
    if not cases:
        text.append("\nNothing has been recorded yet.\n")
    told = ""
    for title, case in cases.items():
        text.append(f"\n## {title}\n\n{sentence(title, case)}\n")
        text.append("\n" + "\n".join(_table(case)) + f"\n\n<small>Load {case['load']:g}.")
        if told != _told(case):  # what holds for the tables that follow as well
            told = _told(case)
            text.append(f" {told}")
        text.append("</small>\n")
    for what, case in _recorded("growing.json").items():
        text += [GROWTH, *map(_grown, case["rows"])]
        text.append(f"\n<small>{what}; load {case['load']:g}. {_told(case)}</small>\n")
    for device, case in _recorded("gpu.json").items():
        text.append(f"{GPU}\n### {device}\n")
        for part, meaning in PARTS.items():
            rows = [f"| {what} | {row['found']} |" for row in case["rows"] for what in _of_part(row["what"], part)]
            if rows:
                text.append("\n".join([f"\n**{meaning}**\n", "| what | found |", "| --- | --- |", *rows, ""]))
        text.append(f"\n<small>{_told(case)}</small>\n")
    return "".join(text)


def _grown(row: Mapping[str, Any]) -> str:
    figures = f"{_time(row['seconds'])} | × {row['work']:.1f} | {row['mb']:,.0f} | × {row['memory']:.1f}"
    return f"| `{row['command']}` | {row['grows']} | {figures} |\n"


def _of_part(what: str, part: str) -> list[str]:
    """What a row of this part is about; nothing of other parts."""
    begins, found, rest = what.partition("  ")
    return [rest if found else what] if (begins if found else "") == part else []


def sentence(title: str, case: Mapping[str, Any]) -> str:
    """What a case shows: its own sentence, or our time and that of the fastest other tool."""
    rows = {row["name"]: row["seconds"] for row in case["rows"]}
    placed = {**rows, **{str(place): seconds for place, seconds in enumerate(rows.values())}}
    for begins, text in SENTENCES.items():
        if title.startswith(begins):
            return re.sub(r"\[(.+?)(?: / (.+?))?\]", lambda found: _figure(placed, found[1], found[2]), text)
    others = [name for name in rows if name.startswith(OTHERS)]
    if not others:
        return ""
    nearest, base = min(others, key=rows.__getitem__), case["base"]
    ratio = _ratio(rows[nearest] / rows[base])
    return f"{base} takes {_time(rows[base])}; the fastest other tool, {nearest}, takes {ratio} times as long."


def _figure(rows: Mapping[str, float], name: str, other: str | None) -> str:
    return _ratio(rows[name] / rows[other]) if other else _time(rows[name])


def _ratio(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.1f}"


def _time(seconds: float) -> str:
    if seconds < 0.01:
        return f"{seconds * 1000:.2g} ms"
    return f"{seconds:,.0f} s" if seconds >= 100 else f"{seconds:.2f} s"


def _recorded(file: str) -> dict[str, Any]:
    path = BENCH / file
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def _table(case: Mapping[str, Any]) -> Iterator[str]:
    unit = next(row["seconds"] for row in case["rows"] if row["name"] == case["base"])
    longest = max(row["seconds"] for row in case["rows"])
    memory = any(row["peak_mb"] for row in case["rows"])
    yield "| | | time | ratio |" + " peak MB |" * memory
    yield "| --- | --- | ---: | ---: |" + " ---: |" * memory
    for row in case["rows"]:
        name = f"**{row['name']}**" if row["name"] == case["base"] else row["name"]
        peak = f" {row['peak_mb']:,.0f} |" if row["peak_mb"] else " |" * memory
        kind = "bar other" if row["name"].startswith(OTHERS) else "bar"
        bar = f'<span class="{kind}" style="width: {row["seconds"] / longest:.1%}"></span>'
        yield f"| {name} | {bar} | {_time(row['seconds'])} | {row['seconds'] / unit:,.1f} |{peak}"


def _told(case: Mapping[str, Any]) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in case["versions"].items())
    return f"{case['date']}; {case['machine']}; Python {case['python']}, {versions}."


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write(page())
