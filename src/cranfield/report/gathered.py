"""Everything that is measured, compared and tested for a page, each once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from cranfield.comparison.comparing import compare_evaluations
from cranfield.comparison.conclusions import LETTERED, Comparison
from cranfield.comparison.pairing import same_weights
from cranfield.comparison.stability import FRACTIONS, Stability, stability
from cranfield.comparison.standing import Standings, standings
from cranfield.evaluation.overview import Overview, overview
from cranfield.evaluation.rank_curves import rank_curves, recall_curves
from cranfield.evaluation.result import Evaluation
from cranfield.evaluation.values import measured
from cranfield.evaluation.weighting import only_one_counts
from cranfield.measures import Measure, parse_measure
from cranfield.measures.recall_levels import Curve
from cranfield.ranks.columns import Numbers
from cranfield.report.pair import VerdictPair, chosen_pair, own_pairs
from cranfield.report.request import Request
from cranfield.show.charts.cutoff import cutoffs_of, family
from cranfield.show.charts.precision_recall import RECALLS

FAMILIES = 4  # measures shown rank by rank
THINNED = 4  # measures shown as judgments are removed
STEPS = 200_000  # ranks whose values are shown
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


class Gathered:
    """The data for a page.

    judgments: one grade for each document; None if only evaluations are known
    evaluations: every run by the measures of the page
    query_ids: those that a run is measured on, in the order of the judgments
    means: the measures that are means over queries and say how good a run is
    primary: the measure that runs are ranked by: the first that is a mean, or else the first
    comparable: whether all runs were measured by the same judgments under the same policy, with the same weights
    """

    def __init__(self, request: Request) -> None:
        self.request, self.judgments = request, request.flat
        self.evaluations = tuple(request.runs.values())
        self.runs = [run.run for run in self.evaluations]
        self._ranked = [run for run in self.evaluations if run._has_ranks]
        measured = dict.fromkeys(query for run in self.evaluations for query in run.query_ids)
        known = measured if self.judgments is None else self.judgments.query_ids
        self.query_ids = tuple(query for query in known if query in measured)
        of_queries = [measure for measure in request.measures if measure.definition.aggregate == "mean"]
        self.means = tuple(measure for measure in of_queries if not measure.definition.of_holes)
        self.primary = (*self.means, *request.measures)[0]
        first = self.evaluations[0]
        self.comparable = len({(run.qrels_sha256, run.policy) for run in self.evaluations}) == 1 and all(
            same_weights(first, run) for run in self.evaluations
        )
        several = len(self.query_ids) > 1 and not only_one_counts(first.weights)
        self._enough = len(self.evaluations) > 1 and several and self.means and self.comparable

    @cached_property
    def best_first(self) -> tuple[Evaluation, ...]:
        sign = 1 if self.primary.definition.lower_is_better else -1
        return tuple(sorted(self.evaluations, key=lambda run: sign * run[self.primary]))

    @cached_property
    def worst_first(self) -> tuple[str, ...]:
        """The queries by the first measure."""
        measure = self.request.measures[0]
        place = {query: at for at, query in enumerate(self.query_ids)}
        total, count = np.zeros(len(place)), np.zeros(len(place))
        for run in self.evaluations:
            at = [place[query] for query in run.query_ids]
            total[at] += run.column(measure)
            count[at] += 1
        means = measure.definition.sign * total / count
        return tuple(self.query_ids[at] for at in np.argsort(means, kind="stable").tolist())

    @property
    def listed(self) -> tuple[str, ...]:
        """The queries whose rankings are shown, the worst first."""
        return self.worst_first[: self.request.queries]

    def query_text(self, query: str) -> str:
        known = self.request.collection.queries if self.request.collection else {}
        return known.get(query, "") or query

    @cached_property
    def comparison(self) -> Comparison | None:
        if self.request.given is not None or not self._enough:
            return self.request.given
        return self._compared(self.evaluations, self.request.baseline)

    def _compared(self, evaluations: Sequence[Evaluation], baseline: str | None) -> Comparison:
        """The comparison of runs by each measure; of many runs only by the first, since no others are shown."""
        return compare_evaluations(
            evaluations,
            self.means if len(evaluations) <= LETTERED else self.means[:1],
            baseline=baseline,
            test=self.request.test,
            correction=self.request.correction,
            alpha=self.request.alpha,
            bounds=self.request.bounds,
            unseen=self.request.unseen if self.request.bounds else 0,
        )

    @cached_property
    def own(self) -> tuple[VerdictPair, ...]:
        """Runs with a baseline of their own, the most important first: each is a question, so it is one comparison."""
        runs = {run.run: run for run in self.evaluations}
        pairs = self.request.own_baselines.items() if self._enough else ()
        comparisons = (self._compared((runs[baseline], runs[run]), baseline) for run, baseline in pairs)
        return own_pairs(comparisons, self.request.unseen)

    @cached_property
    def pair(self) -> VerdictPair | None:
        """The two runs of the verdict."""
        return self.own[0] if self.own else chosen_pair(self.comparison, self.request.unseen)

    @cached_property
    def standings(self) -> Standings | None:
        """Of three runs or more that were all compared with each other, by the primary measure."""
        compared = self.comparison
        if self.own or compared is None or compared.baseline is not None or len(compared.runs) < 3:
            return None
        return standings(compared)

    @cached_property
    def overview(self) -> Overview:
        return overview(self.evaluations, segments=self.request.segments, unseen=self.request.unseen)

    @cached_property
    def intervals(self) -> ByRun:
        """Of means."""
        intervals: dict[str, dict[str, tuple[float, float]]] = {}
        for run in self.evaluations:
            intervals[run.run] = {}
            for measure in self.means if len(run.query_ids) > 1 else ():
                estimate = run.estimate(measure, alpha=self.request.alpha)
                intervals[run.run][measure.name] = estimate.low, estimate.high
        return intervals

    @cached_property
    def bounds(self) -> ByRun:
        """Of means, given the unjudged documents."""
        bounds: dict[str, dict[str, tuple[float, float]]] = {}
        for run in self._ranked if self.request.bounds else ():
            wanted = (measure for measure in self.request.measures if not measure.definition.of_holes)
            by_measure = {measure.name: run.bounds(measure, unseen=self.request.unseen) for measure in wanted}
            bounds[run.run] = {name: (ends.low, ends.high) for name, ends in by_measure.items()}
        return bounds

    @property
    def answering(self) -> bool:
        """Whether some queries have no answer, so that values are not those of ranks and grades alone."""
        return any(run.answering is not None for run in self.evaluations)

    @cached_property
    def families(self) -> dict[str, Measure]:
        """The first measures that have cutoffs, by their names without one: shown rank by rank."""
        known = {family(measure): measure for measure in self.request.measures if "cutoff" in measure.definition.kinds}
        wanted = [(name, measure) for name, measure in known.items() if not measure.definition.of_holes]
        return dict(wanted[:FAMILIES]) if self.request.ordinary and not self.answering else {}

    @cached_property
    def with_steps(self) -> set[str]:
        """The runs whose values are shown rank by rank: all, or only those of the verdict if that would be too much."""
        if len(self.runs) * len(self.listed) * self.request.depth <= STEPS:
            return set(self.runs)
        return {self.best_first[0].run} | ({self.pair.run, self.pair.baseline} if self.pair else set())

    @cached_property
    def _at_cutoffs(self) -> tuple[dict[str, list[Numbers]], dict[str, dict[str, dict[int, float]]]]:
        """The steps, and by family and run the mean at each cutoff."""
        cuts = {name: cutoffs_of(measure, self.request.depth) for name, measure in self.families.items()}
        steps: dict[str, list[Numbers]] = {}
        means: dict[str, dict[str, dict[int, float]]] = {name: {} for name in cuts}
        for run in self._ranked:
            whole = run.extended(cut for its in cuts.values() for cut in its)
            if run.run in self.with_steps:
                at = self._listed_in(run)
                steps[run.run] = [np.stack([whole.column(cut)[at] for cut in its]) for its in cuts.values()]
            for name, its in cuts.items():
                means[name][run.run] = {k: whole[cut] for k, cut in enumerate(its, 1)}
        return steps, means

    @property
    def steps(self) -> Mapping[str, Sequence[Numbers]]:
        """Of each run with steps and known ranks, each family at every cutoff (rows) for its listed queries."""
        return self._at_cutoffs[0]

    def effects(self, run: Evaluation) -> Numbers | None:
        """What each rank (rows) adds to the first measure for the run's listed queries, given the ranks above it.

        The measure is computed for the ranking cut off after each rank, so these add up to the value of all ranks that
        are shown, whatever the measure is; of a sum over ranks they are the terms. None if the ranks are not known.
        """
        measure = self.request.measures[0]
        if measure.definition.table != "ranks" or not run._has_ranks:
            return None
        ranked = run._ranked()
        cuts = (ranked.ranks.cut(depth) for depth in range(self.request.depth + 1))
        values = np.stack([measured([measure], {"ranks": cut}, ranked.kept)[measure] for cut in cuts])
        return np.diff(values, axis=0)[:, self._listed_in(run)]

    def _listed_in(self, run: Evaluation) -> list[int]:
        """The places in a run of the listed queries that it has."""
        place = {query: at for at, query in enumerate(run.query_ids)}
        return [place[query] for query in self.listed if query in place]

    @cached_property
    def curves(self) -> Curves | None:
        if not self.request.charts or not self.request.ordinary or not self._ranked:
            return None
        ranks = rank_curves(self._ranked, parse_measure("P@1"))
        return Curves(recall_curves(self._ranked, RECALLS), ranks, self._at_cutoffs[1])

    @cached_property
    def thinned(self) -> Stability | None:
        """The measures as judgments are removed: if requested, or by default if that is quick."""
        request, wanted, ranked = self.request, self.means[:THINNED], self._ranked
        drawn = request.charts and request.ordinary and request.removal is not False
        if not drawn or self.answering or not self.comparable or self.judgments is None or not ranked or not wanted:
            return None
        work = sum(len(run._ranked().packed) for run in ranked)
        if not request.removal and work * REPEATS * len(FRACTIONS) * len(wanted) >= REMOVED:
            return None
        tables = {run.run: run._ranked().ranks for run in ranked}
        policy, weights = ranked[0].policy, ranked[0].weights
        if weights is not None and policy.missing == "skip":  # queries that a run lacks have a weight of their own
            return None
        return stability(
            self.judgments, tables, wanted, (0.0, *FRACTIONS), repeats=REPEATS, policy=policy, weights=weights
        )
