"""A gate by corrected values: the judge must be the same, and the corrected difference decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt

import numpy as np

from cranfield.comparison.corrected import CorrectedEvaluation, CorrectionBasis, columns_of, corrected_evaluation
from cranfield.comparison.corrected_pairs import PAIR_CORRECTIONS, corrected_comparison, difference_columns
from cranfield.comparison.differences import Difference
from cranfield.comparison.gate_checks import (
    Check,
    GatedMeasure,
    WorseQuery,
    drop_check,
    floor_check,
    improvement_check,
    margin_check,
    what_moved,
    worse_check,
)
from cranfield.comparison.gating import LISTED, GateResult, detectable_drop, level_left, tolerances_of
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
    _check(alpha, correction, max_worse_queries)
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
    checks: list[Check] = [drop_check(each, alpha) for each in gated]
    checks += [
        floor_check(after.value(after.runs[0], measure).value, measure, floor) for measure, floor in floors.items()
    ]
    if require_improvement:
        checks.append(improvement_check(gated, alpha))
    if non_inferiority is not None:
        checks += [margin_check(each.difference) for each in compared]
    if max_worse_queries is not None:
        checks += [worse_check(each, max_worse_queries) for each in gated]
    return GateResult(
        passed=all(check.passed for check in checks),
        baseline=both.runs[0],
        candidate=both.runs[1],
        queries=both.basis.queries,
        alpha=alpha,
        test="t",
        correction=correction,
        checks=tuple(checks),
        measures=gated,
        signatures=(
            f"{before.basis.signature}|{before._by_model[0].signature}",
            f"{after.basis.signature}|{after._by_model[0].signature}",
        ),
        basis=both.basis,
    )


def _check(alpha: float, correction: str, max_worse_queries: int | None) -> None:
    if not 0 < alpha < 0.5:
        raise ComparisonError(f"alpha={alpha} is not a level of a one-sided test.", hint="it lies between 0 and 0.5")
    if correction not in PAIR_CORRECTIONS:
        hint = f"it may be {', '.join(PAIR_CORRECTIONS)}"
        raise ComparisonError(f"correction='{correction}' does not exist.", hint=hint)
    if max_worse_queries is not None and max_worse_queries < 0:
        raise ComparisonError(f"max_worse_queries={max_worse_queries} is not a number of queries.")


def _check_same_judge(before: CorrectedEvaluation, after: CorrectedEvaluation) -> None:
    """Another model, or another prompt of the same one, is another judge: a difference would not be one of the runs."""
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
    """What is seen of a measure; queries that got worse are sampled ones, by people's grades."""
    sign = 1.0 if measure.definition.lower_is_better else -1.0
    table = columns_of(both._by_people, measure)
    drops = sign * (table[:, 1] - table[:, 0])
    before, after = both._by_people
    order = np.argsort(-drops, kind="stable")[:LISTED]
    worse = [before.query_ids[q] for q in order.tolist() if drops[q] > 0]
    pairs = zip(before.queries(measure, worse), after.queries(measure, worse), strict=True)
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
        worse_queries=tuple(WorseQuery(a.query_id, a.value, b.value, what_moved(measure, a, b)) for a, b in pairs),
        judged=(shares[0], shares[1]),
        judged_depth=Scope.of(measure).cutoff,
        sentence=found.sentence,
        corrected=True,
    )
