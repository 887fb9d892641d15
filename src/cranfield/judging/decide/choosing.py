"""What to judge next, so that as few grades as possible settle a verdict.

L = mean(d) ∓ t* · sd(d) / √n, the end of the interval that is nearer to 0, decides whether a difference is significant.
It is made linear in the grades, L ≈ Σ c g, and a document is worth what its grade takes from the variance of L:
cov(L, g)² / var(g). A grade also says something about other documents, so each document of a batch is chosen given
those before it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cranfield.judging.decide.candidates import Candidates, Places
from cranfield.judging.decide.grade_model import LinearGrades
from cranfield.measures.arithmetic import discounted, gains
from cranfield.measures.completion import cutoff_of, is_sum
from cranfield.measures.registry import Measure
from cranfield.ranks.columns import Flags, Integers, Numbers
from cranfield.ranks.filling import single_documents

NDCG = "nDCG"
TINY = 1e-300
SAME = 1e-9  # worths that differ by less are equal but for rounding, which is not the same on every machine
LEAST_SPREAD = 0.01  # of the differences of queries: those of runs that are nearly the same have none
SHORTLIST = 50  # candidates tried one by one, as a multiple of the number wanted; the best of all by themselves
FEW, FEW_GRADES = 8, 100_000  # completions that slopes are the mean of, and grades in all of them together
AT_ONCE = 2_000_000  # documents of rankings tried in one table


class Wanted(NamedTuple):
    """What an undecided pair wants to know: how each grade moves it, and whether that document is open."""

    weights: Numbers
    open: Flags


def choose(model: LinearGrades, wanted: Sequence[Wanted], count: int) -> Integers:
    """The documents that tell most about all pairs together, one after the other: their places.

    Each pair counts by the share of its variance that a grade takes away, so that none waits for the others.
    """
    weights = np.array([np.where(pair.open, pair.weights, 0.0) for pair in wanted])
    covariance = np.array([model.covariance_with(line) for line in weights])
    covariance /= np.sqrt(np.maximum(np.einsum("pd,pd->p", covariance, weights), TINY))[:, None]
    # A document counts for the pairs that it is open for; for the others it may still tell about the model.
    can = np.any([pair.open for pair in wanted], axis=0)
    variance = model.variance
    promising = np.flatnonzero(can)
    if len(promising) > SHORTLIST * count:
        worth = (covariance[:, promising] ** 2).sum(axis=0) / variance[promising]
        promising = np.sort(promising[np.argpartition(-worth, SHORTLIST * count)[: SHORTLIST * count]])
    model, covariance, variance = model.only(promising), covariance[:, promising], variance[promising]
    left = np.ones(len(promising), dtype=np.bool_)
    places: list[int] = []
    known: list[Numbers] = []
    for _ in range(min(count, len(promising))):
        worth = np.where(left, (covariance**2).sum(axis=0) / variance, -1.0)
        best = int(np.argmax(worth >= worth.max() * (1 - SAME)))
        places.append(int(promising[best]))
        left[best] = False
        explained = model.covariance_with_one(best)
        for before in known:
            explained -= before * before[best]
        explained /= math.sqrt(variance[best])
        covariance = covariance - explained * (covariance[:, best, None] / math.sqrt(variance[best]))
        variance = np.maximum(variance - explained**2, model.noise * 1e-9)
        known.append(explained)
    return np.array(places, dtype=np.int64)


def weights_of(lines: Numbers, slope: Numbers, query: Integers, critical: float) -> Numbers:
    """How each grade moves L, given the differences of completions, in a line each, and how it moves its query's."""
    expected = lines.mean(axis=0)
    queries, mean = len(expected), expected.mean()
    # The spread of the means would be too small: they are closer together than the differences of any completion.
    spread = max(float(lines.std(axis=1, ddof=1).mean()), LEAST_SPREAD)
    side = -1.0 if mean < 0 else 1.0
    moves = 1 / queries - side * critical * (expected - mean) / ((queries - 1) * spread * math.sqrt(queries))
    return np.asarray(moves[query] * slope)


def slopes(candidates: Candidates, measure: Measure, pair: tuple[int, int], completions: Places) -> Numbers:
    """How each grade moves the difference of its query, in the mean of a few completions.

    The expected grades would not be a realistic completion: the best of them are below the best of any completion.
    nDCG and sums over documents have formulas. For other measures each document gets the lowest and the highest grade
    in turn, which takes as many rankings as there are documents, twice.
    """
    if is_sum(measure):
        return _of_sum(candidates, measure, pair)
    some = completions[: min(FEW, max(1, FEW_GRADES // max(len(candidates.query), 1)))]
    usual = measure.definition.name == NDCG and dict(measure.parameters).get("ideal") is None
    one = _of_ndcg if usual else _by_trying
    return np.asarray(np.mean([one(candidates, measure, pair, grades) for grades in some], axis=0))


def _of_ndcg(candidates: Candidates, measure: Measure, pair: tuple[int, int], grades: Places) -> Numbers:
    parameters = dict(measure.parameters)
    cutoff = cutoff_of(measure)
    scale = candidates.levels
    worth = gains(scale, parameters.get("gain", "linear"))[::-1]  # of the highest grade first, as cells are
    slope = (worth[0] - worth[-1]) / (scale[-1] - scale[0])
    deepest = max(int(candidates.rank.max(initial=1)), int(np.bincount(candidates.query).max(initial=1)))
    how = (parameters.get("base", 2), parameters.get("discount", "all"))
    by_rank = np.concatenate([[0.0], discounted(np.ones(deepest), np.arange(1, deepest + 1), *how)])
    if cutoff is not None:
        by_rank[cutoff + 1 :] = 0.0
    baseline, run = pair
    weight = by_rank[candidates.rank[run]] - by_rank[candidates.rank[baseline]]
    query, cell = candidates.query, candidates.level_cells(grades)
    # In the ideal ranking documents of one grade share their ranks: each has the mean weight of these ranks.
    counts = np.bincount(cell, minlength=len(candidates.query_ids) * len(scale)).reshape(-1, len(scale))
    best_first = np.argsort(-worth, kind="stable")
    last = np.empty_like(counts)  # the rank of the last document of each grade
    last[:, best_first] = np.cumsum(counts[:, best_first], axis=1)
    up_to = np.cumsum(by_rank)
    weighs = up_to[last] - up_to[last - counts]
    ideal = weighs @ worth
    ideal = np.where(ideal > 0, ideal, 1.0)
    difference = np.bincount(query, weight * np.tile(worth, len(ideal))[cell], len(ideal)) / ideal
    in_ideal = weighs / np.maximum(counts, 1)
    loses = (difference[:, None] * in_ideal).reshape(-1)[cell]
    return np.asarray(slope * (weight - loses) / ideal[query])


def _of_sum(candidates: Candidates, measure: Measure, pair: tuple[int, int]) -> Numbers:
    deepest = max(int(candidates.rank.max(initial=1)), 1)
    levels = candidates.levels
    worth = np.stack([measure(single_documents(deepest, grade)) for grade in levels])  # by grade, by rank
    rising = np.concatenate([[0.0], (worth[-1] - worth[0]) / (levels[-1] - levels[0])])
    baseline, run = pair
    return np.asarray(rising[candidates.rank[run]] - rising[candidates.rank[baseline]])


def _by_trying(candidates: Candidates, measure: Measure, pair: tuple[int, int], grades: Places) -> Numbers:
    """The unjudged documents of all queries side by side: one of each is tried at a time."""
    query = candidates.query
    unjudged = np.flatnonzero(~candidates.judged)
    turn = np.arange(len(unjudged)) - np.searchsorted(query[unjudged], query[unjudged])
    slope = np.zeros(len(query))
    step = max(1, AT_ONCE // max(len(query), 1))
    low, high = candidates.scale[0], candidates.scale[-1]
    for start in range(0, int(turn.max(initial=-1)) + 1, step):
        here = unjudged[(turn >= start) & (turn < start + step)]
        lines = turn[(turn >= start) & (turn < start + step)] - start
        ends = []
        for grade in np.searchsorted(candidates.levels, (low, high)).tolist():
            tried = np.repeat(grades[None], int(lines.max()) + 1, axis=0)
            tried[lines, here] = grade
            ends.append(differences(candidates, measure, pair, tried)[lines, query[here]])
        slope[here] = (ends[1] - ends[0]) / (high - low)
    return slope


def differences(candidates: Candidates, measure: Measure, pair: tuple[int, int], completions: Places) -> Numbers:
    """Run less baseline: a line for each completion and a column for each query."""
    baseline, run = candidates.values(measure, pair, completions)
    return run - baseline
