"""A history of many results: `python bench/overtime.py FILE` makes it, and prints the seconds of an append.

Each result has many queries and four measures; runs of 100 documents for a query are kept for every fiftieth.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from statistics import median

import numpy as np

from cranfield import evaluate
from cranfield.evaluation.hashes import InputHashes
from cranfield.systems.history.change import Change, Moment
from cranfield.systems.history.opening import open_history
from cranfield.systems.history.packing import content_id
from cranfield.systems.history.results import Acceptance, KeptRun, Measured

DEPTH, KEPT = 100, 50


def main(path: str, results: int = 1000, queries: int = 1000) -> None:
    chance = np.random.default_rng(0)
    qrels = {f"q{number}": {"a": 1} for number in range(queries)}
    first = evaluate(qrels, {query: ["a"] for query in qrels}, "nDCG@10 RR R@100 Judged@10", name="mine")
    values = chance.beta(0.6, 0.6, (len(first), queries))
    lines = (
        f"{query}\tdocument{chance.integers(1_000_000)}\t{rank}\t{DEPTH - rank}.0\n"
        for query in qrels
        for rank in range(DEPTH)
    )
    content = "".join(lines).encode()
    texts = {query: f"the text of query {query}" for query in qrels}
    start = datetime(2024, 1, 1, tzinfo=UTC)
    appended, with_run = [], []
    with open_history(path, create=True) as history:
        for number in range(results):
            moved = chance.normal(0, 0.02, values.shape) * (chance.random(values.shape) < 0.2)
            values = np.clip(values + moved, 0, 1)
            run = b"%d\n" % number + content
            sha256 = hashlib.sha256(run).hexdigest()
            columns = {measure: values[at].copy() for at, measure in enumerate(first.measures)}
            evaluation = replace(first, _columns=columns, _inputs=InputHashes(first.qrels_sha256, sha256))
            change = Change(f"{number:07x}" + "0" * 33, f"change {number}", "main")
            moment = Moment(start + timedelta(hours=18 * number), change)
            latency = {"p50": 0.03, "p95": float(chance.uniform(0.08, 0.09))}
            result = Measured(evaluation, "mine", moment, "test", True, latency=latency, judged=queries, texts=texts)
            kept = [KeptRun(sha256, "mine.run.tsv", lambda run=run: run)] if number % KEPT == 0 else []
            accepted = [Acceptance(content_id(result.id), "mine", moment.at, result.id)] if number == 600 else []
            before = time.perf_counter()
            history.append([result], runs=kept, acceptances=accepted)
            (with_run if kept else appended).append(time.perf_counter() - before)
    print(median(appended), median(with_run), os.path.getsize(path) / 1e6)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
