"""Which true differences a comparison detects: its queries are drawn again, and each draw is decided as the sample is.

A draw whose difference came out m too large, and in which h or more is significant, detects a true difference of h - m
or more. So the difference that is detected 80% of the time is what 80% of the draws take at most.

But the sample is a draw, too. If its queries vary less than others would, it promises too much, otherwise too little,
and on average too much, all the more where values are skewed. So every draw is also taken for the sample that promises:
what one draw takes is divided by how wide the next ones are, compared with the sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from cranfield.comparison.families import Pair, PairOutcomes, Procedure
from cranfield.comparison.multiple_testing import CORRECTIONS, Steps
from cranfield.comparison.pairing import Paired
from cranfield.comparison.power import USUAL
from cranfield.comparison.significance import TESTS
from cranfield.comparison.simultaneous import FLOOR, Simultaneous
from cranfield.evaluation.estimating import Columns, Estimates, estimated, estimator_of, ratio
from cranfield.evaluation.t_distribution import chance_below, exceeded_with
from cranfield.measures import Measure
from cranfield.ranks.columns import Integers, Numbers

DRAWS, FEWEST, NUMBERS = 1000, 250, 500_000  # draws; the fewest, where these would take more numbers
AT_ONCE = 2_000  # comparisons
FEW = 8  # queries, whose draws would be the same again and again
NEIGHBOURS = (1, 2, 3)  # each draw is taken with so many others
LARGEST = 45  # comparisons in a family that is decided in steps: for larger ones, Bonferroni's figure is a bound
TAILS = 4  # draws lack what the tails of so few queries lack: in simulations, this much over n in the exponent makes up
ROUNDS = 3  # after these, the shift of a run and what that does to its other pairs agree


class Needs(NamedTuple):
    """The true difference that each draw takes to be significant.

    taken: by direction, draw and comparison
    width: how wide the interval of each draw is, compared with that of the sample
    far: how many standard errors from 0 are significant, on average
    allowed: the part of a difference that does not depend on how queries vary: the tolerances of a gate
    """

    taken: Numbers
    width: Numbers
    far: Numbers
    allowed: Numbers | float = 0.0

    def detectable(self) -> Numbers:
        """The differences that are detected 80% of the time; 0 where queries do not vary."""
        found = []
        for part in self._parts():
            known = np.asarray((part.width > 0).any(axis=0))
            most = np.zeros(known.shape)
            most[known] = np.nanquantile(part._promised()[:, known], USUAL, axis=0, method="higher")
            found.append(np.where(known, most + part.allowed, 0.0))
        return np.concatenate(found)

    def power(self, difference: float) -> Numbers:
        """The chance that this difference is detected, if the draws of `detectable` are right: 80% for that one."""
        found = []
        for part in self._parts():
            promised = part._promised()
            known = ~np.isnan(promised)
            hits = ((promised <= difference - part.allowed) & known).sum(axis=0) * 1.0
            found.append(ratio(hits, known.sum(axis=0) * 1.0))
        return np.concatenate(found)

    def queries(self, difference: float, sample: Estimates) -> Numbers:
        """How many queries it takes to detect this difference 80% of the time, if they vary like these.

        n = ((z + z(0.8)) · s / d)² + z² / 2, where z is to a normal distribution what `far` is to that of t
        """
        outside = np.maximum(chance_below(-np.asarray(self.far), sample.freedom), 1e-300)
        z = -np.array([NormalDist().inv_cdf(chance) for chance in outside.tolist()])
        return np.ceil(((z + NormalDist().inv_cdf(USUAL)) * sample.unit / difference) ** 2 + z**2 / 2)

    def part(self, columns: slice) -> Needs:
        """Those of some comparisons."""
        allowed = self.allowed if np.ndim(self.allowed) == 0 else np.asarray(self.allowed)[columns]
        return Needs(self.taken[..., columns], self.width[:, columns], self.far[columns], allowed)

    def _parts(self) -> Iterator[Needs]:
        """All comparisons, some at a time: each draw is taken with several others, which need room of their own."""
        for start in range(0, self.width.shape[1], AT_ONCE):
            yield self.part(slice(start, start + AT_ONCE))

    def _promised(self) -> Numbers:
        """What the draws take where others promise; those without any variation promise nothing."""
        others = self._others()
        with np.errstate(divide="ignore", invalid="ignore"):
            promised = np.where(others > 0, (self.taken - self.allowed) / others, np.nan)
        return promised.reshape(-1, self.width.shape[1])

    def _others(self) -> Numbers:
        """How wide the next draws are: by neighbour, direction, draw and comparison."""
        return np.stack([np.roll(self.width, by, axis=0) for by in NEIGHBOURS])[:, None]


class Redrawn(NamedTuple):
    """Means of queries that were drawn again, a row for each draw: how far above the sample's, and their errors."""

    sample: Estimates
    moved: Numbers
    error: Numbers
    exponent: float  # of widths: see TAILS

    def needs(self, taken: Numbers, width: Numbers, far: Numbers, allowed: Numbers | float = 0.0) -> Needs:
        return Needs(taken, width**self.exponent, far, allowed)

    def width(self, own: float = 1.0, shared: float = 0.0, pairs: int = 1) -> Numbers:
        """How wide the intervals of the draws are, compared with those of the sample.

        own, shared: how much the variance of a comparison counts, and the mean of all pairs by the same measure
        """

        def scale(error: Numbers) -> Numbers:
            if not shared:
                return error  # squares may be too large, or too small
            by_measure = (error**2).reshape(*error.shape[:-1], -1, pairs)
            scales = np.sqrt(own * by_measure + shared * by_measure.mean(axis=-1, keepdims=True))
            return np.asarray(scales.reshape(error.shape))

        return ratio(scale(self.error), np.broadcast_to(scale(self.sample.error), self.error.shape))


def redrawn(columns: Columns, seed: int) -> Redrawn:
    """Draw the queries again, the same for all columns; few queries are drawn as if they were normal."""
    sample, generator = estimated(columns), np.random.default_rng(seed % 2**64)
    rows = columns.values if columns.proxy is None else columns.proxy
    times = min(DRAWS, max(FEWEST, NUMBERS // max(rows.shape)))
    if sample.effective < FEW:
        shape = (times, len(sample.value))
        error = sample.error * np.sqrt(generator.chisquare(sample.freedom, shape) / sample.freedom)
        return Redrawn(sample, sample.error * generator.standard_normal(shape), error, 1.0)
    drawn = list(estimator_of(columns).resample(columns, generator, times))
    value, error = (np.concatenate(part) for part in zip(*drawn, strict=True))
    return Redrawn(sample, value - sample.value, error, 1 + TAILS / sample.effective)


def family_needs(
    values: Paired,
    measures: Sequence[Measure],
    pairs: Sequence[Pair],
    outcomes: Mapping[Measure, PairOutcomes],
    procedure: Procedure,
) -> dict[Measure, Needs]:
    """What each pair takes by each measure of a family, as its test and its correction decide.

    Tests that are not about means are taken for t-tests.
    """
    drawn = redrawn(reduce(Columns.beside, (values.contrast(measure, pairs) for measure in measures)), procedure.seed)
    sample, test, steps = drawn.sample, TESTS[procedure.test], CORRECTIONS[procedure.correction].steps
    family, level = len(sample.value), procedure.alpha / (1 if procedure.correction == "none" else len(sample.value))
    own, shared = 1.0, 0.0
    if steps and family > 1 and not test.all_at_once and not is_bound(family, together=procedure.together):
        critical = exceeded_with(procedure.alpha * steps.shares(family) / 2, sample.freedom.min())
        needs = _in_steps(drawn, critical, steps, _moving_along(pairs, len(measures)))
    else:
        bonferroni = exceeded_with(level / 2, sample.freedom)
        half = bonferroni * sample.error
        if test.all_at_once:
            half, own, shared = _half(outcomes, measures), 0.0, 1.0
        elif all(outcomes[measure].together for measure in measures):
            half, shared = _half(outcomes, measures), FLOOR
        elif test.of_means and not steps:
            half = _half(outcomes, measures)
        width = drawn.width(own, shared, len(pairs))
        halves = np.where(width > 0, half, 0.0) * width
        taken = np.stack([halves - drawn.moved, halves + drawn.moved])
        # The largest t of a family varies with its tails, too, which is not drawn again: as much as errors do.
        far, widest = ratio(half, sample.error), [np.ptp(measure.definition.range) for measure in measures]
        # Few queries have few signs to flip, and few ways to be drawn: more queries are not as far from t.
        few = half >= np.repeat(widest, len(pairs)) if shared and family > 1 else True
        far = np.where(few, np.minimum(far, bonferroni), far)
        needs = drawn.needs(taken, width if test.all_at_once else drawn.width(), far)
    starts = range(0, family, len(pairs))
    return {measure: needs.part(slice(at, at + len(pairs))) for measure, at in zip(measures, starts, strict=True)}


def is_bound(family: int, *, together: bool) -> bool:
    """Whether detectable differences are those of Bonferroni's correction, which detects less than the one used.

    In steps, every comparison depends on all others, which takes too long for large families.
    """
    return family > LARGEST and not together


def gate_needs(
    drops: Columns,
    correction: str,
    alpha: float,
    seed: int,
    tolerance: Numbers,
    together: Simultaneous | None = None,
    *,
    beyond: bool,
) -> Needs:
    """What the one-sided t-tests of a gate take, and the tolerance of each measure.

    together: what chance does to all measures, where that was drawn
    beyond: whether the tolerance is tested, and has been taken off the drops
    """
    drawn, steps, measures = redrawn(drops, seed), CORRECTIONS[correction].steps, len(tolerance)
    if steps and measures > 1:
        critical = exceeded_with(alpha * steps.shares(measures), drawn.sample.freedom.min())
        taken, _, far, _ = _in_steps(drawn, critical, steps)
    else:
        far = exceeded_with(alpha if correction == "none" else alpha / measures, drawn.sample.freedom)
        if together is not None:
            far = np.where(together.scale > 0, ratio(together.half(2 * alpha), drawn.sample.error), far)
        taken = (far * drawn.error - drawn.moved)[None]
    if beyond:
        return drawn.needs(taken + tolerance, drawn.width(), far, tolerance)
    decides = tolerance - drawn.moved > taken[0]  # the tolerance, and not significance: what it takes does not vary
    taken = np.maximum(taken, tolerance - drawn.moved)
    return drawn.needs(taken, drawn.width(), far, tolerance * decides.mean(axis=0))


def _half(outcomes: Mapping[Measure, PairOutcomes], measures: Sequence[Measure]) -> Numbers:
    """Half the length of each interval; at most one of its ends is cut off by the range of the measure."""
    found = [outcomes[measure] for measure in measures]
    return np.concatenate([np.maximum(each.high - each.estimate, each.estimate - each.low) for each in found])


def _moving_along(pairs: Sequence[Pair], measures: int) -> Numbers:
    """By how much each pair (a column) moves if the run of another (a row) does; by other measures it does not move."""
    moving = [[(one[1] == other[1]) - (one[1] == other[0]) for other in pairs] for one in pairs]
    return np.kron(np.eye(measures), np.array(moving, dtype=np.float64)).astype(np.float64)


def _in_steps(drawn: Redrawn, critical: Numbers, steps: Steps, along: Numbers | None = None) -> Needs:
    """What it takes in a family that is decided in steps, where the other comparisons are as the sample shows them.

    critical: the t-value of each step, the largest first
    along: by how much each column moves if another does; the test is two-sided. If None, they do not move together,
        and the test is one-sided.
    """
    value, width, sides = drawn.sample.value, drawn.width(), (1,) if along is None else (1, -1)
    taken, reached = np.empty((2, len(sides), *width.shape))
    for column in range(width.shape[1]):
        others = np.arange(width.shape[1]) != column
        apart, error, shift = drawn.moved[:, others] + value[others], drawn.error[:, others], abs(value[column])
        for _ in range(1 if along is None else ROUNDS):
            for at, side in enumerate(sides):
                if along is None:
                    t = ratio(apart, error)
                else:
                    t = np.abs(ratio(apart + (side * shift - value[column]) * along[column, others], error))
                reached[at, :, column] = critical[_step_reached(t, critical, steps)]
                taken[at, :, column] = reached[at, :, column] * drawn.error[:, column] - side * drawn.moved[:, column]
            shift = float(drawn.needs(taken[..., [column]], width[:, [column]], critical[:1]).detectable()[0])
    return drawn.needs(taken, width, np.asarray(reached.mean(axis=(0, 1))))


def _step_reached(t: Numbers, critical: Numbers, steps: Steps) -> Integers:
    """At which step one more comparison would be decided beside others with these t-values, in each row."""
    ordered = -np.sort(-t, axis=1)
    if steps.up:
        return np.asarray(((ordered >= critical[1:]) * np.arange(1, len(critical))).max(axis=1, initial=0))
    return np.asarray(np.cumprod(ordered >= critical[:-1], axis=1).sum(axis=1))
