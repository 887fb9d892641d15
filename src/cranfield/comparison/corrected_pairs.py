"""Differences of runs by a model's grades, corrected by people: each has a weight of its own.

The difference of two corrected means would carry two weights, neither of them made for the difference.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from cranfield.comparison.corrected import (
    CorrectedEvaluation,
    CorrectedValue,
    columns_of,
    corrected_values,
    drawn_rows,
)
from cranfield.comparison.corrected_means import CorrectedColumns, corrected_columns
from cranfield.comparison.differences import Difference, Within
from cranfield.comparison.families import Pair, PairOutcomes, compared_pairs, decided
from cranfield.comparison.multiple_testing import CORRECTIONS, of_p_values
from cranfield.comparison.pair_findings import check_margin, movements, within_margin
from cranfield.comparison.pairing import column_differences
from cranfield.comparison.power import detectable_difference
from cranfield.drawing import as_html
from cranfield.errors import ComparisonError, choice_hint
from cranfield.measures import Measure, known_measure

CORRECTED_MEAN = "corrected mean"


@dataclass(frozen=True, slots=True)
class CorrectedDifference:
    """The corrected difference of two runs.

    difference: with its verdict and its sentence; better, same and worse count the sampled queries, by people's grades
    value: its parts; its interval, unlike that of `difference`, is not corrected for several comparisons
    """

    difference: Difference
    value: CorrectedValue

    def __repr__(self) -> str:
        return f"<CorrectedDifference: {self.difference.sentence}>"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CorrectedComparison:
    """The result of `compare_corrected`: a `CorrectedDifference` for each pair and measure, and the means of all runs.

    evaluation: the corrected means
    correction: of the p-values and intervals, over the pairs of a measure

    >>> import tempfile
    >>> from cranfield import open_store, pool, compare_corrected
    >>> old, new = ({f"q{n}": ranking for n in range(40)} for ranking in (["a", "b"], ["b", "a"]))
    >>> with tempfile.TemporaryDirectory() as folder, open_store(f"{folder}/judgments.db", create=True) as store:
    ...     drawn = pool(store, dict.fromkeys(old, "a question"), {"old": old}, sample=10, seed=7).drawn
    ...     said = store.import_qrels({q: {"a": int(q in drawn[:3]), "b": 1} for q in drawn}, "ann", kind="person")
    ...     said = store.import_qrels({q: {"a": int(q < "q2"), "b": 1} for q in old}, "gpt", kind="model")
    ...     found = compare_corrected(store, {"old": old, "new": new}, "P@1", model="gpt")
    >>> found
    <CorrectedComparison: <CorrectedEvaluation of old, new: gpt corrected on 10 of 40 queries>>
    >>> print(found)
    Better: new vs old, P@1 +0.7699 (corrected mean) (95% interval +0.5198 to +1.0000), p < 0.0001
    >>> [difference] = found.of("P@1")
    >>> difference.value.people, difference.difference.verdict
    (0.7, 'significantly better')
    >>> sorted(found.to_dict())[:3], found.to_json()[:13]
    (['alpha', 'baseline', 'basis'], '{\\n  "alpha": ')
    """

    evaluation: CorrectedEvaluation
    baseline: str | None
    correction: str
    alpha: float
    differences: tuple[CorrectedDifference, ...]

    def __iter__(self) -> Iterator[CorrectedDifference]:
        return iter(self.differences)

    def __repr__(self) -> str:
        return f"<CorrectedComparison: {self.evaluation!r}>"

    def _repr_html_(self) -> str:
        return as_html("corrected_comparison", self)

    def __str__(self) -> str:
        return "\n".join(each.difference.sentence for each in self.differences)

    def of(self, measure: str | Measure) -> list[CorrectedDifference]:
        """The differences of a measure.

        measure: any of its names, or a `Measure`.
        Returns them, one for each pair of runs that was compared.
        """
        name = known_measure(measure, self.evaluation.measures).name
        return [each for each in self.differences if each.difference.measure == name]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain dicts, ready for JSON."""
        return {
            **self.evaluation.to_dict(),
            "baseline": self.baseline,
            "correction": self.correction,
            "differences": [
                {**each.difference.to_dict(), "corrected": asdict(each.value)} for each in self.differences
            ],
        }

    def to_json(self, *, indent: int | None = 2) -> str:
        """The same as JSON.

        indent: how many spaces to indent each level by; None writes everything on one line.
        Returns the text.
        """
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)


def corrected_comparison(
    evaluation: CorrectedEvaluation,
    *,
    baseline: str | None = None,
    correction: str = "bonferroni",
    margin: float | None = None,
) -> CorrectedComparison:
    """Compare the runs of a corrected evaluation, in pairs or with one of them."""
    runs, alpha = evaluation.runs, evaluation.alpha
    if len(runs) < 2:
        raise ComparisonError("compare needs at least two runs.")
    if correction not in of_p_values():
        raise ComparisonError(
            "cannot be used for corrected values.",
            parameter="correction",
            value=correction,
            hint=choice_hint("it may be", of_p_values(), correction),
        )
    check_margin(margin)
    pairs = compared_pairs(runs, baseline)
    found = [
        each
        for measure in evaluation.measures
        for each in _of_measure(evaluation, measure, pairs, correction, alpha, margin)
    ]
    return CorrectedComparison(evaluation, baseline, correction, alpha, tuple(found))


def _of_measure(
    evaluation: CorrectedEvaluation,
    measure: Measure,
    pairs: Sequence[Pair],
    correction: str,
    alpha: float,
    margin: float | None,
) -> Iterator[CorrectedDifference]:
    corrected = difference_columns(evaluation, measure, pairs)
    people = columns_of(evaluation._by_people, measure)
    query_ids = evaluation._by_people[0].query_ids
    outcomes = decided(_tested(corrected, correction, alpha), measure, alpha)
    together = CORRECTIONS[correction].together
    values = corrected_values(corrected, alpha)
    within = _margins(corrected, measure, correction, margin)
    # The error is that of a mean of n - 1 values that vary so much, which has as many degrees of freedom.
    shared = alpha / len(pairs) if together else alpha
    unit = detectable_difference(1.0, corrected.sampled - 1, shared)
    lower = measure.definition.lower_is_better
    moves = movements(column_differences(people, pairs))
    for at, ((one, other), moved) in enumerate(zip(pairs, moves, strict=True)):
        difference = Difference(
            measure=measure.name,
            baseline=evaluation.runs[one],
            run=evaluation.runs[other],
            difference=float(corrected.value[at]),
            estimate=float(corrected.value[at]),
            of=CORRECTED_MEAN,
            low=float(outcomes.low[at]),
            high=float(outcomes.high[at]),
            p=float(outcomes.p[at]),
            adjusted=float(outcomes.adjusted[at]),
            alpha=alpha,
            family=len(pairs),
            together=together,
            significant=bool(outcomes.adjusted[at] <= alpha),
            direction=int(outcomes.direction[at]),
            effect=None,
            effect_name="",
            primary=measure == evaluation.measures[0],
            better=moved.down if lower else moved.up,
            same=len(people) - moved.up - moved.down,
            worse=moved.up if lower else moved.down,
            spread=float(corrected.spread[at]),
            detectable=float(corrected.error[at]) * np.sqrt(corrected.sampled - 1) * unit,
            changed=moved.changes(query_ids, people, (one, other)),
            reach=None,
            within=within[at],
            lower_is_better=lower,
        )
        yield CorrectedDifference(difference, values[at])


def difference_columns(evaluation: CorrectedEvaluation, measure: Measure, pairs: Sequence[Pair]) -> CorrectedColumns:
    """The corrected differences run - baseline of pairs (baseline, run)."""
    both = (evaluation._by_model, evaluation._by_people)
    model, people = (column_differences(columns_of(each, measure), pairs) for each in both)
    drawn = drawn_rows(evaluation._by_model[0], evaluation._by_people[0])
    return corrected_columns(model, people, drawn, differences=True)


def _tested(corrected: CorrectedColumns, correction: str, alpha: float) -> PairOutcomes:
    """p-values and intervals of one family, at the level at which the family decides each of them."""
    p = corrected.chances()[2]
    adjusted = CORRECTIONS[correction].adjust(p)
    level = alpha * np.divide(p, adjusted, out=np.full(len(p), 1 / len(p)), where=adjusted > 0)
    if CORRECTIONS[correction].together:
        level = np.full(len(p), alpha / len(p))
    low, high = corrected.interval(level)
    return PairOutcomes(p, adjusted, low, high, np.sign(corrected.value), corrected.value, [None] * len(p))


def _margins(
    corrected: CorrectedColumns, measure: Measure, correction: str, margin: float | None
) -> list[Within | None]:
    """Non-inferiority and equivalence, by one-sided tests of the corrected differences shifted by the margin."""
    count = len(corrected.value)
    if margin is None:
        return [None] * count
    above, below = corrected.chances(margin)[0], corrected.chances(-margin)[1]
    if measure.definition.lower_is_better:
        above, below = below, above
    return within_margin(margin, above, below, correction, count)
