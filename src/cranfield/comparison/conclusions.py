"""The result of a comparison: its differences, and the table of the runs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from cranfield.comparison.correlation import MeasureAgreement, RunAgreement, measure_agreement, run_agreement
from cranfield.comparison.differences import Difference
from cranfield.comparison.doubts import Doubt, doubt_texts
from cranfield.comparison.multiple_testing import CORRECTIONS, MAX_T
from cranfield.comparison.pairing import Paired
from cranfield.comparison.power import USUAL, SizeRow, query_set_sizes, step_of
from cranfield.comparison.segments import SegmentComparison, compared_by_segment
from cranfield.comparison.significance import TESTS, Settings
from cranfield.comparison.simultaneous import draws
from cranfield.comparison.within_groups import GroupNoise, group_noise
from cranfield.drawing import as_html, plotted, to_mlflow
from cranfield.errors import ComparisonError
from cranfield.evaluation.corrected import CorrectionBasis
from cranfield.evaluation.estimating import Estimate
from cranfield.evaluation.naming import require_name
from cranfield.evaluation.result import Evaluation
from cranfield.evaluation.weighting import Weights, means_of
from cranfield.io.pairs import read_words
from cranfield.measures import Measure, known_measure
from cranfield.measures.flat_names import finite, flat_names
from cranfield.words import listed

LETTERED = 12  # runs that letters can mark
NOISY = 45  # pairs of which it is calculated what varies within groups

if TYPE_CHECKING:
    from cranfield.show.charts.parts import Spec


class Inputs(NamedTuple):
    """What `compare` was given: the judgments, and the runs by name, as far as they can be read again."""

    qrels: Any
    runs: dict[str, Any]
    options: dict[str, Any]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Comparison:
    """The result of `compare`: a `Difference` for each pair and measure, and the means of all runs.

    Measures are found by any of their names.

    >>> from cranfield import compare
    >>> qrels = {str(q): {"a": 1} for q in range(12)}
    >>> old, new = {str(q): ["b", "a"] for q in range(11)}, {str(q): ["a", "b"] for q in range(12)}
    >>> comparison = compare(qrels, {"old": old, "new": new}, "RR P@1")
    >>> comparison
    <Comparison of old, new by RR, P@1: 12 queries>
    >>> print(comparison)
    warning: old lacks 1 of 12 queries, which counts 0
    Better: new vs old, RR +0.542 (95% interval +0.450 to +0.633), p < 0.001
    Better: new vs old, P@1 +1.000 on each of 12 queries, p < 0.001
    12 queries; paired t-test, two-sided, 95% interval; one comparison; only RR decides, other measures are secondary
    >>> comparison.find("recip_rank", "new", "old").better, len(comparison.of("RR")), comparison.pairs
    (12, 1, 1)
    >>> comparison.means["P@1"], comparison.groups("RR"), comparison.discriminative_power()
    ({'old': 0.0, 'new': 1.0}, [('new',), ('old',)], {'RR': 1.0, 'P@1': 1.0})
    >>> comparison.best_first("RR"), comparison.rank_intervals("RR"), comparison.between("RR", "old", "new").run
    (['new', 'old'], {'old': (2, 2), 'new': (1, 1)}, 'new')
    >>> comparison.query_set_sizes("RR")[-1].difference, comparison.to_dict()["correction"], comparison.to_json()[:8]
    (0.1, 'max-t', '{\\n  "run')
    >>> list(comparison.signatures), comparison.basis, comparison.corrected
    (['old', 'new'], None, 'one comparison; only RR decides, other measures are secondary')
    >>> comparison.units, comparison.segments
    (12, None)
    >>> [(pair.one, pair.other) for pair in (*comparison.agreement(), *comparison.run_agreement())]
    [('RR', 'P@1'), ('old', 'new'), ('old', 'new')]
    """

    runs: tuple[str, ...]
    measures: tuple[Measure, ...]
    baseline: str | None
    queries: int
    left_out: int
    bounds: bool  # whether it was checked what unjudged documents could change
    test: str
    correction: str
    family: str
    alpha: float
    permutations: int
    seed: int
    estimates: dict[str, dict[str, Estimate]]  # by measure and run
    judged: dict[str, dict[str, float | None]]  # by measure and run, the share of what was returned
    doubts: tuple[Doubt, ...]  # what makes runs unequal
    differences: tuple[Difference, ...]
    evaluations: tuple[Evaluation, ...]
    _paired: Paired
    _inputs: Inputs | None = None

    def __iter__(self) -> Iterator[Difference]:
        return iter(self.differences)

    @property
    def means(self) -> dict[str, dict[str, float]]:
        """The mean of each run, by measure."""
        return {name: {run: estimate.value for run, estimate in runs.items()} for name, runs in self.estimates.items()}

    @property
    def signatures(self) -> dict[str, str]:
        """Of each run, everything that its values depend on."""
        return {evaluation.run: evaluation.signature for evaluation in self.evaluations}

    @property
    def basis(self) -> CorrectionBasis | None:
        """Of means by a model's grades that people correct, what they rest on; otherwise None."""
        return self.evaluations[0].basis

    @property
    def weights(self) -> Weights | None:
        """The weights of the queries that are compared; None where all count alike.

        >>> from cranfield import compare
        >>> qrels, runs = {"1": {"a": 1}, "2": {"a": 1}}, {"old": {"1": ["a"]}, "new": {"2": ["a"]}}
        >>> compare(qrels, runs, "RR", weights={"1": 1, "2": 2}).weights
        <Weights of 2 queries: as precise as 1.8 equally weighted queries>
        """
        return self._paired.weights

    @property
    def units(self) -> int:
        """How many queries are compared, or groups of them."""
        return self.queries if self.weights is None or self.weights.groups is None else self.weights.units

    @property
    def segments(self) -> Mapping[str, str] | None:
        """The segment of each query, where the runs were evaluated with segments; otherwise None."""
        return self.evaluations[0].segments

    @property
    def _counted(self) -> str:
        """The queries in words: how many, and by which weights, or who corrects which model."""
        if self.basis is not None:
            return self.basis.sentence
        queries = _count(self.queries, "query", "queries")
        return queries if self.weights is None else f"{queries}, {self.weights.sentence}"

    @property
    def warnings(self) -> tuple[str, ...]:
        """The doubts in words, one sentence for each kind.

        >>> from cranfield import compare
        >>> qrels, run = {str(q): {"a": 1} for q in range(12)}, {str(q): ["a"] for q in range(12)}
        >>> compare(qrels, {"whole": run, "cut": {"1": ["a"]}}, "RR").warnings
        ('cut lacks 11 of 12 queries, which count 0',)
        """
        return tuple(doubt_texts(self.doubts, len(self.runs)))

    def __repr__(self) -> str:
        measures = listed([measure.name for measure in self.measures])
        return f"<Comparison of {listed(self.runs)} by {measures}: {_count(self.queries, 'query', 'queries')}>"

    def __str__(self) -> str:
        lines = [f"warning: {text}" for text in self.warnings]
        lines += [difference.sentence for difference in self.differences]
        return "\n".join((*lines, f"{self._counted}; {described_method(self)}"))

    def find(self, measure: str | Measure, run: str, baseline: str | None = None) -> Difference:
        """The difference of a measure between two runs, as it was computed: run - baseline.

        measure: any of its names, or a `Measure`.
        run: the name of the run.
        baseline: the name of the run that it was compared with; by default the baseline of the comparison.
        Returns the difference; an error if the two were not compared in this direction, see `between`.
        """
        name, base = self._measure(measure).name, baseline or self.baseline
        for pair in self.differences:
            if (pair.measure, pair.run, pair.baseline) == (name, run, base):
                return pair
        raise ComparisonError(
            f"{name}: {run} was not compared with {base}.", hint=f"the runs are {', '.join(self.runs)}"
        )

    @property
    def pairs(self) -> int:
        """How many pairs of runs were compared."""
        return len(self.differences) // len(self.measures)

    @property
    def corrected(self) -> str:
        """What the p-values and the intervals are corrected for, in words."""
        measures = len(self.measures) if self.family == "all" else 1
        family = self.pairs * measures
        size = _count(self.pairs, "pair") + (f" × {_count(measures, 'measure')}" if measures > 1 else "")
        if family == 1:
            text = "one comparison"
        elif TESTS[self.test].all_at_once:
            text = f"over the {size} of a family"
        elif self.correction == "none":
            text = f"no correction for {f'{family:,} comparisons ({size})' if measures > 1 else size}"
        else:
            whole = f"{family:,} ({size})" if measures > 1 else size
            text = f"{CORRECTIONS[self.correction].title}{self._draws} over a family of {whole}"
        if len(self.measures) > 1 and self.family != "all":
            text += f"; only {self.measures[0].name} decides, other measures are secondary"
        return text

    @property
    def _draws(self) -> str:
        if self.correction != MAX_T:
            return ""
        drawn = draws(Settings(self.alpha, self.permutations, self.seed))
        return f" ({drawn:,} draws of the queries, seed {self.seed})"

    def discriminative_power(self) -> dict[str, float]:
        """For each measure, the share of the pairs that it separates (Sakai 2006)."""
        return {
            measure.name: sum(pair.significant for pair in self.of(measure)) / self.pairs for measure in self.measures
        }

    def agreement(self) -> list[MeasureAgreement]:
        """How well each pair of measures agrees, over the runs and over the queries."""
        return measure_agreement(self._paired)

    def run_agreement(self) -> list[RunAgreement]:
        """How well each pair of runs agrees on which queries are hard."""
        return run_agreement(self._paired)

    def by_segment(self, segments: Any = None) -> SegmentComparison:
        """The differences within segments of the queries, and whether they differ between segments.

        segments: the segment of each query, as {query: segment} or a file of both; queries without one are left out.
            By default those that the runs were evaluated with.
        Returns a `SegmentComparison`. Its intervals and p-values are those of means, whatever the test of the
        comparison, and hold for all pairs and segments of a family at once.

        >>> from cranfield import compare
        >>> comparison = compare("builtin:qrels", ["builtin:keywords", "builtin:meaning"], "nDCG@10")
        >>> comparison.by_segment({"what-is-precision": "short"}).queries
        {'short': 1}
        """
        known = self.segments if segments is None else read_words(segments, "segment")
        if known is None:
            raise ComparisonError("no segments of the queries are known.", hint="give {query: segment}")
        return compared_by_segment(self, known)

    def within_groups(self, measure: str | Measure, run: str, baseline: str) -> GroupNoise:
        """What repeats or variants of queries leave open about a difference of two runs.

        measure: any of its names, or a `Measure`.
        run, baseline: the names of the runs.
        Returns a `GroupNoise`: how much of the variance comes from within groups, and how many of them would be better
        or worse if members were drawn again.

        >>> from cranfield import compare
        >>> qrels = {str(q): {"a": 1} for q in range(12)}
        >>> old, new = ({str(q): ["b", "a"] if q % n else ["a"] for q in range(12)} for n in (4, 3))
        >>> found = compare(qrels, {"old": old, "new": new}, "RR", groups={str(q): str(q // 3) for q in range(12)})
        >>> found.within_groups("RR", "new", "old").sentence
        'if variants were drawn again: 0–3 of 4 groups better, 0–2 worse; 100% of the variance is noise within groups'
        """
        known, weights = self._measure(measure), self.weights
        if weights is None:
            raise ComparisonError("the runs were compared without groups of queries.", hint="give groups")
        for name in (run, baseline):
            require_name(name, self.runs)
        return group_noise(
            self._paired.columns[known],
            (self.runs.index(baseline), self.runs.index(run)),
            self._paired.query_ids,
            weights,
            (known.name, baseline, run),
            lower_is_better=known.definition.lower_is_better,
            seed=self.seed,
        )

    @property
    def _answering(self) -> dict[str, Any]:
        """How each run deals with queries that have no answer, where some have none."""
        return {its.run: its.answering.to_dict() for its in self.evaluations if its.answering is not None}

    @property
    def _noises(self) -> list[GroupNoise]:
        """Of each difference; of many pairs, by the first measure alone."""
        if self.weights is None or self.weights.groups is None or self.pairs > NOISY:
            return []
        measures = self.measures if self.pairs == 1 else self.measures[:1]
        return [self.within_groups(m, pair.run, pair.baseline) for m in measures for pair in self.of(m)]

    def of(self, measure: str | Measure) -> list[Difference]:
        """The differences of a measure.

        measure: any of its names, or a `Measure`.
        Returns them, one for each pair of runs that was compared.
        """
        wanted = self._measure(measure)
        if wanted not in self.measures:
            known = ", ".join(measure.name for measure in self.measures)
            raise ComparisonError(f"the runs were not compared by {wanted}.", hint=f"the measures are {known}")
        return [pair for pair in self.differences if pair.measure == wanted.name]

    def groups(self, measure: str | Measure) -> list[tuple[str, ...]]:
        """The largest groups of runs without a significant difference by a measure; groups may overlap.

        measure: any of its names, or a `Measure`.
        Returns the names of the runs of each group, the best run and the best group first.
        With a baseline, not all pairs were compared, and this is an error.
        """
        if self.baseline is not None:
            raise ComparisonError("runs were only compared with the baseline.", hint="compare without one for groups")
        name = self._measure(measure).name
        apart = [{pair.run, pair.baseline} for pair in self.of(name) if pair.significant]
        groups = [frozenset(self.runs)]
        for pair in apart:
            split = [group - {run} if pair <= group else group for group in groups for run in sorted(pair)]
            groups = [group for group in dict.fromkeys(split) if not any(group < other for other in split)]
        order = self._best_first(name)
        listed = [tuple(sorted(group, key=order.index)) for group in groups]
        return sorted(listed, key=lambda group: [order.index(run) for run in group])

    def best_first(self, measure: str | Measure) -> list[str]:
        """The runs in the order of their means.

        measure: any of its names, or a `Measure`.
        Returns their names, the best first; where lower values are better, that is the lowest mean.
        """
        return self._best_first(self._measure(measure).name)

    def rank_intervals(self, measure: str | Measure) -> dict[str, tuple[int, int]]:
        """Which ranks each run may truly have: below all that are significantly better, above all that are worse.

        measure: any of its names, or a `Measure`.
        Returns the highest and the lowest rank by run; 1 is the best.
        Where the intervals of all pairs hold at once, so do these (Mogstad et al. 2023). With a baseline, not all
        pairs were compared, and this is an error.
        """
        if self.baseline is not None:
            raise ComparisonError("runs were only compared with the baseline.", hint="compare without one for ranks")
        above, below = dict.fromkeys(self.runs, 0), dict.fromkeys(self.runs, 0)
        for pair in self.of(measure):
            if pair.verdict == "significantly better":
                below[pair.run] += 1
                above[pair.baseline] += 1
            elif pair.verdict == "significantly worse":
                above[pair.run] += 1
                below[pair.baseline] += 1
        return {run: (1 + above[run], len(self.runs) - below[run]) for run in self.runs}

    def between(self, measure: str | Measure, one: str, other: str) -> Difference:
        """The difference of two runs, whichever of them was taken as the baseline.

        measure: any of its names, or a `Measure`.
        one, other: the names of the runs, in any order.
        Returns the difference; its `run` and its `baseline` say which way round it is.
        """
        name = self._measure(measure).name
        for pair in self.of(name):
            if {pair.run, pair.baseline} == {one, other}:
                return pair
        raise ComparisonError(f"{name}: {one} and {other} were not compared.")

    def _measure(self, measure: str | Measure) -> Measure:
        return known_measure(measure, self.measures)

    def _best_first(self, measure: str) -> list[str]:
        lower, estimates = self._measure(measure).definition.lower_is_better, self.estimates[measure]
        return sorted(self.runs, key=lambda run: estimates[run].value * (1 if lower else -1))

    def query_set_sizes(self, measure: str | Measure) -> list[SizeRow]:
        """How many queries it takes to detect a difference of two runs by a t-test, if they vary as the median pair.

        measure: any of its names, or a `Measure`.
        Returns a row for each of the differences 0.01, 0.02, 0.05 and 0.1, or for ten, a hundred, … times these where
        the measure's scale needs it.
        """
        spread = median_pair(self.of(measure)).spread
        return query_set_sizes(spread, [step_of(spread, step) for step in (0.01, 0.02, 0.05, 0.1)], alpha=self.alpha)

    def to_dict(self, *, flat: bool = False) -> dict[str, Any]:
        """The comparison as plain dicts, ready for JSON.

        flat: instead of all this only numbers, under names that trackers of experiments take.
        Returns a dict of texts, numbers, lists and dicts.

        >>> from cranfield import compare
        >>> qrels, old, new = {"1": {"a": 1}, "2": {"b": 1}}, {"1": ["x", "a"], "2": ["b"]}, {"1": ["a"], "2": ["b"]}
        >>> [*compare(qrels, {"old": old, "new": new}, "P@1").to_dict(flat=True)][:4]
        ['queries', 'old/P_at_1', 'new/P_at_1', 'new_vs_old/P_at_1/difference']
        """
        if flat:
            return self._flat()
        ours = {measure.name: str(measure.canonical) for measure in self.measures if measure.typed}
        return {
            "runs": list(self.runs),
            "baseline": self.baseline,
            "measures": [measure.name for measure in self.measures],
            **({"canonical_names": ours} if ours else {}),
            "queries": self.queries,
            "queries_left_out": self.left_out,
            "test": self.test,
            "correction": self.correction,
            "family": self.family,
            "corrected": self.corrected,
            "alpha": self.alpha,
            "power": USUAL,
            "permutations": self.permutations,
            "seed": self.seed,
            "means": self.means,
            **({"weights": self.weights.to_dict()} if self.weights else {}),
            **({"basis": asdict(self.basis), "estimates": self._estimates_as_dicts()} if self.basis else {}),
            "judged": self.judged,
            **({"answering": answers} if (answers := self._answering) else {}),
            "doubts": [doubt.to_dict() for doubt in self.doubts],
            "groups": {}
            if self.baseline or len(self.runs) > LETTERED
            else {measure.name: self.groups(measure.name) for measure in self.measures},
            "ranks": {}
            if self.baseline
            else {measure.name: self.rank_intervals(measure.name) for measure in self.measures},
            "discriminative_power": self.discriminative_power(),
            "differences": [difference.to_dict() for difference in self.differences],
            **({"within_groups": [noise.to_dict() for noise in noises]} if (noises := self._noises) else {}),
            "agreement": [agreement._asdict() for agreement in self.agreement()],
            "run_agreement": [agreement._asdict() for agreement in self.run_agreement()],
            "signatures": self.signatures,
        }

    def _flat(self) -> dict[str, float]:
        runs, measures = flat_names(self.runs), flat_names(measure.name for measure in self.measures)
        values: dict[str, float | None] = {"queries": self.queries}
        for name, means in self.means.items():
            values |= {f"{runs[run]}/{measures[name]}": mean for run, mean in means.items()}
        for pair in self:
            stem = f"{runs[pair.run]}_vs_{runs[pair.baseline]}/{measures[pair.measure]}"
            of_pair = {"difference": pair.difference, "low": pair.low, "high": pair.high, "p": pair.adjusted}
            values |= {f"{stem}/{what}": value for what, value in of_pair.items()}
        return finite(values)

    def _estimates_as_dicts(self) -> dict[str, dict[str, Any]]:
        return {
            name: {run: asdict(estimate) for run, estimate in runs.items()} for name, runs in self.estimates.items()
        }

    def to_json(self, *, indent: int | None = 2) -> str:
        """The comparison as JSON.

        indent: how many spaces to indent each level by; None writes everything on one line.
        Returns the text.
        """
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def to_mlflow(self, *, report: bool = True) -> str:
        """Log the comparison to the active run of MLflow, or to one of its own.

        report: whether the page of `write_report` becomes an artifact, beside the table of values by query.
        Returns the id of the run. Metrics have the names of `to_dict(flat=True)`; signatures are tags.

        >>> from cranfield import compare
        >>> compare("builtin:ten", ["builtin:keywords", "builtin:meaning"], "RR").to_mlflow()  # doctest: +SKIP
        'b8f1d2c9e0a34d7f8c6b5a4938271605'
        """
        return to_mlflow(self, report=report)

    def plot(self, kind: str = "", measure: str | Measure | None = None, **options: Any) -> Spec:
        """A chart of the runs, which a notebook shows and `save_chart` saves.

        kind: one that `cranfield plot --help` lists; by default "difference" for two runs, "distribution" for more.
        measure: any of its names, or a `Measure`; by default the first.
        options: those of the chart, as for `draw_chart`.
        Returns the specification, as a dict.

        >>> from cranfield import compare
        >>> qrels, old, new = {"1": {"a": 1}, "2": {"b": 1}}, {"1": ["x", "a"], "2": ["b"]}, {"1": ["a"], "2": ["b"]}
        >>> compare(qrels, {"old": old, "new": new}, "RR").plot()
        <chart: RR by query: new against old>
        """
        self.evaluations[0]._refuse_corrected("charts")
        two = len(self.runs) == 2
        usual = "difference" if two else "distribution"
        baseline = self.differences[0].baseline if two else None
        return plotted(kind or usual, self.evaluations, measure, baseline=baseline, **options)

    def _repr_html_(self) -> str:
        return as_html("comparison", self)


def median_pair(differences: Sequence[Difference]) -> Difference:
    """The pair whose queries vary more than those of half of the others: what to expect of one more pair.

    The one that varies most owes that to chance, too.
    """
    return sorted(differences, key=lambda pair: pair.spread)[len(differences) // 2]


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def described_method(comparison: Comparison) -> str:
    """The test and the correction of a comparison, in words."""
    settings = Settings(comparison.alpha, comparison.permutations, comparison.seed)
    test = TESTS[comparison.test]
    if comparison.basis is not None:
        several = "s" if comparison.pairs > 1 else ""
        return f"t-test of the corrected difference{several}, two-sided; {comparison.corrected}"
    assumed = f"; assumes that {test.assumes}" if test.assumes and len(comparison.runs) > 2 else ""
    if comparison.correction == MAX_T and comparison.differences[0].family > 1 and test.draws:
        return f"{comparison.corrected}, two-sided; no p is below that of the {test.described(settings)} alone"
    one = comparison.pairs == 1 and comparison.differences[0].family == 1
    interval = f", {100 * (1 - comparison.alpha):g}% interval" if one else ""
    weighted = "" if comparison.weights is None else f" of {means_of(comparison.weights)}"
    return f"{test.described(settings)}{weighted}, two-sided{interval}; {comparison.corrected}{assumed}"
