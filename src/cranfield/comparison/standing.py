"""Who leads, who is not significantly worse, and which ranks each run may truly have.

The leader was chosen because its mean is the best, so a comparison with it is not one with a run that was fixed
beforehand: it must hold for whichever run leads. All pairs are therefore tested as one family. Where their intervals
hold at once with 95% confidence, so does everything here, for every run and rank together (Mogstad et al. 2023).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cranfield.comparison.conclusions import Comparison
from cranfield.comparison.differences import Difference
from cranfield.comparison.significance import TESTS
from cranfield.evaluation.estimating import SAME
from cranfield.measures import Measure


class Standing(NamedTuple):
    """A run among the others.

    place: 1 for the best mean; runs with the same mean share the first of their places
    behind: its mean minus that of the leader, with the interval `low` to `high`; None for the leader itself
    not_worse: whether it is not significantly worse than the leader; the leader is not worse than itself
    first, last: the ranks that it may truly have: below all that are significantly better, above all that are worse
    """

    place: int
    run: str
    mean: float
    behind: float | None
    low: float | None
    high: float | None
    p: float | None
    not_worse: bool
    first: int
    last: int


class Standings(NamedTuple):
    """Runs by one measure, the best first.

    leaders: the runs with the best mean: nearly always one
    level: with which confidence all ranks hold at once, such as 0.95; None where the intervals only hold one by one
    """

    measure: str
    rows: tuple[Standing, ...]
    leaders: tuple[str, ...]
    level: float | None

    @property
    def others(self) -> tuple[Standing, ...]:
        """The runs that do not lead."""
        return tuple(row for row in self.rows if row.run not in self.leaders)

    @property
    def sentence(self) -> str:
        """The verdict, in the words used everywhere."""
        return self.naming(self.leaders)

    def naming(self, leaders: Sequence[str]) -> str:
        """The verdict with these names for the leaders, such as shorter ones."""
        rest = self.others
        if not rest:
            return f"all {len(leaders)} runs have the same {self.measure}"
        close = sum(row.not_worse for row in rest)
        lead = f"{_listed(leaders)} {'leads' if len(leaders) == 1 else 'lead'} on {self.measure}; "
        if len(rest) == 1:
            return f"{lead}the other run is {'not ' * close}significantly worse"
        if not close:
            every = "both" if len(rest) == 2 else f"all {len(rest)}"
            return f"{lead}{every} other runs are significantly worse"
        if close == len(rest):
            none = "neither" if len(rest) == 2 else "none"
            return f"{lead}{none} of the other {len(rest)} runs is significantly worse"
        return f"{lead}{close} of the other {len(rest)} runs {'is' if close == 1 else 'are'} not significantly worse"


def standings(comparison: Comparison, measure: str | Measure | None = None) -> Standings:
    """The order of runs that were all compared with each other; by default by the first measure.

    With a baseline, not all pairs were compared, and this is an error.

    >>> from cranfield import compare
    >>> qrels = {str(q): {"a": 1} for q in range(8)}
    >>> good, bad = {str(q): ["a", "b"] for q in range(8)}, {str(q): ["b", "a"] for q in range(7)}
    >>> found = standings(compare(qrels, {"bad": bad, "good": good, "same": good}, "RR"))
    >>> found.sentence
    'good and same lead on RR; the other run is significantly worse'
    >>> [(row.place, row.run, row.behind, row.first, row.last) for row in found.rows]
    [(1, 'good', None, 1, 2), (1, 'same', 0.0, 1, 2), (3, 'bad', -0.5625, 3, 3)]
    """
    wanted = comparison.measures[0] if measure is None else measure
    name = comparison.of(wanted)[0].measure
    order, ranks, means = comparison.best_first(name), comparison.rank_intervals(name), comparison.means[name]
    leader = order[0]
    leaders = tuple(run for run in order if abs(means[run] - means[leader]) <= SAME)
    with_leader: dict[str, Difference] = {}
    worse: set[str] = set()
    for pair in comparison.of(name):
        if leader in (pair.run, pair.baseline):
            with_leader[pair.baseline if pair.run == leader else pair.run] = pair
        if pair.verdict == "significantly worse" and pair.baseline in leaders:
            worse.add(pair.run)
        elif pair.verdict == "significantly better" and pair.run in leaders:
            worse.add(pair.baseline)
    rows: list[Standing] = []
    for place, run in enumerate(order, 1):
        shared = bool(rows) and abs(means[run] - rows[-1].mean) <= SAME
        rows.append(
            Standing(
                rows[-1].place if shared else place,
                run,
                means[run],
                *_behind(with_leader.get(run), run),
                run not in worse,
                *ranks[run],
            )
        )
    # Ranks are those of means: tests of something else, and corrections one by one, say less about them.
    one = comparison.differences[0]
    together = one.together and one._of_means and not TESTS[comparison.test].all_at_once
    return Standings(name, tuple(rows), leaders, 1 - comparison.alpha if together else None)


def _behind(difference: Difference | None, run: str) -> tuple[float | None, float | None, float | None, float | None]:
    """A run minus the leader, whichever of the two was the baseline: the difference, its interval and its p-value."""
    if difference is None:
        return None, None, None, None
    if difference.run == run:
        return difference.difference, difference.low, difference.high, difference.adjusted
    return -difference.difference + 0.0, -difference.high, -difference.low, difference.adjusted


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
