"""Comparisons with other tools, as ratios within one run: `make bench`, or `python bench/run.py CASE …`.

trec_eval takes part where it is on the PATH. No package index has it as a program, so build it: clone
https://github.com/usnistgov/trec_eval and run `make` there.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from collection import DATA, another, collection, compressed, judged_ranks
from many import CAMPAIGNS, campaign
from record import DECIDING_FILE, FILE, record, record_deciding

PYTHON = sys.executable
CRANFIELD = str(Path(PYTHON).with_name("cranfield"))
PEERS = str(Path(__file__).with_name("peers.py"))
ENGINES = str(Path(__file__).with_name("engines.py"))
MEASURES = ["-m", "AP", "-m", "nDCG@10", "-m", "RR", "-m", "P@10", "-m", "R@1000"]
TREC_MEASURES = ["-m", "map", "-m", "ndcg_cut.10", "-m", "recip_rank", "-m", "P.10", "-m", "recall.1000"]
PURE = {"CRANFIELD_SCAN": "pure"}


def whole(command: Sequence[object], times: int = 1, **environment: str) -> tuple[float, float]:
    """The best wall time of a command in seconds, and its peak memory in MB."""
    best, memory = float("inf"), 0.0
    for _ in range(times):
        start = time.perf_counter()
        process = subprocess.Popen([*map(str, command)], stdout=subprocess.DEVNULL, env={**os.environ, **environment})
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            raise SystemExit(f"failed: {' '.join(map(str, command))}")
        best = min(best, time.perf_counter() - start)
        memory = max(memory, usage.ru_maxrss / 1024)
    return best, memory


def printed(program: str, *arguments: object) -> str:
    """The output of another program in this folder, in a new process."""
    command = [PYTHON, Path(__file__).with_name(program), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def inside(tool: str, job: str, qrels: Path, run: Path) -> float:
    """The time that a tool itself reports for a job in memory, in a fresh process."""
    return float(printed("peers.py", tool, job, qrels, run).split()[-1])


def show(title: str, rows: Sequence[tuple[str, float, float | None]], base: str, target: str) -> None:
    """A table of times, and of how many times longer than `base` each takes."""
    unit = next(seconds for name, seconds, _ in rows if name == base)
    print(f"\n{title}\n{'':34}{'seconds':>9}{'ratio':>9}{'peak MB':>9}")
    for name, seconds, memory in rows:
        peak = f"{memory:9.0f}" if memory else ""
        print(f"  {name:32}{seconds:9.3f}{seconds / unit:9.1f}{peak}")
    print(f"  target: {target}", flush=True)
    record(title, rows, base, target)


def case_file() -> None:
    qrels, run = collection(6980)
    whole(["cat", run])  # into the page cache, equally for all
    ours = [CRANFIELD, "evaluate", qrels, run, *MEASURES]
    rows = [
        ("cranfield", *whole(ours, 10)),
        ("cranfield, pure Python scan", *whole(ours, 2, **PURE)),
        ("pytrec_eval", *whole([PYTHON, PEERS, "pytrec_eval", "file", qrels, run], 3)),
        ("ir_measures", *whole([PYTHON, PEERS, "ir_measures", "file", qrels, run])),
        ("ranx", *whole([PYTHON, PEERS, "ranx", "file", qrels, run])),
    ]
    if shutil.which("trec_eval"):
        rows.append(("trec_eval", *whole(["trec_eval", "-c", *TREC_MEASURES, qrels, run])))
    size = run.stat().st_size / 1e6
    show(
        f"A file of 6,980 queries × 1,000 documents ({size:.0f} MB), five measures, whole process",
        rows,
        "cranfield",
        "pytrec_eval at 30 or more, our memory at most 100 MB, the pure scan at most half of pytrec_eval's time",
    )


def case_many() -> None:
    qrels, runs = campaign()
    whole(["cat", *runs])  # into the page cache, equally for all
    ours = [CRANFIELD, "evaluate", qrels, *runs, *MEASURES]
    rows = [
        ("cranfield", *whole(ours, 10)),
        ("cranfield, with hashes", *whole([*ours, "-v"], 5)),
        ("cranfield, pure Python scan", *whole(ours, **PURE)),
        ("ir_measures, in one process", *whole([PYTHON, PEERS, "ir_measures", "files", qrels, runs[0].parent])),
    ]
    if shutil.which("trec_eval"):
        each = f'for run in "$@"; do trec_eval -c {" ".join(TREC_MEASURES)} "{qrels}" "$run"; done'
        rows.append(("trec_eval, once for each run", *whole(["sh", "-c", each, "sh", *runs], 3)))
    size = sum(run.stat().st_size for run in runs) / 1e6
    show(
        f"63 runs of 200 queries × 240 documents ({size:.0f} MB), five measures, whole process",
        rows,
        "cranfield",
        "ir_measures at 20 or more, trec_eval at 10 or more, our memory at most 100 MB",
    )


def case_compressed() -> None:
    qrels, run = collection(6980)
    rows = [("not compressed", *whole([CRANFIELD, "evaluate", qrels, run, *MEASURES], 3))]
    for tool, file in compressed(run).items():
        rows.append((tool, *whole([CRANFIELD, "evaluate", qrels, file, *MEASURES])))
    title = "A compressed file of 6,980 queries × 1,000 documents, whole process"
    show(title, rows, "not compressed", "at most 20 MB more memory than the same file not compressed")


def case_dict() -> None:
    qrels, run = collection(6980)
    took: dict[str, list[float]] = {"cranfield": [], "pytrec_eval": []}
    for tool in (*took,) * 7:  # in turns, because the speed of the machine varies
        took[tool].append(inside(tool, "dict", qrels, run))
    rows = [(tool, median(seconds), None) for tool, seconds in took.items()]
    rows += [(tool, inside(tool, "dict", qrels, run), None) for tool in ("ir_measures", "ranx")]
    show("The same from dicts in memory", rows, "cranfield", "pytrec_eval at 45 or more")


def case_frame() -> None:
    qrels, run = collection(6980)
    results = [json.loads(printed("peers.py", "cranfield", "frames", qrels, run)) for _ in range(3)]
    best = {kind: min(each[kind] for each in results) for kind in results[0]}
    rows = [(f"cranfield, {kind}", best[kind], None) for kind in best if kind != "pytrec_eval"]
    rows.append(("pytrec_eval, from dicts", best["pytrec_eval"], None))
    rows += [(tool, inside(tool, "frame", qrels, run), None) for tool in ("pytrec_eval", "ir_measures", "ranx")]
    show("The same from a frame in memory", rows, "cranfield, pandas", "pytrec_eval from dicts at 40 or more")


def in_turns(commands: Mapping[str, Sequence[object]], times: int) -> list[tuple[str, float, float]]:
    """The median wall time of commands that run one after the other, again and again, and their peak memory.

    For commands of a tenth of a second: the speed of the machine varies, so the best time would be luck.
    """
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for _ in range(times):
        for name, command in commands.items():
            found[name].append(whole(command))
    return [(name, median(each[0] for each in rows), max(each[1] for each in rows)) for name, rows in found.items()]


def case_start() -> None:
    """The start-up, which is most of a small evaluation."""
    qrels, run = collection(43)
    evaluate = [CRANFIELD, "evaluate", qrels, run, *MEASURES]
    commands = {"import numpy": [PYTHON, "-c", "import numpy"], "cranfield": evaluate}
    rows = [
        *in_turns({**commands, "cranfield --help": [CRANFIELD, "--help"]}, 40),
        ("cranfield, pure Python scan", *whole(evaluate, 5, **PURE)),
    ]
    show(
        "43 queries × 1,000 documents, whole process",
        rows,
        "import numpy",
        "cranfield at 1.3 or less, its --help at 1 or less",
    )


def case_growth() -> None:
    rows = []
    qrels, _ = collection(6980)
    for copies, times in ((1, 3), (10, 2)):
        command = [CRANFIELD, "evaluate", qrels, collection(6980, copies)[1], *MEASURES]
        rows.append((f"{6.98 * copies:.0f} million lines", *whole(command, times)))
    title = "Ten times the lines against the same judgments, whole process"
    show(title, rows, "7 million lines", "about ten times the time, the same memory")


def case_compare() -> None:
    def took(tool: str) -> float:
        return float(printed("comparing.py", tool).split()[-1])

    rows: list[tuple[str, float, float | None]] = [
        ("cranfield, Tukey HSD", took("tukey"), None),
        ("cranfield, randomisation", took("randomisation"), None),
        ("ranx, Fisher (scaled)", took("ranx"), None),
    ]
    print("\nranx is timed with 510 permutations, and the time for 100,000 is extrapolated from that.")
    title = "10 systems × 6,980 queries, all pairs, 100,000 permutations, from dicts in memory"
    show(title, rows, "cranfield, Tukey HSD", "ranx at 10 or more")


def case_pair() -> None:
    """Two large files: what comparing them adds to evaluating them."""
    (qrels, run), other = collection(6980), another(6980)
    whole(["cat", run, other])  # into the page cache, equally for all
    cut, uncut = ["-m", "nDCG@10"], ["-m", "AP"]
    files = [qrels, run, other]
    rows = in_turns(
        {
            "evaluate both": [CRANFIELD, "evaluate", *files, *cut],
            "compare --no-bounds": [CRANFIELD, "compare", "--no-bounds", *files, *cut],
            "compare, bounds at a cutoff": [CRANFIELD, "compare", *files, *cut],
            "compare, bounds by AP": [CRANFIELD, "compare", *files, *uncut],
            "compare --help, the start-up": [CRANFIELD, "compare", "--help"],
        },
        5,
    )
    show(
        "Two files of 6,980 queries × 1,000 documents, whole process",
        rows,
        "evaluate both",
        "compare at 1.3 with start-up, with bounds at a cutoff at 2.5 and within 150 MB, by AP at 6",
    )


def case_diff() -> None:
    """What changed between two large files, beside evaluating both, by processor time."""
    (qrels, run), other = collection(6980), another(6980)
    whole(["cat", run, other])  # into the page cache, equally for all
    commands = {
        "evaluate both": ["evaluate", qrels, run, other, "-m", "nDCG@10"],
        "diff": ["diff", run, other],
        "diff --depth 100": ["diff", run, other, "--depth", "100"],
        "diff with judgments": ["diff", run, other, "--qrels", qrels],
        "diff --exact": ["diff", run, other, "--exact"],
    }
    best = dict.fromkeys(commands, (float("inf"), 0.0))
    for _ in range(5):
        for name, arguments in commands.items():
            best[name] = min(best[name], processor_time([CRANFIELD, *arguments]))
    show(
        "What changed between two files of 6,980 queries × 1,000 documents, processor time of the whole process",
        [(name, *its) for name, its in best.items()],
        "evaluate both",
        "diff at 4, with --depth 100 at 2",
    )


def processor_time(command: Sequence[object]) -> tuple[float, float]:
    """The processor time of a command in seconds, and its peak memory in MB."""
    process = subprocess.Popen([*map(str, command)], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"failed: {' '.join(map(str, command))}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def case_campaign() -> None:
    qrels, runs = campaign()
    whole(["cat", qrels, *runs])  # into the page cache, equally for all
    levels = [part for level in range(10) for part in ("--remove", level / 10)]
    jobs: dict[str, list[object]] = {
        "evaluate": ["evaluate"],
        "compare --no-bounds": ["compare", "--no-bounds"],
        "compare --no-bounds --test tukey": ["compare", "--no-bounds", "--test", "tukey"],
        "compare, with bounds": ["compare"],
        "compare, with bounds, as JSON": ["compare", "--format", "json"],
        "stability, 10 levels × 10": ["stability", "--repeats", 10, *levels],
    }
    rows = [
        (name, *whole([CRANFIELD, command, qrels, *runs, "-m", "nDCG@10", *more], 3))
        for name, (command, *more) in jobs.items()
    ]
    show(
        f"{len(runs)} runs of 200 queries × 240 documents by nDCG@10, all pairs, whole process",
        rows,
        "evaluate",
        "compare in 1.5 s, by Tukey's test in 3 s, with exact bounds in 5 s; stability in 2 s",
    )


ENGINE_TOOLS = {
    "duckdb": "cranfield, DuckDB",
    "polars": "cranfield, Polars",
    "duckdb_lazy": "cranfield, DuckDB, lazy values",
    "polars_lazy": "cranfield, Polars, lazy values",
    "spark": "cranfield, Spark",
    "spark_lazy": "cranfield, Spark, lazy values",
    "ranking_metrics": "Spark's RankingMetrics (4)",
    "bare_sql": "DuckDB's bare SQL, which only counts ranks",
}


def case_engines(rows: Sequence[int] = (7_000_000, 70_000_000), tools: Sequence[str] = ()) -> None:
    """Ten measures (RankingMetrics: four) of Parquet files of some sizes; 1,000,000,000 rows take 15 GB of disk."""
    usual = ("duckdb", "polars", "spark", "ranking_metrics")
    chosen = [tool for tool in tools or usual if shutil.which("java") or not tool.startswith(("spark", "ranking"))]
    for engine in ("duckdb", "polars", "spark"):
        if engine in chosen:
            print(f"{engine}, the whole catalogue beside a file scan: {_engine('same', engine)}", flush=True)
    seconds: dict[tuple[str, int], float] = {}
    for size in rows:
        qrels, run = (Path(ENGINES).with_name("data") / f"{size}.{kind}" for kind in ("qrels", "parquet"))
        if not run.exists():
            _engine("make", str(size))
        table: list[tuple[str, float, float | None]] = []
        for tool in chosen:
            answer = _engine(tool, str(size)).split()
            if len(answer) == 2:
                seconds[tool, size] = float(answer[0])
                table.append((ENGINE_TOOLS[tool], float(answer[0]), float(answer[1])))
                print(f"{size:,} rows, {ENGINE_TOOLS[tool]}: {seconds[tool, size]:.1f} s", flush=True)
            else:
                print(f"{ENGINE_TOOLS[tool]} failed: {' '.join(answer)}", flush=True)
        if size > 70_000_000:
            run.unlink()
            qrels.unlink()
        if table:
            base = min(table, key=lambda row: row[1])[0]
            title = f"A Parquet file of {size:,} rows, ten measures; DuckDB and Spark's driver limited to 2 GB"
            goal = "DuckDB or Polars 5 times as fast as RankingMetrics within 2,000 MB; Spark no slower than it"
            show(title, table, base, goal)
        theirs = seconds.get(("ranking_metrics", size))
        for tool in chosen:
            if theirs and (tool, size) in seconds and tool != "ranking_metrics":
                print(f"  {ENGINE_TOOLS[tool]}: {theirs / seconds[tool, size]:.1f} times as fast as RankingMetrics")
    for tool in chosen:
        steps = [f"{1e6 * seconds[tool, size] / size:.2f} ({size:,})" for size in rows if (tool, size) in seconds]
        if steps:
            print(f"growth, {ENGINE_TOOLS[tool]}: seconds for a million rows {', '.join(steps)}", flush=True)


def case_big() -> None:
    """A hundred million and a billion rows, beside the bare SQL that only counts ranks; not among the usual cases."""
    case_engines((100_000_000, 1_000_000_000), ("bare_sql", "duckdb", "polars"))


def _engine(*arguments: str) -> str:
    """The last line that a tool prints, or its error message if it fails."""
    done = subprocess.run([PYTHON, ENGINES, *arguments], capture_output=True, text=True)
    errors = done.stderr.strip().splitlines() or ["no error message"]
    return (done.stdout.strip().splitlines() or [""])[-1] if not done.returncode else f"it failed: {errors[-1]}"


def case_measures() -> None:
    from cranfield import Judgments, Policy
    from cranfield.io.source import open_source
    from cranfield.ranks.ranking import rank_run

    chosen = _all_measures()
    qrels, run = collection(6980)
    judgments = Judgments.read(qrels)
    start = time.perf_counter()
    ranks = rank_run(judgments, open_source(run, "run"), Policy())
    scanned = time.perf_counter()
    for measure in chosen:
        measure(ranks)
    rows = [("the scan", scanned - start, None), (f"{len(chosen)} measures", time.perf_counter() - scanned, None)]
    show("All measures of the catalogue on 6,980 queries", rows, "the scan", "no longer than the scan")


def case_families() -> None:
    from cranfield import Measure
    from cranfield.measures import parse_measure

    table = judged_ranks(50_000, 50)

    def seconds(measure: Measure) -> float:
        def once() -> float:
            start = time.perf_counter()
            measure(table)
            return time.perf_counter() - start

        return min(once() for _ in range(3))

    rows: list[tuple[str, float, float | None]] = [("AP", seconds(parse_measure("AP")), None)]
    families: dict[str, list[float]] = {}
    for measure in _all_measures():
        families.setdefault(measure.definition.function.__module__.rpartition(".")[2], []).append(seconds(measure))
    for family, times in families.items():
        rows.append((f"{family}: all {len(times)}", sum(times), None))
        rows.append((f"{family}: the slowest", max(times), None))
    show("Measures on 50,000 queries × 50 judged documents", rows, "AP", "no measure at more than 10")


def _all_measures() -> list[Any]:
    """Every measure that reads judged ranks, at its default parameters."""
    from cranfield import catalogue
    from cranfield.measures.registry import REQUIRED

    examples = {"cutoff": 10, "recall": 0.5, "documents": 8_841_823}
    chosen = []
    for definition in catalogue().values():
        if definition.table == "ranks":
            needed = [name for name, default in definition.defaults.items() if default is REQUIRED]
            chosen.append(definition(**{name: examples[name] for name in needed}))
    return chosen


def case_harness() -> None:
    jobs = ("in-process-bare", "in-process", "server-httpx", "server")
    seconds = dict.fromkeys(jobs, float("inf"))
    for job in jobs * 5:  # in turns, so that other load on the machine affects all equally
        seconds[job] = min(seconds[job], float(printed("harness.py", job)))
    rows = [
        ("the system alone", seconds["in-process-bare"], None),
        ("cranfield, one at a time", seconds["in-process"], None),
    ]
    show("2,000 queries × 100 documents, in one process", rows, "the system alone", "less than 2 s more: 1 ms a query")
    rows = [("a bare httpx loop", seconds["server-httpx"], None), ("cranfield", seconds["server"], None)]
    show("1,000 queries to a local server, 8 at a time", rows, "a bare httpx loop", "cranfield at 1.25 or less")


def case_report() -> None:
    """No ratio: the cost of a page of few and of many queries after the evaluation, and how soon it is usable."""
    title, goal = (
        "A report of 10 runs × 100 documents, after the evaluation",
        "6,980 queries below 10 s, 150 MB more and 15 MB, usable within 2 s; 50 queries below 2 MB; "
        "as whole commands, 63 runs of 200 queries in 3 s, 100 runs of 1,000 queries in 5 s and 8 MB",
    )
    print(f"\n{title}")
    print(f"{'':14}{'seconds':>9}{'MB more':>9}{'page MB':>9}{'usable, s':>11}{'drawn, s':>10}")
    rows: list[tuple[str, float, float | None]] = []
    for queries in (50, 6980):
        printed("reporting.py", "make", queries)
        columns = zip(*(map(float, printed("reporting.py", queries).split()) for _ in range(3)), strict=True)
        _, seconds, memory, size, *shown = map(min, columns)
        opened = "".join(f"{each:{width}.2f}" for each, width in zip(shown, (11, 10))) or "  (no Chromium)"
        print(f"  {f'{queries:,} queries':12}{seconds:9.2f}{memory:9.0f}{size:9.2f}{opened}")
        usable = f", usable after {shown[0]:.2f} s" if shown else ""
        rows.append((f"{queries:,} queries: a page of {size:.1f} MB{usable}", seconds, memory))
    for campaign_name in ("many", "hundred"):
        qrels, runs = campaign(campaign_name)
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "report.html"
            whole(["cat", *runs])
            seconds, memory = whole([CRANFIELD, "report", qrels, *runs, "-o", page], 3)
            what = f"{len(runs)} runs of {CAMPAIGNS[campaign_name].queries:,} queries, the whole command"
            name = f"{what}: a page of {page.stat().st_size / 1e6:.1f} MB"
        print(f"  {name}: {seconds:.2f} s, {memory:.0f} MB in all")
        rows.insert(-1, (name, seconds, memory))
    print(f"  target: {goal}", flush=True)
    record(title, rows, rows[-1][0], goal)


def case_judging() -> None:
    results = json.loads(printed("judging.py"))
    names = {
        "synced": "32 KB that are on disk, p99",
        "next": "the next document, p99",
        "next, 20 at once": "the same, 20 at once",
        "grade, 20 at once": "a grade is saved, 20 at once, p99",
        "grade, 20 at once, median": "the same, median",
        "view": "all judgments as a view",
    }
    print("\nTwenty assessors at once get and grade documents without a pause between them.")
    show(
        "A store of a million waiting documents and a million judgments",
        [(name, results[key], None) for key, name in names.items()],
        names["synced"],
        "the next document in 20 ms, a grade in 50 ms with 20 at once, the view in 10 s",
    )


def case_correcting() -> None:
    """Ten runs by a million grades of a model, and the same corrected by people: the store is read once for both."""
    results = json.loads(printed("correcting.py", "speed"))
    show(
        "10 runs by 1,000,000 grades of a model, corrected by people on 50 of 5,000 queries",
        [("by the model's grades", results["plain"], None), ("corrected", results["corrected"], None)],
        "by the model's grades",
        "5 s more at most",
    )


def case_pool() -> None:
    """The rankings of all runs read into Python, and the whole of a pool: reading, choosing, and writing the store."""

    def took(job: str) -> float:
        return min(float(printed("pooling.py", job)) for _ in range(3))

    rows: list[tuple[str, float, float | None]] = [
        ("reading the rankings", took("read"), None),
        ("pooling to depth 10", took("10"), None),
        ("pooling to depth 100", took("100"), None),
    ]
    show("63 runs × 200 queries × 100 documents into a store", rows, "reading the rankings", "pooling at 2 or less")


def case_locating() -> None:
    names = {
        "explained": "explaining 40,000 judgments",
        "quotes": "4,000 quotes in one text of 1 MB",
        "loose": "the same in capitals",
        "near": "4,000 of pages that differ in a letter",
        "absent": "the same, none of them there",
        "numbered": "4,000 numbered notices",
        "chunks": "100,000 chunks, 60 MB",
    }
    rows: list[tuple[str, float, float | None]] = []
    for job, name in names.items():
        seconds, memory = map(float, printed("locating.py", job).split())
        rows.append((name, seconds, memory))
    show(
        "Quotes and chunks located by their texts, and a query explained",
        rows,
        names["explained"],
        "chunks in 10 s and 500 MB, quotes and explaining in 1 s",
    )


def case_deciding() -> None:
    """How much must be judged until two runs are decided, and whether the verdict is that of all judgments."""
    results = json.loads(printed("deciding.py"))
    names = {
        "pairs": "pairs of 60 simulated systems, nDCG@10",
        "groups": "groups of five of them, all ten pairs",
        **{measure: f"pairs, {measure}" for measure in results["measures"]},
        "builtin": "pairs of three engines, the built-in collection",
    }
    results["pairs"]["seeds"] = results["seeds"]
    print("\nJudging until decided, against the verdict with the whole union of the first ten judged")
    for key, name in names.items():
        found = results["measures"].get(key) or results[key]
        record_deciding(name, found)
        print(f"  {name}: {found['pairs']} pairs, {found['ties']} of them without a significant difference")
        shares = ", ".join(f"{each} {found[f'judged, {each}']:.1%}" for each in ("mean", "median", "p90"))
        print(f"    judged: {shares}")
        errors = found["false significant"] + found["missed"]
        print(f"    same verdict {found['same verdict']:.2%}, opposite {found['opposite']:.2%}")
        print(f"    {errors} wrong, {found['expected errors']:.1f} expected")
        print(f"    covered: differences {found['covered']:.1%}, values {found['values covered']:.1%}")
    seeds = results["seeds"]
    print(f"  two seeds within a factor of two: {seeds['two seeds within a factor of two']:.1%}")
    print("  target: same verdict 98%, opposite 0.25% at most, 21% judged in the mean, 45% for all pairs of five")
    rows = [
        ("choosing ten documents", results["large"]["choosing"], None),
        ("a look at all verdicts", results["large"]["look"], None),
    ]
    show("Judging until decided, 100,000 candidates", rows, "choosing ten documents", "choosing in 50 ms")


def case_fusing() -> None:
    """Ten runs made one, by whole processes, reading and writing included; ranx has compiled itself before."""
    for queries in (698, 6980):
        printed("fusing.py", "make", queries, 10)  # in another process: its memory would count for all that follow
        files = sorted((DATA / f"fusing-{queries}x10").glob("*.run"))
        with tempfile.TemporaryDirectory() as folder:
            fused = [CRANFIELD, "fuse", *files, "--force", "-o", Path(folder) / "fused.run"]
            whole(["cat", *files])
            rows: list[tuple[str, float, float | None]] = [("cranfield, rrf", *whole(fused, 3))]
            rows.append(("cranfield, combsum", *whole([*fused, "--method", "combsum"], 3)))
        if queries == 698:
            printed("fusing.py", "make", 2, 10)
            ranx = [PYTHON, Path(__file__).with_name("fusing.py"), "ranx"]
            whole([*ranx, DATA / "fusing-2x10"])
            rows.append(("ranx, rrf", *whole([*ranx, files[0].parent])))
        target = "ranx at 50 or more" if queries == 698 else "20 s and 500 MB"
        show(f"Fusing 10 runs of {queries:,} × 1,000 documents", rows, "cranfield, rrf", target)


def case_tuning() -> None:
    """The table of values from which settings are chosen; and how far the reported values are from the truth."""
    printed("fusing.py", "make", 1000, 3)
    seconds = min(float(printed("fusing.py", "tune", DATA / "fusing-1000x3").split()[-1]) for _ in range(3))
    title = "231 settings of three runs, 1,000 queries × 1,000 documents, 10 judged"
    show(title, [("cranfield", seconds, None)], "cranfield", "5 s")
    print(f"\nTuning, the truth known: a tenth of the recorded samples\n{printed('tuning.py', 600, 50)}")
    print("  target: bias 0.002 at most; bench/tuning.json has 6,000 samples of each case")


def case_sampling() -> None:
    """Whether samples are as precise as planned, on a quarter of the recorded collections."""
    results = json.loads(printed("sampling.py", "0", "1"))
    print("\nPlanned samples: half width, as a multiple of that of samples that are really drawn")
    for kind, cases in results["planned"].items():
        for when, case in cases.items():
            its = case["half width"]
            print(f"  {kind} relevant, planned {when} judging: {its['held']:.0%} held, median {its['median']:.2f}")
    print("  target: 85% held, and twice the real one at most in the median")


def case_simultaneous() -> None:
    """How often the intervals of all pairs miss on skewed values: a tenth of the recorded samples, to 20 systems."""
    cells = json.loads(printed("simultaneous.py", "2,3,6,20", 100))
    print("\nIntervals of all pairs on values like those of real runs: share of samples in which any misses")
    for systems, queries in sorted({(cell["systems"], cell["queries"]) for cell in cells}):
        its = [cell for cell in cells if (cell["systems"], cell["queries"]) == (systems, queries)]
        shown = ", ".join(
            f"{name} {sum(cell[key] for cell in its) / len(its):.3f}"
            for name, key in (
                ("missed", "missed"),
                ("by Bonferroni's t", "bonferroni_missed"),
                ("false among equal systems", "false"),
                ("width", "width"),
                ("near twins", "twins"),
            )
        )
        print(f"  {systems} systems, {queries} queries: {shown}")
    print("  target: missed in 8% of samples at most, 5.5% on average; width 1.05 at most; near twins 1.5; false 6%")


def case_history() -> None:
    """No peers: a history of 1,000 results of 1,000 queries, shown and as a page, beside the import of numpy."""
    with tempfile.TemporaryDirectory() as folder:
        file, page = Path(folder) / "history.db", Path(folder) / "history.html"
        append, with_run, size = map(float, printed("overtime.py", file).split())
        command = [CRANFIELD, "history", "--history", file]
        rows: list[tuple[str, float, float | None]] = [
            ("import numpy", *whole([PYTHON, "-c", "import numpy"], 5)),
            ("append a result", append, None),
            ("append a result and its run", with_run, None),
            ("history", *whole(command, 5)),
            ("history -o history.html", *whole([*command, "-o", page], 3)),
        ]
        target = "append 0.05 s, history 0.5 s, page 3 s and 5 MB"
        show("A history of 1,000 results of 1,000 queries", rows, "import numpy", target)
        print(f"  page {page.stat().st_size / 1e6:.1f} MB, history {size:.0f} MB")


def case_clicks() -> None:
    """Counting a log, fitting who looks at which rank, and grading the documents of a thousand queries."""
    counted, events, store = printed("clicks.py", "make").split()
    rows = []
    for name, log in (("rows of a CSV file", counted), ("events of UBI", events)):
        whole(["cat", log])
        rows.append((name, *whole([CRANFIELD, "judge", store, "--clicks", log, "--dry-run"], 2)))
    show("Clicks of 10 million impressions, whole process", rows, rows[0][0], "60 s")


CASES = {name.removeprefix("case_"): case for name, case in globals().items() if name.startswith("case_")}

if __name__ == "__main__":
    # pip compiles installed packages, such as the peers, but this one runs from its source folder.
    compileall.compile_dir(Path(__file__).parents[1] / "src" / "cranfield", quiet=1)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"all of {', '.join(CASES)} by default")
    parser.add_argument("--rows", type=int, nargs="+", help="sizes for the case engines")
    parser.add_argument("--tools", nargs="+", choices=ENGINE_TOOLS, help="tools for the case engines")
    given = parser.parse_args()
    if not given.cases:  # all of them, so earlier records are removed
        FILE.unlink(missing_ok=True)
        DECIDING_FILE.unlink(missing_ok=True)
    chosen = {"rows": given.rows, "tools": given.tools}
    for name in given.cases or (name for name in CASES if name != "big"):
        if name not in CASES:
            parser.error(f"there is no case '{name}'; cases are {', '.join(CASES)}")
        CASES[name](**({key: value for key, value in chosen.items() if value} if name == "engines" else {}))
