"""Judging until decided, replayed on complete judgments: `python bench/deciding.py [SEED …]`; see case_deciding."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import combinations
from multiprocessing import Pool
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cranfield import modelled_values
from cranfield.judging.decide import Decision, Look

FRESH = tuple(range(100, 108))  # seeds that nothing was tuned on
QUERIES, DOCUMENTS, LABS, SYSTEMS, DEPTH = 50, 1200, 20, 60, 10
PAIRS, GROUPS, GROUP, REPEATED = 150, 8, 5, 10  # for each seed: pairs, groups of five, pairs tried with several seeds
SEEDS = 4
LARGE = 0.3  # a difference

Rankings = dict[str, list[str]]
Qrels = Mapping[str, Mapping[str, float]]
Grades = dict[str, dict[str, float | None]]


class DecidedPair(NamedTuple):
    """The last look at a pair, and what is true of it when everything is judged."""

    found: str
    truth: str
    probability: float
    low: float
    high: float
    true_difference: float


class Replay(NamedTuple):
    """What was judged until a decision, and what it said on the way."""

    judged: int
    documents: int
    pairs: list[DecidedPair]
    needed: list[tuple[int, int, int]]  # few, many, and how many it took, at each look
    values: list[tuple[float, float, float]]  # low, high, and the true value, of each run
    seconds: float  # median, to choose

    @property
    def share(self) -> float:
        return self.judged / self.documents


def simulated(seed: int) -> tuple[Qrels, dict[str, Rankings]]:
    """A collection and 60 systems of 20 labs, which behave like the runs of a large evaluation.

    What a system sees of the quality of a document is disturbed by errors that all systems make, errors of its lab and
    its own. Some labs hand in runs that hardly differ; some are weak on some queries. Queries have from a handful to
    hundreds of good documents, and assessors do not always grade as quality has it.
    """
    chance = np.random.default_rng(seed)
    shape = (QUERIES, DOCUMENTS)
    quality = chance.normal(size=shape)
    good = chance.lognormal(np.log(42), 1.1, QUERIES).clip(4, 260)
    ends = good * np.array([chance.uniform(0.1, 0.45, QUERIES), np.ones(QUERIES), chance.uniform(2.5, 5, QUERIES)])
    place = np.argsort(np.argsort(-quality, axis=1), axis=1)
    grades = (place < ends[:, :, None]).sum(axis=0)
    grades = np.where(chance.random(shape) < 0.12, grades + chance.choice([-1, 1], shape), grades).clip(0, 3)
    illusion, of_lab = chance.normal(size=shape), chance.normal(size=(LABS, *shape))
    skill = chance.lognormal(np.log(0.95), 0.33, LABS)
    alike = chance.choice([0.45, 0.75, 0.97], LABS, p=[0.35, 0.4, 0.25])
    weak = chance.random((LABS, QUERIES)) < chance.uniform(0.02, 0.18, (LABS, 1))
    runs = {}
    for system in range(SYSTEMS):
        lab = int(chance.integers(LABS))
        sees = skill[lab] * chance.lognormal(0, 0.05) * chance.lognormal(0, 0.15, QUERIES)
        sees = np.where(weak[lab], 0.3 * sees, sees)[:, None]
        error = alike[lab] * of_lab[lab] + np.sqrt(1 - alike[lab] ** 2) * chance.normal(size=shape)
        first = np.argsort(-(sees * quality + 0.68 * illusion + 0.73 * error), axis=1)[:, :DEPTH]
        runs[f"s{system}"] = {f"q{q}": [f"d{d}" for d in first[q]] for q in range(QUERIES)}
    worth = place < 300  # also documents that no system returns: the ideal ranking has them
    qrels = {f"q{q}": {f"d{d}": float(grades[q, d]) for d in np.flatnonzero(worth[q])} for q in range(QUERIES)}
    for run in runs.values():
        for query, ranking in run.items():
            qrels[query].update({document: float(grades[int(query[1:]), int(document[1:])]) for document in ranking})
    return qrels, runs


def replay(qrels: Qrels, runs: Mapping[str, Any], measure: str = "nDCG@10", seed: int = 0) -> Replay:
    """Judge until decided; a document without a judgment is not relevant."""
    start = decision = Decision.of(runs, measure, all_pairs=True, seed=seed)
    everything: Grades = {}
    known = decision._candidates
    for place in range(len(known.doc_ids)):
        query, document = known.names_of(place)
        everything.setdefault(query, {})[document] = qrels.get(query, {}).get(document, 0.0)
    truth = start.with_grades(everything)
    times: list[float] = []
    looks: list[Look] = []
    while not (look := decision.look()).done:
        looks.append(look)
        begin = time.perf_counter()
        chosen = decision.next(10)
        times.append(time.perf_counter() - begin)
        grades: Grades = {}
        for query, document in chosen:
            grades.setdefault(query, {})[document] = everything[query][document]
        decision = decision.with_grades(grades)
    pairs = [
        DecidedPair(
            found=pair.verdict,
            truth=true.verdict,
            probability=pair.probability,
            low=pair.full_low,
            high=pair.full_high,
            true_difference=true.difference,
        )
        for pair, true in zip(look.pairs, truth.look().pairs, strict=True)
    ]
    judged: Grades = {}
    for query, document in map(known.names_of, np.flatnonzero(decision._candidates.observed).tolist()):
        judged.setdefault(query, {})[document] = everything[query][document]
    complete = modelled_values(everything, runs, measure)
    values = [
        (value.low, value.high, true.value)
        for value, true in zip(modelled_values(judged, runs, measure), complete, strict=True)
        if value.low < value.high
    ]
    needed = [(*its.likely_needed, look.judged - its.judged) for its in looks]
    return Replay(look.judged, look.documents, pairs, needed, values, float(np.median(times or [0.0])))


def groups_of(names: Sequence[str], size: int, count: int, seed: int) -> Iterator[tuple[str, ...]]:
    """Groups of systems drawn at random, each once."""
    chance, drawn = np.random.default_rng(seed), set[tuple[str, ...]]()
    while len(drawn) < count:
        group = tuple(names[place] for place in sorted(chance.choice(len(names), size, replace=False)))
        if group not in drawn:
            drawn.add(group)
            yield group


def summary(replayed: Sequence[Replay]) -> dict[str, float]:
    """The figures of many decisions."""
    share = np.array([each.share for each in replayed])
    pairs = [pair for each in replayed for pair in each.pairs]
    needed = [few <= true + 5 and true - 5 <= many for each in replayed for few, many, true in each.needed]
    within = [pair.low - 1e-9 <= pair.true_difference <= pair.high + 1e-9 for pair in pairs]
    large = [inside for inside, pair in zip(within, pairs, strict=True) if abs(pair.true_difference) >= LARGE]
    values = [low <= true <= high for each in replayed for low, high, true in each.values]
    return {
        "pairs": len(pairs),
        "judged, mean": float(share.mean()),
        "judged, median": float(np.median(share)),
        "judged, p90": float(np.quantile(share, 0.9)),
        "same verdict": sum(pair.found == pair.truth for pair in pairs) / len(pairs),
        "opposite": sum({pair.found, pair.truth} == {"better", "worse"} for pair in pairs) / len(pairs),
        "false significant": sum(pair.truth == "neither" != pair.found for pair in pairs),
        "missed": sum(pair.found == "neither" != pair.truth for pair in pairs),
        "expected errors": sum(1 - pair.probability for pair in pairs),
        "ties": sum(pair.truth == "neither" for pair in pairs),
        "covered": sum(within) / len(within),
        "large": len(large),
        "large covered": sum(large) / max(len(large), 1),
        "values covered": sum(values) / max(len(values), 1),
        "needed in range": sum(needed) / max(len(needed), 1),
        "seconds to choose": float(np.median([each.seconds for each in replayed])),
    }


@cache
def collection(seed: int) -> tuple[Qrels, dict[str, Rankings]]:
    return simulated(seed)


def replay_systems(job: tuple[int, tuple[str, ...], int], measure: str = "nDCG@10") -> Replay:
    seed, names, drawing = job
    qrels, runs = collection(seed)
    return replay(qrels, {name: runs[name] for name in names}, measure, drawing)


def replay_all(jobs: Sequence[tuple[int, tuple[str, ...], int]], measure: str = "nDCG@10") -> list[Replay]:
    """In as many processes as there are cores."""
    with Pool(os.cpu_count()) as pool:
        return pool.map(partial(replay_systems, measure=measure), jobs, chunksize=10)


def replay_simulated(seeds: Sequence[int], size: int, count: int, measure: str = "nDCG@10") -> dict[str, float]:
    """Random groups of the systems of several collections."""
    names = [f"s{system}" for system in range(SYSTEMS)]
    jobs = [(seed, group, 0) for seed in seeds for group in groups_of(names, size, count, seed)]
    return summary(replay_all(jobs, measure))


def change_with_seeds(seeds: Sequence[int], count: int) -> dict[str, float]:
    """How much the number of judgments depends on the seed of the draws."""
    names = [f"s{system}" for system in range(SYSTEMS)]
    pairs = [(seed, group) for seed in seeds for group in groups_of(names, 2, count, seed + 1)]
    replayed = replay_all([(*pair, drawing) for pair in pairs for drawing in range(SEEDS)])
    judged = np.array([each.judged for each in replayed]).reshape(len(pairs), SEEDS)
    found = np.array([each.pairs[0].found for each in replayed]).reshape(len(pairs), SEEDS)
    every = [(row[one], row[other]) for row in judged for one, other in combinations(range(SEEDS), 2)]
    return {
        "pairs": len(pairs),
        "seeds": SEEDS,
        "two seeds within a factor of two": float(np.mean([max(both) < 2 * min(both) for both in every])),
        "all seeds within a factor of two": float(np.mean(judged.max(axis=1) < 2 * judged.min(axis=1))),
        "same verdict with all seeds": float(np.mean((found == found[:, :1]).all(axis=1))),
    }


def seconds_of_large(documents: int = 100_000, judged: float = 0.1) -> tuple[float, float]:
    """Seconds to choose ten of these candidates, a tenth of them judged, and seconds of a look."""
    chance = np.random.default_rng(0)
    queries = documents // 15
    runs = {name: {f"q{q}": [f"d{d}" for d in chance.permutation(20)[:DEPTH]] for q in range(queries)} for name in "ab"}
    decision = Decision.of(runs)
    known = decision._candidates
    grades: Grades = {}
    for place in np.flatnonzero(chance.random(len(known.doc_ids)) < judged).tolist():
        query, document = known.names_of(place)
        grades.setdefault(query, {})[document] = float(chance.integers(4))
    looks, times = [], []
    for _ in range(3):
        decision = decision.with_grades(grades)
        start = time.perf_counter()
        decision.look()
        looks.append(time.perf_counter() - start)
        start = time.perf_counter()
        decision.next(10)
        times.append(time.perf_counter() - start)
    return min(times), min(looks)


def replay_builtin() -> dict[str, float]:
    """All pairs of engines over the built-in collection; documents without a judgment are not relevant."""
    from cranfield import Judgments, open_collection, open_system, record

    collection = open_collection("builtin")
    qrels = Judgments.read(collection.qrels).by_query
    runs: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in ("sqlite", "sqlite:tuned", "bm25s"):
            system = open_system(name, collection)
            runs[name] = str(Path(folder) / f"{len(runs)}.run")
            record(system, collection.queries, runs[name])
            system.close()
        return summary([replay(qrels, {name: runs[name] for name in pair}) for pair in combinations(runs, 2)])


def main(seeds: tuple[int, ...]) -> None:
    """Print the figures as JSON."""
    choosing, look = seconds_of_large()
    results = {
        "pairs": replay_simulated(seeds, 2, PAIRS),
        "groups": replay_simulated(seeds[:4], GROUP, GROUPS),
        "measures": {name: replay_simulated(seeds[:4], 2, 20, name) for name in ("P@10", "RR@10", "AP")},
        "seeds": change_with_seeds(seeds[:4], REPEATED),
        "builtin": replay_builtin(),
        "large": {"choosing": choosing, "look": look},
    }
    print(json.dumps(results))


if __name__ == "__main__":
    main(tuple(map(int, sys.argv[1:])) or FRESH)
