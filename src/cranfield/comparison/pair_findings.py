"""The results for pairs of runs by one measure, and the differences made from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from cranfield.comparison.differences import Change, Difference, Within
from cranfield.comparison.families import Pair, PairOutcomes
from cranfield.comparison.multiple_testing import CORRECTIONS
from cranfield.comparison.pairing import Paired
from cranfield.comparison.power import detectable_difference
from cranfield.comparison.significance import TESTS, Settings, deviation
from cranfield.comparison.unjudged import Reach
from cranfield.errors import ComparisonError
from cranfield.measures import Measure
from cranfield.ranks.columns import Numbers

CHANGED = 5  # queries listed for each difference


def check_margin(margin: float | None) -> None:
    """Refuse a margin of non-inferiority and equivalence that is none."""
    if margin is not None and not 0 < margin < float("inf"):
        raise ComparisonError(
            "is not a margin.",
            parameter="margin",
            value=margin,
            hint="for instance 0.01, to test whether a run is within 0.01",
        )


def margin_tests(
    values: Paired,
    measure: Measure,
    pairs: Sequence[Pair],
    test: str,
    correction: str,
    settings: Settings,
    family: int,
    margin: float | None,
) -> list[Within | None]:
    """Non-inferiority and equivalence: one-sided tests of the differences, shifted by the margin."""
    if margin is None:
        return [None] * len(pairs)
    asked = TESTS["t" if TESTS[test].all_at_once else test]
    better = values.differences(measure, pairs) * (-1.0 if measure.definition.lower_is_better else 1.0)
    not_worse = asked.outcome(better + margin, settings).greater
    not_better = asked.outcome(better - margin, settings).less
    return within_margin(margin, not_worse, not_better, correction, family)


def within_margin(
    margin: float, not_worse: Numbers, not_better: Numbers, correction: str, family: int
) -> list[Within | None]:
    """What the one-sided p-values of pairs say, corrected for their family; equivalence needs both of them."""
    times = 1 if correction == "none" else family
    not_worse, not_better = np.minimum(not_worse * times, 1.0), np.minimum(not_better * times, 1.0)
    both = np.maximum(not_worse, not_better)
    return [Within(margin, float(one), float(two)) for one, two in zip(not_worse, both, strict=True)]


class Movement(NamedTuple):
    """How queries moved between two runs: `most` are those that moved farthest, the farthest first."""

    mean: float
    up: int
    down: int
    most: list[int]
    spread: float

    def changes(self, query_ids: Sequence[str], columns: Numbers, pair: Pair) -> tuple[Change, ...]:
        """The queries that moved farthest, with their values in the columns of the pair."""
        one, other = pair
        return tuple(
            Change(query_ids[q], float(columns[q, one]), float(columns[q, other]))
            for q in self.most[: self.up + self.down]
        )


def movements(differences: Numbers) -> Iterator[Movement]:
    """The movements of each column."""
    by_pair = np.ascontiguousarray(differences.T)
    columns = (
        by_pair.mean(axis=1),
        (by_pair > 0).sum(axis=1),
        (by_pair < 0).sum(axis=1),
        np.argsort(-np.abs(by_pair), axis=1, kind="stable")[:, :CHANGED],
        deviation(differences),
    )
    return map(Movement, *(column.tolist() for column in columns))


class PairFindings(NamedTuple):
    """All results for the pairs by one measure."""

    measure: Measure
    pairs: Sequence[Pair]
    tested: PairOutcomes
    reaches: Sequence[Reach | None]
    within: Sequence[Within | None]
    primary: bool
    family: int
    test: str
    correction: str
    alpha: float

    def differences(self, values: Paired) -> Iterator[Difference]:
        """The difference of each pair, with all results."""
        table = values.differences(self.measure, self.pairs)
        together = CORRECTIONS[self.correction].together or TESTS[self.test].all_at_once
        shared = self.alpha / self.family if together else self.alpha
        unit = detectable_difference(1.0, len(table), shared)
        for at, moved in enumerate(movements(table)):
            yield self._difference(values, at, moved, together, moved.spread * unit)

    def _difference(self, values: Paired, at: int, moved: Movement, together: bool, detectable: float) -> Difference:
        (one, other), tested, test = self.pairs[at], self.tested, TESTS[self.test]
        columns = values.columns[self.measure]
        lower = self.measure.definition.lower_is_better
        return Difference(
            measure=self.measure.name,
            baseline=values.runs[one],
            run=values.runs[other],
            difference=moved.mean,
            estimate=float(tested.estimate[at]),
            of=test.of,
            low=float(tested.low[at]),
            high=float(tested.high[at]),
            p=float(tested.p[at]),
            adjusted=float(tested.adjusted[at]),
            alpha=self.alpha,
            family=self.family,
            together=together,
            significant=bool(tested.adjusted[at] <= self.alpha),
            direction=int(tested.direction[at]),
            effect=tested.effect[at],
            effect_name=test.effect,
            primary=self.primary,
            better=moved.down if lower else moved.up,
            same=len(columns) - moved.up - moved.down,
            worse=moved.up if lower else moved.down,
            spread=moved.spread,
            detectable=detectable,
            changed=moved.changes(values.query_ids, columns, (one, other)),
            reach=self.reaches[at],
            within=self.within[at],
            lower_is_better=lower,
        )
