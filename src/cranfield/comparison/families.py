"""A family of comparisons, tested and corrected together: p-values and intervals that belong to one another."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from cranfield.comparison.multiple_testing import CORRECTIONS, MAX_T
from cranfield.comparison.pairing import Paired, check_finite
from cranfield.comparison.significance import SAME, TESTS, Settings, Test, hedges
from cranfield.comparison.significance.test import deviation, t_values
from cranfield.comparison.significance.tukey import TUKEY
from cranfield.evaluation.naming import require_name
from cranfield.measures import Measure
from cranfield.ranks.columns import Numbers

Pair = tuple[int, int]  # columns: the baseline and the run


def compared_pairs(runs: Sequence[str], baseline: str | None) -> list[Pair]:
    """Each run against the baseline; without one, all pairs, the later against the earlier."""
    if baseline is None:
        return list(combinations(range(len(runs)), 2))
    require_name(baseline, runs)
    base = runs.index(baseline)
    return [(base, run) for run in range(len(runs)) if run != base]


class PairOutcomes(NamedTuple):
    """The results of each pair by one measure.

    p, adjusted: two-sided, alone and corrected for the family
    low, high: the interval; it excludes 0 exactly where the adjusted p-value is at most alpha
    direction: 1 up, -1 down, 0 neither: that of the test, which need not be that of the mean
    """

    p: Numbers
    adjusted: Numbers
    low: Numbers
    high: Numbers
    direction: Numbers
    estimate: Numbers
    effect: list[float | None]


def usual_correction(test: str) -> str:
    """The correction that goes with a test: by the largest t where it draws t-values."""
    return MAX_T if TESTS[test].studentised else "bonferroni"


def family_outcomes(
    values: Paired,
    measures: Sequence[Measure],
    pairs: Sequence[Pair],
    test: str,
    correction: str,
    settings: Settings,
) -> dict[Measure, PairOutcomes]:
    """Test all pairs by all measures of a family."""
    for measure in measures:
        differences = values.differences(measure, pairs)
        check_finite(measure, {"a difference": differences, "the spread of the differences": deviation(differences)})
    if TESTS[test].all_at_once:
        found = _by_tukey(values, measures, pairs, correction, settings)
    else:
        table = np.concatenate([values.differences(measure, pairs) for measure in measures], axis=1)
        found = _split(_tested(table, TESTS[test], correction, settings), measures)
    for measure, each in found.items():
        check_finite(measure, {"the p-value": (each.p, each.adjusted), "the estimate": each.estimate})
    return {measure: decided(each, measure, settings.alpha) for measure, each in found.items()}


def _tested(table: Numbers, test: Test, correction: str, settings: Settings) -> PairOutcomes:
    outcome = test.outcome(table, settings)
    family = table.shape[1]
    if family > 1 and correction == MAX_T and test.studentised:
        adjusted, low, high = _by_the_largest(table, outcome.p, test, settings)
    else:
        adjusted = CORRECTIONS[correction].adjust(outcome.p)
        # The level at which this comparison alone is decided as the family decides it.
        alpha = settings.alpha * np.divide(outcome.p, adjusted, out=np.full(family, 1 / family), where=adjusted > 0)
        if CORRECTIONS[correction].together:
            alpha = np.full(family, settings.alpha / family)
        low, high = test.interval(table, alpha, settings)
    return PairOutcomes(outcome.p, adjusted, low, high, outcome.direction, outcome.estimate, outcome.effect)


def _by_the_largest(table: Numbers, p: Numbers, test: Test, settings: Settings) -> tuple[Numbers, Numbers, Numbers]:
    """Westfall and Young's single step: a comparison counts if its |t| would be the largest of a family by chance.

    adjusted p = share of the draws whose largest |t| is at least |t|, never below the p-value of the comparison alone
    """
    largest = test.largest(table, settings)
    observed = np.abs(t_values(table))
    hits = len(largest) - np.searchsorted(largest[::-1], observed * (1 - 1e-9), "left")
    adjusted = np.maximum((1 + hits) / (1 + len(largest)), p)
    allowed = int(settings.alpha * (1 + len(largest)) * (1 + 1e-12))
    far = float(largest[allowed - 1]) if allowed else np.inf
    error = deviation(table) / np.sqrt(len(table))
    half = np.where(error > 0, far * np.where(error > 0, error, 1.0), 0.0)
    # Without spread there is no t: take the column's own p-value, times the size of the family.
    still = error == 0
    adjusted = np.where(still, np.minimum(p * table.shape[1], 1.0), adjusted)
    mean = table.mean(axis=0)
    return adjusted, mean - half, mean + half


def _by_tukey(
    values: Paired, measures: Sequence[Measure], pairs: Sequence[Pair], correction: str, settings: Settings
) -> dict[Measure, PairOutcomes]:
    """Tukey's test covers the pairs by itself; several measures in one family share alpha."""
    times = 1 if correction == "none" else len(measures)
    found = {}
    for measure in measures:
        square, far = TUKEY.compared(values.columns[measure], settings._replace(alpha=settings.alpha / times))
        differences = values.differences(measure, pairs)
        mean = differences.mean(axis=0)
        p = np.where((differences == 0).all(axis=0), 1.0, np.array([square[pair] for pair in pairs]))
        adjusted = np.minimum(p * times, 1.0)
        found[measure] = PairOutcomes(p, adjusted, mean - far, mean + far, np.sign(mean), mean, hedges(differences))
    return found


def _split(tested: PairOutcomes, measures: Sequence[Measure]) -> dict[Measure, PairOutcomes]:
    count = len(tested.p) // len(measures)
    parts = [slice(at * count, (at + 1) * count) for at in range(len(measures))]
    return {
        measure: PairOutcomes(*(column[part] for column in tested))  # type: ignore[arg-type]  # in their order
        for measure, part in zip(measures, parts, strict=True)
    }


def decided(tested: PairOutcomes, measure: Measure, alpha: float) -> PairOutcomes:
    """Outcomes whose intervals agree with their p-values, and lie within the range of the measure."""
    return _inside(_agreeing(tested, alpha), measure)


def _agreeing(tested: PairOutcomes, alpha: float) -> PairOutcomes:
    """Make interval and p-value agree: where ties or draws separate them slightly, the p-value decides."""
    significant = tested.adjusted <= alpha
    up, down = significant & (tested.direction > 0), significant & (tested.direction < 0)
    low = np.where(up, np.maximum(tested.low, SAME), np.where(significant, tested.low, np.minimum(tested.low, 0.0)))
    high = np.where(
        down, np.minimum(tested.high, -SAME), np.where(significant, tested.high, np.maximum(tested.high, 0.0))
    )
    return tested._replace(low=low, high=high)


def _inside(tested: PairOutcomes, measure: Measure) -> PairOutcomes:
    """No difference is larger than the range of its measure."""
    least, most = measure.definition.range
    widest = most - least
    return tested._replace(low=np.maximum(tested.low, -widest), high=np.minimum(tested.high, widest))
