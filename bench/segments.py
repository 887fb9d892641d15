"""How often claims about segments are wrong on values like those of real runs: `python bench/segments.py`.

Its arguments are the number of draws, the fewest queries of a segment (20), and kinds of values.

Queries are drawn from populations whose means are known. Two or six runs are compared; segments have from 5 to 100
queries, and their differences vary alike ("alike"), more in the segments with fewer queries ("small"), or less
("large"). In "apart", every segment is a population of its own. Populations are moved to one mean, or, with the
argument "rare", their gains are scaled to make up for their losses, so that some gain rarely and much. For each, the
shares of draws in which

    missed       any interval does not hold its true difference
    t missed     the same for t intervals by Bonferroni
    false        an effect seems to differ between segments although it does not
    permuted     the same by permuting the queries among the segments (Welch's statistic, of the first pair)
    claimed      of all segments and pairs, the share that has an interval
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[name] = "1"
sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np  # noqa: E402

from cranfield.comparison import segments  # noqa: E402
from cranfield.comparison.significance import Settings  # noqa: E402
from cranfield.evaluation.estimating import Columns  # noqa: E402
from cranfield.evaluation.t_distribution import exceeded_with  # noqa: E402
from tests.comparison.populations import skewed_population  # noqa: E402

KINDS, RUNS, DRAWS, PERMUTATIONS = ("graded", "ap", "rr"), (2, 6), 600, 199
SIZES = ((5, 5, 5), (10, 10), (10, 100), (15, 15), (20, 20), (15, 100), (15, 20, 30, 50), (20,) * 8, (30, 30, 30))
RARE = "rare"
SPREADS = {"alike": (1.0, 1.0), "small": (2.5, 0.4), "large": (0.4, 2.5)}  # of the first segment and of the last


def population(kind: str, runs: int, segment: int, seed: int) -> Any:
    """The differences of all pairs, a row for each query."""
    first, second = np.array(list(combinations(range(runs), 2))).T
    values = skewed_population(kind, runs, seed + 100 * segment)
    apart = values[:, second] - values[:, first]
    if RARE in sys.argv:
        gains, losses = np.maximum(apart, 0), np.maximum(-apart, 0)
        apart = gains * (losses.sum(axis=0) / gains.sum(axis=0)) - losses
    return apart


def measured(kind: str, runs: int, spread: str, sizes: Sequence[int], draws: int) -> list[float]:
    chance, found = np.random.default_rng([len(sizes), *sizes]), []
    for draw in range(draws):
        seed = draw % 6
        every = [population_of(kind, runs, at if spread == "apart" else 0, seed) for at in range(len(sizes))]
        truth = every[0].mean(axis=0)  # segments are moved to one mean, so that no effect differs
        wide = np.geomspace(*SPREADS.get(spread, (1.0, 1.0)), len(sizes))
        drawn = [
            truth + factor * (its[chance.integers(0, len(its), n)] - its.mean(axis=0))
            for its, n, factor in zip(every, sizes, wide, strict=True)
        ]
        tests = segments.segments_tested(list(map(Columns, drawn)), len(truth), Settings(0.05, 2000, draw))
        rows, off = np.array(sizes)[:, None], np.abs(tests.value - truth)
        spreads = np.array([its.std(axis=0, ddof=1) for its in drawn])
        alone = exceeded_with(0.025 / off.size, rows - 1.0) * spreads / np.sqrt(rows)
        found.append(
            [
                bool((tests.claimed & (off > tests.half)).any()),
                bool((off > alone + 1e-9).any()),
                bool((tests.together[tests.claimed.sum(axis=0) > 1] <= 0.05).any()),
                permuted([its[:, 0] for its in drawn], chance) <= 0.05,
                float(tests.claimed.mean()),
            ]
        )
    return np.mean(np.array(found, dtype=np.float64), axis=0).tolist()


KNOWN: dict[tuple[Any, ...], Any] = {}


def population_of(*given: Any) -> Any:
    if given not in KNOWN:
        KNOWN[given] = population(*given)
    return KNOWN[given]


def permuted(drawn: Sequence[Any], chance: np.random.Generator) -> float:
    """The p-value by permuting the queries among the segments."""
    ends = np.cumsum([len(its) for its in drawn])[:-1]
    every = np.concatenate(drawn)
    orders = np.argsort(chance.random((PERMUTATIONS, len(every))), axis=1)

    def apart(parts: Sequence[Any]) -> Any:
        means = np.stack([part.mean(axis=-1) for part in parts])
        weights = np.stack([part.shape[-1] / np.maximum(part.var(axis=-1, ddof=1), 1e-18) for part in parts])
        return (weights * (means - (weights * means).sum(axis=0) / weights.sum(axis=0)) ** 2).sum(axis=0)

    hits = apart(np.split(every[orders], ends, axis=1)) >= apart(drawn) * (1 - 1e-9)
    return float((1 + hits.sum()) / (1 + PERMUTATIONS))


if __name__ == "__main__":
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else DRAWS
    segments.ENOUGH = int(sys.argv[2]) if len(sys.argv) > 2 else segments.ENOUGH
    print(f"{'':>44}  missed  t missed  false  permuted  claimed")
    for kind in [given for given in sys.argv[3:] if given != RARE] or KINDS:
        for runs in RUNS:
            for spread in (*SPREADS, "apart"):
                for sizes in SIZES:
                    if min(sizes) >= segments.ENOUGH:
                        shares = measured(kind, runs, spread, sizes, draws)
                        name = f"{kind}, {runs} runs, {spread}, {' '.join(map(str, sizes))}"
                        print("{:>44}  {:6.3f}  {:8.3f}  {:5.3f}  {:8.3f}  {:7.2f}".format(name, *shares), flush=True)
