"""The differences of pairs of runs by one measure, made from what was tested and measured of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

import numpy as np

from cranfield.comparison.detecting import Needs
from cranfield.comparison.differences import Change, Detection, Difference, Within
from cranfield.comparison.families import Pair, PairOutcomes, Procedure
from cranfield.comparison.pairing import Paired
from cranfield.comparison.power import step_of
from cranfield.comparison.significance import TESTS
from cranfield.comparison.unjudged import Reach
from cranfield.errors import ComparisonError
from cranfield.evaluation.corrected import parts_of
from cranfield.evaluation.estimating import SAME, Columns, Estimates, estimated, ratio
from cranfield.evaluation.weighting import by_group
from cranfield.measures import Measure
from cranfield.ranks.columns import Numbers

CHANGED = 5  # queries listed for each difference


def check_margin(margin: float | None, parameter: str = "margin") -> None:
    """Refuse a margin of non-inferiority and equivalence that is none."""
    if margin is not None and not 0 < margin < float("inf"):
        raise ComparisonError(
            "is not a margin.",
            parameter=parameter,
            value=margin,
            hint="for instance 0.01, to test whether a run is within 0.01",
        )


def pair_differences(
    values: Paired,
    measure: Measure,
    pairs: Sequence[Pair],
    tested: PairOutcomes,
    needs: Needs,
    procedure: Procedure,
    *,
    reaches: Sequence[Reach | None],
    primary: bool,
    family: int,
) -> Iterator[Difference]:
    """The difference of each pair, with all that is known about it.

    needs: what each pair takes to be significant
    """
    contrast, lower = values.contrast(measure, pairs), measure.definition.lower_is_better
    estimates = estimated(contrast)
    parts = parts_of(estimates, procedure.alpha) if estimates.parts else [None] * len(pairs)
    least, most = measure.definition.range
    within = _margin_tests(contrast.times(-1.0 if lower else 1.0), tested, most - least, procedure, family)
    detectable, detections = needs.detectable(), _detections(needs, estimates, procedure)
    by_pair = np.ascontiguousarray(contrast.values.T)
    units = by_group(values.weights, values.query_ids, contrast.values).values
    units = np.where(np.abs(units) < SAME, 0.0, units)
    up, down = (units > 0).sum(axis=0).tolist(), (units < 0).sum(axis=0).tolist()
    spread = estimates.spread if values.group is None else estimates.unit
    moved = (by_pair != 0).sum(axis=1).tolist()
    changed = _largest(np.abs(by_pair), CHANGED)
    test, of = TESTS[procedure.test], values.estimator.of
    for at, (one, other) in enumerate(pairs):
        yield Difference(
            measure=measure.name,
            baseline=values.runs[one],
            run=values.runs[other],
            difference=float(estimates.value[at]),
            estimate=float(tested.estimate[at]),
            of=of if test.of == "mean" else test.of,
            low=float(tested.low[at]),
            high=float(tested.high[at]),
            p=float(tested.p[at]),
            adjusted=float(tested.adjusted[at]),
            alpha=procedure.alpha,
            family=family,
            together=procedure.together,
            significant=bool(tested.adjusted[at] <= procedure.alpha),
            direction=int(tested.direction[at]),
            effect=tested.effect[at],
            effect_name=test.effect,
            primary=primary,
            better=down[at] if lower else up[at],
            same=len(units) - up[at] - down[at],
            worse=up[at] if lower else down[at],
            spread=float(spread[at]),
            detectable=float(detectable[at]) if detectable[at] <= most - least else inf,
            changed=_changes(values, measure, (one, other), changed[at][: moved[at]]),
            reach=reaches[at],
            within=within[at],
            lower_is_better=lower,
            corrected=parts[at],
            finest=tested.together.finest if tested.together else 0.0,
            detection=detections[at],
            unit="query" if values.weights is None else values.weights.unit,
        )


def _detections(needs: Needs, estimates: Estimates, procedure: Procedure) -> list[Detection | None]:
    """The power for the difference that matters; unless one is given, the usual one on the scale of the measure."""
    matters = procedure.detect or step_of(float(estimates.spread.max()))
    power, queries = needs.power(matters), needs.queries(matters, estimates)
    known = np.isfinite(queries) & (needs.width > 0).any(axis=0)
    return [
        Detection(matters, chance, int(size)) if sure else None
        for chance, size, sure in zip(power.tolist(), queries.tolist(), known.tolist(), strict=True)
    ]


def _largest(sizes: Numbers, n: int) -> list[list[int]]:
    """The places of the n largest of each line, of equal ones the first: n passes take less time than sorting lines."""
    found = np.empty((len(sizes), min(n, sizes.shape[1])), dtype=np.int64)
    for at in range(found.shape[1]):
        found[:, at] = sizes.argmax(axis=1)
        sizes[np.arange(len(sizes)), found[:, at]] = -1.0
    places: list[list[int]] = found.tolist()
    return places


def _changes(values: Paired, measure: Measure, pair: Pair, most: Sequence[int]) -> tuple[Change, ...]:
    """The queries that moved farthest, with their values in both runs."""
    table, (one, other) = values.columns[measure], pair
    return tuple(Change(values.query_ids[q], float(table[q, one]), float(table[q, other])) for q in most)


def _margin_tests(
    better: Columns, tested: PairOutcomes, widest: float, procedure: Procedure, family: int
) -> list[Within | None]:
    """Non-inferiority and equivalence: one-sided tests of the differences, shifted by the margin.

    p-values are corrected for the family, as those of the pairs are; equivalence needs both of them.
    widest: the largest difference that there can be
    """
    margin, together = procedure.margin, tested.together
    if margin is None:
        return [None] * better.values.shape[1]
    asked = TESTS["t" if TESTS[procedure.test].all_at_once else procedure.test]
    times = 1 if procedure.correction == "none" else family

    def short_of_margin(gain: Columns) -> Numbers:
        inside = gain.shifted(margin)
        estimates, p = estimated(inside), asked.outcome(inside, procedure.settings).greater
        alone = np.where(estimates.error > 0, p, _rarely_else(estimates, widest - margin)) if asked.of_means else p
        corrected = np.minimum(alone * times, 1.0)
        if together is None:
            return corrected
        return np.where(together.scale > 0, np.maximum(together.above(estimates.value), p), corrected)

    not_worse, not_better = short_of_margin(better), short_of_margin(better.times(-1.0))
    both = np.maximum(not_worse, not_better)
    return [Within(margin, float(one), float(two)) for one, two in zip(not_worse, both, strict=True)]


def _rarely_else(equal: Estimates, below: float) -> Numbers:
    """The chance that n queries have this one value though the mean of all is not above 0: see `Estimates.interval`.

    Then a share of value / (value + below) of all queries or more have others, at the lowest `below` 0.
    """
    above = np.maximum(equal.value, 0.0)
    return np.asarray((1 - ratio(above, above + below)) ** max(equal.effective, 1.0))
