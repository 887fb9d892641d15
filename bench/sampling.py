"""Samples of pools against all of their judgments: `python bench/sampling.py [SEED …]`, about a minute for each seed.

`> bench/sampling.json` keeps the results for docs/claims.md.

Two questions. Is a measure known as precisely as `plan_sample` promised before anything was judged, and after the first
ranks were? And how far off are means of infNDCG, with fractions of documents counted or dropped?
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

import cranfield
from cranfield.judging.pool.choice import PoolPlan, choose_all
from cranfield.judging.pool.order import FoundByRuns, returned_first
from cranfield.judging.pool.simulated_samples import PooledRuns, SimulatedSamples
from cranfield.measures import parse_measure

SEEDS = tuple(range(8))
QUERIES, DOCUMENTS, RANKS, TOP = 30, 800, 80, 10
DRAWS = 40  # of real samples, for each mean
MEASURES = {"xinfAP": "AP", "infNDCG": "nDCG"}
# Median and deviation of the logarithm of the number of relevant documents of a query.
KINDS = {"many": (100, 0.7), "some": (25, 0.9), "few": (6, 0.8), "skewed": (12, 1.8)}

Rankings = dict[str, list[str]]
Grades = dict[str, dict[str, float]]


class Planned(NamedTuple):
    """The planned half width, divided by that of the samples drawn."""

    kind: str
    judged: bool  # the first ranks were judged when it was planned
    half_width: float
    likely: float
    difference: float


def collection(seed: int, kind: str) -> tuple[Grades, dict[str, Rankings]]:
    """Documents have a quality, which assessors and systems see with noise, and systems with errors that they share."""
    chance = np.random.default_rng([seed, *kind.encode()])
    quality = chance.normal(size=(QUERIES, DOCUMENTS))
    median, deviation = KINDS[kind]
    relevant = np.exp(chance.normal(np.log(median), deviation, QUERIES)).clip(0.6, 300).round().astype(int)
    place = np.argsort(np.argsort(-(quality + chance.normal(0, 0.3, quality.shape)), axis=1), axis=1)
    grades = sum((place < np.ceil(relevant * share)[:, None]).astype(float) for share in (1, 0.5, 0.2))
    shared = chance.normal(size=quality.shape)
    runs: dict[str, Rankings] = {}
    for system in range(int(chance.integers(2, 7))):
        noise = 0.7 * shared + 0.7 * chance.normal(size=quality.shape)
        first = np.argsort(-(chance.uniform(0.8, 2) * quality + noise), axis=1)[:, :RANKS]
        runs[f"s{system}"] = {f"q{q}": [f"d{d}" for d in first[q]] for q in range(QUERIES)}
    found = {q: {d for rankings in runs.values() for d in rankings[q]} for q in runs["s0"]}
    return {q: {d: float(grades[int(q[1:]), int(d[1:])]) for d in its} for q, its in found.items()}, runs


def drawn(
    returned: Mapping[str, FoundByRuns], grades: Grades, plan: PoolPlan
) -> dict[str, dict[str, dict[str, float]]]:
    """The judgments of a sample as `pool` draws it."""
    strata: dict[str, dict[str, dict[str, float]]] = {}
    for query, chosen in choose_all(returned, {}, plan, {}).items():
        for document, stratum in chosen.strata.items():
            grade = grades[query][document] if document in chosen.waiting else -1.0
            strata.setdefault(query, {}).setdefault(stratum, {})[document] = grade
    return strata


def errors(
    returned: Mapping[str, FoundByRuns], grades: Grades, runs: dict[str, Rankings], plan: PoolPlan, measures: list[str]
) -> tuple[np.ndarray, np.ndarray]:
    """Of the means by samples, draws × runs × measures, and the true means."""
    true = [
        [its[MEASURES[name.partition("(")[0]]] for name in measures]
        for its in cranfield.evaluate_runs(grades, runs, list(MEASURES.values())).values()
    ]
    found = []
    for seed in range(1, DRAWS + 1):
        sampled = drawn(returned, grades, plan._replace(seed=1000 + seed))
        found.append([list(its.values()) for its in cranfield.evaluate_runs(sampled, runs, measures).values()])
    return np.array(found) - np.array(true), np.array(true)


def half_width(off: np.ndarray) -> float:
    """Of the 95% interval around 0, from the errors of each run or pair, of which the widest counts."""
    return float(np.quantile(np.abs(off), 0.95, axis=0).max())


def replay(seed: int, kind: str) -> Iterator[Planned]:
    grades, runs = collection(seed, kind)
    queries = list(grades)
    returned, _ = returned_first(runs, queries, queries, RANKS)
    top = {
        query: {d: grades[query][d] for d, ranks in its.items() if min(ranks.values()) <= TOP}
        for query, its in returned.items()
    }
    strata = {query: dict.fromkeys(its, f"depth {TOP}") for query, its in top.items()}
    before = PooledRuns(returned, tuple(runs), {}, {}, (1.0, 2.0, 3.0))
    after = PooledRuns(returned, tuple(runs), top, strata, (1.0, 2.0, 3.0))
    first, second = np.triu_indices(len(runs), 1)
    for size in (5, 20):
        plan = PoolPlan(TOP, size, RANKS, None, 0.0, seed)
        off, _ = errors(returned, grades, runs, plan, list(MEASURES))
        for at, name in enumerate(MEASURES):
            single, pairs = half_width(off[:, :, at]), half_width(off[:, first, at] - off[:, second, at])
            for pool in (before, after):
                samples = SimulatedSamples(pool, plan, parse_measure(name))
                samples.keep_widest(samples.sample(size))
                widths = samples.half_widths(samples.sample(size))
                yield Planned(
                    kind,
                    pool is after,
                    widths.cautious / single,
                    widths.likely / single,
                    (widths.difference or 0.0) / pairs,
                )


def bias(seed: int, kind: str) -> dict[str, dict[str, float]]:
    """Of the mean infNDCG of all runs, relative to nDCG: by what is drawn, with fractions counted and dropped."""
    grades, runs = collection(seed, kind)
    returned, _ = returned_first(runs, list(grades), list(grades), RANKS)
    pooled = np.mean([len(its) for its in returned.values()])
    found: dict[str, dict[str, float]] = {}
    for depth, where in ((TOP, f"below {TOP} ranks"), (0, "of all ranks")):
        for share in (0.2, 0.5):
            plan = PoolPlan(depth, round(share * (pooled - depth)), RANKS, None, 0.0, seed)
            off, true = errors(returned, grades, runs, plan, ["infNDCG", "infNDCG(fractions=dropped)"])
            relative = off.mean(axis=(0, 1)) / true.mean(axis=0)
            found[f"{share:.0%} {where}"] = dict(zip(("counted", "dropped"), relative.tolist(), strict=True))
    return found


def summary(planned: list[Planned]) -> dict[str, Any]:
    def shares(ratios: list[float]) -> dict[str, float]:
        low, middle, high = (round(ratio, 3) for ratio in np.quantile(ratios, [0.05, 0.5, 0.95]).tolist())
        return {"held": round(float(np.mean(np.array(ratios) >= 1)), 3), "5%": low, "median": middle, "95%": high}

    return {
        "plans": len(planned),
        "half width": shares([each.half_width for each in planned]),
        "likely": shares([each.likely for each in planned]),
        "difference": shares([each.difference for each in planned]),
    }


def main(seeds: tuple[int, ...]) -> None:
    planned = [each for seed in seeds for kind in KINDS for each in replay(seed, kind)]
    biases = {kind: [bias(seed, kind) for seed in seeds] for kind in ("many", "few")}
    results = {
        "made": {"queries": QUERIES, "ranks": RANKS, "draws": DRAWS, "seeds": len(seeds)}
        | {kind: KINDS[kind][0] for kind in ("many", "some", "few")},
        "planned": {
            kind: {
                when: summary([each for each in planned if (each.kind, each.judged) == (kind, judged)])
                for when, judged in (("before", False), ("after", True))
            }
            for kind in KINDS
        },
        "bias": {
            kind: {drawn: {way: _range(found, drawn, way) for way in ways} for drawn, ways in found[0].items()}
            for kind, found in biases.items()
        },
    }
    print(json.dumps(results, indent=1))


def _range(found: list[dict[str, dict[str, float]]], drawn: str, way: str) -> list[float]:
    values = [round(each[drawn][way], 4) for each in found]
    return [min(values), max(values)]


if __name__ == "__main__":
    main(tuple(map(int, sys.argv[1:])) or SEEDS)
