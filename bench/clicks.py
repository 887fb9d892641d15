"""Clicks as an assessor: `python bench/clicks.py simulate [LOGS]`, `correct [DRAWS]`, `make` or `judge STORE LOG`.

simulate: how well attraction and grades are found again, in LOGS logs (20) of each case of
    tests/traffic/simulated_clicks.py, and how often the intervals of examination hold
correct: how often the intervals of differences by clicks that people correct hold, in DRAWS draws (20,000) of queries
make: a log of ten million impressions as CSV and as events of UBI, and a store for it; prints their paths
Results of as many or more are kept in bench/clicks.json.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[name] = "1"
sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np  # noqa: E402

from cranfield import evaluate, fit_clicks, open_store  # noqa: E402
from tests.traffic.simulated_clicks import CASES, DOCUMENTS, EXAMINATION, RULE, Log, found, simulated  # noqa: E402

FILE = Path(__file__).with_name("clicks.json")
DATA = Path(__file__).with_name("data")
LOGS, DRAWS = 20, 20_000  # from which on results are kept
QUERIES, SEARCHES = 300, 1000
CORRECTED = ("position, fair, moves", "cascade, fair, moves", "position, good, one rank")
SIZES = ((10, 100), (20, 200), (50, 500))


def simulate(logs: int = LOGS) -> None:
    results: dict[str, Any] = {}
    for name, case in CASES.items():
        values, held, tried = [], 0, 0
        for seed in range(logs):
            log = simulated(case, QUERIES, SEARCHES, seed)
            clicks = fit_clicks(log.table)
            values.append(found(log, clicks))
            for rank, its in list(clicks.examination.items())[1:] if case.behaviour == "position" else ():
                tried += 1
                held += its.low <= EXAMINATION[rank - 1] / EXAMINATION[next(iter(clicks.examination)) - 1] <= its.high
        means = {
            what: round(float(np.mean(each)), 3)
            for what, each in zip(values[0]._fields, zip(*values, strict=True), strict=True)
        }
        results[name] = {**means, "interval held": round(float(held) / tried, 3) if tried else None}
        print(name, results[name], flush=True)
    if logs >= LOGS:
        _keep("found", {"logs": logs, "queries": QUERIES, "searches": SEARCHES, "cases": results})


def correct(draws: int = DRAWS) -> None:
    """Each case is a population of queries with their values by the truth and by clicks; experiments draw from it."""
    from cranfield.evaluation.corrected import CORRECTED as ESTIMATOR
    from cranfield.evaluation.estimating import PLAIN, Columns

    rows = []
    for name in CORRECTED:
        people, clicks = _differences(simulated(CASES[name], 4000, 400, 1))
        truth = people.mean()
        for n, every in SIZES:
            chance = np.random.default_rng([n, every])
            held, widths = [], []
            for _ in range(max(1, draws // 2000)):
                drawn = chance.integers(0, len(people), (every, 2000))
                columns = Columns(people[drawn[:n]], proxy=clicks[drawn], drawn=np.arange(n), contrasts=True)
                low, high = ESTIMATOR.estimate(columns).interval(0.05)
                alone = PLAIN.estimate(Columns(columns.values)).interval(0.05)
                held.append(((low <= truth) & (truth <= high)).mean())
                widths.append(((high - low).mean(), (alone[1] - alone[0]).mean()))
            width, alone_width = np.mean(widths, axis=0)
            rows.append(
                {
                    "case": name,
                    "sampled": n,
                    "queries": every,
                    "held": round(float(np.mean(held)), 4),
                    "length": round(float(width / alone_width), 3),
                    "correlation": round(float(np.corrcoef(people, clicks)[0, 1]), 2),
                    "by people": round(float(truth), 4),
                    "by clicks alone": round(float(clicks.mean()), 4),
                }
            )
            print(rows[-1], flush=True)
    if draws >= DRAWS:
        _keep("corrected", {"draws": draws, "rows": rows})


def _differences(log: Log) -> tuple[np.ndarray, np.ndarray]:
    """nDCG@10 of a new ranker minus that of one at random, by true grades and by those of clicks."""
    queries = len(log.attraction)
    chance = np.random.default_rng(7)
    true = {
        f"query {query}": {f"q{query}d{at}": float(grade) for at, grade in enumerate(RULE.grade(row))}
        for query, row in enumerate(log.attraction)
    }
    by_clicks: dict[str, dict[str, float]] = {query: {} for query in true}
    for each in fit_clicks(log.table).documents():
        if each.examined >= RULE.least:
            by_clicks[each.query][each.doc_id] = float(RULE.grade(np.array([each.attraction]))[0])
    noise = chance.normal(size=(2, queries, DOCUMENTS))
    runs = [
        {
            f"query {query}": {f"q{query}d{at}": float(score) for at, score in enumerate(row)}
            for query, row in enumerate(scores)
        }
        for scores in (noise[0], log.attraction + 0.4 * noise[1])
    ]
    columns = []
    for grades in (true, by_clicks):
        values = [evaluate(grades, run, "nDCG@10").by_query("nDCG@10") for run in runs]
        columns.append(np.array([values[1].get(query, 0.0) - values[0].get(query, 0.0) for query in true]))
    return columns[0], columns[1]


def make(impressions: int = 10_000_000) -> None:
    """Searches for queries of which few are frequent; four rankers show ten of 30 documents."""
    DATA.mkdir(exist_ok=True)
    counted, events, store = (DATA / f"clicks-{impressions}.{kind}" for kind in ("csv", "jsonl", "db"))
    if not (counted.exists() and events.exists() and store.exists()):
        chance = np.random.default_rng(0)
        searches = impressions // 10
        query = np.minimum((chance.pareto(0.7, searches) * 3).astype(int), 200_000)
        with open(counted, "w") as rows, open(events, "w") as lines:
            rows.write("query,doc_id,rank,clicked\n")
            for begin in range(0, searches, 100_000):
                some = query[begin : begin + 100_000]
                first = chance.integers(0, 4, len(some))
                clicks = chance.random((len(some), 10)) < 0.4 * EXAMINATION
                for at, (one, version, its) in enumerate(
                    zip(some.tolist(), first.tolist(), clicks.tolist(), strict=True)
                ):
                    for rank in range(10):
                        document = one * 31 + (rank * (1 + version)) % 29
                        rows.write(f"query {one},doc{document},{rank + 1},{int(its[rank])}\n")
                        for action in ("impression", "click")[: 1 + its[rank]]:
                            search, place = f"s{begin + at:08}", f'"position":{{"ordinal":{rank + 1}}}'
                            lines.write(
                                f'{{"application":"shop","action_name":"{action}","query_id":"{search}","client_id":'
                                f'"c{at % 999}","timestamp":"2026-01-01T00:00:00Z","user_query":"query {one}",'
                                f'"event_attributes":{{"object":{{"object_id":"doc{document}"}},{place}}}}}\n'
                            )
        with open_store(store, create=True) as opened:
            opened.add_queries({f"q{number}": f"query {number}" for number in range(1000)})
    print(counted, events, store)


def _keep(name: str, results: Any) -> None:
    kept = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    FILE.write_text(json.dumps({**kept, name: results}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    {"simulate": simulate, "correct": correct, "make": make}[sys.argv[1]](*map(int, sys.argv[2:]))
