"""Collections whose true values are known, to see how far the values that `tune` reports are from them.

A population of queries has rankings of two or three runs, and so a table of values by setting. Samples of queries are
drawn from it; tuning is told the sample alone, and the population says what the chosen settings are really worth.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cranfield.evaluation.estimating import Columns, estimated, estimates_of
from cranfield.evaluation.folds import cross_fitted, folds_of
from cranfield.measures import parse_measure
from cranfield.mixing.candidates import simplex
from cranfield.mixing.counting import values_of
from cranfield.mixing.mixture import Mixture
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.policy import Policy
from cranfield.ranks.run import open_run


class Case(NamedTuple):
    """signals: how well each run tells relevant documents from others; steps: of the weights between 0 and 1"""

    measure: str
    signals: tuple[float, ...]
    steps: int


# Runs that complement each other, one that adds nothing, equal ones, many settings, few values, and a smooth measure.
CASES = {
    "two runs": Case("nDCG@10", (0.8, 1.0), 40),
    "one run adds nothing": Case("nDCG@10", (0.0, 1.0), 40),
    "equal runs": Case("nDCG@10", (0.9, 0.9), 40),
    "three runs": Case("nDCG@10", (0.6, 0.8, 1.0), 20),
    "reciprocal ranks": Case("RR", (0.8, 1.0), 40),
    "average precision": Case("AP", (0.6, 0.8, 1.0), 20),
}


def population(case: Case, queries: int, seed: int) -> Any:
    """The values of a population: a row for each query, a column for each setting."""
    chance = np.random.default_rng(seed)
    documents, qrels = 60, {}
    runs: list[dict[str, dict[str, float]]] = [{} for _ in case.signals]
    for query in range(queries):
        grade = np.zeros(documents)
        relevant = 1 + chance.poisson(3)
        grade[:relevant] = chance.choice([1, 1, 2, 3], relevant)
        hard = chance.gamma(2.0, 0.5)  # some queries are easy, some hopeless
        qrels[f"q{query}"] = {f"d{at}": int(grade[at]) for at in range(20)}
        shared = chance.normal(size=documents)
        for run, signal in zip(runs, case.signals, strict=True):
            score = hard * signal * grade + 0.5 * shared + chance.normal(size=documents) + 0.3 * chance.normal() * grade
            found = np.argsort(-score)[:40]
            run[f"q{query}"] = {f"d{at}": float(score[at]) for at in found}
    mixtures = [
        Mixture.of("combsum", runs=["x"] * len(runs), weights=weights) for weights in simplex(len(runs), case.steps)
    ]
    values, _ = values_of(
        [open_run(run) for run in runs], mixtures, parse_measure(case.measure), Judgments.read(qrels), Policy()
    )
    return values


class Outcome(NamedTuple):
    """What was found in samples, means of each. That a sample is easy or hard as a whole, by its mean over all
    settings, is taken out of the biases: it favours neither side, and hides small ones.

    naive: how much better the best setting looks on its own sample than it is
    bias: how far the cross-fitted value is above what the settings chosen in the folds are worth
    of_final: the same beside what the final setting is worth
    covered: how often the 95% interval holds what the settings chosen in the folds are worth
    covered_final: the same for the final setting
    error: the standard error of `bias`
    """

    naive: float
    bias: float
    of_final: float
    covered: float
    covered_final: float
    error: float


def simulated(values: Any, queries: int, times: int, seed: int, repeats: int = 20) -> Outcome:
    """Tune on samples of queries of a population."""
    chance, truth = np.random.default_rng(seed), values.mean(axis=0)
    rows = []
    for _ in range(times):
        sample = values[chance.integers(0, len(values), queries)]
        each, none = np.arange(queries), np.zeros(queries, np.int64)
        found = cross_fitted(sample, folds_of(each, none, chance, repeats))
        worth, final = float(truth[found.chosen].mean()), float(truth[found.best])
        estimate = estimates_of(estimated(Columns(found.value[:, None])), 0.05, 0.0, 1.0)[0]
        easy = float(sample.mean() - truth.mean())
        rows.append(
            (
                found.optimistic - final - easy,
                estimate.value - worth - easy,
                estimate.value - final - easy,
                estimate.low <= worth <= estimate.high,
                estimate.low <= final <= estimate.high,
            )
        )
    table = np.array(rows, dtype=np.float64)
    error = float(table[:, 1].std(ddof=1) / np.sqrt(times))
    return Outcome(*table.mean(axis=0).tolist(), error)
