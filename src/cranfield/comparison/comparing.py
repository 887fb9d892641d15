"""compare(qrels, runs, measures) → Comparison."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from cranfield.comparison.conclusions import Comparison, Inputs
from cranfield.comparison.detecting import family_needs
from cranfield.comparison.differences import Difference
from cranfield.comparison.doubts import doubts_about, few_differ
from cranfield.comparison.families import (
    Pair,
    PairOutcomes,
    Procedure,
    check_supported,
    compared_pairs,
    family_outcomes,
    usual_correction,
)
from cranfield.comparison.multiple_testing import CORRECTIONS, MAX_T
from cranfield.comparison.pair_findings import check_margin, pair_differences
from cranfield.comparison.pairing import Paired, judged_share, paired
from cranfield.comparison.power import USUAL, check_detect
from cranfield.comparison.significance import TESTS
from cranfield.comparison.unjudged import Reaches, documents_wanted
from cranfield.engines.sources import is_lazy
from cranfield.errors import ComparisonError, choice_hint, given
from cranfield.evaluation.corrected import CorrectedJudgments
from cranfield.evaluation.estimating import estimated, estimates_of
from cranfield.evaluation.evaluating import Options, read_runs
from cranfield.evaluation.naming import named_runs, numbered
from cranfield.evaluation.query_columns import QueryColumns
from cranfield.evaluation.result import Evaluation
from cranfield.evaluation.saving import opened
from cranfield.io.query_columns import FROM_FILE
from cranfield.io.streams import Stream
from cranfield.measures import Measure, Measures, parse_measures
from cranfield.ranks.grouped_judgments import GroupedJudgments
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.passages import PassageJudgments
from cranfield.ranks.run import NOTHING, Wants

USUAL_MEASURES = ("nDCG@10",)
FAMILIES = ("measure", "all")
PERMUTATIONS = 10_000
SEED = 0


def compare(
    qrels: Any,
    runs: Mapping[str, Any] | Iterable[Any],
    measures: Measures = USUAL_MEASURES,
    *,
    baseline: Any = None,
    test: str = "t",
    correction: str | None = None,
    family: str = "measure",
    alpha: float = 0.05,
    margin: float | None = None,
    detect: float | None = None,
    seed: int = SEED,
    permutations: int = PERMUTATIONS,
    bounds: bool = True,
    unseen: int = 0,
    **options: Unpack[Options],
) -> Comparison:
    """Compare runs, query by query: is the difference more than chance, how large is it, and can it be trusted?

    qrels, runs, options: those of `evaluate_runs`; a run may also be an `Evaluation`, or the file of a saved one.
    measures: those of `evaluate_runs`; the first is primary, the one that decides, and the others are secondary.
    baseline: the name of the run that the others are compared with, or another run; without one, all pairs are.
    test: "t" (Student's paired test), or another of those that `cranfield compare --help` lists, such as "tukey"
        (randomised Tukey HSD, for all pairs of several runs at once, which assumes that all runs vary equally).
    correction: of the p-values of a family of several pairs, and with them of the intervals. "max-t" judges each pair
        by the largest |t| of the family when queries are drawn again, and "bonferroni" by its share of alpha: with
        both, the intervals are meant to hold for all pairs at once, and with "max-t" they do so for skewed values, too.
        "holm", "bh" (Benjamini and Hochberg) and "none" decide more often; their intervals go with their p-values, one
        by one. By default "max-t" for tests of means, otherwise "bonferroni". Tukey's test covers the pairs by itself.
    family: "measure" makes the pairs of each measure a family of their own; "all" takes all measures together.
    alpha: the level of significance.
    margin: also test whether each run is shown not to be worse by this much, and not to differ by this much.
    detect: the smallest difference that matters to you: how likely it is to be found, and how many queries that takes.
        By default 0.02, or more on a larger scale.
    seed, permutations: of the tests that draw; few enough permutations are all tried instead.
    bounds: also check whether unjudged documents could reverse each difference. Measures without a cutoff need all
        documents of the runs for that, 8 bytes each: 1,000 for each of 6,980 queries take 56 MB a run, beside about
        80 MB in all; measures with a cutoff need only the first ones.
    unseen: how many documents of each query that neither of two runs retrieved may have any grade in these bounds, too;
        without them, such documents count as not relevant.
    Returns a `Comparison`: a `Difference` for each pair and measure.

    Runs are matched by query id. With Policy(missing="skip") they are compared over the queries that all of them have.

    >>> qrels = {str(q): {"a": 1} for q in range(8)}
    >>> good, bad = {str(q): ["a", "b"] for q in range(8)}, {str(q): ["b", "a"] for q in range(7)}
    >>> [difference] = compare(qrels, {"bad": bad, "good": good}, "RR", test="randomisation")
    >>> round(difference.difference, 4), difference.p, difference.verdict
    (0.5625, 0.0078125, 'significantly better')
    """
    wanted = parse_measures(measures)
    named = named_runs(runs)
    base = next((name for name, run in named.items() if baseline is not None and _is(run, baseline)), None)
    by_name = isinstance(baseline, str) and (baseline in named or not os.path.exists(baseline))
    if baseline is not None and base is None and not by_name:
        given = isinstance(runs, Mapping)
        named = {numbered("baseline", named): baseline, **named} if given else named_runs([baseline, *named.values()])
        base = next(iter(named))
    qrels = spooled(qrels)
    files = {name for name, run in named.items() if isinstance(run, str | os.PathLike) and os.path.isfile(run)}
    files = files if options.get("engine") is None else set()  # an engine reads its files itself
    named = {name: opened(run) if name in files else spooled(run) for name, run in named.items()}
    bounds = bounds and not isinstance(qrels, CorrectedJudgments)
    needed = shared_documents(wanted, lengths=options.get("lengths") is not None) if bounds else None
    evaluations = evaluated(qrels, named, wanted, needed, **options)
    comparison = compare_evaluations(
        evaluations,
        wanted,
        baseline=baseline if base is None else base,
        test=test,
        correction=correction,
        family=family,
        alpha=alpha,
        margin=margin,
        detect=detect,
        seed=seed,
        permutations=permutations,
        bounds=bounds,
        unseen=unseen,
    )
    again = {name: run for name, run in named.items() if not isinstance(run, Evaluation) and not is_lazy(run)}
    return replace(comparison, _inputs=Inputs(qrels, again, dict(options)))


def spooled(thing: Any) -> Any:
    """Sources that can be read again, for a report: streams are kept in memory, and iterators become lists."""
    if isinstance(thing, Iterator) and not hasattr(thing, "read"):
        return list(thing)
    judgments = Judgments | GroupedJudgments | PassageJudgments
    opened = hasattr(thing, "read") and not isinstance(thing, judgments) and not is_lazy(thing)
    return Stream(thing) if opened or (isinstance(thing, str) and thing == "-") else thing


def _is(run: Any, baseline: Any) -> bool:
    if isinstance(run, str | os.PathLike) and isinstance(baseline, str | os.PathLike):
        return os.fspath(run) == os.fspath(baseline)
    return run is baseline


def shared_documents(measures: Sequence[Measure], *, lengths: bool = False) -> Callable[[Judgments], Wants]:
    """What bounds need of each run besides the ranks: its documents as numbers, to find those that two runs share."""

    def wants(judgments: Judgments) -> Wants:
        judged = np.diff(judgments.first)
        return Wants(codes=documents_wanted(measures, judgments.grades, judged, lengths=lengths))

    return wants


def evaluated(
    qrels: Any,
    runs: Mapping[str, Any],
    measures: Sequence[Measure],
    wants: Callable[[Judgments], Wants] | None = None,
    **options: Unpack[Options],
) -> list[Evaluation]:
    """Evaluate the runs that are not evaluations yet. Judgments are read once, and weights hold for all of them."""
    new = {name: run for name, run in runs.items() if not isinstance(run, Evaluation)}
    known, given = QueryColumns.taken(options)
    every: Any = {**given, FROM_FILE: known}
    read = read_runs(qrels, new, tuple(measures), wants or (lambda _: NOTHING), **every) if new else {}
    return [
        known.applied(run.renamed(name)) if isinstance(run, Evaluation) else read[name] for name, run in runs.items()
    ]


def compare_evaluations(
    evaluations: Sequence[Evaluation],
    measures: Measures | None = None,
    *,
    baseline: str | None = None,
    test: str = "t",
    correction: str | None = None,
    family: str = "measure",
    alpha: float = 0.05,
    margin: float | None = None,
    detect: float | None = None,
    seed: int = SEED,
    permutations: int = PERMUTATIONS,
    bounds: bool = True,
    unseen: int = 0,
) -> Comparison:
    """`compare` for runs that were evaluated before, by all of their measures or some.

    evaluations: of the runs, by the same judgments and policy.
    measures: some of those that all evaluations have; by default all of them.
    baseline: the name of the run that the others are compared with; without one, all pairs are.
    test, correction, family, alpha, margin, detect, seed, permutations, bounds, unseen: those of `compare`.
    Returns a `Comparison`.

    >>> from cranfield import evaluate
    >>> qrels = {"1": {"a": 1}, "2": {"a": 1}, "3": {"a": 1}}
    >>> old = evaluate(qrels, {"1": ["b", "a"], "2": ["c", "b", "a"], "3": ["a"]}, "RR", name="old")
    >>> new = evaluate(qrels, {"1": ["a"], "2": ["a"], "3": ["b", "a"]}, "RR", name="new")
    >>> [difference] = compare_evaluations([old, new], baseline="old")
    >>> round(difference.difference, 4), difference.verdict
    (0.2222, 'no significant difference')
    """
    evaluations = list(evaluations)
    check_testing(test, correction, alpha, family=family, permutations=permutations, margin=margin)
    check_detect(detect)
    wanted = list(parse_measures(measures) if measures is not None else evaluations[0].measures if evaluations else ())
    values = paired(evaluations, wanted)
    bounds = bounds and not values.proxies and all(its.answering is None for its in evaluations)
    if unseen and not bounds:
        fact = "belongs to the bounds of unjudged documents, and there are none here."
        hint = "corrected values have no bounds; others have them unless bounds are switched off"
        raise ComparisonError(fact, parameter="unseen", value=unseen, hint=hint)
    estimator = values.estimator
    correction = correction or usual_correction(test)
    check_supported(estimator, test, correction, wanted)
    pairs = compared_pairs(values.runs, baseline)
    procedure = Procedure(test, correction, alpha, permutations, seed, margin, detect)
    reaches = Reaches(evaluations, pairs, values.query_ids, wanted, unseen) if bounds else None
    families = [wanted] if family == "all" else [[measure] for measure in wanted]
    tested = differences_of(values, families, pairs, procedure, reaches)
    estimates = {
        measure.name: estimates_of(estimated(values.of(measure)), alpha, *measure.definition.range)
        for measure in wanted
    }
    return Comparison(
        runs=values.runs,
        measures=tuple(wanted),
        baseline=baseline,
        queries=len(values.query_ids) if values.drawn is None else len(evaluations[0].query_ids),
        left_out=values.left_out,
        bounds=bounds,
        test=test,
        correction=correction,
        family=family,
        alpha=alpha,
        permutations=permutations,
        seed=seed,
        estimates={name: dict(zip(values.runs, every, strict=True)) for name, every in estimates.items()},
        judged={
            measure.name: {evaluation.run: judged_share(evaluation, measure) for evaluation in evaluations}
            for measure in wanted
        },
        doubts=doubts_about(evaluations, wanted, pairs)
        + (few_differ(values, wanted, pairs) if TESTS[test].of_means else ()),
        differences=tuple(difference for _, of_measure in tested for difference in of_measure),
        _paired=values,
        evaluations=tuple(evaluations),
    )


def differences_of(
    values: Paired,
    families: Sequence[Sequence[Measure]],
    pairs: Sequence[Pair],
    procedure: Procedure,
    reaches: Reaches | None = None,
) -> list[tuple[PairOutcomes, list[Difference]]]:
    """Of each measure the outcomes of its pairs, and their differences; the first measure of all is primary."""
    results = []
    for measures in families:
        outcomes = family_outcomes(values, measures, pairs, procedure)
        needs = family_needs(values, measures, pairs, outcomes, procedure)
        for measure in measures:
            differences = pair_differences(
                values,
                measure,
                pairs,
                outcomes[measure],
                needs[measure],
                procedure,
                reaches=reaches.of(measure) if reaches else [None] * len(pairs),
                primary=measure == families[0][0],
                family=1 if procedure.correction == "none" else len(pairs) * len(measures),
            )
            results.append((outcomes[measure], list(differences)))
    return results


def check_permutations(permutations: int) -> None:
    if permutations < 1:
        raise ComparisonError("is too few.", parameter="permutations", value=permutations, hint="use 1,000 or more")


def check_testing(
    test: str,
    correction: str | None,
    alpha: float,
    *,
    family: str = "measure",
    permutations: int = PERMUTATIONS,
    margin: float | None = None,
) -> None:
    """Refuse a way of testing that does not exist."""
    for name, value, choices in (
        ("test", test, tuple(TESTS)),
        ("correction", correction or usual_correction("t"), tuple(CORRECTIONS)),
        ("family", family, FAMILIES),
    ):
        if value not in choices:
            raise ComparisonError(
                "does not exist.",
                parameter=name,
                value=value,
                hint=choice_hint(f"{given(name)} may be", choices, value),
            )
    if not 0 < alpha < USUAL:  # a difference would be significant more often than power asks for
        raise ComparisonError(
            "is not a level of significance.", parameter="alpha", value=alpha, hint=f"it lies between 0 and {USUAL:g}"
        )
    check_permutations(permutations)
    check_margin(margin)
    if correction == MAX_T and not TESTS[test].takes_max_t:
        able = ", ".join(name for name, test in TESTS.items() if test.takes_max_t)
        raise ComparisonError(f"max-t needs a test of means, not '{test}'.", hint=f"such tests are {able}")
