"""Intervals of values of a whole run of recommendations: `python bench/recommending.py [SEED …]`.

`> bench/recommending.json` keeps the results. Users are drawn from a population whose value with so many users is known
(the mean over all draws). How often does the 95% interval of Coverage and Gini miss it, and how often does the paired
test of two equally good recommenders find a difference? Lists are skewed (a few items take most places), even, tied
(most users have the same list), and of a small catalogue.
"""

from __future__ import annotations

import json
import sys

import numpy as np

from cranfield.evaluation.estimating import PLAIN, Columns
from cranfield.measures.recommendations import catalogue_coverage, gini_index
from cranfield.ranks.tables.lists import RecommendedLists

SEEDS, DRAWS = (1,), 500
USERS, LENGTH = (20, 100, 400), 10
KINDS = ("skewed", "even", "tied", "small")
MEASURES = {"Coverage": catalogue_coverage, "Gini": gini_index}


class Users:
    """So many users, of whom a table needs no more than their number."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __len__(self) -> int:
        return self.number


def lists(chance: np.random.Generator, kind: str, users: int) -> tuple[np.ndarray, int]:
    """A list of items for each user, and the size of the catalogue."""
    catalogue = 30 if kind == "small" else 2000
    places = np.arange(1, catalogue + 1)
    weight = np.ones(catalogue) if kind in ("even", "small") else 1.0 / places**1.1
    keys = chance.gumbel(size=(users, catalogue)) + np.log(weight)  # drawn without replacement, by weight
    drawn = np.argpartition(-keys, LENGTH, axis=1)[:, :LENGTH]
    if kind == "tied":
        drawn[chance.random(users) < 0.9] = np.arange(LENGTH)
    return drawn, catalogue


def table(drawn: np.ndarray, catalogue: int) -> RecommendedLists:
    users, length = drawn.shape
    none = np.zeros(catalogue, dtype=np.int64)
    return RecommendedLists(
        Users(users),  # type: ignore[arg-type]
        np.ones(users, dtype=np.bool_),
        np.repeat(np.arange(users), length),
        drawn.ravel().astype(np.int64),
        np.tile(np.arange(1, length + 1), users),
        none,
        none,
        1,
        1,
    )


def simulated(seed: int, kind: str, users: int) -> list[dict[str, object]]:
    chance = np.random.default_rng([seed, users, *kind.encode()])
    values = {name: [] for name in MEASURES}
    spans = {name: [] for name in MEASURES}
    found = dict.fromkeys(MEASURES, 0)
    for _ in range(DRAWS):
        one, other = (table(*lists(chance, kind, users)) for _ in range(2))
        for name, measure in MEASURES.items():
            first, second = measure(one), measure(other)
            estimate = PLAIN.estimate(Columns(first[:, None]))
            low, high = estimate.interval(0.05, (0.0, 1.0))
            values[name].append(estimate.value[0])
            spans[name].append((low[0], high[0]))
            paired = PLAIN.estimate(Columns((second - first)[:, None], contrasts=True))
            found[name] += min(chance[0] for chance in paired.chances()) < 0.025
    rows = []
    for name in MEASURES:
        true, ends = np.mean(values[name]), np.array(spans[name])
        missed = float(((ends[:, 0] > true + 1e-12) | (ends[:, 1] < true - 1e-12)).mean())
        row = {"kind": kind, "users": users, "seed": seed, "measure": name, "value": round(float(true), 4)}
        half = float((ends[:, 1] - ends[:, 0]).mean() / 2)
        rows.append({**row, "missed": missed, "false": found[name] / DRAWS, "half_width": round(half, 4)})
    return rows


if __name__ == "__main__":
    cells = [
        row
        for seed in map(int, sys.argv[1:] or SEEDS)
        for kind in KINDS
        for users in USERS
        for row in simulated(seed, kind, users)
    ]
    print("[\n" + ",\n".join(f"  {json.dumps(cell)}" for cell in cells) + "\n]")
