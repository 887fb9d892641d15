"""Cross-fitting where every value costs a request: settings are chosen by successive halving, on training queries only.

    all settings ──few queries──▶ the better half ──twice as many──▶ … ──all training queries──▶ one setting

All folds take the queries in the same order, so most of what one of them asks for is known to the others. How many
rounds there are follows from the budget alone, before anything is asked: one repeat always fits, and the rest of the
budget goes into further repeats (Karnin, Koren & Somekh 2013; Jamieson & Talwalkar 2016).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from cranfield.errors import ComparisonError
from cranfield.evaluation.estimating import SAME
from cranfield.mixing.folds import CrossFitted, first_best
from cranfield.ranks.columns import Integers, Numbers

FEWEST = 5  # queries of the first round
Fill = Callable[[Integers, Integers], None]  # makes the values of these queries with these settings known


class Spent(Exception):
    """The budget does not suffice for what is asked next."""


class Plan(NamedTuple):
    """How settings are chosen.

    order: of the queries; rounds: how often the worse half is dropped; most: requests that one repeat can take at most
    """

    order: Integers
    rounds: int
    most: int


def order_of(stratum: Integers, chance: np.random.Generator) -> Integers:
    """An order of queries, at random, in which every beginning has its share of each stratum.

    >>> import numpy as np
    >>> found = order_of(np.array([0] * 6 + [1] * 2), np.random.default_rng(0))
    >>> sorted(found.tolist()), int((found[:4] > 5).sum())
    ([0, 1, 2, 3, 4, 5, 6, 7], 1)
    """
    place = np.empty(len(stratum))
    for kind in np.unique(stratum):
        its = np.flatnonzero(stratum == kind)
        place[its] = (chance.permutation(len(its)) + chance.random()) / len(its)
    return np.argsort(place, kind="stable")


def rungs(queries: int, settings: int, rounds: int) -> list[tuple[int, int]]:
    """How many queries and how many settings each round has.

    >>> rungs(40, 12, 2)
    [(10, 12), (20, 6), (40, 3)]
    """
    return [(-(-queries // 2 ** (rounds - step)), max(1, -(-settings // 2**step))) for step in range(rounds + 1)]


def planned(stratum: Integers, fold: Integers, settings: int, budget: int, chance: np.random.Generator) -> Plan:
    """As few rounds as the budget allows; an error if no number of them is few enough.

    fold: of each query in the first repeat
    """
    order = order_of(stratum, chance)
    folds = np.unique(fold)
    least = min(int((fold != number).sum()) for number in folds)
    most = 0
    for rounds in range(max(0, int(np.log2(max(least / FEWEST, 1)))) + 1):
        most = _most(order, fold, folds, settings, rounds)
        if most <= budget:
            return Plan(order, rounds, most)
    fact = f"{budget:,} requests are too few for {settings:,} settings and {len(order):,} queries."
    raise ComparisonError(fact, hint=f"{most:,} are needed; or try fewer settings, or tune on fewer queries")


def _most(order: Integers, fold: Integers, folds: Integers, settings: int, rounds: int) -> int:
    """Requests that the first repeat and the choice of the final setting take, if all folds choose differently."""
    asked = np.full(len(order), 2)  # the untuned setting, and the one that is measured on the held-out query
    for held_out in (-1, *folds.tolist()):
        training = order[fold[order] != held_out]
        of_query = np.zeros(len(order), dtype=np.int64)
        for queries, alive in reversed(rungs(len(training), settings, rounds)):
            of_query[training[:queries]] = alive
        asked += of_query
    return int(np.minimum(asked, settings).sum())


def chosen_by_halving(values: Numbers, fill: Fill, training: Integers, rounds: int, weight: Numbers) -> int:
    """The setting that is left; values: a row for each query, a column for each setting, higher is better.

    Of settings with equal means, the first ones stay.
    """
    alive = np.arange(values.shape[1])
    steps = rungs(len(training), len(alive), rounds)
    for step, (queries, _) in enumerate(steps):
        some = training[:queries]
        fill(some, alive)
        its = weight[some] if weight[some].any() else np.ones(len(some))
        means = its @ values[np.ix_(some, alive)] / its.sum()
        if step == rounds:
            return int(alive[first_best(means)])
        kept = np.argsort(-np.round(means / SAME), kind="stable")[: steps[step + 1][1]]
        alive = alive[np.sort(kept)]
    raise AssertionError


def halved(values: Numbers, fill: Fill, plan: Plan, fold: Integers, weight: Numbers | None = None) -> CrossFitted:
    """Choose a setting on all folds but one, and measure it on that one, for as many repeats as the budget allows.

    values: filled in by `fill`, which raises `Spent` where the budget does not suffice
    The first setting is the untuned one, and is measured on all queries.
    """
    weight = np.ones(len(values)) if weight is None else weight
    rows = np.arange(len(values))
    fill(rows, np.array([0]))
    best = chosen_by_halving(values, fill, plan.order, plan.rounds, weight)
    total, chosen = np.zeros(len(values)), []
    try:
        for its in fold:
            found = np.empty(int(fold.max()) + 1, dtype=np.int64)
            for number in range(len(found)):
                training = plan.order[its[plan.order] != number]
                found[number] = chosen_by_halving(values, fill, training, plan.rounds, weight)
            for number, setting in enumerate(found.tolist()):
                fill(np.flatnonzero(its == number), np.array([setting]))
            total += values[rows, found[its]]
            chosen.append(found)
    except Spent:
        pass
    return CrossFitted(total / len(chosen), np.array(chosen), best, float(weight @ values[:, best] / weight.sum()))
