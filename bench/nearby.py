"""How often equal runs are called dominated, and intervals of recall miss: `python bench/nearby.py [WORLDS]`.

`> bench/nearby.json` keeps the results for docs/claims.md. Values are skewed, tied and few, as those of nDCG@10 and RR
are; latencies of a query vary by its length, and by chance with a long tail.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from cranfield.changes.neighbours import share_interval
from cranfield.comparison.frontier import frontier_of
from cranfield.comparison.pairing import Paired
from cranfield.evaluation.estimating import PLAIN, Columns
from cranfield.measures import parse_measure
from cranfield.ranks.columns import Numbers

WORLDS = 2000
MARGIN = 0.01
MEASURE = parse_measure("nDCG@10")


def qualities(
    chance: np.random.Generator, kind: str, queries: int, runs: int, worse: float, rarely: float = 0
) -> Numbers:
    """Values of runs that share the difficulty of a query; the last run is worse by so much on average.

    rarely: then only for this share of the queries, by so much more, and for all others it is the run before
    """
    hard = chance.beta(0.6, 0.8, (queries, 1))
    own = chance.beta(0.6, 0.8, (queries, runs))
    values = np.where(chance.random((queries, runs)) < 0.75, hard, own)  # most values are those of other runs
    steps = np.array([0.0, 0.1, 0.125, 1 / 6, 0.2, 0.25, 1 / 3, 0.5, 1.0]) if kind == "rr" else np.linspace(0, 1, 41)
    values = steps[np.abs(values[..., None] - steps).argmin(axis=-1)]
    if rarely:
        values[:, -1] = values[:, -2] - (chance.random(queries) < rarely) * worse / rarely
    else:
        values[:, -1] -= worse
    return np.asarray(values)


def seconds(chance: np.random.Generator, queries: int, factors: Any) -> Numbers:
    """Latencies: by the query, by chance, and one answer in twenty takes several times as long."""
    by_query = chance.lognormal(-3, 0.4, (queries, 1))
    tail = np.where(
        chance.random((queries, len(factors))) < 0.05, chance.lognormal(1.5, 0.5, (queries, len(factors))), 1
    )
    return np.asarray(by_query * chance.lognormal(0, 0.25, (queries, len(factors))) * tail * np.asarray(factors))


def dominated(
    kind: str, queries: int, factors: list[float], worse: float, worlds: int, seed: int, rarely: float = 0
) -> dict[str, float]:
    """In how many worlds any run is called dominated: by the tests, and by point estimates within the margin.

    quiet: by the tests, without the warning that few queries differ
    """
    chance = np.random.default_rng(seed)
    ids = tuple(map(str, range(queries)))
    names = tuple(f"run{at}" for at in range(len(factors)))
    tests = quiet = points = each = 0
    for _ in range(worlds):
        values, took = qualities(chance, kind, queries, len(factors), worse, rarely), seconds(chance, queries, factors)
        spent = {name: dict(zip(ids, took[:, at].tolist(), strict=True)) for at, name in enumerate(names)}
        found = frontier_of(Paired(names, ids, 0, {MEASURE: values}), spent, MEASURE, margin=MARGIN)
        called = len(found.on_frontier) < len(names)
        tests += called
        quiet += called and not found.warnings
        means, middle = values.mean(axis=0), np.median(took, axis=0)
        by_points = {
            one
            for one, other in permutations(range(len(names)), 2)
            if means[other] >= means[one] - MARGIN and middle[other] < middle[one]
        }
        points += bool(by_points)
        each += len(by_points)
    warned = {"quiet": quiet / worlds} if rarely else {}
    return {"tests": tests / worlds, **warned, "points": points / worlds, "points_each": each / worlds / len(names)}


def held(population: Callable[[np.random.Generator, int], Numbers], mean: float, queries: int, worlds: int) -> Any:
    """How often the interval of recall holds its mean, and Student's alone would; and their mean lengths."""
    chance = np.random.default_rng(queries)
    counts = np.zeros(4)
    for _ in range(worlds):
        values = population(chance, queries)
        low, high = share_interval(values)
        least, most = (float(end[0]) for end in PLAIN.estimate(Columns(values[:, None])).interval(0.05))
        inside = low - 1e-9 <= mean <= high + 1e-9, least - 1e-9 <= mean <= most + 1e-9
        counts += [*inside, high - low, min(most, 1.0) - max(least, 0.0)]
    ours, student, length, student_length = (counts / worlds).round(4).tolist()
    return {"held": ours, "student": student, "length": length, "student_length": student_length}


POPULATIONS: dict[str, tuple[Callable[[np.random.Generator, int], Numbers], float]] = {
    "all of ten, or nine for 10%": (lambda chance, n: 1 - 0.1 * (chance.random(n) < 0.1), 0.99),
    "nothing for 2% of queries": (lambda chance, n: (chance.random(n) > 0.02) * 1.0, 0.98),
    "nothing for 5% of queries": (lambda chance, n: (chance.random(n) > 0.05) * 1.0, 0.95),
    "99% on average, skewed": (lambda chance, n: chance.binomial(10, chance.beta(50, 0.5, n)) / 10, 50 / 50.5),
    "90% on average": (lambda chance, n: chance.binomial(10, chance.beta(9, 1, n)) / 10, 0.9),
    "90% on average, all or little": (lambda chance, n: chance.binomial(10, chance.beta(0.9, 0.1, n)) / 10, 0.9),
    "the nearest one, 80%": (lambda chance, n: (chance.random(n) < 0.8) * 1.0, 0.8),
}


def main(worlds: int) -> None:
    frontiers = []
    for kind in ("graded", "rr"):
        for queries in (50, 500):
            for name, factors, worse, *rarely in (
                ("two equal runs", [1, 1], 0.0),
                ("five equal runs", [1] * 5, 0.0),
                ("far better, and equally fast", [1, 1], -0.1),
                ("faster, and worse by the margin", [1, 0.5], MARGIN),
                ("faster, and worse by the margin: much worse for one query in fifty", [1, 0.5], MARGIN, 0.02),
                ("faster, and worse by the margin: worse for one query in ten", [1, 0.5], MARGIN, 0.1),
                ("twice as fast, and better by 0.02", [1, 0.5], -0.02),
            ):
                its = dominated(kind, queries, factors, worse, worlds, queries, *rarely)
                frontiers.append({"world": name, "kind": kind, "queries": queries, **its})
    recalls = [
        {"population": name, "queries": queries, **held(*population, queries, worlds)}
        for name, population in POPULATIONS.items()
        for queries in (20, 50, 200, 1000)
    ]
    print(json.dumps({"worlds": worlds, "frontier": frontiers, "recall": recalls}, indent=1))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else WORLDS)
