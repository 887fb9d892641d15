"""A family of comparisons, tested and corrected together: p-values and intervals that belong to one another."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import combinations
from typing import NamedTuple

import numpy as np

from cranfield.comparison.multiple_testing import CORRECTIONS, MAX_T, of_p_values
from cranfield.comparison.pairing import Paired, check_finite
from cranfield.comparison.significance import TESTS, Settings, Test, hedges
from cranfield.comparison.significance.tukey import TUKEY
from cranfield.errors import ComparisonError, choice_hint
from cranfield.evaluation.estimating import PLAIN, SAME, Columns, Estimator, deviation, estimated, ratio
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


class Procedure(NamedTuple):
    """How differences are tested; see `compare`."""

    test: str
    correction: str
    alpha: float
    permutations: int
    seed: int
    margin: float | None = None

    @property
    def settings(self) -> Settings:
        return Settings(self.alpha, self.permutations, self.seed)

    @property
    def together(self) -> bool:
        """Whether the intervals of a family hold at once."""
        return CORRECTIONS[self.correction].together or TESTS[self.test].all_at_once


class PairOutcomes(NamedTuple):
    """The results of each pair by one measure.

    greater, less: one-sided p-values, alone; a test of all pairs at once has none
    p, adjusted: two-sided, alone and corrected for the family
    low, high: the interval; it excludes 0 exactly where the adjusted p-value is at most alpha
    direction: 1 up, -1 down, 0 neither: that of the test, which need not be that of the mean
    """

    greater: Numbers
    less: Numbers
    p: Numbers
    adjusted: Numbers
    low: Numbers
    high: Numbers
    direction: Numbers
    estimate: Numbers
    effect: list[float | None]


def usual_correction(test: str, estimator: Estimator = PLAIN) -> str:
    """The correction that goes with a test: by the largest t where it draws t-values."""
    return MAX_T if TESTS[test].studentised and estimator is PLAIN else "bonferroni"


def check_supported(estimator: Estimator, test: str, correction: str) -> None:
    """Refuse a test or a correction that these means do not support."""
    means = f"{estimator.of.removesuffix('mean')}values".strip()
    for parameter, value, choices in (
        ("test", test, [name for name in TESTS if estimator.supports(name)]),
        ("correction", correction, [*CORRECTIONS] if estimator is PLAIN else of_p_values()),
    ):
        if value not in choices:
            raise ComparisonError(
                f"cannot be used for {means}.",
                parameter=parameter,
                value=value,
                hint=choice_hint("it may be", choices, value),
            )


def family_outcomes(
    values: Paired, measures: Sequence[Measure], pairs: Sequence[Pair], procedure: Procedure
) -> dict[Measure, PairOutcomes]:
    """Test all pairs by all measures of a family."""
    contrasts = [values.contrast(measure, pairs) for measure in measures]
    for measure, contrast in zip(measures, contrasts, strict=True):
        spread = deviation(contrast.values)
        check_finite(measure, {"a difference": contrast.values, "the spread of the differences": spread})
    if TESTS[procedure.test].all_at_once:
        outcomes = _by_tukey(values, measures, pairs, procedure)
    else:
        outcomes = _split(_tested(reduce(Columns.beside, contrasts), procedure), measures)
    for measure, outcome in outcomes.items():
        check_finite(measure, {"the p-value": (outcome.p, outcome.adjusted), "the estimate": outcome.estimate})
    return {measure: _inside(_agreeing(outcome, procedure.alpha), measure) for measure, outcome in outcomes.items()}


def _tested(columns: Columns, procedure: Procedure) -> PairOutcomes:
    test, settings = TESTS[procedure.test], procedure.settings
    outcome = test.outcome(columns, settings)
    family = len(outcome.p)
    if family > 1 and procedure.correction == MAX_T and test.studentised:
        adjusted, low, high = _by_the_largest(columns, outcome.p, test, settings)
    else:
        adjusted = CORRECTIONS[procedure.correction].adjust(outcome.p)
        # The level at which this comparison alone is decided as the family decides it.
        with np.errstate(invalid="ignore"):  # p-values that are no numbers are refused later
            share = np.divide(outcome.p, adjusted, out=np.full(family, 1 / family), where=adjusted > 0)
        alpha = procedure.alpha * share
        if CORRECTIONS[procedure.correction].together:
            alpha = np.full(family, procedure.alpha / family)
        low, high = test.interval(columns, alpha, settings)
    return PairOutcomes(
        outcome.greater,
        outcome.less,
        outcome.p,
        adjusted,
        low,
        high,
        outcome.direction,
        outcome.estimate,
        outcome.effect,
    )


def _by_the_largest(columns: Columns, p: Numbers, test: Test, settings: Settings) -> tuple[Numbers, Numbers, Numbers]:
    """Westfall and Young's single step: a comparison counts if its |t| would be the largest of a family by chance.

    adjusted p = share of the draws whose largest |t| is at least |t|, never below the p-value of the comparison alone
    """
    largest, estimates = test.largest(columns, settings), estimated(columns)
    observed = np.abs(ratio(estimates.value, estimates.error))
    hits = len(largest) - np.searchsorted(largest[::-1], observed * (1 - 1e-9), "left")
    adjusted = np.maximum((1 + hits) / (1 + len(largest)), p)
    allowed = int(settings.alpha * (1 + len(largest)) * (1 + 1e-12))
    far = float(largest[allowed - 1]) if allowed else np.inf
    half = np.where(estimates.error > 0, far, 0.0) * estimates.error
    # Without spread there is no t: take the column's own p-value, times the size of the family.
    adjusted = np.where(estimates.error == 0, np.minimum(p * len(p), 1.0), adjusted)
    return adjusted, estimates.value - half, estimates.value + half


def _by_tukey(
    values: Paired, measures: Sequence[Measure], pairs: Sequence[Pair], procedure: Procedure
) -> dict[Measure, PairOutcomes]:
    """Tukey's test covers the pairs by itself; several measures in one family share alpha."""
    times = 1 if procedure.correction == "none" else len(measures)
    settings = procedure.settings._replace(alpha=procedure.alpha / times)
    outcomes = {}
    for measure in measures:
        square, far = TUKEY.compared(values.columns[measure], settings)
        differences = values.contrast(measure, pairs).values
        mean = differences.mean(axis=0)
        p = np.where((differences == 0).all(axis=0), 1.0, np.array([square[pair] for pair in pairs]))
        adjusted, none = np.minimum(p * times, 1.0), np.full(len(p), np.nan)
        outcomes[measure] = PairOutcomes(
            none, none, p, adjusted, mean - far, mean + far, np.sign(mean), mean, hedges(differences)
        )
    return outcomes


def _split(tested: PairOutcomes, measures: Sequence[Measure]) -> dict[Measure, PairOutcomes]:
    count = len(tested.p) // len(measures)
    parts = [slice(at * count, (at + 1) * count) for at in range(len(measures))]
    return {
        measure: PairOutcomes(*(column[part] for column in tested))  # type: ignore[arg-type]  # in their order
        for measure, part in zip(measures, parts, strict=True)
    }


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
