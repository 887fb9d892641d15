"""gate(qrels, baseline, candidate) → GateResult: may a change pass?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import reduce
from math import inf
from typing import Any, Unpack

import numpy as np

from cranfield.comparison.comparing import (
    PERMUTATIONS,
    SEED,
    check_permutations,
    compare_evaluations,
    differences_of,
    evaluated,
)
from cranfield.comparison.detecting import gate_needs
from cranfield.comparison.differences import Difference
from cranfield.comparison.doubts import Doubt, doubt_texts, doubts_about, few_differ
from cranfield.comparison.families import Procedure, check_supported
from cranfield.comparison.gate_checks import Check, GatedMeasure, all_checks, floor_check, worst_drops
from cranfield.comparison.limits import LOOKED_AT, Asking, Limits, expectations
from cranfield.comparison.multiple_testing import CORRECTIONS, MAX_T
from cranfield.comparison.pair_findings import check_margin
from cranfield.comparison.pairing import Paired, check_measured, check_same_inputs, judged_share, paired
from cranfield.comparison.power import USUAL, check_detect
from cranfield.comparison.segments import SegmentComparison
from cranfield.comparison.significance import TESTS
from cranfield.comparison.simultaneous import simultaneous
from cranfield.drawing import Written, as_html, to_mlflow
from cranfield.errors import ComparisonError, choice_hint, given
from cranfield.evaluation import saving as saved
from cranfield.evaluation.corrected import CorrectionBasis
from cranfield.evaluation.estimating import Columns, estimated
from cranfield.evaluation.evaluating import Options
from cranfield.evaluation.naming import UNNAMED, own_name
from cranfield.evaluation.result import Evaluation
from cranfield.evaluation.weighting import Weights, are_weighted
from cranfield.io.queries import Queries
from cranfield.measures import Measure, Measures, parse_measure, parse_measures
from cranfield.measures.flat_names import finite, flat_names
from cranfield.measures.scope import Scope
from cranfield.ranks.run import Wants
from cranfield.words import count

GATE_MEASURES = ("nDCG@10",)
GATE_TESTS = tuple(name for name, test in TESTS.items() if not test.all_at_once)  # those with a one-sided p-value


@dataclass(frozen=True, slots=True)
class GateResult:
    """The result of `gate`; true if the change may pass.

    alpha, gates: the level of the tests, and how many gates share it for drops
    beyond_tolerance: whether a drop must be significantly larger than the tolerance to fail, not only than 0
    detect: the drop that matters, whose power the measures have; None where none was given
    non_inferiority: the margin by which no measure may be worse, if there is one
    basis: of a gate by corrected values, which model was corrected by whom; None otherwise
    weights: of the queries, by which all means are; None where all count alike
    segments: the two runs within segments of the queries, which decide nothing; None where none were given
    doubts: what makes the two runs unequal
    permutations, seed: of the tests that draw

    >>> qrels, good = {str(q): {"a": 1} for q in range(9)}, {str(q): ["a", "b"] for q in range(9)}
    >>> result = gate(qrels, good, {str(q): ["b", "a"] for q in range(9)}, "RR")
    >>> result.passed, [check.passed for check in result.checks], result.measures[0].worse
    (False, [False], 9)
    >>> result.to_dict()["test"], result.to_json()[:19]
    ('t', '{\\n  "passed": false')
    """

    passed: bool
    baseline: str
    candidate: str
    queries: int
    alpha: float
    test: str
    correction: str
    checks: tuple[Check, ...]
    measures: tuple[GatedMeasure, ...]
    signatures: tuple[str, str]
    gates: int = 1
    beyond_tolerance: bool = False
    detect: float | None = None
    non_inferiority: float | None = None
    basis: CorrectionBasis | None = None
    weights: Weights | None = None
    segments: SegmentComparison | None = None
    doubts: tuple[Doubt, ...] = ()
    permutations: int = PERMUTATIONS
    seed: int = SEED
    _evaluations: tuple[Evaluation, Evaluation] | None = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        return f"<GateResult: {self._said}>"

    def __str__(self) -> str:
        checks = (f"{'passed' if check.passed else 'FAILED'}  {check.name}: {check.message}" for check in self.checks)
        return "\n".join((*(f"warning: {text}" for text in self.warnings), self._said, *checks))

    @property
    def warnings(self) -> tuple[str, ...]:
        """The doubts in words, one sentence for each kind.

        >>> qrels, run = {str(q): {"a": 1} for q in range(12)}, {str(q): ["a"] for q in range(12)}
        >>> gate(qrels, run, {"1": ["a"]}, "RR").warnings
        ('candidate lacks 11 of 12 queries, which count 0',)
        """
        return tuple(doubt_texts(self.doubts, 2))

    def _repr_html_(self) -> str:
        return as_html("gate", self)

    @property
    def _said(self) -> str:
        failed = [check.message for check in self.checks if not check.passed]
        said = "passed" if self.passed else f"failed: {'; '.join(failed)}"
        return f"{self.candidate} against {self.baseline}, {self._counted}: {said}"

    @property
    def _answering(self) -> dict[str, Any] | None:
        """How the two deal with queries that have no answer; None where all have one."""
        sides = self._evaluations or ()
        return {its.run: its.answering.to_dict() for its in sides if its.answering is not None} or None

    @property
    def _counted(self) -> str:
        """The queries in words: how many, and by which weights, or who corrects which model."""
        if self.basis is not None:
            return self.basis.sentence
        queries = count(self.queries, "query", "queries")
        return queries if self.weights is None else f"{queries}, {self.weights.sentence}"

    def __bool__(self) -> bool:
        return self.passed

    def to_dict(self, *, flat: bool = False) -> dict[str, Any]:
        """The result as plain dicts, ready for JSON.

        flat: instead of all this only numbers, under names that trackers of experiments take.
        Returns a dict of texts, numbers, lists and dicts.

        >>> qrels, good = {str(q): {"a": 1} for q in range(9)}, {str(q): ["a", "b"] for q in range(9)}
        >>> [*gate(qrels, good, good, "P@1").to_dict(flat=True)][:4]
        ['passed', 'queries', 'broken', 'P_at_1/baseline']
        """
        if flat:
            return self._flat()
        return {
            **{field.name: getattr(self, field.name) for field in fields(self) if field.repr},
            "checks": [check._asdict() for check in self.checks],
            "measures": [measure.to_dict() for measure in self.measures],
            "basis": asdict(self.basis) if self.basis else None,
            "doubts": [doubt.to_dict() for doubt in self.doubts],
            "weights": self.weights.to_dict() if self.weights else None,
            "answering": self._answering,
            "segments": self.segments.to_dict() if self.segments else None,
            "power": USUAL,
        }

    def _flat(self) -> dict[str, float]:
        names = flat_names(measure.measure for measure in self.measures)
        broken = sum(not check.passed for check in self.checks)
        values: dict[str, float | None] = {"passed": self.passed, "queries": self.queries, "broken": broken}
        for seen in self.measures:
            of_measure = {"baseline": seen.baseline, "candidate": seen.candidate, "drop": seen.drop}
            of_measure |= {"p_worse": seen.p_worse, "p_better": seen.p_better, "worse_queries": seen.worse}
            values |= {f"{names[seen.measure]}/{what}": value for what, value in of_measure.items()}
        return finite(values)

    def to_mlflow(self, *, report: bool = True) -> str:
        """Log the result to the active run of MLflow, or to one of its own.

        report: whether the page of `write_report` becomes an artifact, beside the table of values by query.
        Returns the id of the run. Metrics have the names of `to_dict(flat=True)`; signatures are tags.

        >>> gate("builtin:ten", "builtin:keywords", "builtin:meaning", "RR").to_mlflow()  # doctest: +SKIP
        'b8f1d2c9e0a34d7f8c6b5a4938271605'
        """
        return to_mlflow(self, report=report)

    to_json = Written.to_json


def gate(
    qrels: Any,
    baseline: Any,
    candidate: Any,
    measures: Measures = GATE_MEASURES,
    *,
    tolerance: float | Mapping[str, float] = 0.0,
    beyond_tolerance: bool = False,
    alpha: float = 0.05,
    gates: int = 1,
    detect: float | None = None,
    minimum: Mapping[str, float] | None = None,
    require_improvement: bool = False,
    non_inferiority: float | None = None,
    max_worse_queries: int | None = None,
    max_drop: float | None = None,
    may_become_empty: bool = False,
    except_queries: Sequence[str] = (),
    max_p95: float | None = None,
    max_p95_ratio: float | None = None,
    max_failed: float | None = None,
    max_empty: float | None = None,
    expect: Sequence[Mapping[str, Any]] | Queries = (),
    recorded: tuple[Any, Any] = (None, None),
    texts: Mapping[str, str] | None = None,
    test: str = "t",
    correction: str = "holm",
    seed: int = SEED,
    permutations: int = PERMUTATIONS,
    **options: Unpack[Options],
) -> GateResult:
    """Let a candidate pass unless it is worse than the baseline by more than the tolerance and more than chance.

    qrels, measures, options: those of `evaluate_runs`; with `segments`, the result also compares the two within each.
    baseline, candidate: runs, or evaluations, also saved ones (an `Evaluation`, or the path of its file).
    tolerance: the drop that is allowed, or {measure: drop}.
    beyond_tolerance: whether only a drop fails that is significantly larger than the tolerance, not only than 0.
    alpha: the level of the one-sided tests.
    gates: how many gates share alpha: each tests drops at alpha / gates, so that all of them together stop a
        harmless change with a chance of at most alpha. 30 for a gate every day, and a level for the month.
    detect: a drop that matters to you; the result says with which chance it would be stopped.
    minimum: {measure: value} that must be reached.
    require_improvement: whether some measure must be significantly better.
    non_inferiority: the margin by which no measure may be worse.
    max_worse_queries: how many queries may get worse.
    max_drop: by how much any single query may get worse, by the first measure.
    may_become_empty: whether a query that returned documents may return none.
    except_queries: queries that may get worse by more than max_drop, and become empty.
    max_p95: how many seconds the candidate's 95th percentile of latency may take.
    max_p95_ratio: how many times the baseline's that may be.
    max_failed, max_empty: how many queries may fail, or return nothing: 3 queries, or 0.05 of them.
    expect: what single queries must find, {"query": "q17", "find": "D123", "in_first": 3}, or the value that they must
        have, {"query": "q17", "measure": "nDCG@10", "at_least": 0.7}; or queries with such columns:
        `open_collection(folder).queries`.
    recorded: how the two were asked: what `record` returned, or None for the JSON that it wrote beside the run.
    texts: the texts of queries, for messages.
    test: one of `compare` that has a one-sided p-value, which tests of all pairs at once do not.
    correction: of the p-values, over the measures: any of `compare`.
    seed, permutations: those of `compare`.
    Returns a `GateResult`, which is true where the candidate passes.

    It fails if
    - a measure dropped by more than `tolerance` (one number, or one by measure), and there is a significant drop: the
      one-sided test of "the candidate is not worse" has a p-value of at most alpha / gates, corrected over the
      measures. The tolerance itself is compared, not tested; with `beyond_tolerance` it is tested instead: "the
      candidate is not worse by more than the tolerance";
    - a measure is below its `minimum`, {measure: value} (above it, where lower is better), significant or not;
    - `require_improvement`, and no measure is significantly better, by the one-sided test the other way;
    - `non_inferiority`, and some measure is not shown to be worse by less than this margin: a lack of significance does
      not show that, a significant one-sided test against the margin does;
    - `max_worse_queries`, and by some measure more queries than that got worse, by however little;
    - a query returns nothing and did before, or the candidate returns nothing at all, or a query failed, unless
      `may_become_empty`, `except_queries` or `max_failed` allow it;
    - a limit that is set is exceeded, or cannot be checked since the latency is not known;
    - something of `expect` does not hold.

    A query that lost more than `max_drop` to new documents which nobody has judged does not fail, since that proves
    nothing: a warning names it, and the documents to judge first.

    A candidate that is no better and no worse is stopped with a chance of at most alpha; `detectable` says which true
    drop is stopped with a chance of 0.8, if queries vary as they do here.

    If the judgments, the policy or the queries differ from those of the baseline, a difference would not be due to the
    candidate alone: this is a `ComparisonError`.

    >>> qrels = {str(q): {"a": 1} for q in range(9)}
    >>> good, bad = {str(q): ["a", "b"] for q in range(9)}, {str(q): ["b", "a"] for q in range(8)}
    >>> bool(gate(qrels, good, good)), gate(qrels, good, bad, "RR").checks[0].message
    (True, 'RR fell significantly, 1.000 → 0.444 (one-sided p < 0.001)')
    """
    check_settings(alpha, correction, max_worse_queries, gates)
    check_permutations(permutations)
    check_detect(detect)
    if test not in GATE_TESTS:
        raise ComparisonError(
            "cannot be used by a gate.", parameter="test", value=test, hint=choice_hint("it may be", GATE_TESTS, test)
        )
    wanted = parse_measures(measures)
    limits = Limits(
        max_drop,
        may_become_empty,
        tuple(map(str, except_queries)),
        max_p95,
        max_p95_ratio,
        max_failed,
        max_empty,
        expectations(expect, "expect"),
        texts or {},
    )
    floors = {parse_measure(name): float(value) for name, value in (minimum or {}).items()}
    every = list(dict.fromkeys((*wanted, *floors)))
    runs = [Evaluation.load(run) if saved.is_saved(run) else run for run in (baseline, candidate)]
    asking = tuple(
        Asking.beside(run) if known is None else Asking.of(known) for run, known in zip(runs, recorded, strict=True)
    )
    depth = max((expected.in_first for expected in limits.expect), default=0)
    wants = Wants(first=max(depth, LOOKED_AT) if limits.expect or max_drop is not None else 0)
    before, after = evaluated(qrels, by_role(*runs), every, lambda _: wants, **options)
    check_same_inputs(before, after)
    _check_same_queries(before, after)
    for measure in wanted:
        check_measured(before, measure)
    values = paired([before, after], wanted)
    for measure in floors:
        check_measured(after, measure)
    check_supported(values.estimator, test, correction, wanted)
    procedure = Procedure(test, "none", alpha, permutations, seed, non_inferiority)
    check_margin(non_inferiority, "non_inferiority")
    tested = differences_of(values, [[measure] for measure in wanted], [(0, 1)], procedure)
    tolerances, each = tolerances_of(tolerance, wanted), alpha / gates
    allowed = np.array([tolerances[measure] for measure in wanted])
    dropped = [_drops(values, measure) for measure in wanted]
    if beyond_tolerance:
        dropped = [drop.shifted(-tolerances[measure]) for measure, drop in zip(wanted, dropped, strict=True)]
    drops = reduce(Columns.beside, dropped)
    sides = [
        (outcome.greater[0], outcome.less[0])[:: 1 if measure.definition.lower_is_better else -1]
        for measure, (outcome, _) in zip(wanted, tested, strict=True)
    ]
    p_worse, p_better = (np.array(side) for side in zip(*sides, strict=True))
    if beyond_tolerance:
        p_worse = TESTS[test].outcome(drops, procedure.settings).greater
    adjust = CORRECTIONS[correction].adjust
    worse, better = adjust(p_worse), adjust(p_better)
    together = None
    if correction == MAX_T and len(wanted) > 1:
        estimates, settings = estimated(drops), procedure.settings._replace(alpha=each)
        together = simultaneous(drops, estimates, np.arange(len(wanted)), settings)
        gain = -(estimates.value + allowed) if beyond_tolerance else -estimates.value
        worse, better = (
            np.where(together.scale > 0, np.maximum(together.above(value), alone), corrected)
            for value, alone, corrected in ((estimates.value, p_worse, worse), (gain, p_better, better))
        )
    found = zip(worse.tolist(), better.tolist(), strict=True)
    needs = gate_needs(drops, correction, each, seed, allowed, together, beyond=beyond_tolerance)
    powers = [None] * len(wanted) if detect is None else needs.power(detect).tolist()
    two_sided = [difference for _, differences in tested for difference in differences]
    gated = tuple(
        _gated(values, measure, before, after, difference, p, (tolerances[measure], detectable, power))
        for measure, difference, p, detectable, power in zip(
            wanted, two_sided, found, needs.detectable().tolist(), powers, strict=True
        )
    )
    weighted = are_weighted(values.weights)
    minima = [floor_check(after[measure], measure, floor, weighted=weighted) for measure, floor in floors.items()]
    lost = dict(zip(values.query_ids, _drops(values, wanted[0]).values[:, 0].tolist(), strict=True))
    of_queries, to_judge = limits.beside((before, after), wanted[0], lost, (asking[0], asking[1]))
    measured = all_checks(
        gated,
        two_sided,
        minima,
        (each, alpha),
        beyond_tolerance=beyond_tolerance,
        require_improvement=require_improvement,
        max_worse_queries=max_worse_queries,
    )
    checks = (*measured, *of_queries, *limits.alone(after, asking[1]))
    return GateResult(
        passed=all(check.passed for check in checks),
        baseline=before.run,
        candidate=after.run,
        queries=len(after.query_ids),
        alpha=alpha,
        test=test,
        correction=correction,
        checks=checks,
        measures=gated,
        signatures=(before.signature, after.signature),
        gates=gates,
        beyond_tolerance=beyond_tolerance,
        detect=detect,
        non_inferiority=non_inferiority,
        basis=after.basis,
        weights=values.weights,
        segments=None if before.segments is None else _within_segments(before, after, wanted, procedure),
        doubts=doubts_about([before, after], wanted, [(0, 1)])
        + (few_differ(values, wanted, [(0, 1)]) if TESTS[test].of_means else ())
        + to_judge,
        permutations=permutations,
        seed=seed,
        _evaluations=(before, after),
    )


def deciding(result: GateResult) -> Difference:
    """The difference that a gate is about: of the first measure that dropped too far, or of the first."""
    failed = {check.name for check in result.checks if not check.passed}
    dropped = (measure for measure in result.measures if measure.drop_name in failed)
    return next(dropped, result.measures[0]).difference


def compared_measures(result: GateResult) -> list[Difference]:
    """The differences of all measures of the two runs, each by itself: those of the gate, and of the others."""
    gated = [measure.difference for measure in result.measures]
    if result._evaluations is None:
        return gated
    known = {difference.measure for difference in gated}
    others = [measure for measure in result._evaluations[1].measures if measure.name not in known]
    others = [
        each for each in others if each in result._evaluations[0].measures and each.definition.aggregate == "mean"
    ]
    if not others:
        return gated
    procedure = Procedure(result.test, "none", result.alpha, result.permutations, result.seed, None)
    tested = differences_of(
        paired([*result._evaluations], others), [[measure] for measure in others], [(0, 1)], procedure
    )
    return [*gated, *(difference for _, differences in tested for difference in differences)]


def _within_segments(
    before: Evaluation, after: Evaluation, measures: Sequence[Measure], procedure: Procedure
) -> SegmentComparison:
    compared = compare_evaluations(
        [before, after],
        measures,
        baseline=before.run,
        alpha=procedure.alpha,
        permutations=procedure.permutations,
        seed=procedure.seed,
        bounds=False,
    )
    return compared.by_segment()


def check_settings(alpha: float, correction: str, max_worse_queries: int | None, gates: int = 1) -> None:
    """Refuse settings that mean nothing to a gate."""
    if gates < 1:
        raise ComparisonError(
            "is not a number of gates.", parameter="gates", value=gates, hint="30 for a gate every day of a month"
        )
    if not 0 < alpha < 0.5:
        raise ComparisonError(
            "is not a level of a one-sided test.", parameter="alpha", value=alpha, hint="it lies between 0 and 0.5"
        )
    if correction not in CORRECTIONS:
        raise ComparisonError(
            "does not exist.",
            parameter="correction",
            value=correction,
            hint=choice_hint("it may be", list(CORRECTIONS), correction),
        )
    if max_worse_queries is not None and max_worse_queries < 0:
        raise ComparisonError("is not a number of queries.", parameter="max_worse_queries", value=max_worse_queries)


def by_role(baseline: Any, candidate: Any) -> dict[str, Any]:
    """The two runs by name; if they have none, or the same, they are named by their roles."""
    runs = {"baseline": baseline, "candidate": candidate}
    own = {role: own_name(run) for role, run in runs.items()}
    names = {role: role if name == UNNAMED else name for role, name in own.items()}
    if names["baseline"] == names["candidate"]:
        names = {role: f"{name} ({role})" for role, name in names.items()}
    return {names[role]: run for role, run in runs.items()}


def _check_same_queries(before: Evaluation, after: Evaluation) -> None:
    gone, new = set(before.query_ids) - set(after.query_ids), set(after.query_ids) - set(before.query_ids)
    if gone or new:
        listed = ", ".join(sorted(gone or new)[:5])
        raise ComparisonError(
            f"the queries of {after.run} differ from those of {before.run}: {len(gone)} missing, {len(new)} new "
            f"({listed}{', …' if len(gone or new) > 5 else ''}).",
            hint=f"with {given('missing', 'zero', policy=True)}, a query that is missing from the run counts 0 instead",
        )


def tolerances_of(tolerance: float | Mapping[Any, float], measures: Iterable[Measure]) -> dict[Measure, float]:
    """The drop that is allowed of each measure."""
    by_name: dict[Measure, float] = {}
    usual = 0.0
    if isinstance(tolerance, Mapping):
        by_name = {parse_measure(name): float(drop) for name, drop in tolerance.items()}
    else:
        usual = float(tolerance)
    tolerances = {measure: by_name.get(measure, usual) for measure in measures}
    unknown = [measure.name for measure in by_name if measure not in tolerances]
    if unknown:
        raise ComparisonError(f"there is a tolerance for {', '.join(unknown)}, but the gate does not measure it.")
    for measure, drop in tolerances.items():
        if not 0 <= drop < float("inf"):
            raise ComparisonError(
                f"the tolerance {drop} for {measure} is not a drop.",
                hint="for instance 0.01, which allows a drop of 0.01",
            )
    return tolerances


def _drops(values: Paired, measure: Measure) -> Columns:
    """By how much each query is worse in the candidate."""
    return values.contrast(measure, [(0, 1)]).times(-measure.definition.sign)


def _gated(
    values: Paired,
    measure: Measure,
    before: Evaluation,
    after: Evaluation,
    difference: Difference,
    p: tuple[float, float],
    detected: tuple[float, float, float | None],
) -> GatedMeasure:
    """The findings for a measure; if people corrected a model, queries that got worse are sampled ones, by people."""
    drops = _drops(values, measure)
    drop, (tolerance, detectable, power) = estimated(drops), detected
    least, most = measure.definition.range
    known = bool(drop.error[0])  # where all queries changed alike, nothing is known of their variation
    return GatedMeasure(
        measure=measure.name,
        baseline=before[measure],
        candidate=after[measure],
        drop=float(drop.value[0]),
        tolerance=tolerance,
        p_worse=p[0],
        p_better=p[1],
        detectable=(detectable if detectable <= most - least else inf) if known else None,
        better=difference.better,
        same=difference.same,
        worse=difference.worse,
        worse_queries=worst_drops(measure, before.by_people or before, after.by_people or after, drops.values[:, 0]),
        judged=(judged_share(before, measure), judged_share(after, measure)),
        judged_depth=Scope.of(measure).cutoff,
        difference=difference,
        corrected=difference.corrected is not None,
        lower_is_better=measure.definition.lower_is_better,
        power=power if known else None,
        weighted=are_weighted(values.weights),
    )
