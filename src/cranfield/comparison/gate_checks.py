"""The conditions of a gate: what it found about a measure, and how it says so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from math import inf
from typing import Any, NamedTuple

import numpy as np

from cranfield.comparison.differences import Difference, change_text, p_text, signed, value_text
from cranfield.comparison.pairing import check_finite
from cranfield.errors import MeasureError
from cranfield.evaluation.estimating import SAME
from cranfield.evaluation.query_facts import QueryFacts
from cranfield.evaluation.result import Evaluation
from cranfield.measures import Measure
from cranfield.measures.scope import Scope
from cranfield.ranks.columns import Numbers
from cranfield.ranks.tables.ranks import JudgedRanks

LISTED = 10  # queries that got worse, for each measure


class WorseQuery(NamedTuple):
    """A query that got worse, and what moved."""

    query_id: str
    baseline: float
    candidate: float
    moved: str


class Check(NamedTuple):
    """One condition of the gate, and whether it holds; where it is about single queries, those that broke it."""

    name: str
    passed: bool
    message: str
    queries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GatedMeasure:
    """What the gate found about a measure.

    drop: by how much the candidate is worse; negative where it is better.
    p_worse, p_better: corrected one-sided p-values, of "not worse" (with `beyond_tolerance`, of "not worse by more than
        the tolerance") and of "not better".
    detectable: the true drop that the gate would stop with a power of 0.8, if queries vary as they do here; infinite if
        the measure cannot drop so far, and None if all queries changed by the same amount, so that their variation
        cannot be estimated.
    judged: of the baseline and the candidate, the share of the documents that is judged, of those that the measure
        looks at: down to `judged_depth`, or all where that is None. None: not known, or there is
        no such depth.
    difference: what `compare` says of the two, by the two-sided test; `sentence`: the same in words.
    corrected: whether the values are those of a model, corrected by people; the drop is then corrected by itself, and
        queries are counted by people's grades of the sampled ones.
    lower_is_better: whether a drop in quality is a rise of the measure.
    weighted: whether queries have weights, by which the values, the drop and the tests are.
    power: the chance that a true drop of `detect` would be stopped; None where no such drop was given.
    """

    measure: str
    baseline: float
    candidate: float
    drop: float
    tolerance: float
    p_worse: float
    p_better: float
    detectable: float | None
    better: int
    same: int
    worse: int
    worse_queries: tuple[WorseQuery, ...]
    judged: tuple[float | None, float | None]
    judged_depth: int | None
    difference: Difference
    corrected: bool = False
    lower_is_better: bool = False
    power: float | None = None
    weighted: bool = False

    def __repr__(self) -> str:
        return f"<GatedMeasure {self.measure}: {self.baseline:.4f} to {self.candidate:.4f}>"

    @property
    def drop_name(self) -> str:
        """The name of the check that it does not drop too far."""
        return f"{self.measure} does not {'rise' if self.lower_is_better else 'drop'}"

    @property
    def sentence(self) -> str:
        return self.difference.sentence

    def to_dict(self) -> dict[str, Any]:
        """The findings as plain dicts, ready for JSON."""
        return {
            **{field.name: getattr(self, field.name) for field in fields(self)},
            # JSON has no infinite numbers: None where there is no such drop.
            "detectable": None if self.detectable == inf else self.detectable,
            "worse_queries": [query._asdict() for query in self.worse_queries],
            "difference": self.difference.to_dict(),
            "sentence": self.sentence,
        }


def worst_drops(measure: Measure, before: Evaluation, after: Evaluation, drops: Numbers) -> tuple[WorseQuery, ...]:
    """The queries that dropped most, and what moved; two evaluations of the same queries, and the drop of each."""
    order = np.argsort(-drops, kind="stable")[:LISTED]
    worse = [before.query_ids[q] for q in order.tolist() if drops[q] > 0]
    pairs = zip(before.queries(measure, worse), after.queries(measure, worse), strict=True)
    return tuple(WorseQuery(a.query_id, a.value, b.value, what_moved(measure, a, b)) for a, b in pairs)


def what_moved(measure: Measure, before: QueryFacts, after: QueryFacts) -> str:
    """How the documents that the measure looks at changed, in words."""
    if not after.retrieved:
        return f"nothing retrieved, previously {before.retrieved}"
    moved = []
    if after.found != before.found:
        moved.append(f"{after.found_text}, previously {before.found}")
    if after.found and after.first != before.first:
        moved.append(
            f"the first relevant at rank {after.first}" + (f", previously {before.first}" if before.first else "")
        )
    explained = after.found < before.found or (after.first or 0) > (before.first or 0)
    return "; ".join(moved if explained else [*moved, *_less_visible(measure, before, after)])


def _less_visible(measure: Measure, before: QueryFacts, after: QueryFacts) -> Iterator[str]:
    """Why a measure fell although as many relevant documents were found, and the first no lower."""
    # In a whole ranking, there are nearly always more or fewer of them.
    if after.unjudged > before.unjudged and (after.cutoff is not None or measure.definition.of_holes):
        yield f"{after.unjudged_text}, previously {before.unjudged}"
    if measure.definition.of_holes:
        return
    if _sees_order(measure):
        yield "some relevant documents moved down"
    elif after.rel is None:
        yield "the relevant documents have lower grades"
    elif after.cutoff is None:
        yield f"{after.retrieved} retrieved, previously {before.retrieved}"


def _sees_order(measure: Measure) -> bool:
    """Whether it matters to a measure where in the ranking a relevant document is."""
    if measure.definition.table != "ranks":
        return True
    grade = max(1.0, Scope.of(measure).rel or 0.0)
    above, below = (JudgedRanks.of_grades(grades) for grades in ([grade, 0.0], [0.0, grade]))
    try:
        return bool((measure(above) != measure(below)).any())
    except MeasureError:  # it needs more than grades, such as the lengths of documents
        return True


def all_checks(
    gated: Sequence[GatedMeasure],
    compared: Iterable[Difference],
    of_minima: Iterable[Check],
    levels: tuple[float, float],
    *,
    beyond_tolerance: bool,
    require_improvement: bool,
    max_worse_queries: int | None,
) -> tuple[Check, ...]:
    """Every condition that the candidate has to meet.

    compared: by the two-sided test, and against a margin where one is asked for
    of_minima: what `floor_check` says of the values that have to be reached
    levels: of the tests of drops, and of all others
    """
    of_drops, alpha = levels
    checks = [drop_check(measure, of_drops, tested=beyond_tolerance) for measure in gated]
    checks += of_minima
    if require_improvement:
        checks.append(improvement_check(gated, alpha))
    checks += [margin_check(difference) for difference in compared if difference.within is not None]
    if max_worse_queries is not None:
        checks += [worse_check(measure, max_worse_queries) for measure in gated]
    return tuple(checks)


def drop_check(seen: GatedMeasure, alpha: float, *, tested: bool = False) -> Check:
    """A measure must not drop by more than its tolerance and significantly.

    tested: whether the drop must be significantly larger than the tolerance, not only than 0
    """
    significant, beyond = seen.p_worse <= alpha, seen.drop > seen.tolerance + SAME
    p, allowed = f"(one-sided p {p_text(seen.p_worse, alpha)})", f"the {seen.tolerance:g} allowed"
    change, more = _change(seen), f"more than {allowed}"
    fell = f"{seen.measure} {'rose' if seen.lower_is_better else 'fell'}"
    if seen.drop <= SAME:
        message = f"{seen.measure} {change}: no regression"
    elif not beyond:
        message = f"{seen.measure} {change}: within {allowed}"
    elif tested and seen.tolerance:
        message = f"{seen.measure} {change}: not significantly {more} {p}"
        if significant:
            message = f"{fell} by significantly {more}, {change} {p}"
    elif significant:
        message = f"{fell} significantly, {change}{f': {more}' if seen.tolerance else ''} {p}"
    else:
        message = f"{seen.measure} {change}: {f'{more}, but ' if seen.tolerance else ''}not significant {p}"
    return Check(seen.drop_name, not (beyond and significant), message)


def _change(seen: GatedMeasure) -> str:
    """From which value to which one; a corrected difference is not that of two values."""
    if seen.corrected:
        return f"{signed(seen.drop if seen.lower_is_better else -seen.drop)} (corrected)"
    weighted = " (weighted)" * seen.weighted
    if abs(seen.candidate - seen.baseline) < SAME:
        return f"{value_text(seen.candidate)}{weighted}, unchanged"
    return f"{change_text(seen.baseline, seen.candidate)}{weighted}"


def floor_check(value: float, measure: Measure, floor: float, *, weighted: bool = False) -> Check:
    """A measure must reach its minimum."""
    lower = measure.definition.lower_is_better
    check_finite(measure, {"the minimum": floor, "the value": value})
    passed = value <= floor + SAME if lower else value >= floor - SAME
    side = "most" if lower else "least"
    message = f"{measure} is {value_text(value, floor)}{' (weighted)' * weighted} and must be at {side} {floor:g}"
    return Check(f"{measure} is at {side} {floor:g}", passed, message)


def improvement_check(gated: Iterable[GatedMeasure], alpha: float) -> Check:
    """Some measure must be significantly better."""
    better = [measure.measure for measure in gated if measure.p_better <= alpha and measure.drop < 0]
    result = f"significantly better: {', '.join(better)}" if better else "no measure is significantly better"
    return Check("some measure improves", bool(better), result)


def margin_check(difference: Difference) -> Check:
    """The candidate must be shown not to be worse by a margin; one that changes no query passes without proof."""
    assert difference.within is not None
    within, shown = difference.within, difference.within.not_worse <= difference.alpha
    title = f"{difference.measure} is not worse by {within.margin:g}"
    unchanged = not difference.better and not difference.worse and difference.corrected is None  # which counts a sample
    if unchanged and not shown:
        return Check(title, True, f"{difference.measure} is the same on every query: non-inferiority needs no proof")
    message = (
        f"{difference.measure} is {'' if shown else 'not '}shown to be non-inferior by a margin of {within.margin:g}"
    )
    return Check(title, shown, f"{message} (one-sided p {p_text(within.not_worse, difference.alpha)})")


def worse_check(seen: GatedMeasure, most: int) -> Check:
    """No more than so many queries may get worse."""
    one, several = seen.difference.unit, seen.difference.units
    worse = f"{seen.worse} {one if seen.worse == 1 else several}" if seen.worse else f"no {one}"
    message = f"{seen.measure} got worse for {worse}; {f'at most {most}' if most else 'none'} may"
    return Check(f"at most {most} {several} get worse by {seen.measure}", seen.worse <= most, message)
