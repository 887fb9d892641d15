"""ComparedPair: two runs of a decision, how probable each verdict is, and what to judge next.

L = mean(d) ∓ t* · sd(d) / √n, the end of the interval that is nearer to 0, decides whether a difference is significant.
It is made linear in the grades, L ≈ Σ c g, and a document is worth what its grade takes from the variance of L:
cov(L, g)² / var(g). A grade also says something about other documents, so each document of a batch is chosen given
those before it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from cranfield.comparison.significance import Settings
from cranfield.comparison.significance.student import STUDENT
from cranfield.evaluation.estimating import COMPLETED, PLAIN, Columns, ratio
from cranfield.evaluation.t_distribution import exceeded_with
from cranfield.judging.decide.candidates import Candidates
from cranfield.judging.decide.grade_model import GradeModel, features, fit
from cranfield.measures.arithmetic import discounted, gains
from cranfield.measures.completion import cutoff_of, is_sum
from cranfield.measures.registry import Measure
from cranfield.ranks.columns import Flags, Integers, Numbers
from cranfield.ranks.filling import single_documents

DRAWS, FEWEST_DRAWS = 60, 20
DRAWN_AT_ONCE = 2_000_000  # grades: with very many documents there are fewer draws
FARTHEST = 50.0  # larger t-values change nothing
BETTER, WORSE, NEITHER = "better", "worse", "neither"
VERDICTS = (BETTER, WORSE, NEITHER)


class Outlook(NamedTuple):
    """A difference over completions of the judgments.

    difference: the mean over queries and completions; low, high: its interval
    from_judging, from_queries: the variance of the mean that comes from documents that are not judged, and the one
        that comes from having no more queries; their sum makes the interval
    better, worse, neither: the probabilities of the verdicts
    t, t_deviation: the mean and the standard deviation of the t-values of all completions
    """

    difference: float
    low: float
    high: float
    from_judging: float
    from_queries: float
    better: float
    worse: float
    neither: float
    t: float
    t_deviation: float

    @property
    def verdict(self) -> str:
        return VERDICTS[int(np.argmax(self.probabilities))]

    @property
    def probabilities(self) -> tuple[float, float, float]:
        return self.better, self.worse, self.neither


def differences(candidates: Candidates, measure: Measure, pair: tuple[int, int], completions: Numbers) -> Numbers:
    """Run less baseline: a line for each completion and a column for each query."""
    baseline, run = candidates.values(measure, pair, completions)
    return run - baseline


def drawn(candidates: Candidates, model: GradeModel, seed: int) -> Numbers:
    """Completions: judged documents keep their grade, the others get one that is drawn and rounded to the scale."""
    # Each number of judged documents has its own draws, so that two looks in a row are independent.
    generator = np.random.default_rng([seed % 2**64, int(candidates.judged.sum())])
    count = min(DRAWS, max(FEWEST_DRAWS, DRAWN_AT_ONCE // max(len(candidates.query), 1)))
    return candidates.rounded(model.draw(generator, count))


def outlook(lines: Numbers, alpha: float, measure: Measure) -> Outlook:
    """The verdicts of all completions, whose differences are a line each.

    The t-values are taken as normally distributed: then a few dozen completions are enough.
    """
    estimates = COMPLETED.estimate(Columns(lines.T))
    least, most = measure.definition.range
    ends = estimates.interval(alpha, (least - most, most - least))
    (middle,), (low,), (high,) = estimates.value.tolist(), *(end.tolist() for end in ends)
    from_queries = float(estimates.spread[0]) ** 2 / estimates.rows
    from_judging = float(lines.mean(axis=1).var(ddof=1)) if len(lines) > 1 else 0.0
    critical = critical_t(alpha, estimates.rows)
    better, worse, centre, width = _probabilities(lines, critical, alpha)
    if measure.definition.lower_is_better:
        better, worse = worse, better
    neither = max(0.0, 1 - better - worse)
    return Outlook(middle, low, high, from_judging, from_queries, better, worse, neither, centre, width)


def critical_t(alpha: float, queries: int) -> float:
    """The t-value from which on a difference is significant."""
    return float(exceeded_with(alpha / 2, queries - 1))


def _probabilities(lines: Numbers, critical: float, alpha: float) -> tuple[float, float, float, float]:
    """That the difference is significantly above 0, and below; the mean and the deviation of the t-values."""
    estimates = PLAIN.estimate(Columns(lines.T))
    values = np.clip(ratio(estimates.value, estimates.error), -FARTHEST, FARTHEST)
    centre = float(values.mean())
    width = float(values.std(ddof=1)) if len(values) > 1 else 0.0
    if width == 0:  # all completions are the same, so the test itself answers
        outcome = STUDENT.outcome(Columns(lines[:1].T), Settings(alpha, 0, 0))
        significant = bool(outcome.p[0] <= alpha)
        above = float(lines[0].mean()) > 0
        return float(significant and above), float(significant and not above), centre, width
    return _normal_above((critical - centre) / width), _normal_above((critical + centre) / width), centre, width


def _normal_above(value: float) -> float:
    """The chance that a standard normal variable is larger."""
    return math.erfc(value / math.sqrt(2)) / 2


NDCG = "nDCG"
LEAST_SPREAD = 0.01  # of the differences of queries: those of runs that are nearly the same have none
SHORTLIST = 50  # candidates tried one by one, as a multiple of the number wanted; the best of all by themselves
FEW, FEW_GRADES = 8, 100_000  # completions that slopes are the mean of, and grades in all of them together
AT_ONCE = 2_000_000  # documents of rankings tried in one table


class ScoredPlaces(NamedTuple):
    """Documents, as their places among the candidates, in the order in which to judge them, and what each is worth."""

    place: Integers
    worth: Numbers


def choose(model: GradeModel, weights: Numbers, open_: Flags, count: int) -> ScoredPlaces:
    """The documents that together reduce the variance of Σ weights · grade most, one after the other."""
    covariance, variance = model.covariance_with(weights), model.variance
    promising = np.flatnonzero(open_)
    if len(promising) > SHORTLIST * count:
        worth = covariance[promising] ** 2 / variance[promising]
        promising = np.sort(promising[np.argpartition(-worth, SHORTLIST * count)[: SHORTLIST * count]])
    model, covariance, variance = model.only(promising), covariance[promising], variance[promising]
    left = np.ones(len(promising), dtype=np.bool_)
    places: list[int] = []
    worths: list[float] = []
    known: list[Numbers] = []
    for _ in range(min(count, len(promising))):
        worth = np.where(left, covariance**2 / variance, -1.0)
        best = int(np.argmax(worth))
        places.append(int(promising[best]))
        worths.append(float(worth[best]))
        left[best] = False
        explained = model.covariance_with_one(best)
        for before in known:
            explained -= before * before[best]
        explained /= math.sqrt(variance[best])
        covariance = covariance - explained * (covariance[best] / math.sqrt(variance[best]))
        variance = np.maximum(variance - explained**2, model.variances.noise * 1e-9)
        known.append(explained)
    return ScoredPlaces(np.array(places, dtype=np.int64), np.array(worths))


def weights_of(lines: Numbers, slope: Numbers, query: Integers, critical: float) -> Numbers:
    """How each grade moves L, given the differences of completions, in a line each, and how it moves its query's."""
    expected = lines.mean(axis=0)
    queries, mean = len(expected), expected.mean()
    # The spread of the means would be too small: they are closer together than the differences of any completion.
    spread = max(float(lines.std(axis=1, ddof=1).mean()), LEAST_SPREAD)
    side = -1.0 if mean < 0 else 1.0
    moves = 1 / queries - side * critical * (expected - mean) / ((queries - 1) * spread * math.sqrt(queries))
    return np.asarray(moves[query] * slope)


def slopes(candidates: Candidates, measure: Measure, pair: tuple[int, int], completions: Numbers) -> Numbers:
    """How each grade moves the difference of its query, in the mean of a few completions.

    The expected grades would not be a realistic completion: the best of them are below the best of any completion.
    nDCG and sums over documents have formulas. For other measures each document gets the lowest and the highest grade
    in turn, which takes as many rankings as there are documents, twice.
    """
    if is_sum(measure):
        return _of_sum(candidates, measure, pair)
    some = completions[: min(FEW, max(1, FEW_GRADES // max(len(candidates.query), 1)))]
    one = _of_ndcg if measure.definition.name == NDCG else _by_trying
    return np.asarray(np.mean([one(candidates, measure, pair, grades) for grades in some], axis=0))


def _of_ndcg(candidates: Candidates, measure: Measure, pair: tuple[int, int], grades: Numbers) -> Numbers:
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


def _by_trying(candidates: Candidates, measure: Measure, pair: tuple[int, int], grades: Numbers) -> Numbers:
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
        for grade in (low, high):
            tried = np.repeat(grades[None], int(lines.max()) + 1, axis=0)
            tried[lines, here] = grade
            ends.append(differences(candidates, measure, pair, tried)[lines, query[here]])
        slope[here] = (ends[1] - ends[0]) / (high - low)
    return slope


@dataclass(frozen=True, eq=False)
class ComparedPair:
    """A baseline and a run, as their numbers."""

    candidates: Candidates
    measure: Measure
    runs: tuple[int, int]
    alpha: float
    seed: int

    @cached_property
    def differing(self) -> bool:
        return bool(self.candidates.differing(*self.runs).any())

    @cached_property
    def matters(self) -> Flags:
        """The unjudged documents whose grades can change the difference."""
        known = self.candidates
        ranks = known.rank[list(self.runs)]
        can = known.differing(*self.runs)[known.query] & known.returned
        if is_sum(self.measure):  # then a document at the same rank in both adds the same to both
            can &= ranks[0] != ranks[1]
        return np.asarray(can & ~known.judged)

    @property
    def left(self) -> int:
        return int(self.matters.sum())

    @cached_property
    def model(self) -> GradeModel:
        known = self.candidates
        baseline, run = self.runs
        x = features(known.rank[run], known.rank[baseline])
        return fit(x, known.query, len(known.query_ids), known.grade, known.observed, max(known.scale))

    @cached_property
    def completions(self) -> Numbers:
        """Several ways in which the grades may turn out, or one if nothing is left that matters."""
        known = self.candidates
        return drawn(known, self.model, self.seed) if self.left else known.rounded(np.zeros((1, len(known.query))))

    @cached_property
    def differences(self) -> Numbers:
        return differences(self.candidates, self.measure, self.runs, self.completions)

    @cached_property
    def outlook(self) -> Outlook:
        return outlook(self.differences, self.alpha, self.measure)

    @cached_property
    def weights(self) -> Numbers:
        """How each unknown grade moves the end of the interval that is nearer to 0."""
        slope = np.where(self.matters, slopes(self.candidates, self.measure, self.runs, self.completions), 0.0)
        return weights_of(self.differences, slope, self.candidates.query, self.critical)

    @cached_property
    def critical(self) -> float:
        return critical_t(self.alpha, len(self.candidates.query_ids))

    def next(self, count: int) -> ScoredPlaces:
        return choose(self.model, self.weights, self.matters, count)

    def needed(self, confidence: float) -> int:
        """About how many judgments make a verdict sure, if the t-value stays and its variance falls as expected."""
        variance = self.outlook.t_deviation**2
        wanted = ((abs(self.outlook.t) - self.critical) / NormalDist().inv_cdf(confidence)) ** 2
        return 0 if variance <= wanted else int(np.searchsorted(-self._left_after, -wanted / variance))

    @property
    def _left_after(self) -> Numbers:
        """The share of the variance that is left after 0, 1, 2 … judgments, those with the largest weights first.

        The noise of a judged document is gone. The shared part still moves all unjudged documents together.
        """
        weight = np.append(np.sort(np.abs(self.weights[self.matters]))[::-1], 0.0)
        total = max(float(self.weights @ self.model.covariance_with(self.weights)), 1e-300)
        noise = self.model.variances.noise * np.cumsum(weight[::-1] ** 2)[::-1]
        others = np.cumsum(weight[::-1])[::-1] / max(float(weight.sum()), 1e-300)
        return np.asarray((noise + max(total - noise[0], 0.0) * others**2) / total)
