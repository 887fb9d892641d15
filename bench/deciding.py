"""Judging until decided, replayed on complete judgments: `python bench/deciding.py [SEED …]`; see case_deciding."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cranfield.judging.decide import Decision, Look, grade_model

FRESH = tuple(range(100, 110))  # seeds that nothing was tuned on
QUERIES, DOCUMENTS, SYSTEMS, FAMILIES, DEPTH, PAIRS = 50, 300, 40, 4, 10, 40
SPREAD, CLOSE = 0.4, 0.25  # of the skills of systems: one pair in four does not differ; two in five

PLAIN_STEPS = 3

Rankings = dict[str, list[str]]
Qrels = Mapping[str, Mapping[str, float]]
Chooser = Callable[[Decision, int], list[tuple[str, str]]]


class Replayed(NamedTuple):
    """The outcome of a pair."""

    share: float  # of the documents, judged
    found: str
    truth: str
    seconds: float  # median, to choose


def simulated(seed: int, spread: float = SPREAD) -> tuple[Qrels, dict[str, Rankings]]:
    """A collection and 40 systems.

    A document has a quality, from which its grade comes. A system sees the quality, what its family (lexical, dense …)
    takes for quality, and noise of its own; how well it sees differs from query to query.
    """
    chance = np.random.default_rng(seed)
    hard = chance.normal(0, 0.6, QUERIES)
    quality = chance.normal(0, 1, (QUERIES, DOCUMENTS))
    seen = quality + hard[:, None] + chance.normal(0, 0.4, quality.shape)  # by the assessor
    grades = np.searchsorted([1.0, 1.7, 2.4], seen).astype(float)
    illusions = chance.normal(0, 1, (FAMILIES, *quality.shape))
    names = [[f"d{document}" for document in range(DOCUMENTS)] for _ in range(QUERIES)]
    qrels = {f"q{q}": dict(zip(names[q], grades[q].tolist(), strict=True)) for q in range(QUERIES)}
    runs = {}
    for system in range(SYSTEMS):
        skill = np.exp(chance.normal(np.log(1.6), spread) + chance.normal(0, 0.25, QUERIES))
        fooled = chance.uniform(0.5, 1.0)
        noise = chance.normal(0, chance.uniform(0.2, 0.8), quality.shape)
        score = skill[:, None] * quality + fooled * illusions[system % FAMILIES] + noise
        first = np.argsort(-score, axis=1)[:, :DEPTH]
        runs[f"s{system}"] = {f"q{q}": [f"d{document}" for document in first[q]] for q in range(QUERIES)}
    return qrels, runs


def verdict(look: Look) -> str:
    """The verdict on two runs."""
    return look.pairs[0].verdict


def together(decision: Decision, count: int) -> list[tuple[str, str]]:
    """The choice of a decision: each document given those before it."""
    return decision.next(count)


def each_by_itself(decision: Decision, count: int) -> list[tuple[str, str]]:
    """The choice of the plain rule: the most valuable documents, each considered alone."""
    pair = decision._pairs[0]
    worth = pair.model.covariance_with(pair.weights) ** 2 / pair.model.variance
    best = np.argsort(-np.where(pair.matters, worth, -1.0), kind="stable")[: min(count, pair.left)]
    return [decision._candidates.names_of(place) for place in best.tolist()]


@contextmanager
def plain_rule() -> Iterator[None]:
    """The rule as it is described first: variances after three steps, documents chosen each by itself."""
    before = grade_model.STEPS
    grade_model.STEPS = PLAIN_STEPS
    try:
        yield
    finally:
        grade_model.STEPS = before


def replay(qrels: Qrels, runs: Mapping[str, Any], measure: str = "nDCG@10", choose: Chooser = together) -> Replayed:
    """Judge until decided; a document without a judgment is not relevant."""
    start = decision = Decision.of(runs, measure)
    everything: dict[str, dict[str, float | None]] = {}
    known = decision._candidates
    for place in range(len(known.doc_ids)):
        query, document = known.names_of(place)
        everything.setdefault(query, {})[document] = qrels.get(query, {}).get(document, 0.0)
    truth = verdict(start.with_grades(everything).look())
    times = []
    while not decision.look().done:
        begin = time.perf_counter()
        chosen = choose(decision, 10)
        times.append(time.perf_counter() - begin)
        grades: dict[str, dict[str, float | None]] = {}
        for query, document in chosen:
            grades.setdefault(query, {})[document] = everything[query][document]
        decision = decision.with_grades(grades)
    look = decision.look()
    return Replayed(look.judged / len(known.doc_ids), verdict(look), truth, float(np.median(times or [0.0])))


def pairs_of(names: list[str], count: int, seed: int) -> Iterator[tuple[str, str]]:
    """Pairs drawn at random, each once."""
    every = [(one, other) for place, one in enumerate(names) for other in names[:place]]
    chosen = np.random.default_rng(seed).permutation(len(every))[:count]
    return (every[place] for place in chosen.tolist())


def summary(replayed: list[Replayed]) -> dict[str, float]:
    """The figures of many pairs."""
    share = np.array([each.share for each in replayed])
    both = [(each.found, each.truth) for each in replayed]
    count = len(both)
    return {
        "pairs": count,
        "judged, mean": float(share.mean()),
        "judged, median": float(np.median(share)),
        "judged, p90": float(np.quantile(share, 0.9)),
        "same verdict": sum(found == truth for found, truth in both) / count,
        "opposite": sum({found, truth} == {"better", "worse"} for found, truth in both) / count,
        "false significant": sum(truth == "neither" != found for found, truth in both),
        "missed": sum(found == "neither" != truth for found, truth in both),
        "ties": sum(truth == "neither" for _, truth in both),
        "seconds to choose": float(np.median([each.seconds for each in replayed])),
    }


def replay_simulated(seeds: tuple[int, ...] = FRESH, count: int = PAIRS, spread: float = SPREAD) -> dict[str, Any]:
    """Random pairs of the systems of several collections, and the results of the plain rule on the same pairs."""
    found, plain = [], []
    for seed in seeds:
        qrels, runs = simulated(seed, spread)
        for one, other in pairs_of(list(runs), count, seed):
            pair = {one: runs[one], other: runs[other]}
            found.append(replay(qrels, pair))
            with plain_rule():
                plain.append(replay(qrels, pair, choose=each_by_itself))
    return {**summary(found), "plain rule": summary(plain)}


def seconds_of_large(documents: int = 100_000, judged: float = 0.1) -> tuple[float, float]:
    """Seconds to choose ten of these candidates, a tenth of them judged, with the model; and seconds of a look."""
    chance = np.random.default_rng(0)
    queries = documents // 15
    runs = {name: {f"q{q}": [f"d{d}" for d in chance.permutation(20)[:DEPTH]] for q in range(queries)} for name in "ab"}
    decision = Decision.of(runs)
    known = decision._candidates
    grades: dict[str, dict[str, float | None]] = {}
    for place in np.flatnonzero(chance.random(len(known.doc_ids)) < judged).tolist():
        query, document = known.names_of(place)
        grades.setdefault(query, {})[document] = float(chance.integers(4))
    decision = decision.with_grades(grades)
    start = time.perf_counter()
    drawn = decision._pairs[0]
    drawn.outlook  # noqa: B018 (what is timed is making it)
    look = time.perf_counter() - start
    times = []
    for _ in range(5):
        pair = decision.with_grades({})._pairs[0]
        # A look comes before every choice.
        pair.__dict__.update(completions=drawn.completions, differences=drawn.differences)
        start = time.perf_counter()
        pair.next(10)
        times.append(time.perf_counter() - start)
    return min(times), look


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
        pairs = combinations(runs, 2)
        return summary([replay(qrels, {one: runs[one], other: runs[other]}) for one, other in pairs])


def main(seeds: tuple[int, ...]) -> None:
    """Print the figures as JSON."""
    choosing, look = seconds_of_large()
    results = {
        "simulated": replay_simulated(seeds),
        "close": replay_simulated(seeds, PAIRS // 2, CLOSE),
        "builtin": replay_builtin(),
        "large": {"choosing": choosing, "look": look},
    }
    print(json.dumps(results))


if __name__ == "__main__":
    main(tuple(map(int, sys.argv[1:])) or FRESH)
