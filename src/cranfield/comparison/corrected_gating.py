"""A gate by corrected values: the judge must be the same, and the corrected difference decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt

import numpy as np

from cranfield.comparison.corrected import CorrectedEvaluation, CorrectionBasis, columns_of, corrected_evaluation
from cranfield.comparison.corrected_pairs import corrected_comparison, difference_columns
from cranfield.comparison.differences import Difference
from cranfield.comparison.gate_checks import GatedMeasure, all_checks, floor_check, worst_drops
from cranfield.comparison.gating import GateResult, check_settings, detectable_drop, level_left, tolerances_of
from cranfield.comparison.multiple_testing import CORRECTIONS
from cranfield.comparison.pairing import check_measured, check_same_inputs
from cranfield.errors import ComparisonError
from cranfield.measures import Measure
from cranfield.measures.scope import Scope

_PAIR = [(0, 1)]


def corrected_gate(
    before: CorrectedEvaluation,
    after: CorrectedEvaluation,
    measures: Sequence[Measure],
    *,
    tolerance: float | Mapping[str, float],
    alpha: float,
    floors: Mapping[Measure, float],
    require_improvement: bool,
    non_inferiority: float | None,
    max_worse_queries: int | None,
    correction: str,
) -> GateResult:
    """Let a run pass unless its corrected values are worse; see `gate_corrected`."""
    check_settings(alpha, correction, max_worse_queries)
    _check_same_judge(before, after)
    for one, other in ((before._by_model, after._by_model), (before._by_people, after._by_people)):
        check_same_inputs(one[0], other[0])
    for measure in measures:
        check_measured(before._by_model[0], measure)
    for measure in (*measures, *floors):
        check_measured(after._by_model[0], measure)
    both = corrected_evaluation(
        (*before._by_model, *after._by_model), (*before._by_people, *after._by_people), measures, after.basis, alpha
    )
    compared = corrected_comparison(both, baseline=both.runs[0], correction="none", margin=non_inferiority)
    columns = [difference_columns(both, measure, _PAIR) for measure in measures]
    lower = [measure.definition.lower_is_better for measure in measures]
    chances = [found.chances()[:2] for found in columns]
    greater, less = (
        np.array([float((less if low else greater)[0]) for (greater, less), low in zip(chances, lower, strict=True)]),
        np.array([float((greater if low else less)[0]) for (greater, less), low in zip(chances, lower, strict=True)]),
    )
    adjust = CORRECTIONS[correction].adjust
    p_better, p_worse = adjust(greater), adjust(less)
    tolerances = tolerances_of(tolerance, measures)
    left = level_left(alpha, correction, len(measures))
    gated = tuple(
        _gated(both, measure, each.difference, tolerances[measure], (float(worse), float(better)), error, left)
        for measure, each, worse, better, error in zip(
            measures, compared, p_worse, p_better, (float(found.error[0]) for found in columns), strict=True
        )
    )
    run = after.runs[0]
    minima = [floor_check(after.value(run, measure).value, measure, floor) for measure, floor in floors.items()]
    two_sided = [each.difference for each in compared]
    checks = all_checks(
        gated, two_sided, minima, alpha, require_improvement=require_improvement, max_worse_queries=max_worse_queries
    )
    return GateResult(
        passed=all(check.passed for check in checks),
        baseline=both.runs[0],
        candidate=both.runs[1],
        queries=both.basis.queries,
        alpha=alpha,
        test="t",
        correction=correction,
        checks=checks,
        measures=gated,
        signatures=(
            f"{before.basis.signature}|{before._by_model[0].signature}",
            f"{after.basis.signature}|{after._by_model[0].signature}",
        ),
        basis=both.basis,
    )


def _check_same_judge(before: CorrectedEvaluation, after: CorrectedEvaluation) -> None:
    """Refuse different judges: with another model or prompt, a difference would not be due to the runs."""
    old, new = before.basis, after.basis
    again = "evaluate the baseline's run itself, or save its evaluation again with the current judge"
    if (old.model, old.judge) != (new.model, new.judge):
        raise ComparisonError(
            f"{before.runs[0]} was judged by {_told(old)}, and {after.runs[0]} by {_told(new)}: a different model or "
            "prompt is a different judge, so the values cannot be compared.",
            hint=again,
        )
    for what in ("people", "merge", "sampled", "queries", "seed"):
        if getattr(old, what) != getattr(new, what):
            raise ComparisonError(
                f"{before.runs[0]} was corrected with {what} {_plain(getattr(old, what))}, and {after.runs[0]} with "
                f"{_plain(getattr(new, what))}.",
                hint=again,
            )


def _told(basis: CorrectionBasis) -> str:
    return f"{basis.model} (judge {basis.told_judge})"


def _plain(value: object) -> str:
    return ", ".join(value) if isinstance(value, tuple) else str(value)


def _gated(
    both: CorrectedEvaluation,
    measure: Measure,
    found: Difference,
    tolerance: float,
    p: tuple[float, float],
    error: float,
    alpha: float,
) -> GatedMeasure:
    """The findings for a measure; queries that got worse are sampled ones, by people's grades."""
    sign = 1.0 if measure.definition.lower_is_better else -1.0
    table = columns_of(both._by_people, measure)
    drops = sign * (table[:, 1] - table[:, 0])
    before, after = both._by_people
    shares = [both.judged_share(run, measure) for run in both.runs]
    return GatedMeasure(
        measure=measure.name,
        baseline=both.value(both.runs[0], measure).value,
        candidate=both.value(both.runs[1], measure).value,
        drop=sign * found.difference,
        tolerance=tolerance,
        p_worse=p[0],
        p_better=p[1],
        # The error is that of a mean of n - 1 values that vary so much, which has as many degrees of freedom.
        detectable=detectable_drop(error * sqrt(both.basis.sampled - 1), both.basis.sampled - 1, tolerance, alpha),
        better=found.better,
        same=found.same,
        worse=found.worse,
        worse_queries=worst_drops(measure, before, after, drops),
        judged=(shares[0], shares[1]),
        judged_depth=Scope.of(measure).cutoff,
        sentence=found.sentence,
        corrected=True,
    )
