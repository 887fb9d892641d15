"""The cost of pooling beside reading the runs: `python bench/pooling.py read|DEPTH` prints seconds; see case_pool."""

from __future__ import annotations

import random
import sys
import tempfile
import time
from pathlib import Path

RUNS, QUERIES, DOCUMENTS = 63, 200, 100
FOLDER = Path(__file__).with_name("data") / "pool"


def make() -> None:
    """Runs that agree on much, as those of one TREC track do: each ranks the same candidates with noise of its own."""
    chance = random.Random(0)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for run in range(RUNS):
        lines = []
        for query in range(QUERIES):
            noisy = sorted(range(400), key=lambda candidate: candidate + chance.gauss(0, 60))[:DOCUMENTS]
            lines += [
                f"{query} Q0 doc{query:03}-{candidate:04} {rank} {DOCUMENTS - rank} run{run}\n"
                for rank, candidate in enumerate(noisy)
            ]
        (FOLDER / f"run{run:02}.run").write_text("".join(lines))


def main(job: str) -> float:
    from cranfield.io.source import open_source
    from cranfield.judging.pool import pool
    from cranfield.ranks.policy import Policy
    from cranfield.ranks.whole_rankings import rankings_of

    if len(list(FOLDER.glob("*.run"))) < RUNS:
        make()
    runs = sorted(map(str, FOLDER.glob("*.run")))
    queries = {str(query): f"query number {query}" for query in range(QUERIES)}
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        if job == "read":
            for run in runs:
                rankings_of(open_source(run, "run"), {query: {} for query in queries}, Policy())
        else:
            pool(f"{folder}/judgments.db", queries, runs, int(job))
        return time.perf_counter() - start


if __name__ == "__main__":
    print(main(sys.argv[1]))
