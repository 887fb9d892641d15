"""Evaluations side by side: the same queries, by their ids, in the same order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from cranfield.errors import ComparisonError, either, given
from cranfield.evaluation.estimating import Columns, Estimator, estimator_of
from cranfield.evaluation.result import Evaluation
from cranfield.evaluation.weighting import Weights, only_one_counts
from cranfield.measures import Measure
from cranfield.measures.scope import Scope
from cranfield.ranks.columns import Integers, Numbers


@dataclass(frozen=True, slots=True, eq=False)
class Paired:
    """The values of several runs for the queries that all of them have.

    columns: by measure, a row for each query and a column for each run
    left_out: queries that only some of the runs have; there are none unless Policy(missing="skip")
    weights: of these queries, by which all means are; None where all count alike
    proxies, drawn: by a model's grades over all queries, where `columns` are by people's of the sampled ones; and the
        rows of these
    """

    runs: tuple[str, ...]
    query_ids: tuple[str, ...]
    left_out: int
    columns: dict[Measure, Numbers]
    proxies: dict[Measure, Numbers] = field(default_factory=dict)
    drawn: Integers | None = None
    weights: Weights | None = None

    @property
    def group(self) -> Integers | None:
        """The number of the group that each query belongs to; None where each is by itself."""
        return None if self.weights is None else self.weights.group(self.query_ids)

    @property
    def weight(self) -> Numbers | None:
        return None if self.weights is None else self.weights.column(self.query_ids)

    @property
    def probability(self) -> Numbers | None:
        return None if self.weights is None else self.weights.probabilities(self.query_ids)

    def of(self, measure: Measure) -> Columns:
        return Columns(
            self.columns[measure],
            self.weight,
            self.group,
            proxy=self.proxies.get(measure),
            drawn=self.drawn,
            probability=self.probability,
        )

    def contrast(self, measure: Measure, pairs: Sequence[tuple[int, int]]) -> Columns:
        """For each pair (baseline, run) a column of run - baseline."""
        return self.of(measure).contrast(pairs)

    @property
    def estimator(self) -> Estimator:
        return estimator_of(self.of(next(iter(self.columns))))


def paired(evaluations: Sequence[Evaluation], measures: Sequence[Measure]) -> Paired:
    """Match evaluations by query id, and refuse those that are not comparable."""
    if len(evaluations) < 2:
        raise ComparisonError("compare needs at least two runs.")
    names = [evaluation.run for evaluation in evaluations]
    if len(set(names)) < len(names):
        raise ComparisonError(
            "two evaluations have the same name.", hint="rename one of them: evaluation.renamed('other')"
        )
    first = evaluations[0]
    for other in evaluations[1:]:
        check_same_inputs(first, other)
    for measure in measures:
        if measure.definition.aggregate != "mean":
            raise ComparisonError(
                f"{measure} is not a mean over queries ({measure.definition.aggregate}), and only means are compared.",
                hint="GMAP's values by query are those of AP" if measure.definition.name == "GMAP" else "",
            )
        for evaluation in evaluations:
            check_measured(evaluation, measure)
    by_people = [evaluation.by_people for evaluation in evaluations if evaluation.by_people is not None]
    if by_people:
        sampled, place = by_people[0].query_ids, {query: at for at, query in enumerate(first.query_ids)}
        columns, proxies = (
            {measure: np.stack([evaluation.column(measure) for evaluation in judged], 1) for measure in measures}
            for judged in (by_people, evaluations)
        )
        drawn = np.array([place[query] for query in sampled], dtype=np.int64)
        return Paired(tuple(names), sampled, 0, columns, proxies, drawn)
    everywhere = set(first.query_ids).intersection(*(evaluation.query_ids for evaluation in evaluations[1:]))
    query_ids = tuple(query for query in first.query_ids if query in everywhere)
    anywhere = set(first.query_ids).union(*(evaluation.query_ids for evaluation in evaluations[1:]))
    if len(query_ids) < 2:
        count = "one query" if query_ids else "no query"
        raise ComparisonError(f"the runs have {count} in common.", hint="a significance test needs at least two")
    values = {
        measure: np.stack([_column(evaluation, measure, query_ids) for evaluation in evaluations], 1)
        for measure in measures
    }
    weights = None if first.weights is None else first.weights.over(query_ids)
    if weights is not None and only_one_counts(weights):
        raise ComparisonError(f"only one {weights.unit} counts.", hint="a significance test needs at least two")
    return Paired(tuple(names), query_ids, len(anywhere) - len(query_ids), values, weights=weights)


def check_finite(measure: Measure | str, numbers: Mapping[str, npt.ArrayLike]) -> None:
    """Refuse numbers that are not finite: {"a p-value": …}."""
    for what, number in numbers.items():
        if not np.isfinite(number).all():
            raise ComparisonError(
                f"{measure}: {what} is not a finite number, so nothing can be decided.",
                hint="use smaller grades, or less extreme parameters",
            )


def check_measured(evaluation: Evaluation, measure: Measure) -> None:
    """Refuse an evaluation, such as one saved before, that lacks a measure."""
    if measure not in evaluation.measures:
        raise ComparisonError(
            f"{evaluation.run}: it was not evaluated by {measure}.", hint=f"it has {', '.join(evaluation)}"
        )


def check_same_inputs(one: Evaluation, other: Evaluation) -> None:
    """Refuse evaluations by different judgments, judges or policies: their difference would not be due to the runs."""
    both = f"{one.run} and {other.run}"
    _check_same_judge(one, other)
    for before, after in ((one, other), (one.by_people or one, other.by_people or other)):
        if not before._inputs.same_judgments(after._inputs):
            raise ComparisonError(
                f"{both} were evaluated against different judgments (SHA-256 {before.qrels_sha256[:12]} and "
                f"{after.qrels_sha256[:12]}).",
                hint="evaluate both against the same judgments; a saved evaluation has only values, so give the run "
                "itself",
            )
    if one.policy != other.policy:
        raise ComparisonError(
            f"{both} were evaluated under different policies ({one.policy} and {other.policy}).",
            hint="evaluate both under the same policy",
        )
    _check_same_weights(one, other)
    empty = [None if its.answering is None else its.answering.unanswerable for its in (one, other)]
    if empty[0] != empty[1]:
        raise ComparisonError(
            f"{both} were evaluated with other queries that have no answer.",
            hint=f"evaluate both with the same: {given('answerable', 'queries.csv')}",
        )


def same_weights(one: Evaluation, other: Evaluation) -> bool:
    """Whether the queries that both have count as much in the means of both."""
    if one.weights is None or other.weights is None:
        return one.weights is other.weights
    there = set(other.query_ids)
    return one.weights.same(other.weights, [query for query in one.query_ids if query in there])


def _check_same_weights(one: Evaluation, other: Evaluation) -> None:
    if same_weights(one, other):
        return
    told = [
        "not weighted" if its is None else f"weighted by {its.source or 'a mapping'}"
        for its in (one.weights, other.weights)
    ]
    name, others = "weights", ", with other weights" if told[0] == told[1] else ""
    if any(its is not None and its.groups is not None for its in (one.weights, other.weights)):
        told = [its.sentence if its else "of single queries" for its in (one.weights, other.weights)]
        name, others = "groups", ", with other groups" if told[0] == told[1] else ""
    raise ComparisonError(
        f"the means of {one.run} are {told[0]}, and those of {other.run} {told[1]}{others}.",
        hint=f"give the {name} here, which then hold for both: {given(name, 'queries.csv')}",
    )


def _check_same_judge(one: Evaluation, other: Evaluation) -> None:
    old, new = one.basis, other.basis
    if old is None or new is None:
        corrected = one if new is None else other
        if old is not new:
            raise ComparisonError(
                f"{corrected.run}: its values come from a model, corrected by people.",
                hint="compare it with others of this kind: "
                + either("corrected_judgments(…)", given("correct_with", "people")),
            )
        return
    again = "evaluate the baseline's run itself, or save its evaluation again with the current judge"
    if (old.model, old.judge) != (new.model, new.judge):
        by = [f"{basis.model} (judge {basis.told_judge})" for basis in (old, new)]
        raise ComparisonError(
            f"{one.run} was judged by {by[0]}, and {other.run} by {by[1]}: a different model or prompt is a different "
            "judge, so the values cannot be compared.",
            hint=again,
        )
    for what in ("people", "merge", "sampled", "queries", "seed"):
        before, after = (getattr(basis, what) for basis in (old, new))
        if before != after:
            texts = [", ".join(value) if isinstance(value, tuple) else value for value in (before, after)]
            raise ComparisonError(
                f"{one.run} was corrected with {what} {texts[0]}, and {other.run} with {texts[1]}.", hint=again
            )


def judged_share(evaluation: Evaluation, measure: Measure) -> float | None:
    """The share of the returned documents that is judged, as far down as the measure looks; None if that varies.

    It is averaged over the queries that returned something; those that are missing are counted by themselves.
    """
    fixed = Scope.of(measure).one_depth and measure.definition.table != "passages"
    return evaluation.facts(measure).judged_share() if fixed else None


def _column(evaluation: Evaluation, measure: Measure, query_ids: tuple[str, ...]) -> Numbers:
    column = evaluation.column(measure)
    if evaluation.query_ids == query_ids:
        return column
    place = {query: at for at, query in enumerate(evaluation.query_ids)}
    return column[[place[query] for query in query_ids]]
