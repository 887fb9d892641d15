"""How often intervals miss on values like those of real runs: `python bench/simultaneous.py [SYSTEMS [SAMPLES]]`.

`> bench/simultaneous.json` keeps the results for docs/claims.md: all cells take hours of one core.

Queries are drawn from populations whose means are known. The intervals of a family of all pairs miss where any of them
does not hold its true difference; with equal systems (values permuted among them, query by query) any significant pair
is false. Near twins are the tenth of the pairs that vary least.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import combinations, product
from pathlib import Path
from typing import Any, NamedTuple

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[name] = "1"  # cells run in parallel
sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np  # noqa: E402

from cranfield.comparison.families import Procedure, family_outcomes  # noqa: E402
from cranfield.comparison.pairing import Paired  # noqa: E402
from cranfield.measures import parse_measure  # noqa: E402
from tests.comparison.populations import skewed_population  # noqa: E402

KINDS, SYSTEMS, QUERIES, SEEDS, DRAWS = ("graded", "ap", "rr"), (2, 3, 6, 20, 60), (5, 10, 20, 50), (1, 2, 3), 1000
MEASURE = parse_measure("RR")  # any whose values are between 0 and 1


class Cell(NamedTuple):
    """One population, drawn from again and again; shares of draws, and widths as ratios to Bonferroni's."""

    kind: str
    systems: int
    queries: int
    seed: int
    missed: float
    bonferroni_missed: float
    false: float
    width: float
    twins: float


def cell(kind: str, systems: int, queries: int, seed: int, draws: int = DRAWS) -> Cell:
    return measured(skewed_population(kind, systems, seed), kind, queries, seed, draws)


def measured(population: Any, kind: str, queries: int, seed: int, draws: int) -> Cell:
    """Draw samples of queries; the population has a row for each query and a column for each system."""
    systems = population.shape[1]
    pairs = list(combinations(range(systems), 2))
    first, second = np.array(pairs).T
    differences = population[:, second] - population[:, first]
    truth = differences.mean(axis=0)
    twins = np.argsort(differences.std(axis=0))[: max(1, len(pairs) // 10)]
    chance = np.random.default_rng([seed, systems, queries])
    missed, false, widths = (
        {"max-t": 0, "bonferroni": 0},
        0,
        {name: np.zeros(len(pairs)) for name in ("max-t", "bonferroni")},
    )
    for draw in range(draws):
        values = population[chance.integers(0, len(population), queries)]
        for correction in missed:
            low, high, _ = _tested(values, pairs, correction, draw)
            missed[correction] += bool(((truth < low - 1e-9) | (truth > high + 1e-9)).any())
            widths[correction] += high - low
        alike = chance.permuted(values, axis=1)
        false += bool((_tested(alike, pairs, "max-t", draw)[2] <= 0.05).any())
    mine, usual = widths.values()
    return Cell(
        kind,
        systems,
        queries,
        seed,
        missed["max-t"] / draws,
        missed["bonferroni"] / draws,
        false / draws,
        float(mine.mean() / usual.mean()),
        float(mine[twins].mean() / usual[twins].mean()),
    )


def _tested(values: Any, pairs: Sequence[tuple[int, int]], correction: str, seed: int) -> tuple[Any, Any, Any]:
    names = tuple(f"s{system}" for system in range(values.shape[1]))
    paired = Paired(names, tuple(map(str, range(len(values)))), 0, {MEASURE: values})
    outcome = family_outcomes(paired, [MEASURE], pairs, Procedure("t", correction, 0.05, 1000, seed))[MEASURE]
    return outcome.low, outcome.high, outcome.adjusted


if __name__ == "__main__":
    systems = [int(given) for given in sys.argv[1].split(",")] if len(sys.argv) > 1 else SYSTEMS
    draws = int(sys.argv[2]) if len(sys.argv) > 2 else DRAWS
    cells = sorted(product(KINDS, systems, QUERIES, SEEDS), key=lambda given: -given[1])
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        futures = [pool.submit(cell, *given, draws) for given in cells]
        rows = [json.dumps({**future.result()._asdict(), "draws": draws}) for future in futures]
    print("[\n" + ",\n".join(rows) + "\n]")
