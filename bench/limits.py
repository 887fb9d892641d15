"""How often each limit of a gate stops a harmless change: `python bench/limits.py > bench/limits.json`.

Both versions of an engine score documents by the same true scores plus noise of their own, so that neither is better;
only near ties change places. A slight change moves scores by a tenth of their spread, a large one by half. Everything
is judged. Latencies are those of the same queries on the same machine, whose single answers vary by about 30%.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

QUERIES, GROUPS, DOCUMENTS, CUTOFF = (50, 200), 2000, 50, 10
CHANGES = {"slight": 0.1, "large": 0.5}
DROPS, RATIOS, FOUND = (0.3, 0.5, 0.7), (1.2, 1.5, 2.0), (1, 3, 10)
Numbers = np.ndarray[Any, np.dtype[np.float64]]


def ordered_grades(chance: np.random.Generator, queries: int, noise: float) -> tuple[Numbers, Numbers, Numbers]:
    """The grades of each ranking, best first, by both versions; and the rank of the best document by the second.

    One to six documents of a query are relevant, with grades of 1 to 3, and the higher the grade, the higher the score.
    """
    relevant = 1 + chance.integers(0, 6, queries)
    grades = np.where(np.arange(DOCUMENTS) < relevant[:, None], chance.integers(1, 4, (queries, DOCUMENTS)), 0)
    true = chance.normal(size=grades.shape) + 0.8 * grades
    orders = [np.argsort(-(true + noise * chance.normal(size=grades.shape)), axis=1) for _ in range(2)]
    one, two = (np.take_along_axis(grades, order, 1).astype(float) for order in orders)
    first = orders[0][:, 0]  # the document at rank 1 before
    return one, two, 1 + np.argmax(orders[1] == first[:, None], axis=1)


def reciprocal_rank(grades: Numbers) -> Numbers:
    hit = grades > 0
    return np.where(hit.any(axis=1), 1 / (1 + hit.argmax(axis=1)), 0)


def ndcg(grades: Numbers) -> Numbers:
    discount = 1 / np.log2(np.arange(2, CUTOFF + 2))
    ideal = -np.sort(-grades, axis=1)[:, :CUTOFF] @ discount
    return grades[:, :CUTOFF] @ discount / ideal


def figures() -> list[dict[str, Any]]:
    """For each limit, kind of change and number of queries, the share of harmless changes that it stops."""
    rows: list[dict[str, Any]] = []
    for size, noise in CHANGES.items():
        for queries in QUERIES:
            chance = np.random.default_rng(queries)
            drops: dict[str, list[Numbers]] = {"RR": [], "nDCG@10": []}
            ranks = []
            for _ in range(GROUPS):
                one, two, rank = ordered_grades(chance, queries, noise)
                drops["RR"].append(reciprocal_rank(one) - reciprocal_rank(two))
                drops["nDCG@10"].append(ndcg(one) - ndcg(two))
                ranks.append(rank)
            about = {"change": size, "queries": queries}
            for measure, lost in drops.items():
                most = np.stack(lost).max(axis=1)
                rows += [
                    {
                        "limit": f"max_drop = {drop:g}",
                        "measure": measure,
                        **about,
                        "stopped": float((most > drop).mean()),
                    }
                    for drop in DROPS
                ]
            placed = np.concatenate(ranks)
            rows += [
                {"limit": f"in_first = {depth}", "measure": "", **about, "stopped": float((placed > depth).mean())}
                for depth in FOUND
            ]
    for queries in QUERIES:
        chance = np.random.default_rng(queries)
        own = chance.lognormal(0, 0.4, (GROUPS, queries, 1))
        p95 = np.percentile(own * chance.lognormal(0, 0.3, (GROUPS, queries, 2)), 95, axis=1)
        ratio = p95[:, 1] / p95[:, 0]
        rows += [
            {
                "limit": f"max_p95_ratio = {most:g}",
                "measure": "",
                "change": "",
                "queries": queries,
                "stopped": float((ratio > most).mean()),
            }
            for most in RATIOS
        ]
    return rows


if __name__ == "__main__":
    json.dump(figures(), sys.stdout, indent=1)
    print()
