"""The differences of pairs of runs by one measure, made from what was tested and measured of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from cranfield.comparison.differences import Change, Difference, Within
from cranfield.comparison.families import Pair, PairOutcomes, Procedure
from cranfield.comparison.pairing import Paired
from cranfield.comparison.power import detectable_difference
from cranfield.comparison.significance import TESTS
from cranfield.comparison.unjudged import Reach
from cranfield.errors import ComparisonError
from cranfield.evaluation.corrected import parts_of
from cranfield.evaluation.estimating import Columns, estimated
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
    procedure: Procedure,
    *,
    reaches: Sequence[Reach | None],
    primary: bool,
    family: int,
) -> Iterator[Difference]:
    """The difference of each pair, with all that is known about it."""
    contrast, lower = values.contrast(measure, pairs), measure.definition.lower_is_better
    estimates = estimated(contrast)
    parts = parts_of(estimates, procedure.alpha) if estimates.parts else [None] * len(pairs)
    within = _margin_tests(contrast.times(-1.0 if lower else 1.0), procedure, family)
    shared = procedure.alpha / family if procedure.together else procedure.alpha
    detectable = estimates.unit * detectable_difference(1.0, estimates.effective, shared)
    by_pair = np.ascontiguousarray(contrast.values.T)
    up, down = (by_pair > 0).sum(axis=1).tolist(), (by_pair < 0).sum(axis=1).tolist()
    most = np.argsort(-np.abs(by_pair), axis=1, kind="stable")[:, :CHANGED].tolist()
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
            same=by_pair.shape[1] - up[at] - down[at],
            worse=up[at] if lower else down[at],
            spread=float(estimates.spread[at]),
            detectable=float(detectable[at]),
            changed=_changes(values, measure, (one, other), most[at][: up[at] + down[at]]),
            reach=reaches[at],
            within=within[at],
            lower_is_better=lower,
            corrected=parts[at],
        )


def _changes(values: Paired, measure: Measure, pair: Pair, most: Sequence[int]) -> tuple[Change, ...]:
    """The queries that moved farthest, with their values in both runs."""
    table, (one, other) = values.columns[measure], pair
    return tuple(Change(values.query_ids[q], float(table[q, one]), float(table[q, other])) for q in most)


def _margin_tests(better: Columns, procedure: Procedure, family: int) -> list[Within | None]:
    """Non-inferiority and equivalence: one-sided tests of the differences, shifted by the margin.

    p-values are corrected for the family; equivalence needs both of them.
    """
    margin = procedure.margin
    if margin is None:
        return [None] * better.values.shape[1]
    asked = TESTS["t" if TESTS[procedure.test].all_at_once else procedure.test]
    times = 1 if procedure.correction == "none" else family

    def corrected(p: Numbers) -> Numbers:
        return np.minimum(p * times, 1.0)

    not_worse = corrected(asked.outcome(better.shifted(margin), procedure.settings).greater)
    not_better = corrected(asked.outcome(better.shifted(-margin), procedure.settings).less)
    both = np.maximum(not_worse, not_better)
    return [Within(margin, float(one), float(two)) for one, two in zip(not_worse, both, strict=True)]
