"""Collections whose true values are known, to see how far the values that `tune` reports are from them.

A population of queries has rankings of two or three runs, and so a table of values by setting. Samples of queries are
drawn from it; tuning is told the sample alone, and the population says what the chosen settings are really worth.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cranfield.evaluation.estimating import Columns, estimated, estimates_of
from cranfield.evaluation.folds import CrossFitted, cross_fitted, folds_of
from cranfield.measures import parse_measure
from cranfield.mixing.candidates import simplex
from cranfield.mixing.counting import count_settings
from cranfield.mixing.halving import Spent, best_of_whole, halved, planned
from cranfield.mixing.mixture import Mixture
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.policy import Policy
from cranfield.ranks.run import open_run


class Case(NamedTuple):
    """A collection, and how its settings are tuned.

    signals: how well each run tells relevant documents from others; steps: of the weights between 0 and 1
    budget: requests for 50 queries, as of a live system; 0: all values are known
    """

    measure: str
    signals: tuple[float, ...]
    steps: int
    budget: int = 0


# Runs that complement each other, one that adds nothing, equal ones, many settings, few values, and a smooth measure.
CASES = {
    "two runs": Case("nDCG@10", (0.8, 1.0), 40),
    "one run adds nothing": Case("nDCG@10", (0.0, 1.0), 40),
    "equal runs": Case("nDCG@10", (0.9, 0.9), 40),
    "three runs": Case("nDCG@10", (0.6, 0.8, 1.0), 20),
    "reciprocal ranks": Case("RR", (0.8, 1.0), 40),
    "average precision": Case("AP", (0.6, 0.8, 1.0), 20),
    "live, two runs": Case("nDCG@10", (0.8, 1.0), 40, 800),
    "live, one run adds nothing": Case("nDCG@10", (0.0, 1.0), 40, 800),
    "live, three runs": Case("nDCG@10", (0.6, 0.8, 1.0), 20, 4000),
    "live, reciprocal ranks": Case("RR", (0.8, 1.0), 40, 800),
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
    return values_of(
        [open_run(run) for run in runs], mixtures, parse_measure(case.measure), Judgments.read(qrels), Policy()
    )


def values_of(runs: Any, mixtures: Any, measure: Any, judgments: Judgments, policy: Policy) -> Any:
    """The value of every query (row) with every setting (column)."""
    counted = count_settings(runs, mixtures, judgments, policy, lambda queries: None)
    tables = (counted.ranks(at, mixture.depth, judgments, policy) for at, mixture in enumerate(mixtures))
    return np.stack([measure(table) for table in tables], axis=1)


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


def tuned_live(values: Any, fold: Any, budget: int, chance: np.random.Generator) -> CrossFitted:
    """Tune where a value is only known once it was asked for."""
    known, left = np.full(values.shape, np.nan), budget

    def fill(rows: Any, settings: Any, spare: int) -> None:
        nonlocal left
        cells = np.ix_(rows, settings)
        wanted = int(np.isnan(known[cells]).sum())
        if wanted and wanted > left - spare:
            raise Spent
        left -= wanted
        known[cells] = values[cells]

    plan = planned(np.zeros(len(values), np.int64), fold[0], values.shape[1], budget, chance)
    return best_of_whole(halved(known, fill, plan, fold), known)


def simulated(values: Any, queries: int, times: int, seed: int, repeats: int = 20, budget: int = 0) -> Outcome:
    """Tune on samples of queries of a population; with a budget, as a live system is tuned."""
    chance, truth = np.random.default_rng(seed), values.mean(axis=0)
    rows = []
    for _ in range(times):
        sample = values[chance.integers(0, len(values), queries)]
        each, none = np.arange(queries), np.zeros(queries, np.int64)
        fold = folds_of(each, none, chance, repeats)
        found = tuned_live(sample, fold, budget, chance) if budget else cross_fitted(sample, fold)
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
