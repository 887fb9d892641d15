"""How probable each verdict of a comparison is, if all documents were judged."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from cranfield.comparison.significance.student import STUDENT
from cranfield.comparison.significance.test import Settings, deviation, t_values
from cranfield.judging.deciding.candidates import Candidates
from cranfield.judging.deciding.grade_model import GradeModel
from cranfield.measures.registry import Measure
from cranfield.ranks.columns import Numbers

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
        """The most probable verdict."""
        return VERDICTS[int(np.argmax(self.probabilities))]

    @property
    def probabilities(self) -> tuple[float, float, float]:
        """Of better, worse and neither."""
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


def outlook(found: Numbers, alpha: float, lower_is_better: bool = False) -> Outlook:
    """The verdicts of all completions, whose differences are a line each.

    The t-values are taken as normally distributed: then a few dozen completions are enough.
    """
    from scipy.stats import t

    completions, queries = found.shape
    means, spread = found.mean(axis=1), deviation(found.T)
    from_judging = float(means.var(ddof=1)) if completions > 1 else 0.0
    from_queries = float((spread**2).mean()) / queries
    critical = float(t.isf(alpha / 2, queries - 1))
    half = critical * math.sqrt(from_judging + from_queries)
    middle = float(means.mean())
    better, worse, centre, width = _probabilities(found, critical, alpha)
    if lower_is_better:
        better, worse = worse, better
    neither = max(0.0, 1 - better - worse)
    return Outlook(
        middle, middle - half, middle + half, from_judging, from_queries, better, worse, neither, centre, width
    )


def _probabilities(found: Numbers, critical: float, alpha: float) -> tuple[float, float, float, float]:
    """That the difference is significantly above 0, and below; the mean and the deviation of the t-values."""
    from scipy.stats import norm

    values = np.clip(t_values(found.T), -FARTHEST, FARTHEST)
    centre = float(values.mean())
    width = float(values.std(ddof=1)) if len(values) > 1 else 0.0
    if width == 0:  # all completions are the same, so the test itself answers
        outcome = STUDENT.outcome(found[:1].T, Settings(alpha, 0, 0))
        significant = bool(outcome.p[0] <= alpha)
        above = float(found[0].mean()) > 0
        return float(significant and above), float(significant and not above), centre, width
    return float(norm.sf((critical - centre) / width)), float(norm.cdf((-critical - centre) / width)), centre, width
