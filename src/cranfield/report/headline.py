"""What the page says first: which run is best, whether that is more than chance, and what is weak about it."""

from __future__ import annotations

from cranfield.comparison import Difference
from cranfield.evaluation.result import Evaluation
from cranfield.measures.scope import Scope
from cranfield.report.gathered import Gathered


def headline(gathered: Gathered) -> list[str]:
    """A few sentences, the most important first."""
    if not gathered.means:
        return []
    measure = gathered.means[0]
    sign = 1 if measure.definition.lower_is_better else -1
    ranked = sorted(gathered.evaluations, key=lambda each: sign * each[measure])
    best = ranked[0]
    found = [_place(gathered, ranked)]
    facts, scope = best.facts(measure), Scope.of(measure)
    top = "" if scope.cutoff is None else f" in its top {scope.cutoff}"
    none = int(((facts.relevant > 0) & (facts.found == 0)).sum())
    if none:
        returns = f"It has no document judged relevant{top}"
        found.append(f"{returns} for {none:,} of {_queries(len(best.query_ids))}.")
    judged = facts.judged_share() if scope.one_depth else None
    if judged is not None and judged < 0.995:
        seen = "documents" if scope.cutoff is None else f"first {scope.cutoff} documents"
        found.append(f"{1 - judged:.0%} of its {seen} are not judged, and count as not relevant.")
    return found


def _place(gathered: Gathered, ranked: list[Evaluation]) -> str:
    measure, best = gathered.means[0], ranked[0]
    shown = f"{measure} {best.shown(measure)}"
    if len(ranked) == 1:
        return f"{best.run}: {shown} over {_queries(len(best.query_ids))}."
    other = ranked[1]
    comparison = gathered.comparison
    if comparison is not None and comparison.baseline is not None:
        other = next(each for each in ranked if each.run == comparison.baseline)
        if other is best:
            return f"No run has a better {measure} than the baseline, {best.run} ({best.shown(measure)})."
    gap = abs(best[measure] - other[measure])
    side = "below" if _lower(gathered) else "above"
    ahead = f"{best.run} has the best {measure}: {best.shown(measure)}, which is {gap:.4f} {side} {other.run}."
    if gap < 0.00005:
        return f"{best.run} and {other.run} share the best {shown}."
    if comparison is None:
        return ahead
    return f"{ahead} {_trusted(comparison.between(measure, best.run, other.run))}"


def _trusted(pair: Difference) -> str:
    return f"{pair.sentence}."


def _lower(gathered: Gathered) -> bool:
    return gathered.means[0].definition.lower_is_better


def _queries(count: int) -> str:
    return f"{count:,} {'query' if count == 1 else 'queries'}"
