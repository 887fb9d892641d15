"""The two runs of the page's verdict, and differences seen from the side of either run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from cranfield.comparison.conclusions import Comparison
from cranfield.comparison.differences import Change, Difference
from cranfield.comparison.unjudged import Reach, Reaches
from cranfield.measures import Measure

NEWS_FIRST = ("worse", "better", "close", "same")
KINDS = {"Better": "better", "Worse": "worse", "Too close to call": "close", "No difference": "same"}


@dataclass(frozen=True, slots=True)
class VerdictPair:
    """Two runs and their difference by the primary measure, run - baseline.

    chosen: why these two: "two" (there are no others), "baseline" (it was given), "own" (each run has a baseline of its
        own) or "second" (the best and the next one that differs from it on some query)
    comparison: the one that found the difference
    """

    measure: Measure
    chosen: str
    difference: Difference
    comparison: Comparison

    @property
    def run(self) -> str:
        return self.difference.run

    @property
    def baseline(self) -> str:
        return self.difference.baseline

    @property
    def kind(self) -> str:
        return KINDS[self.difference.headline]

    @property
    def counts(self) -> tuple[int, int, int]:
        return self.difference.better, self.difference.same, self.difference.worse

    @property
    def queries(self) -> int:
        return sum(self.counts)


def seen_from(difference: Difference, run: str) -> Difference:
    """A difference from the side of one of its two runs: reversed, if that one was the baseline."""
    if difference.run == run:
        return difference
    reach = difference.reach
    return replace(
        difference,
        baseline=difference.run,
        run=difference.baseline,
        difference=0.0 - difference.difference,
        estimate=0.0 - difference.estimate,
        low=-difference.high,
        high=-difference.low,
        direction=-difference.direction,
        effect=None,  # the reverse of an effect depends on its scale
        better=difference.worse,
        worse=difference.better,
        changed=tuple(Change(query, run, baseline) for query, baseline, run in difference.changed),
        reach=None if reach is None else turned(reach),
        within=None,  # one-sided: the other side is not known
    )


def turned(reach: Reach) -> Reach:
    return reach._replace(low=0.0 - reach.high, high=0.0 - reach.low)


def chosen_pair(comparison: Comparison | None, unseen: int) -> VerdictPair | None:
    """Two runs by the primary measure: the only two, the best and the baseline, or the best two.

    unseen: documents that neither retrieved, which the reach of the two allows for
    """
    if comparison is None:
        return None
    measure = comparison.measures[0]
    order = comparison.best_first(measure)
    if comparison.baseline is not None:
        chosen, baseline = "baseline", comparison.baseline
        run = next(name for name in order if name != baseline)
    elif len(order) == 2:
        chosen, (baseline, run) = "two", comparison.runs
    else:
        chosen, run = "second", order[0]
        baseline = next((name for name in order[1:] if _differ(comparison.between(measure, run, name))), order[1])
    difference = seen_from(comparison.between(measure, run, baseline), run)
    if difference.reach is None:
        difference = replace(difference, reach=_reach(comparison, measure, (baseline, run), unseen))
    return VerdictPair(measure, chosen, difference, comparison)


def _differ(difference: Difference) -> bool:
    return difference.better + difference.worse > 0


def own_pairs(comparisons: Iterable[Comparison], unseen: int) -> tuple[VerdictPair, ...]:
    """Pairs that were each compared on their own: those that got worse come first, then those that got better."""
    chosen = (chosen_pair(comparison, unseen) for comparison in comparisons)
    pairs = [replace(pair, chosen="own") for pair in chosen if pair is not None]

    def importance(pair: VerdictPair) -> tuple[int, float]:
        gain = pair.difference.estimate * (-1 if pair.difference.lower_is_better else 1)
        return NEWS_FIRST.index(pair.kind), gain

    return tuple(sorted(pairs, key=importance))


def _reach(comparison: Comparison, measure: Measure, names: tuple[str, str], unseen: int) -> Reach | None:
    """The reach of unjudged documents for these two alone, if the comparison was made without bounds."""
    two = [next(result for result in comparison.evaluations if result.run == name) for name in names]
    return Reaches(two, [(0, 1)], comparison._paired.query_ids, [measure], unseen).of(measure)[0]
