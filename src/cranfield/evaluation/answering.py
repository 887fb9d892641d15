"""Queries without an answer: right is to return nothing above a threshold.

    value of a query without an answer   1 if nothing is returned, 0 if anything is
    rightly, wrongly empty               the share of the queries without, and with an answer, that return nothing
    threshold                            documents of lower scores are not returned; fitted: chosen as in folds.py on
                                         four fifths of the queries, of both kinds alike, and measured on the rest
    nAUC                                 of the queries that return something, rate r of the least confident are left
                                         out, for r = 0, .1 … .9; A the area below the mean of the others:
                                         (A - A of a constant mean) / (A of the best order - A of a constant mean)

The means are over all queries. So a run that returns nothing differs from one that returns anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from math import inf, isfinite, isnan
from typing import Any, NamedTuple

import numpy as np

from cranfield.errors import InputError, MeasureError
from cranfield.evaluation.estimating import SAME
from cranfield.evaluation.evidence import RankedEvidence
from cranfield.evaluation.folds import FOLDS, cross_fitted, folds_of
from cranfield.evaluation.result import Evaluation
from cranfield.evaluation.values import measured
from cranfield.measures import Measure
from cranfield.measures.registry import require_ranks
from cranfield.measures.scope import rels_of
from cranfield.ranks.columns import Flags, Integers, Numbers
from cranfield.ranks.tables.ranks import JudgedRanks
from cranfield.ranks.whole_rankings import scores_best_first
from cranfield.words import count, listed, percent

FITTED = "fitted"
TRIED = 60  # thresholds that are tried, spread evenly over the best scores of the queries
RATES = tuple(rate / 10 for rate in range(10))  # of abstention
SEED = 0  # of the folds: the same for all runs, so that they are compared on the same queries


class ThresholdPoint(NamedTuple):
    """What a threshold does: the shares rightly and wrongly empty, the mean of queries with an answer, and of all."""

    threshold: float | None
    rightly_empty: float
    wrongly_empty: float
    answered: float
    value: float


@dataclass(frozen=True, slots=True)
class Answering:
    """How a run deals with queries that have no answer: see `Evaluation.answering`.

    unanswerable: the queries without an answer; answerable: how many others there are
    threshold: below which nothing is returned; of a fitted one, the median of those chosen; None where there is none
    fitted: the lowest and the highest that was chosen; None if it was given
    rightly_empty, wrongly_empty: the share of the queries without, and with an answer, that return nothing
    answered: the mean of each measure over the queries that have an answer
    optimistic: of a fitted threshold, the mean of the first measure by the best threshold for the very same queries
    curve: a `ThresholdPoint` for each threshold, by the first measure; nothing where scores are not known
    nauc: how well confidence tells good rankings from bad ones: the best score (max), its lead over the second
        (margin), or the deviation of the scores; 1 is as good as knowing the values, 0 is chance

    >>> from cranfield import evaluate
    >>> run = {"1": {"a": 0.9, "b": 0.3}, "2": {"a": 0.4}, "3": {"b": 0.5}}
    >>> options = {"answerable": {"2": False, "4": False}, "threshold": 0.45}
    >>> result = evaluate({"1": {"a": 1}, "3": {"b": 1}}, run, "RR", **options)
    >>> result.by_query("RR")
    {'1': 1.0, '2': 1.0, '3': 1.0, '4': 1.0}
    >>> result.answering.sentence
    '2 of 2 queries without an answer are rightly empty, 0 of 2 with one wrongly'
    >>> result.answering.answered, result.answering.to_dict()["threshold"], result.answering.curve[-1].wrongly_empty
    ({'RR': 1.0}, 0.45, 1.0)
    """

    unanswerable: tuple[str, ...]
    answerable: int
    threshold: float | None
    fitted: tuple[float, float] | None
    rightly_empty: float
    wrongly_empty: float
    answered: Mapping[str, float]
    optimistic: float | None
    curve: tuple[ThresholdPoint, ...]
    nauc: Mapping[str, float | None]

    def __repr__(self) -> str:
        return f"<Answering: {self.sentence}>"

    @property
    def sentence(self) -> str:
        """How many queries are rightly and wrongly empty, in words; a share where that is no number of queries."""
        without = count(len(self.unanswerable), "query", "queries")
        verb = "is" if len(self.unanswerable) == 1 else "are"
        right = _number(self.rightly_empty, len(self.unanswerable))
        wrong = _number(self.wrongly_empty, self.answerable)
        return (
            f"{right} of {without} without an answer {verb} rightly empty, "
            f"{wrong} of {self.answerable:,} with one wrongly"
        )

    def to_dict(self) -> dict[str, Any]:
        """The result as plain dicts, ready for JSON."""
        return {
            **asdict(self),
            "unanswerable": list(self.unanswerable),
            "threshold": _finite(self.threshold),
            "fitted": self.fitted and list(map(_finite, self.fitted)),
            "curve": [point._asdict() for point in self.curve],
        }


def answering_from(content: Mapping[str, Any]) -> Answering:
    """What `to_dict` wrote."""
    fitted = content["fitted"]
    ends = None
    if fitted is not None:
        low, high = fitted
        ends = (-inf if low is None else low, inf if high is None else high)
    return Answering(
        **{
            **content,
            "unanswerable": tuple(content["unanswerable"]),
            "fitted": ends,
            "curve": tuple(ThresholdPoint(**point) for point in content["curve"]),
        }
    )


def with_answering(evaluation: Evaluation, answerable: Mapping[str, bool], threshold: Any = None) -> Evaluation:
    """The evaluation with the values of queries that have no answer, and with a threshold if there is one."""
    evidence = evaluation._evidence
    if evaluation.answering is not None or not isinstance(evidence, RankedEvidence):
        return _already(evaluation, answerable)
    if evaluation.policy.missing == "skip":
        fact = "a query that a run lacks returned nothing, and that is right for one without an answer."
        raise InputError(evaluation.run, fact, hint="count missing queries: leave out the policy missing=skip")
    judged = evidence.ranks
    without = np.array([not answerable.get(query, True) for query in judged.query_ids], dtype=np.bool_)
    _refuse_answered(evaluation, judged, without)
    weights = evaluation.weights
    weight = np.ones(len(judged)) if weights is None else weights.column(judged.query_ids)
    scores = _scores(evaluation)
    if threshold is not None and scores is None:
        raise InputError(evaluation.run, "its scores are not known, so there can be no threshold.")
    cutting = _Cutting(evaluation.measures, judged, without, weight, scores)
    curve = [] if scores is None else [cutting.point(each) for each in _thresholds(scores)]
    given = _given(threshold)
    fitted, optimistic = None, None
    if threshold == FITTED:
        group = None if weights is None else weights.group(judged.query_ids)
        columns, empty, chosen, optimistic = _fitted(cutting, group)
        fitted, given = (float(chosen.min()), float(chosen.max())), float(np.median(chosen))
    else:
        table = cutting.table(given)
        columns, empty = cutting.columns(table), (table.retrieved == 0).astype(np.float64)
        if given is not None:
            evidence = RankedEvidence(table, evaluation.policy, evidence.reading, None)
    if threshold is not None:
        evidence.orders = None  # with other orders of ties, other documents would be below it
    evidence.lacking -= {query for query, its in zip(judged.query_ids, without, strict=True) if its}
    found = Answering(
        tuple(query for query, its in zip(judged.query_ids, without.tolist(), strict=True) if its),
        int((~without).sum()),
        given,
        fitted,
        _mean(empty, weight, without),
        _mean(empty, weight, ~without),
        {
            measure.name: _mean(columns[measure], weight, ~without)
            for measure in evaluation.measures
            if measure.definition.aggregate == "mean"
        },
        optimistic,
        tuple(curve),
        {} if scores is None else nauc_of(cutting.plain(), scores),
    )
    counts, missing = evaluation.counts, int((judged.missing & without).sum())
    many = int(without.sum())
    left = replace(
        counts,
        missing=counts.missing - missing,
        no_relevant=max(counts.no_relevant - many, 0),
        no_relevant_for_all=max(counts.no_relevant_for_all - many, 0),
    )
    return replace(evaluation, _columns=columns, _evidence=evidence, counts=left, answering=found)


def nauc_of(values: Numbers, scores: Sequence[Numbers]) -> dict[str, float | None]:
    """The normalised area of abstention by each kind of confidence, over the queries that return something."""
    some = [at for at, its in enumerate(scores) if len(its)]
    of = {
        "max": [scores[at][0] for at in some],
        "margin": [scores[at][0] - (scores[at][1] if len(scores[at]) > 1 else scores[at][0]) for at in some],
        "deviation": [scores[at].std() for at in some],
    }
    kept = values[some]
    return {name: normalised_area(kept, np.array(confidence)) for name, confidence in of.items()}


def normalised_area(values: Numbers, confidence: Numbers) -> float | None:
    """(A - flat) / (best - flat); None where the best order is no better than any."""
    if not len(values):
        return None

    def area(order: Numbers) -> float:
        kept = values[np.argsort(order, kind="stable")]
        means = [float(kept[min(round(rate * len(kept)), len(kept) - 1) :].mean()) for rate in RATES]
        return sum((one + other) / 2 for one, other in pairwise(means)) / len(RATES)

    flat, best = RATES[-1] * float(values.mean()), area(values)
    return None if abs(best - flat) <= SAME else (area(confidence) - flat) / (best - flat)


class _Cutting:
    """Values by threshold; `scores`: of each query, the highest first."""

    def __init__(
        self,
        measures: Sequence[Measure],
        judged: JudgedRanks,
        without: Flags,
        weight: Numbers,
        scores: list[Numbers] | None,
    ) -> None:
        self.measures, self.judged, self.without, self.weight, self.scores = measures, judged, without, weight, scores
        for measure in measures:
            its = measure.definition
            if its.aggregate == "mean" and not its.of_holes and (its.range != (0, 1) or its.lower_is_better):
                hint = "use measures from 0 to 1, such as nDCG@10"
                raise MeasureError(f"{measure} has no value for a query without an answer.", hint=hint)

    def table(self, threshold: float | None) -> JudgedRanks:
        """The ranks of the documents whose scores reach a threshold."""
        if threshold is None or self.scores is None:
            return self.judged
        size = np.array([np.searchsorted(-its, -threshold, side="right") for its in self.scores], dtype=np.int64)
        size = np.minimum(size, self.judged.retrieved)
        lengths = self.judged.lengths
        cut = None if lengths is None else tuple(its[:n] for its, n in zip(lengths, size.tolist(), strict=True))
        return replace(self.judged.rows(self.judged.rank <= size[self.judged.query]), retrieved=size, lengths=cut)

    def columns(self, table: JudgedRanks, measures: Sequence[Measure] | None = None) -> dict[Measure, Numbers]:
        """The values of measures; of a query without an answer, whether nothing is returned."""
        wanted = self.measures if measures is None else measures
        for measure in wanted:
            require_ranks(measure)
        found = measured(wanted, {"ranks": table}, np.ones(len(table), dtype=np.bool_))
        right = (table.retrieved == 0).astype(np.float64)
        for measure, values in found.items():
            if measure.definition.aggregate == "mean" and not measure.definition.of_holes:
                found[measure] = np.where(self.without, right, values)
        return found

    def plain(self) -> Numbers:
        """The values of the first measure, 0 without an answer."""
        return np.where(self.without, 0.0, self.columns(self.judged, self.measures[:1])[self.measures[0]])

    def point(self, threshold: float) -> ThresholdPoint:
        table = self.table(threshold)
        values, empty = self.columns(table, self.measures[:1])[self.measures[0]], table.retrieved == 0
        return ThresholdPoint(
            _finite(threshold),
            _mean(empty, self.weight, self.without),
            _mean(empty, self.weight, ~self.without),
            _mean(values, self.weight, ~self.without),
            float(np.average(values, weights=self.weight)),
        )


def _fitted(cutting: _Cutting, group: Integers | None) -> tuple[dict[Measure, Numbers], Numbers, Numbers, float]:
    """Values at thresholds that are chosen on other queries; how often each is empty; those chosen; the optimistic."""
    queries = len(cutting.judged)
    kinds = [int(cutting.without.sum()), int((~cutting.without).sum())]
    if min(kinds) < FOLDS:
        fact = f"{kinds[0]} queries without an answer and {kinds[1]} with one are too few to choose a threshold."
        raise InputError("threshold", fact, hint=f"{FOLDS} of each are needed, and 50 are not many; or give a number")
    tried = np.array(_thresholds(cutting.scores or []))
    tables = [cutting.table(each) for each in tried.tolist()]
    by_table = [cutting.columns(table) for table in tables]
    group = np.arange(queries) if group is None else group
    fold = folds_of(group, cutting.without.astype(np.int64), np.random.default_rng(SEED))
    first = np.stack([columns[cutting.measures[0]] for columns in by_table], axis=1)
    best = cross_fitted(first, fold, cutting.weight)
    rows = np.arange(queries)

    def crossed(table: Numbers) -> Numbers:
        return np.asarray(
            np.mean([table[rows, chosen[its]] for chosen, its in zip(best.chosen, fold, strict=True)], axis=0)
        )

    columns = {
        measure: crossed(np.stack([columns[measure] for columns in by_table], axis=1)) for measure in cutting.measures
    }
    empty = crossed(np.stack([table.retrieved == 0 for table in tables], axis=1).astype(np.float64))
    return columns, empty, tried[best.chosen.reshape(-1)], best.optimistic


def _thresholds(scores: Sequence[Numbers]) -> list[float]:
    """Thresholds from none at all to one above all scores; between them, best scores of queries."""
    tops = np.array([its[0] for its in scores if len(its)])
    if not len(tops):
        return [-inf]
    known = np.unique(np.quantile(tops, np.linspace(0, 1, TRIED), method="inverted_cdf"))
    return [-inf, *known.tolist(), float(np.nextafter(tops.max(), inf))]


def _scores(evaluation: Evaluation) -> list[Numbers] | None:
    reading = evaluation._evidence.reading
    if reading is None or reading.run is None:
        return None
    return scores_best_first(reading.run.source, reading.judgments.number, reading.policy)


def _refuse_answered(evaluation: Evaluation, judged: JudgedRanks, without: Flags) -> None:
    answered = without & (judged.n_relevant(min(rels_of(evaluation.measures), default=1)) > 0)
    if answered.any():
        named = [query for query, its in zip(judged.query_ids, answered.tolist(), strict=True) if its]
        verb = "has" if len(named) == 1 else "have"
        fact = f"{count(len(named), 'query', 'queries')} that should have no answer {verb} a relevant document: "
        hint = "take them out of the column, or the grades out of the judgments"
        raise InputError("answerable", f"{fact}{listed(named)}.", hint=hint)
    if not without.any():
        raise InputError("answerable", "each of the queries has an answer.", hint="say which ones have none")


def _already(evaluation: Evaluation, answerable: Mapping[str, bool]) -> Evaluation:
    known = evaluation.answering
    wanted = tuple(query for query in evaluation.query_ids if not answerable.get(query, True))
    if known is None or known.unanswerable != wanted:
        fact = "it was saved without these queries that have no answer."
        raise InputError(evaluation.run, fact, hint="evaluate the run again, with the same columns of queries")
    return evaluation


def _given(threshold: Any) -> float | None:
    if threshold is None or threshold == FITTED:
        return None
    with suppress(TypeError, ValueError):
        if not isnan(given := float(threshold)):
            return given
    hint = f"give a score, or '{FITTED}'"
    raise InputError("answerable", "is no score.", parameter="threshold", value=threshold, hint=hint)


def _mean(values: Any, weight: Numbers, of: Flags) -> float:
    return float(np.average(np.asarray(values, dtype=np.float64)[of], weights=weight[of])) if weight[of].any() else 0.0


def _finite(number: float | None) -> float | None:
    return number if number is not None and isfinite(number) else None


def _number(share: float, queries: int) -> str:
    number = share * queries
    return f"{number:,.0f}" if abs(number - round(number)) < SAME else percent(share)
