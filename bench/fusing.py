"""Runs to fuse, and what it takes: `python bench/fusing.py JOB FOLDER`; prints seconds.

JOB is "make QUERIES RUNS", "ranx" (reading ten runs, reciprocal rank fusion, writing), or "tune" (the values of 231
settings for 1,000 queries with 10 judged documents each).
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

DATA = Path(__file__).with_name("data")
POOL, DEPTH, DOCUMENTS = 3000, 1000, 8_841_823


def ids(numbers: Any, query: int) -> list[int]:
    found: list[int] = ((numbers * 977 + query * 7919) % DOCUMENTS).tolist()
    return found


def runs(queries: int, count: int) -> Path:
    """A folder of runs that share documents, each with its own order of the queries; made once and kept."""
    folder = DATA / f"fusing-{queries}x{count}"
    if len(list(folder.glob("*.run"))) < count:
        folder.mkdir(parents=True, exist_ok=True)
        chance = np.random.default_rng(0)
        for number in range(count):
            with open(folder / f"{number}.run", "w") as file:
                for query in chance.permutation(queries).tolist():
                    documents = ids(chance.permutation(POOL)[:DEPTH], query)
                    scores = (-np.sort(-chance.gamma(2.0, 5.0, DEPTH))).tolist()
                    file.writelines(
                        f"{1_000_000 + query} Q0 {document} {rank} {score:.4f} run{number}\n"
                        for rank, (document, score) in enumerate(zip(documents, scores, strict=True), 1)
                    )
    return folder


def ranx(folder: Path) -> float:
    from ranx import Run, fuse

    start = time.perf_counter()
    read = [Run.from_file(str(path), kind="trec") for path in sorted(folder.glob("*.run"))]
    fuse(read, norm=None, method="rrf").save(str(folder / "ranx.trec"), kind="trec")
    return time.perf_counter() - start


def tune(folder: Path) -> float:
    from cranfield.measures import parse_measure
    from cranfield.mixing.candidates import candidates
    from cranfield.ranks.judgments import Judgments
    from cranfield.ranks.policy import Policy
    from cranfield.ranks.run import open_run
    from tests.mixing.simulated import values_of

    files = sorted(folder.glob("*.run"))
    chance = np.random.default_rng(1)
    qrels = {
        str(1_000_000 + query): {
            str(document): int(chance.integers(0, 4)) for document in ids(chance.permutation(POOL)[:10], query)
        }
        for query in range(1000)
    }
    judgments = Judgments.read(qrels)
    mixtures = candidates([path.stem for path in files], ["combsum"])[1:]
    assert len(mixtures) == 231
    start = time.perf_counter()
    values_of([open_run(path) for path in files], mixtures, parse_measure("nDCG@10"), judgments, Policy())
    return time.perf_counter() - start


if __name__ == "__main__":
    job, *rest = sys.argv[1:]
    if job == "make":
        runs(*map(int, rest))
    else:
        print({"ranx": ranx, "tune": tune}[job](Path(rest[0])))
