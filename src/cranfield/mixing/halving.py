"""Cross-fitting where every value costs a request: settings are chosen by successive halving, on training queries only.

    all settings ──few queries──▶ the better half ──twice as many──▶ … ──all training queries──▶ one setting

All folds take the queries in the same order, so most of what one of them asks for is known to the others. How many
rounds there are follows from the budget alone, before anything is asked. The first repeat always fits, if need be with
choices that end early; the rest of the budget goes into further repeats (Karnin, Koren & Somekh 2013; Jamieson &
Talwalkar 2016).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from cranfield.errors import ComparisonError
from cranfield.evaluation.estimating import SAME
from cranfield.evaluation.folds import CrossFitted, first_best
from cranfield.ranks.columns import Integers, Numbers

BUDGET = 2000  # requests
FEWEST = 5  # queries of the first round
KEPT = (2, 3, 4, 6, 8, 12, 16)  # of so many settings, one is kept
SHARED = 2  # how many times as many settings all folds keep together as one of them, at a guess
Fill = Callable[[Integers, Integers, int], None]
"""Makes the values of queries with settings known; raises `Spent` if less of the budget than a number would be left."""


class Spent(Exception):
    """The budget does not suffice for what is asked next."""


class Plan(NamedTuple):
    """How settings are chosen.

    order: of the queries; rounds: how often the worse settings are dropped; kept: of how many one is kept each time
    first: the queries of the first round of any fold of the first repeat, on which all settings are measured
    reserve: requests to set aside for a setting that is measured on all queries; 0 if the budget is enough for all
    """

    order: Integers
    rounds: int
    kept: int
    first: Integers
    reserve: int


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


def rungs(queries: int, settings: int, rounds: int, kept: int = 2) -> list[tuple[int, int]]:
    """How many queries and how many settings each round has.

    >>> rungs(40, 12, 2)
    [(10, 12), (20, 6), (40, 3)]
    """
    return [(-(-queries // 2 ** (rounds - step)), max(1, -(-settings // kept**step))) for step in range(rounds + 1)]


def planned(stratum: Integers, fold: Integers, settings: int, budget: int, chance: np.random.Generator) -> Plan:
    """As few rounds as the budget allows; an error if it is too small for any number of them.

    fold: of each query in the first repeat
    """
    order = order_of(stratum, chance)
    queries = len(order)
    folds = np.unique(fold).tolist()
    training = [order[fold[order] != held_out] for held_out in (-1, *folds)]
    if settings * queries <= budget:
        return Plan(order, 0, 2, order, 0)
    known: dict[int, Plan] = {}  # by the requests that they probably take
    least = settings * queries
    for rounds in range(1, max(1, int(np.log2(max(min(map(len, training)) / FEWEST, 1)))) + 1):
        first = np.unique(np.concatenate([its[: rungs(len(its), settings, rounds)[0][0]] for its in training]))
        certain = len(first) * settings + 3 * queries
        least = min(least, certain)
        for kept in KEPT if certain <= budget else ():
            asked, done = certain, len(first)
            for until, alive in rungs(queries, settings, rounds, kept)[1:]:
                asked += max(until - done, 0) * min(SHARED * alive, settings)
                done = max(until, done)
            known[asked] = Plan(order, rounds, kept, first, queries)
    if known:
        return known[max((asked for asked in known if asked <= budget), default=min(known))]
    fact = f"{budget:,} requests are too few for {settings:,} settings and {queries:,} queries."
    raise ComparisonError(fact, hint=f"{least:,} are needed; or try fewer settings, or tune on fewer queries")


def chosen_by_halving(
    values: Numbers, fill: Fill, training: Integers, plan: Plan, weight: Numbers, spare: int | None
) -> int:
    """The setting that is left; values: a row for each query, a column for each setting, higher is better.

    Of settings with equal means, the first ones stay.
    spare: how much of the budget to leave; the best so far is chosen when this is reached. None: then `Spent` is raised
    """
    alive = np.arange(values.shape[1])
    steps = rungs(len(training), len(alive), plan.rounds, plan.kept)
    leading = 0
    for step, (queries, _) in enumerate(steps):
        some = training[:queries]
        try:
            fill(some, alive, spare or 0)
        except Spent:
            if spare is None or step == 0:
                raise
            return leading
        its = weight[some] if weight[some].any() else np.ones(len(some))
        means = its @ values[np.ix_(some, alive)] / its.sum()
        leading = int(alive[first_best(means)])
        if step < plan.rounds:
            kept = np.argsort(-np.round(means / SAME), kind="stable")[: steps[step + 1][1]]
            alive = alive[np.sort(kept)]
    return leading


def halved(values: Numbers, fill: Fill, plan: Plan, fold: Integers, weight: Numbers | None = None) -> CrossFitted:
    """Choose a setting on all folds but one, and measure it on that one, for as many repeats as the budget allows.

    values: filled in by `fill`
    The first setting is the untuned one. It and the final one are measured on all queries.
    """
    weight = np.ones(len(values)) if weight is None else weight
    rows = np.arange(len(values))
    fill(rows, np.array([0]), 2 * plan.reserve)
    fill(plan.first, np.arange(values.shape[1]), 2 * plan.reserve)
    best = chosen_by_halving(values, fill, plan.order, plan, weight, 2 * plan.reserve)
    fill(rows, np.array([best]), plan.reserve)
    total = np.zeros(len(values))
    chosen: list[Integers] = []
    try:
        for its in fold:
            spare = None if chosen else plan.reserve
            found = np.empty(int(fold.max()) + 1, dtype=np.int64)
            for number in range(len(found)):
                training = plan.order[its[plan.order] != number]
                found[number] = chosen_by_halving(values, fill, training, plan, weight, spare)
            for number, setting in enumerate(found.tolist()):
                fill(np.flatnonzero(its == number), np.array([setting]), 0)
            total += values[rows, found[its]]
            chosen.append(found)
    except Spent:
        pass
    return CrossFitted(total / len(chosen), np.array(chosen), best, float(weight @ values[:, best] / weight.sum()))


def best_of_whole(found: CrossFitted, values: Numbers, weight: Numbers | None = None) -> CrossFitted:
    """With the best of all settings that are known on all queries: these are more than one halving leaves."""
    whole = np.flatnonzero(~np.isnan(values).any(axis=0))
    means = np.average(values[:, whole], axis=0, weights=weight)
    at = first_best(means)
    return found._replace(best=int(whole[at]), optimistic=float(means[at]))
