"""How optimistic a threshold looks on the queries that chose it, and cross-fitted: simulated, with the truth known.

Each simulated set has queries with an answer, whose best scores are higher on average, and queries without one. The
truth is the value, over many other queries, of thresholds chosen on four fifths of the set. The guide quotes what this
writes beside itself: thresholds.json.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from cranfield import evaluate

QUERIES, OTHERS = 60, 20_000
SHARE = 0.3  # of the queries without an answer
SHIFT = 0.5  # how far apart the best scores of the two kinds are, in their deviations


def drawn(rng, number, without):
    """Best scores and ranks of the answer; 0: not found."""
    best = rng.normal(np.where(without, 0.0, SHIFT), 1.0)
    return best, np.where(without, 0, rng.choice([1, 2, 3, 0], number, p=[0.6, 0.2, 0.1, 0.1]))


def values_at(best, rank, without, threshold):
    """The values of RR by a threshold, straight from their definition."""
    kept = best >= threshold
    found = np.where(rank > 0, 1 / np.maximum(rank, 1), 0.0)
    return np.where(without, ~kept, kept * found)


def simulated(rng, queries=QUERIES):
    """In one set: the value in sample, the cross-fitted one, the truth; and whether its interval holds it."""
    without = np.arange(queries) < round(SHARE * queries)
    best, rank = drawn(rng, queries, without)
    run, qrels = {}, {}
    for at in range(queries):
        # All of one score, so that no threshold cuts a ranking in two: d3 comes first, then d2 and d1.
        run[f"q{at}"] = {f"d{4 - place}": float(best[at]) for place in (1, 2, 3)}
        if not without[at]:
            qrels[f"q{at}"] = {f"d{4 - rank[at]}" if rank[at] else "not found": 1}
    options = {"answerable": {f"q{at}": False for at in np.flatnonzero(without)}, "threshold": "fitted"}
    result = evaluate(qrels, run, "RR", check_ids=False, **options)
    others = np.arange(OTHERS) < round(SHARE * OTHERS)
    true_best, true_rank = drawn(rng, OTHERS, others)
    tried = np.unique(best)
    truths = []
    for _ in range(10):
        part = np.concatenate(
            [rng.permutation(np.flatnonzero(its))[: round(0.8 * its.sum())] for its in (without, ~without)]
        )
        means = [values_at(best[part], rank[part], without[part], each).mean() for each in tried]
        truths.append(values_at(true_best, true_rank, others, tried[int(np.argmax(means))]).mean())
    true, estimate = float(np.mean(truths)), result.estimate("RR")
    return result.answering.optimistic, result["RR"], true, estimate.low <= true <= estimate.high


def table(times, queries=QUERIES, seed=1):
    rows = [simulated(np.random.default_rng([seed, at]), queries) for at in range(times)]
    inside, crossed, true, held = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    return {
        "queries": queries,
        "times": times,
        "in_sample": round(float(inside.mean()), 4),
        "cross_fitted": round(float(crossed.mean()), 4),
        "true": round(float(true.mean()), 4),
        "error_of_cross_fitted": round(float((crossed - true).std() / np.sqrt(times)), 4),
        "coverage": round(float(held.mean()), 4),
    }


if __name__ == "__main__":
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 600
    found = [table(times, queries) for queries in (40, 60, 200)]
    Path(__file__).with_suffix(".json").write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(found, indent=2))
