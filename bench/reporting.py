"""The cost of a report after the evaluation: `python bench/reporting.py QUERIES [evaluate]`; see case_report."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

RUNS, DEPTH = 10, 100
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
MORE_FLAGS = ("--disable-component-update", "--disable-sync")


def files(queries: int) -> tuple[Path, list[Path]]:
    """Judgments, and ten runs that agree in part; made once and kept."""
    import numpy as np
    from collection import DATA, collection

    qrels, run = collection(queries)
    runs = [DATA / f"{queries}-report-{n}.run" for n in range(RUNS)]
    if not runs[-1].exists():
        rankings: dict[str, list[str]] = {}
        with run.open() as lines:
            for line in lines:
                query, _, document, rank, *_ = line.split()
                if int(rank) <= 2 * DEPTH:
                    rankings.setdefault(query, []).append(document)
        chance = np.random.default_rng(queries)
        for path in runs:
            unfinished = path.with_suffix(".part")
            with unfinished.open("w") as file:
                for query, documents in rankings.items():
                    noise = chance.gumbel(0, 0.3, len(documents)) - np.log1p(np.arange(len(documents)))
                    order = np.argsort(-noise)[:DEPTH].tolist()
                    file.writelines(
                        f"{query} Q0 {documents[at]} {rank} {DEPTH - rank} run\n" for rank, at in enumerate(order, 1)
                    )
            unfinished.rename(path)
    return qrels, runs


def written(queries: int, page: Path) -> tuple[float, float, float]:
    """Seconds of the evaluation, seconds from there to the page, and by how many MB the peak of memory grew."""
    from cranfield import evaluate_runs, write_report

    qrels, runs = files(queries)
    start = time.perf_counter()
    results = evaluate_runs(qrels, runs)
    evaluated = time.perf_counter()
    before = peak()
    write_report(qrels, results, page, rankings=dict(zip(results, runs, strict=True)))
    done = time.perf_counter()
    return evaluated - start, done - evaluated, peak() - before


def peak() -> float:
    """The largest memory of this process so far, in MB; getrusage would count the process that started it as well."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status["VmHWM"].split()[0]) / 1024


def opened(page: Path) -> tuple[float, float]:
    """Seconds until the page can be used in Chromium, and until its charts are drawn."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*FLAGS, *MORE_FLAGS])
        shown = browser.new_context(offline=True).new_page()
        start = time.perf_counter()
        shown.goto(page.as_uri(), wait_until="commit")
        shown.wait_for_selector("html[data-page=interactive]")
        usable = time.perf_counter() - start
        shown.wait_for_selector("html[data-charts=drawn]")
        drawn = time.perf_counter() - start
        browser.close()
    return usable, drawn


if __name__ == "__main__":
    if sys.argv[1] == "make":
        files(int(sys.argv[2]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "report.html"
            evaluation, report, memory = written(int(sys.argv[1]), page)
            print(evaluation, report, memory, page.stat().st_size / 1e6, *(opened(page) if CHROMIUM else ()))
