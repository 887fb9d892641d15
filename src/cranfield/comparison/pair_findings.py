"""What was found of pairs of runs by one measure, and the differences that it makes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from cranfield.comparison.corrections import CORRECTIONS
from cranfield.comparison.differences import Change, Difference, Within
from cranfield.comparison.families import Pair, PairOutcomes
from cranfield.comparison.pairing import Paired
from cranfield.comparison.power import detectable_difference
from cranfield.comparison.significance import TESTS, Settings, deviation
from cranfield.comparison.unjudged import Reach
from cranfield.measures import Measure
from cranfield.ranks.columns import Numbers

CHANGED = 5  # queries listed for each difference


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
    times = 1 if correction == "none" else family
    not_worse = np.minimum(asked.outcome(better + margin, settings).greater * times, 1.0)
    not_better = np.minimum(asked.outcome(better - margin, settings).less * times, 1.0)
    both = np.maximum(not_worse, not_better)
    return [Within(margin, float(one), float(two)) for one, two in zip(not_worse, both, strict=True)]


class PairFindings(NamedTuple):
    """All that was found of the pairs by one measure."""

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
        """The difference of each pair, with all that was found of it."""
        table = values.differences(self.measure, self.pairs)
        spread = deviation(table).tolist()
        together = CORRECTIONS[self.correction].together or TESTS[self.test].all_at_once
        shared = self.alpha / self.family if together else self.alpha
        unit = detectable_difference(1.0, len(table), shared)
        for at in range(len(self.pairs)):
            yield self._difference(values, at, table[:, at], spread[at], together, spread[at] * unit)

    def _difference(
        self, values: Paired, at: int, d: Numbers, spread: float, together: bool, detectable: float
    ) -> Difference:
        (one, other), tested, test = self.pairs[at], self.tested, TESTS[self.test]
        columns = values.columns[self.measure]
        most = np.argsort(-np.abs(d), kind="stable")[:CHANGED]
        up, down = int((d > 0).sum()), int((d < 0).sum())
        lower = self.measure.definition.lower_is_better
        return Difference(
            measure=self.measure.name,
            baseline=values.runs[one],
            run=values.runs[other],
            difference=float(d.mean()),
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
            better=down if lower else up,
            same=len(d) - up - down,
            worse=up if lower else down,
            spread=spread,
            detectable=detectable,
            changed=tuple(
                Change(values.query_ids[q], float(columns[q, one]), float(columns[q, other]))
                for q in most.tolist()
                if d[q] != 0
            ),
            reach=self.reaches[at],
            within=self.within[at],
            lower_is_better=lower,
        )
