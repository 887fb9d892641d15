"""Outlook: how probable each verdict on two runs is, and how many judgments it probably takes to be sure of one.

The verdict is that of Student's paired t-test on everything judged. Its t-value is t ± σ over completions of the
judgments, and each judgment makes σ smaller. On the way the expected t-value moves as the grades turn out: by how much
is known beforehand, since what σ² loses is the variance of what t gains (t is a martingale). So the way to a verdict
can be drawn at random, and drawn many times it says how long it is.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from cranfield.comparison.significance import Settings
from cranfield.comparison.significance.student import STUDENT
from cranfield.evaluation.estimating import MODELLED, PLAIN, Columns, ratio
from cranfield.evaluation.t_distribution import exceeded_with
from cranfield.judging.decide.grade_model import normal_below
from cranfield.measures.registry import Measure
from cranfield.ranks.columns import Integers, Numbers

FARTHEST = 50.0  # larger t-values change nothing
BETTER, WORSE, NEITHER = "better", "worse", "neither"
VERDICTS = (BETTER, WORSE, NEITHER)
LIKELY = 0.8  # the chance of a verdict that an open pair is likely to end with
MUCH = 0.4  # of the uncertainty: with more of it from documents that are not judged, more queries are not the answer
WIDER = 0.25  # by so much are completions too near to each other once all is judged; see widened()
WAYS = 1000  # drawn to a verdict
USUAL = (0.1, 0.9)  # quantiles of their lengths


class Outlook(NamedTuple):
    """A difference over completions of the judgments.

    difference: the mean over queries and completions; low, high: its interval
    full_low, full_high: the interval of the difference of these queries, if everything were judged
    from_judging, from_queries: the variance of the mean that comes from documents that are not judged, and the one
        that comes from having no more queries; their sum makes the interval
    better, worse, neither: the probabilities of the verdicts
    t, t_deviation: the mean and the standard deviation of the t-values of all completions
    critical: the t-value from which on a difference is significant
    """

    difference: float
    low: float
    high: float
    full_low: float
    full_high: float
    from_judging: float
    from_queries: float
    better: float
    worse: float
    neither: float
    t: float
    t_deviation: float
    critical: float

    @property
    def verdict(self) -> str:
        return VERDICTS[int(np.argmax(self.probabilities))]

    @property
    def probabilities(self) -> tuple[float, float, float]:
        return self.better, self.worse, self.neither

    @property
    def share_from_judging(self) -> float:
        """The share of the uncertainty that judging can take away."""
        total = self.from_judging + self.from_queries
        return self.from_judging / total if total > 0 else 0.0

    def sure(self, confidence: float) -> bool:
        """Whether one verdict is so probable that judging the rest would hardly change it.

        "Neither" is only final where most of what is uncertain comes from the queries: otherwise it would be said of
        a difference that is not known yet.
        """
        return max(self.probabilities) >= confidence and not (
            self.verdict == NEITHER and self.share_from_judging > MUCH
        )


def outlook(lines: Numbers, alpha: float, measure: Measure, judged: float) -> Outlook:
    """The verdicts of all completions, whose differences are a line each.

    judged: the share of documents that is judged. The t-values are taken as normally distributed: then some hundred
    completions are enough.
    """
    lines = widened(lines, judged)
    estimates = MODELLED.estimate(Columns(lines.T))
    least, most = measure.definition.range
    ends = estimates.interval(alpha, (least - most, most - least))
    (middle,), (low,), (high,) = estimates.value.tolist(), *(end.tolist() for end in ends)
    from_queries = float(estimates.spread[0]) ** 2 / estimates.rows
    from_judging = float(lines.mean(axis=1).var(ddof=1)) if len(lines) > 1 else 0.0
    half = NormalDist().inv_cdf(1 - alpha / 2) * math.sqrt(from_judging)
    critical = float(exceeded_with(alpha / 2, estimates.rows - 1))
    better, worse, centre, width = _probabilities(lines, critical, alpha)
    if measure.definition.lower_is_better:
        better, worse = worse, better
    return Outlook(
        difference=middle,
        low=low,
        high=high,
        full_low=middle - half,
        full_high=middle + half,
        from_judging=from_judging,
        from_queries=from_queries,
        better=better,
        worse=worse,
        neither=max(0.0, 1 - better - worse),
        t=centre,
        t_deviation=width,
        critical=critical,
    )


def widened(lines: Numbers, judged: float) -> Numbers:
    """Values of queries, a line for each completion, whose means are farther apart than the model has them.

    judged: the share of documents that is judged. The model takes its variances and its own form for known. Of what is
    uncertain, chance becomes less with every judgment, but not the errors of the model.
    """
    means = lines.mean(axis=1, keepdims=True)
    return np.asarray(lines + WIDER * judged * (means - means.mean()))


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


def judgments_needed(now: Outlook, left_after: Numbers, steps: Integers, confidence: float) -> tuple[int, int]:
    """Few and many judgments until a verdict is sure: quantiles over ways that are drawn at random.

    left_after: the share of the variance of t that is left after each number of judgments in `steps`.
    """
    variance = now.t_deviation**2 * left_after
    from_judging = now.from_judging * left_after
    share = ratio(from_judging, from_judging + now.from_queries)  # judging takes nothing from what queries add
    gained = np.sqrt(np.maximum(-np.diff(variance, prepend=now.t_deviation**2), 0.0))
    chance = np.random.default_rng(0).standard_normal((WAYS // 2, len(steps)))
    t = now.t + np.cumsum(np.concatenate([chance, -chance]) * gained, axis=1)
    deviation = np.sqrt(np.maximum(variance, 1e-12))
    beyond = normal_below((np.abs(t) - now.critical) / deviation)
    opposite = normal_below((-np.abs(t) - now.critical) / deviation)
    neither = (1 - beyond - opposite >= confidence) & (share <= MUCH)
    sure = (beyond >= confidence) | neither
    sure[:, -1] = True  # everything is judged
    few, many = np.quantile(steps[np.argmax(sure, axis=1)], USUAL, method="nearest").tolist()
    return int(few), int(many)
