"""The result of `evaluate`: the values of each query, and what they rest on."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cranfield.drawing import plotted, to_mlflow
from cranfield.errors import InputError
from cranfield.evaluation.by_query import ValuesByQuery
from cranfield.evaluation.evidence import RankedEvidence, SavedEvidence
from cranfield.evaluation.tie_ranges import TieRange, tie_warning_text
from cranfield.evaluation.values import BUDGET, Bounds, Counts, measured
from cranfield.evaluation.weighting import Weights, by_group, hash_of
from cranfield.measures import DEFAULT_MEASURES, Measure, Measures, parse_measures
from cranfield.measures.registry import require_ranks
from cranfield.measures.scope import Scope
from cranfield.ranks.columns import Numbers
from cranfield.ranks.policy import Policy
from cranfield.ranks.tables.ranks import JudgedRanks

if TYPE_CHECKING:
    from cranfield.evaluation.answering import Answering
    from cranfield.evaluation.query_facts import FactColumns, QueryList
    from cranfield.show.charts.parts import Spec


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Evaluation(ValuesByQuery):
    """The result of `evaluate`: a mapping from measure to its mean over the queries.

    Measures are found by any of their names.

    >>> from cranfield import evaluate
    >>> result = evaluate({"q1": {"a": 1, "b": 0}}, {"q1": {"a": 0.2, "b": 0.9}}, "RR P@1")
    >>> result["RR"], result["recip_rank"], result["P_1"]
    (0.5, 0.5, 0.0)
    >>> result.by_query("RR"), result.column("RR"), result.query_ids
    ({'q1': 0.5}, array([0.5]), ('q1',))
    >>> result.per_query[0]
    QueryValue(run='the run', query_id='q1', measure='RR', value=0.5)
    >>> print(result)
    the run
    RR   0.5000
    P@1  0.0000
    1 query
    >>> result.shown("RR"), result.describe_counts(), result.counts.queries
    ('0.5000', '1 query', 1)
    >>> result.definition("RR").name, result.queries("RR", ["q1"])[0].first, result.unjudged()
    ('RR', 2, {'q1': 0})
    """

    _evidence: RankedEvidence | SavedEvidence = field(repr=False)
    answering: Answering | None = field(default=None, repr=False)  # where some queries have no answer
    # About the judgments, and about ids of run and judgments that hardly match.
    _input_warnings: tuple[str, ...] = field(default=(), repr=False)

    @classmethod
    def of(
        cls,
        judged: JudgedRanks,
        measures: Measures = DEFAULT_MEASURES,
        *,
        policy: Policy | None = None,
        name: str = "the run",
    ) -> Evaluation:
        """Evaluate ranks that are already known, such as those of another evaluation.

        judged: the ranks and grades of the judged documents, query by query.
        measures: names such as "nDCG@10", separated by spaces or in a list; only measures of ranks and grades.
        policy: the conventions by which the documents were ranked; here only `missing` makes a difference.
        name: the run's name in the result.
        Returns an evaluation, which has no documents to show.

        >>> from cranfield import Evaluation, JudgedRanks
        >>> Evaluation.of(JudgedRanks.of_grades([0, 2, 1]), "RR nDCG@3")
        <Evaluation of the run: RR=0.5000, nDCG@3=0.6697; 1 query>
        """
        from cranfield.evaluation.from_ranks import evaluate_ranks

        return evaluate_ranks(judged, measures, policy or Policy(), name)

    def renamed(self, run: str) -> Evaluation:
        """The same evaluation under another name.

        run: the new name of the run.
        Returns a new evaluation; this one keeps its name.

        >>> from cranfield import evaluate
        >>> evaluate({"1": {"a": 1}}, {"1": ["x", "a"]}, "RR").renamed("mine")
        <Evaluation of mine: RR=0.5000; 1 query>
        """
        if run == self.run:
            return self
        return replace(self, run=run, by_people=self.by_people and self.by_people.renamed(run))

    def weighted(self, weights: Any) -> Evaluation:
        """The same evaluation with weights of the queries, by which all means, intervals and bounds are.

        weights: how much each query counts, as {query: weight} or a file of both; every query needs one. None makes
            all queries count alike, each by itself.
        Returns a new evaluation; the values of the queries are the same.

        >>> from cranfield import evaluate
        >>> result = evaluate({"1": {"a": 1}, "2": {"b": 1}}, {"1": ["a"], "2": ["x", "b"]}, "RR")
        >>> result.weighted({"1": 3, "2": 1})
        <Evaluation of the run: RR†=0.8750; 2 queries>
        """
        if weights is None:
            new = None
        else:
            self._refuse_corrected("means with weights")
            self._refuse_parts(self.measures, "means with weights")
            new = Weights.read(weights).over(self.query_ids)
        if self.weights is new or (self.weights and new and self.weights.same(new, self.query_ids)):
            return self if new is None else replace(self, weights=new)
        evidence = self._evidence.reweighted() if isinstance(self._evidence, SavedEvidence) else self._evidence
        return replace(self, weights=new, _evidence=evidence)

    def of_groups(self) -> Evaluation:
        """The same evaluation with groups of queries in place of queries: the value of each is the mean of its members.

        Returns a new evaluation, for charts and tables of values; without groups, this one.

        >>> from cranfield import evaluate
        >>> qrels, run = {"1": {"a": 1}, "2": {"b": 1}}, {"1": ["a"], "2": ["x", "b"]}
        >>> evaluate(qrels, run, "RR", groups={"1": "same", "2": "same"}).of_groups().by_query("RR")
        {'same': 0.75}
        """
        if self.weights is None or self.weights.groups is None:
            return self
        columns = np.stack([self._columns[measure] for measure in self.measures], axis=1)
        units = by_group(self.weights, self.query_ids, columns)
        weights = None
        if units.weight is not None:
            weights = Weights(self.weights.source, dict(zip(units.names, units.weight.tolist(), strict=True)))
        by_measure = {measure: units.values[:, at].copy() for at, measure in enumerate(self.measures)}
        return replace(self, query_ids=units.names, _columns=by_measure, weights=weights, segments=None)

    def extended(self, measures: str | Measure | Iterable[str | Measure]) -> Evaluation:
        """The same evaluation with further measures of ranks and grades; the run is not read again.

        measures: names such as "nDCG@10", separated by spaces or in a list.
        Returns a new evaluation. A saved evaluation has no ranks, so this raises an error for it.

        >>> from cranfield import evaluate
        >>> evaluate({"1": {"a": 1}}, {"1": ["x", "a"]}, "RR").extended("P@1 P@2")
        <Evaluation of the run: RR=0.5000, P@1=0.0000, P@2=0.5000; 1 query>
        """
        ranked = self._ranked()
        named = [measures] if isinstance(measures, str | Measure) else measures
        every = parse_measures([*self.measures, *named])
        more = every[len(self.measures) :]
        if more:
            self._refuse_answering("further measures")
        for measure in more:
            require_ranks(measure)
        judged = ranked.ranks
        return replace(
            self,
            measures=every,
            counts=Counts.of(every, judged, ranked.kept),
            _columns={**self._columns, **measured(more, {"ranks": judged}, ranked.kept)},
            by_people=self.by_people and self.by_people.extended(more),
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the evaluation, for a later comparison with another.

        path: the JSON file to write, with the value of every query.

        >>> import tempfile
        >>> from cranfield import evaluate
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     evaluate({"1": {"a": 1}}, {"1": ["a"]}, "RR", name="mine").save(f"{folder}/mine.json")
        ...     Evaluation.load(f"{folder}/mine.json")
        <Evaluation of mine: RR=1.0000; 1 query>
        """
        from cranfield.evaluation.saving import save

        save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Evaluation:
        """Load a saved evaluation.

        path: a file that `save` wrote.
        Returns the evaluation. It has everything but the ranks, so `bounds`, `extended` and `unjudged` raise an error.

        >>> import tempfile
        >>> from cranfield import evaluate
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     evaluate({"1": {"a": 1}}, {"1": ["a"]}, "RR", name="mine").save(f"{folder}/mine.json")
        ...     Evaluation.load(f"{folder}/mine.json")["RR"]
        1.0
        """
        from cranfield.evaluation.saving import load

        return load(path)

    def to_mlflow(self, *, report: bool = True) -> str:
        """Log the evaluation to the active run of MLflow, or to one of its own.

        report: whether the page of `write_report` becomes an artifact, beside the table of values by query.
        Returns the id of the run. Metrics have the names of `to_dict(flat=True)`; signatures are tags.

        >>> from cranfield import evaluate
        >>> evaluate("builtin:ten", "builtin:meaning", "RR").to_mlflow()  # doctest: +SKIP
        'b8f1d2c9e0a34d7f8c6b5a4938271605'
        """
        return to_mlflow(self, report=report)

    @property
    def ranks(self) -> JudgedRanks | None:
        """The table that the values were computed from; None for a saved evaluation.

        >>> from cranfield import evaluate
        >>> evaluate({"1": {"a": 1}}, {"1": ["x", "a"]}, "RR").ranks.rank.tolist()
        [2]
        """
        return self._evidence.ranks

    @property
    def _has_ranks(self) -> bool:
        return isinstance(self._evidence, RankedEvidence)  # reading the ranks would unpack them

    def _refuse_answering(self, what: str) -> None:
        if self.answering is not None:
            fact = f"there are no {what} where queries without an answer count as rightly or wrongly empty."
            raise InputError(self.run, fact, hint="evaluate the run without the column of answers for these")

    def _ranked(self) -> RankedEvidence:
        if isinstance(self._evidence, RankedEvidence):
            return self._evidence
        raise InputError(
            self.run,
            "a saved evaluation has no ranks, so bounds and further measures cannot be calculated.",
            hint="evaluate the run again",
        )

    def bounds(
        self,
        measure: str | Measure,
        *,
        scale: Iterable[float] | None = None,
        unseen: int | Mapping[str, int] = 0,
        budget: int = BUDGET,
    ) -> Bounds:
        """How low and how high a measure could be, whatever unjudged documents turn out to be.

        These are the unjudged documents that the run retrieved. Documents that it did not retrieve count as not
        relevant, apart from `unseen` ones. Ranks stay as they are, also where the policy ranks ties by grade.

        measure: any of its names, or a `Measure`.
        scale: the grades that an unjudged document may have; by default those that occur in the judgments, and at least
            0, 1 and the grade that counts as relevant.
        unseen: how many documents that were neither judged nor retrieved may have such a grade as well, of each query
            or by query.
        budget: how much work to do; with less, bounds may be wider than necessary.
        Returns the bounds of the mean and of each query.

        >>> from cranfield import evaluate
        >>> result = evaluate({"1": {"a": 1, "b": 1}}, {"1": ["x", "a", "y"]}, "RR R@3")
        >>> result.bounds("RR").low, result.bounds("RR").high, result.bounds("RR").scale
        (0.5, 1.0, (0.0, 1.0))
        >>> result.bounds("R@3").low, result.bounds("R@3", unseen=2).low
        (0.5, 0.25)
        """
        from cranfield.evaluation.bounding import evaluation_bounds

        self._refuse_corrected("bounds")
        self._refuse_answering("bounds")
        return evaluation_bounds(self, self._ranked(), self._find(measure), scale, unseen, budget)

    def tie_range(self, measure: str | Measure) -> tuple[float, float] | None:
        """The mean of a measure in the worst and in the best order of documents with equal scores, the lower one first.

        measure: any of its names, or a `Measure`.
        Returns the two, which are those of Policy(ties="worst") and Policy(ties="best"), and equal where no judged
        document is tied. Other orders give means in between, except by measures that do not always reward a better
        order, such as infAP. None where they are not known: with `lengths`, for measures of subtopics, preferences,
        groups, strata and passages, and for those of unjudged documents, such as Judged@10.

        >>> from cranfield import evaluate
        >>> result = evaluate({"1": {"a": 1}}, {"1": {"a": 0.5, "b": 0.5, "c": 0.5}}, "RR")
        >>> result["RR"], result.tie_range("RR")
        (0.3333333333333333, (0.3333333333333333, 1.0))
        """
        wanted = self._find(measure)
        ends = self._tie_ranges({wanted: self._columns[wanted]})[wanted]
        return None if ends is None else (min(ends), max(ends))

    @property
    def tie_warning(self) -> str:
        """Which values the order of equal scores decides; empty if none, or if the policy chooses that order.

        >>> from cranfield import evaluate
        >>> evaluate({"1": {"a": 1}}, {"1": {"a": 0.5, "b": 0.5}}, "RR").tie_warning
        'ties matter: RR 0.5000, between 0.5000 (worst order of ties) and 1.0000 (best)'
        """
        if not self._evidence.has_ties:
            return ""
        means = {measure: self[measure] for measure in self.measures}
        ranges = self._tie_ranges(self._columns)
        return tie_warning_text(
            {measure: its for measure, its in ranges.items() if its is not None}, means, self.policy
        )

    def _tie_ranges(self, columns: Mapping[Measure, Numbers]) -> dict[Measure, TieRange | None]:
        return self._evidence.tie_ranges(columns, self._weight())

    @property
    def warnings(self) -> tuple[str, ...]:
        """Reasons to doubt the values: judgments chosen for other runs, ids that hardly match, ties that decide.

        >>> from cranfield import evaluate
        >>> evaluate({"1": {"a": 1}, "2": {"a": 1}, "3": {"a": 1}}, {"1": ["a"]}, "RR").warnings
        ('only 1 of the 3 judged queries is in the run; the others count 0',)
        """
        return (*self._warnings_of_input, *filter(None, [self.tie_warning]))

    @property
    def _warnings_of_input(self) -> tuple[str, ...]:
        """All but that about ties, which is told beside the values that it changes."""
        return (*self._input_warnings, *filter(None, [self._evidence.distances]))

    def _signed_answers(self) -> tuple[str, ...]:
        its = self.answering
        if its is None:
            return ()
        threshold = "fitted" if its.fitted else its.threshold
        cut = () if threshold is None else (f"threshold:{threshold}",)
        return (f"unanswerable:{hash_of(dict.fromkeys(its.unanswerable, ''))[:12]}", *cut)

    def describe_counts(self) -> str:
        """The counts in words, and how many of the queries have no answer.

        >>> from cranfield import evaluate
        >>> evaluate({"1": {"a": 1}}, {"1": ["a"]}, "RR", answerable={"2": False}).describe_counts()
        '2 queries; 1 of them without an answer'
        """
        counts = super().describe_counts()
        if self.answering is None:
            return counts
        return f"{counts}; {len(self.answering.unanswerable):,} of them without an answer"

    def _choices_of_run(self) -> Iterable[str]:
        return self._evidence.made.signature if self._evidence.made else ()

    def unjudged(self, cutoff: int | None = None) -> dict[str, int]:
        """How many documents of each ranking are not judged.

        cutoff: the deepest rank that is looked at; by default all of them.
        Returns a number for each query.
        """
        ranked = self._ranked()
        holes = ranked.packed.table(cutoff).n_unjudged(cutoff).astype(int)[ranked.kept]
        return dict(zip(self.query_ids, holes.tolist(), strict=True))

    def facts(self, measure: str | Measure) -> FactColumns:
        """What a measure looks at, counted for each query by the measure's own rel and cutoff.

        measure: any of its names, or a `Measure`.
        Returns columns in the order of `query_ids`.

        >>> from cranfield import evaluate
        >>> result = evaluate({"q1": {"a": 1, "b": 2}}, {"q1": ["a", "b"]}, "P@1 P(rel=2)@1")
        >>> result.facts("P@1").found, result.facts("P(rel=2)@1").found
        (array([1]), array([0]))
        """
        return self._evidence.facts(Scope.of(self._find(measure)))

    def queries(self, measure: str | Measure, query_ids: Sequence[str]) -> QueryList:
        """The facts about some queries: their value, and counts by the measure's own rel and cutoff.

        measure: any of its names, or a `Measure`.
        query_ids: which queries; one that was not evaluated is an error.
        Returns the facts of each, in the order given.
        """
        place = {query: at for at, query in enumerate(self.query_ids)}
        unknown = [query for query in query_ids if query not in place]
        if unknown:
            raise InputError(self.run, f"query '{unknown[0]}' was not evaluated.")
        return self._described(self._find(measure), [place[query] for query in query_ids])

    def worst(self, measure: str | Measure | None = None, n: int = 10, *, rel: float | None = None) -> QueryList:
        """The worst queries by a measure, and why: counts are by the measure's own rel and cutoff.

        measure: any of its names, or a `Measure`; by default the first that was measured.
        n: how many queries.
        rel: the lowest grade that counts as relevant, for a measure without a rel of its own, such as nDCG.
        Returns the facts of each, the worst first.

        >>> from cranfield import evaluate
        >>> qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
        >>> [worst] = evaluate(qrels, {"q1": ["x", "a"], "q2": ["b"]}, "RR@10").worst("RR@10", 1)
        >>> worst.query_id, worst.value, worst.reason
        ('q1', 0.5, '1 of 1 relevant in the top 10, the first at rank 2; 1 of 2 retrieved unjudged')
        >>> evaluate({"q1": {"a": 1, "b": 2}}, {"q1": ["a"]}, "nDCG@10").worst(rel=2)
        <query q1: 0.3801; none of 1 relevant in the top 10>
        """
        wanted = self.measures[0] if measure is None else self._find(measure)
        values = self._columns[wanted]
        order = np.argsort(-values if wanted.definition.lower_is_better else values, kind="stable")[: max(n, 0)]
        return self._described(wanted, order.tolist(), rel)

    def _described(self, measure: Measure, places: Iterable[int], rel: float | None = None) -> QueryList:
        from cranfield.evaluation.query_facts import QueryList

        values, scope = self._columns[measure], Scope.of(measure)
        if rel is None or scope.rel is not None:
            facts = self.facts(measure)
        else:
            scope = scope._replace(rel=rel)
            facts = self._ranked().facts(scope)
        queries = (facts.query(at, self.query_ids[at], float(values[at]), scope) for at in places)
        if self.answering is not None:
            without = {*self.answering.unanswerable}
            queries = (query._replace(answerable=query.query_id not in without) for query in queries)
        return QueryList(queries, measure.name)

    def plot(self, kind: str = "distribution", measure: str | Measure | None = None, **options: Any) -> Spec:
        """A chart of this run, which a notebook shows and `save_chart` saves.

        kind: "distribution", "cutoff", "heatmap", "segments", "precision-recall", "precision-recall-full" or
            "thresholds", for queries without an answer.
        measure: any of its names, or a `Measure`; by default the first that was measured.
        options: those of the chart, as for `draw_chart`.
        Returns the specification, as a dict.

        >>> from cranfield import evaluate
        >>> evaluate({"1": {"a": 1}, "2": {"b": 1}}, {"1": ["x", "a"], "2": ["b"]}, "RR").plot()
        <chart: RR of the queries>
        """
        self._refuse_corrected("charts")
        return plotted(kind, [self], measure, **options)
