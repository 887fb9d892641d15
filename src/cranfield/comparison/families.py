"""A family of comparisons, tested and corrected together: p-values and intervals that belong to one another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from cranfield.comparison.multiple_testing import CORRECTIONS, MAX_T, of_p_values
from cranfield.comparison.pairing import Paired, check_finite
from cranfield.comparison.significance import TESTS, Settings, hedges
from cranfield.comparison.significance.tukey import TUKEY
from cranfield.comparison.simultaneous import Simultaneous, simultaneous
from cranfield.errors import ComparisonError, choice_hint
from cranfield.evaluation.estimating import SAME, Columns, Estimator, deviation, estimated
from cranfield.evaluation.naming import require_name
from cranfield.measures import Measure
from cranfield.ranks.columns import Integers, Numbers

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
    detect: float | None = None

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
    together: what chance does to the whole family, where that was drawn
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
    together: Simultaneous | None = None

    def part(self, columns: slice) -> PairOutcomes:
        """Some of the pairs."""
        arrays: dict[str, Any] = {name: array[columns] for name, array in self._asdict().items() if name != "together"}
        return PairOutcomes(**arrays, together=self.together and self.together.part(columns))


def usual_correction(test: str) -> str:
    """The correction that goes with a test: by the largest t where it is about means."""
    return MAX_T if TESTS[test].takes_max_t else "bonferroni"


# Of the contributions to a value of a whole run, only the mean is known: not ranks or signs.
TESTS_OF_RUNS = ("t", "bootstrap")


def check_supported(estimator: Estimator, test: str, correction: str, measures: Iterable[Measure] = ()) -> None:
    """Refuse a test or a correction that these means do not support; of a whole run, only means have a meaning."""
    of = estimator.of
    means = of.replace("mean", "means", 1) if of.startswith("mean ") else f"{of.removesuffix('mean')}values".strip()
    of_run = next((measure.name for measure in measures if measure.definition.of_run), "")
    if of_run and test not in TESTS_OF_RUNS:
        fact = f"cannot be used for {of_run}, a value of the whole run."
        hint = choice_hint("it may be", TESTS_OF_RUNS, test)
        raise ComparisonError(fact, parameter="test", value=test, hint=hint)
    for parameter, value, choices in (
        ("test", test, [name for name in TESTS if estimator.supports(name)]),
        ("correction", correction, [*CORRECTIONS] if TESTS[test].takes_max_t else of_p_values()),
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
    contrasts, family = [values.contrast(measure, pairs) for measure in measures], len(measures) * len(pairs)
    for measure, contrast in zip(measures, contrasts, strict=True):
        spread = deviation(contrast.values)
        check_finite(measure, {"a difference": contrast.values, "the spread of the differences": spread})
    if TESTS[procedure.test].all_at_once:
        outcomes = _by_tukey(values, measures, pairs, procedure)
    else:
        every = _tested(reduce(Columns.beside, contrasts), np.repeat(np.arange(len(measures)), len(pairs)), procedure)
        starts = range(0, family, len(pairs))
        parts = (every.part(slice(start, start + len(pairs))) for start in starts)
        outcomes = dict(zip(measures, parts, strict=True))
    for measure, outcome in outcomes.items():
        check_finite(measure, {"the p-value": (outcome.p, outcome.adjusted), "the estimate": outcome.estimate})
    return {
        measure: _inside(_agreeing(_unvaried(outcome, contrast, measure, procedure, family), procedure.alpha), measure)
        for (measure, outcome), contrast in zip(outcomes.items(), contrasts, strict=True)
    }


def _tested(columns: Columns, measure: Integers, procedure: Procedure) -> PairOutcomes:
    test, settings = TESTS[procedure.test], procedure.settings
    outcome = test.outcome(columns, settings)
    family, together = len(outcome.p), None
    adjusted = CORRECTIONS[procedure.correction].adjust(outcome.p)
    if family > 1 and procedure.correction == MAX_T:
        estimates = estimated(columns)
        together = simultaneous(columns, estimates, measure, settings)
        # Never below the p-value of the comparison alone. Without a scale, as for Bonferroni.
        shared = np.maximum(together.differs(estimates.value), outcome.p)
        adjusted = np.where(together.scale > 0, shared, adjusted)
        half = together.half(procedure.alpha)
        low, high = estimates.value - half, estimates.value + half
    else:
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
        together,
    )


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


def _unvaried(
    tested: PairOutcomes, contrast: Columns, measure: Measure, procedure: Procedure, family: int
) -> PairOutcomes:
    """Queries that all differ alike say how rare others are, and not what these are like: see `Estimates.interval`."""
    still = tested.low == tested.high
    least, most = measure.definition.range
    if not TESTS[procedure.test].of_means:  # about the queries that differ: if there are none, nothing is known
        none = still & (tested.direction == 0)
        return tested._replace(low=np.where(none, -np.inf, tested.low), high=np.where(none, np.inf, tested.high))
    if not still.any():
        return tested
    alpha = procedure.alpha / (1 if procedure.correction == "none" else family)
    low, high = estimated(contrast).interval(alpha, (least - most, most - least))
    return tested._replace(low=np.where(still, low, tested.low), high=np.where(still, high, tested.high))


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
