"""Ten systems, 6,980 queries, all pairs: `python bench/comparing.py TOOL`, in a separate process; prints seconds.

TOOL is one of cranfield's tests, or ranx. ranx would take tens of minutes for its Fisher test with 100,000
permutations; it is timed with fewer, and the time of each is multiplied.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

QUERIES, SYSTEMS, DEPTH, PERMUTATIONS = 6980, 10, 10, 100_000
FEW, MORE = 10, 510  # permutations that ranx is timed with


def systems() -> tuple[dict[str, dict[str, int]], dict[str, dict[str, dict[str, float]]]]:
    """Judgments, and runs, each with its relevant documents a little deeper than the one before."""
    chance = np.random.default_rng(0)
    qrels = {f"q{q}": {f"d{q}": 1} for q in range(QUERIES)}
    runs = {}
    for system in range(SYSTEMS):
        places = np.minimum(chance.exponential(4 + 0.1 * system, QUERIES).astype(int), DEPTH).tolist()
        runs[f"s{system}"] = {
            f"q{q}": {f"d{q}" if i == place else f"x{i}": float(DEPTH - i) for i in range(DEPTH)}
            for q, place in enumerate(places)
        }
    return qrels, runs


def cranfield(test: str) -> float:
    from cranfield import compare

    qrels, runs = systems()
    start = time.perf_counter()
    compare(qrels, runs, "nDCG@10", test=test, permutations=PERMUTATIONS, bounds=False)
    return time.perf_counter() - start


def ranx() -> float:
    import ranx as module

    qrels, runs = systems()
    judged = module.Qrels(qrels)
    ranked = [module.Run(run, name=name) for name, run in runs.items()]

    def took(permutations: int) -> float:
        options: dict[str, Any] = {"stat_test": "fisher", "n_permutations": permutations}
        start = time.perf_counter()
        module.compare(judged, ranked, ["ndcg@10"], **options)
        return time.perf_counter() - start

    took(1)  # compiles
    few, more = (min(took(permutations) for _ in range(2)) for permutations in (FEW, MORE))
    return few + (more - few) / (MORE - FEW) * (PERMUTATIONS - FEW)


if __name__ == "__main__":
    print(ranx() if sys.argv[1] == "ranx" else cranfield(sys.argv[1]))
