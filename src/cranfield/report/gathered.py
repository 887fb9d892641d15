"""Everything that is measured, compared and tested for a page, done once before writing it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from cranfield.comparison import Comparison, compare_evaluations
from cranfield.comparison.conclusions import LETTERED
from cranfield.comparison.stability import FRACTIONS, Stability, stability
from cranfield.comparison.standing import Standings, standings
from cranfield.evaluation.overview import Overview, overview
from cranfield.evaluation.rank_curves import rank_curves, recall_curves
from cranfield.evaluation.result import Evaluation
from cranfield.evaluation.values import Bounds
from cranfield.measures import Measure, parse_measure
from cranfield.measures.recall_levels import Curve
from cranfield.ranks.columns import Numbers
from cranfield.ranks.judgments import Judgments
from cranfield.report.pair import VerdictPair, chosen_pair, own_pairs
from cranfield.report.request import Request
from cranfield.show.charts.cutoff import cutoffs_of, family
from cranfield.show.charts.precision_recall import RECALLS

FAMILIES = 4  # measures shown rank by rank
JUDGED = "Judged@10"
THINNED = 4  # measures shown as judgments are removed
REPEATS = 5  # how often each share of the judgments is removed
REMOVED = 2_000_000  # judged ranks measured again in total, which take a second or two: up to this many by default

ByRun = Mapping[str, Mapping[str, tuple[float, float]]]  # of each run, by measure: a lower and an upper end


class Curves(NamedTuple):
    """The curves for the charts of runs with known ranks.

    recall: interpolated precision of each run at the eleven levels; ranks: precision and recall down to each rank
    cutoffs: by family of measures and run, the mean at each cutoff
    """

    recall: Mapping[str, Sequence[float]]
    ranks: Mapping[str, Curve]
    cutoffs: Mapping[str, Mapping[str, Mapping[int, float]]]


@dataclass(frozen=True, slots=True)
class Gathered:
    """The data for a page.

    judgments: one grade for each document; None if only evaluations are known
    evaluations: every run by the measures of the page; and how much of it is judged, as far as its ranks are known
    query_ids: those that a run is measured on, in the order of the judgments; worst_first: by the first measure
    means: the measures that are means over queries and say how good a run is
    families: the first measures that have cutoffs, by their names without one: shown rank by rank
    steps: of each run whose ranks are known, the values of each family at every cutoff (rows) for the queries of
        `listed` that it has (columns)
    best_first: the runs, ranked by the primary measure
    comparable: whether all runs were measured by the same judgments under the same policy
    pair: the two runs of the verdict
    own: runs that were each compared with a baseline of their own, the most important first
    standings: of three runs or more that were all compared with each other, by the primary measure
    intervals, bounds: of means
    curves, thinned: for the charts; None if these are not drawn
    """

    request: Request
    judgments: Judgments | None
    evaluations: tuple[Evaluation, ...]
    query_ids: tuple[str, ...]
    worst_first: tuple[str, ...]
    means: tuple[Measure, ...]
    best_first: tuple[Evaluation, ...]
    families: Mapping[str, Measure]
    steps: Mapping[str, Sequence[Numbers]]
    comparable: bool
    comparison: Comparison | None
    pair: VerdictPair | None
    own: tuple[VerdictPair, ...]
    standings: Standings | None
    overview: Overview
    intervals: ByRun
    bounds: ByRun
    curves: Curves | None
    thinned: Stability | None

    @property
    def listed(self) -> tuple[str, ...]:
        """The queries whose rankings are shown, the worst first."""
        return self.worst_first[: self.request.queries]

    @property
    def primary(self) -> Measure:
        """The measure that runs are ranked by: the first that is a mean, or else the first."""
        return _primary(self.request, self.means)

    def query_text(self, query: str) -> str:
        known = self.request.collection.queries if self.request.collection else {}
        return known.get(query, "") or query


def gather(request: Request) -> Gathered:
    evaluations = tuple(_with_judged(request))
    query_ids = _query_ids(request, evaluations)
    worst_first = _worst_first(request.measures[0], evaluations, query_ids)
    means = tuple(
        each for each in request.measures if each.definition.aggregate == "mean" and not each.definition.of_holes
    )
    families = _families(request)
    comparable = len({(each.qrels_sha256, each.policy) for each in evaluations}) == 1
    enough = len(evaluations) > 1 and len(query_ids) > 1 and means and comparable
    ranked = [each for each in evaluations if each._has_ranks]
    drawn = request.charts and request.ordinary and bool(ranked)
    steps, curves = _curves(ranked, families, worst_first[: request.queries], request.depth, drawn=drawn)
    comparison = _compared(request, evaluations, means) if enough and request.given is None else request.given
    own = own_pairs(_own_comparisons(request, evaluations, means)) if enough else ()
    return Gathered(
        request=request,
        judgments=request.flat,
        evaluations=evaluations,
        query_ids=query_ids,
        worst_first=worst_first,
        means=means,
        best_first=_best_first(_primary(request, means), evaluations),
        families=families,
        steps=steps,
        comparable=comparable,
        comparison=comparison,
        pair=own[0] if own else chosen_pair(comparison),
        own=own,
        standings=None if own else _standings(comparison),
        overview=overview(evaluations, segments=request.segments),
        intervals=_intervals(evaluations, means, request.alpha),
        bounds=_bounds(ranked, request.measures) if request.bounds else {},
        curves=curves,
        thinned=_thinned(request, ranked, means) if request.charts and comparable else None,
    )


def _with_judged(request: Request) -> list[Evaluation]:
    judged = [parse_measure(JUDGED)] if request.ordinary else []
    return [each.extended(judged) if each._has_ranks else each for each in request.runs.values()]


def _query_ids(request: Request, evaluations: Sequence[Evaluation]) -> tuple[str, ...]:
    measured = dict.fromkeys(query for each in evaluations for query in each.query_ids)
    return tuple(measured if request.flat is None else (each for each in request.flat.query_ids if each in measured))


def _worst_first(measure: Measure, evaluations: Sequence[Evaluation], query_ids: Sequence[str]) -> tuple[str, ...]:
    place = {query: at for at, query in enumerate(query_ids)}
    total, count = np.zeros(len(place)), np.zeros(len(place))
    for each in evaluations:
        at = [place[query] for query in each.query_ids]
        total[at] += each.column(measure)
        count[at] += 1
    means = (-1 if measure.definition.lower_is_better else 1) * total / count
    return tuple(query_ids[at] for at in np.argsort(means, kind="stable").tolist())


def _primary(request: Request, means: Sequence[Measure]) -> Measure:
    return means[0] if means else request.measures[0]


def _best_first(measure: Measure, evaluations: Sequence[Evaluation]) -> tuple[Evaluation, ...]:
    sign = 1 if measure.definition.lower_is_better else -1
    return tuple(sorted(evaluations, key=lambda each: sign * each[measure]))


def _families(request: Request) -> dict[str, Measure]:
    known = {family(each): each for each in request.measures if "cutoff" in each.definition.kinds}
    wanted = {name: each for name, each in known.items() if not each.definition.of_holes}
    return dict(list(wanted.items())[:FAMILIES]) if request.ordinary else {}


def _compared(request: Request, evaluations: Sequence[Evaluation], means: Sequence[Measure]) -> Comparison:
    """The comparison of the runs by each measure; many runs only by the first, since no others are shown."""
    return compare_evaluations(
        evaluations,
        means if len(evaluations) <= LETTERED else means[:1],
        baseline=request.baseline,
        test=request.test,
        correction=request.correction,
        alpha=request.alpha,
        bounds=request.bounds,
    )


def _own_comparisons(
    request: Request, evaluations: Sequence[Evaluation], means: Sequence[Measure]
) -> Iterator[Comparison]:
    """Each run with its own baseline: each is a question of its own, so it is one comparison."""
    known = {each.run: each for each in evaluations}
    for run, baseline in request.own_baselines.items():
        yield _compared(replace(request, baseline=baseline), (known[baseline], known[run]), means)


def _standings(comparison: Comparison | None) -> Standings | None:
    if comparison is None or comparison.baseline is not None or len(comparison.runs) < 3:
        return None
    return standings(comparison)


def _intervals(evaluations: Sequence[Evaluation], means: Sequence[Measure], alpha: float) -> ByRun:
    found: dict[str, dict[str, tuple[float, float]]] = {}
    for result in evaluations:
        found[result.run] = {}
        for measure in means if len(result.query_ids) > 1 else ():
            estimate = result.estimate(measure, alpha=alpha)
            found[result.run][measure.name] = estimate.low, estimate.high
    return found


def _bounds(ranked: Sequence[Evaluation], measures: Sequence[Measure]) -> ByRun:
    wanted = [each for each in measures if not each.definition.of_holes]

    def ends(found: Bounds) -> tuple[float, float]:
        return found.low, found.high

    return {each.run: {measure.name: ends(each.bounds(measure)) for measure in wanted} for each in ranked}


def _curves(
    ranked: Sequence[Evaluation],
    families: Mapping[str, Measure],
    queries: Sequence[str],
    deepest: int,
    *,
    drawn: bool,
) -> tuple[dict[str, list[Numbers]], Curves | None]:
    """Each family at every cutoff: the values of some queries; and for charts, the means and other curves."""
    cuts = {name: cutoffs_of(measure, deepest) for name, measure in families.items()}
    steps: dict[str, list[Numbers]] = {}
    means: dict[str, dict[str, dict[int, float]]] = {name: {} for name in families}
    for result in ranked:
        whole = result.extended(cut for its in cuts.values() for cut in its)
        place = {query: at for at, query in enumerate(result.query_ids)}
        at = [place[query] for query in queries if query in place]
        steps[result.run] = [np.stack([whole.column(cut)[at] for cut in its]) for its in cuts.values()]
        if drawn:
            for name, its in cuts.items():
                means[name][result.run] = {k: whole[cut] for k, cut in enumerate(its, 1)}
    if not drawn:
        return steps, None
    return steps, Curves(recall_curves(ranked, RECALLS), rank_curves(ranked, parse_measure("P@1")), means)


def _thinned(request: Request, ranked: Sequence[Evaluation], means: Sequence[Measure]) -> Stability | None:
    """The measures as judgments are removed: if requested, or by default if that is quick."""
    if request.flat is None or not request.ordinary or not ranked or not means or request.removal is False:
        return None
    wanted = means[:THINNED]
    work = sum(len(each._ranked().packed) for each in ranked)
    if not request.removal and work * REPEATS * len(FRACTIONS) * len(wanted) >= REMOVED:
        return None
    tables = {each.run: each._ranked().ranks for each in ranked}
    return stability(request.flat, tables, wanted, (0.0, *FRACTIONS), repeats=REPEATS, policy=ranked[0].policy)
